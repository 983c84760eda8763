"""The paper's algorithm: stacked pools, MultiSVGP, stochastic training on minibatches. jax is used only here and in
baselines."""
