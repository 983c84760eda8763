"""The paper's algorithm as printed: pools as stacks, MultiSVGP, minibatches. The home of jax, beside baselines."""
