"""The AAAI 2021 paper's algorithm, by the paper's sections. jax is used only here and in baselines; `pip install
"farrier[paper]"` installs it.

Kernel function pool                       pool.py (24 products as stacks), kernels.py (their values and features)
Kernel selection with the horseshoe prior  eq. (2) pool.py, inference/horseshoe.py; weight_moments.py: E w, E w w'
Multi-inducing sparse Gaussian process     eqs. (3) to (5) multisvgp.py; eq. (7) inducing.py: grouped and shared points
Variational inference                      eq. (8) objective.py; eqs. (9), (10) baselines/weight_priors.py, anatomy.py
Algorithm 1                                steps.py: one step; natural_gradients.py: q(u); step_sizes.py: how far each
                                           parameter moves; training.py: all steps, several starts; batches.py: rows
What is added to it                        selection.py: kernels that the prior shrinks leave after a first stage

`anatomy.train_paper` trains the model on standardised arrays, `anatomy.take_apart` names its distributions and the
terms of its bound. `sparse.fit_sparse` is what Regressor(method="stochastic") calls. posterior.py, prediction.py,
trees.py, linalg.py, diagnosis.py, cache.py and forks.py serve the others.
"""

from farrier.data.extras import require

require("paper", "the paper's algorithm", "jax", "jaxlib", "equinox", "optax", "jaxtyping")
