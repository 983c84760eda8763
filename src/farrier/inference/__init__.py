"""Evidence bounds and posteriors: weights, likelihoods, exact, collapsed and block-wise inference, L-BFGS."""
