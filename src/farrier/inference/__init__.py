"""Evidence lower bounds and posteriors: priors, likelihoods, exact, collapsed and block-wise inference, L-BFGS."""
