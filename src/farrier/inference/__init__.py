"""Evidence lower bounds and posteriors: priors, likelihoods, exact, collapsed and linear inference, L-BFGS."""
