"""Sparse variational methods that the paper compares with, built on the models and the training of paper/.

`SVGP-SE`       one smooth kernel, M inducing points (Hensman, Fusi and Lawrence, UAI 2013)
`SVGP`          the paper's pool of kernels with free weights ("no prior"), inducing points shared by their sum
`MultiSVGP`     the same with a group of points for each kernel (Tong, Tran, Bui and Choi, AAAI 2021)
`SpikeAndSlab`  MultiSVGP with that prior on the weights (Mitchell and Beauchamp 1988; for kernels Titsias and
                Lazaro-Gredilla, NIPS 2011)
`Horseshoe`     the paper's own method, by its own algorithm
`Softmax`       selection among 12 candidate sums (Teng, Chen, Zhang and Low, AAAI 2020): the deterministic form that
                the paper ran, in which candidate c has the variance pi_c = softmax(logits)_c times its own
`VariationalSoftmax`  the variational form: q(c) = Categorical(pi) and a q(u) for each candidate,
                L = sum_c pi_c L_c - KL(pi || uniform), so that pi_c is proportional to exp(L_c) at the optimum, and
                predictions average over the candidates

All are trained by paper.training: natural gradients for q(u), Adam for the rest; all rows in every step if they are
few, else minibatches. `Printed` is the paper's method trained as its Algorithm 1 says.

Deviations: Teng et al. have a continuous q over the logits and over hyperparameters, here they are point estimates; and
they use 144 candidates besides these 12.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from farrier.baselines.common import START_NOISE, Baseline
from farrier.baselines.starting_kernels import Initialisation, Start
from farrier.baselines.weight_priors import NoPrior, PointWeights, SpikeAndSlab, StochasticPrior, draw
from farrier.inference.horseshoe import Horseshoe as HorseshoePrior
from farrier.inference.likelihoods import Gaussian
from farrier.inference.linalg import NUMPY, World
from farrier.inference.mixtures import moments
from farrier.inference.weight_priors import Weighed, quasi_normal
from farrier.kernels.parameters import positive, real
from farrier.kernels.registry import SquaredExponential
from farrier.paper.batches import padded
from farrier.paper.inducing import SharedPoints, spread_points
from farrier.paper.multisvgp import SVGP, MultiSVGP
from farrier.paper.objective import Model, evidence_bound
from farrier.paper.pool import Pool, stack
from farrier.paper.prediction import InBlocks
from farrier.paper.selection import Selection, train_in_stages
from farrier.paper.training import Settings, train_starts
from farrier.paper.trees import JAX, as_array, register

CANDIDATES = (
    "SE * RQ",
    "SE * RQ + SE",
    "SE * RQ + Per",
    "Per + RQ + SE",
    "Per + RQ + SE",
    "Per + Per + SE",
    "SE * Per + SE",
    "Per * RQ + SE",
    "SE * Per + SE",
    "Per * SE * SE",
    "Per * SE * RQ",
    "Per * SE + RQ * SE",
)
"""The 12 candidates of the paper's experiment; two structures come twice and differ in their starting values."""
PREDICTION_DRAWS = 64
"""Draws of the weights in predictions, by judgement."""
TRAINING_DRAWS = 8
"""Draws of the weights in one stochastic step, by judgement."""
START_SPREAD = 0.1
"""The standard deviation of q(u) at the start where Adam trains it, by judgement; it is 1 in the prior."""
SEEDS_APART = 1000
"""Between the seeds of two starts of one run, by judgement: runs of neighbouring seeds share no start."""


@register
@final
@dataclass(frozen=True, eq=False)
class SoftmaxOfSums(PointWeights):
    """w_i^2 = pi_c(i) a_i^2, where c(i) is the candidate of kernel i and pi = softmax(logits)."""

    owners: tuple[int, ...]
    logits: Any = real()
    amplitudes: Any = positive()

    def shares(self, world: World = NUMPY) -> Any:
        """pi."""
        return world.xp.exp(self.logits - world.special.logsumexp(self.logits))

    def weights(self, world: World = NUMPY) -> Any:
        return self.amplitudes * world.xp.sqrt(self.shares(world)[np.asarray(self.owners)])

    def kl(self, world: World = NUMPY) -> Any:
        """Zero: in this form pi is a parameter without prior."""
        return world.xp.zeros((), world.xp.asarray(self.logits).dtype)

    def weigh(self, u: np.ndarray, noise: np.ndarray) -> Weighed:
        at = self.with_vector(u)
        w2, pi, owners = at.draw(noise) ** 2, at.shares(), np.asarray(self.owners)

        def pull(dw2: np.ndarray) -> np.ndarray:
            by_log = np.sum(dw2 * w2, axis=0)
            by_logits = np.bincount(owners, by_log, minlength=len(pi)) - pi * by_log.sum()
            return np.concatenate([by_logits, 2.0 * by_log])

        return Weighed(w2, 0.0, pull)


@dataclass(kw_only=True)
class _Trained(Baseline):
    """The base of these methods: inducing points and training."""

    points: int = 50
    """Inducing points for each kernel, or shared by all."""
    iterations: int = 1000
    """Steps; with minibatches more, if the rows ask for it."""
    batch_size: int = 256
    epochs: int = 20
    """With minibatches every row is met about so many times at least, by judgement: on 34,263 hourly rows four epochs
    end 0.04 lower in the log-likelihood of a row."""
    full_rows: int = 10_000
    """With at most so many rows every step uses all of them, by judgement: a step of 24 kernels with 50 points takes
    1.1 s on 7,373 rows, and 200 of them end where thousands of minibatches do."""
    learning_rate: float = 0.05
    """The step size of Adam, by judgement: the bound of airline rose faster than with 0.03, and 0.1 lost one of three
    starts on mauna400."""
    tolerance: float = 0.0
    """Training ends if the bound gains less than this over a window of steps, in nats per row; 0 takes all steps."""
    starts: int = 1
    """Starting values that are trained together; the best by the bound counts. (Methods with the paper's pool.)"""
    natural: bool = True
    """Natural gradients for q(u); False trains it by Adam, as printed in the paper."""
    selection: Selection | None = None
    """A first stage on some rows, after which shrunk kernels leave; None trains all kernels to the end."""

    _grouped: ClassVar[bool] = True
    """Whether each kernel has inducing points of its own."""

    def _trained(self, pools: Sequence[Pool], prior: StochasticPrior, X: np.ndarray, y: np.ndarray) -> Model:
        staged = self.selection is not None and len(pools[0]) > self.selection.kept
        Z = spread_points(X, self.selection.points if self.selection and staged else self.points, self.seed)

        def start(pool: Pool) -> Any:
            return MultiSVGP.initial(pool, Z, spread=START_SPREAD) if self._grouped else _shared(pool, Z)

        settings = Settings(
            iterations=self.steps_for(len(y)),
            batch_size=self.batch_size,
            full_rows=self.full_rows,
            natural=self.natural,
            learning_rate=self.learning_rate,
            tolerance=self.tolerance,
            draws=TRAINING_DRAWS if prior.noise_size else 1,
        )
        models = [Model(prior, Gaussian(as_array(START_NOISE)), start(pool)) for pool in pools]
        key = jax.random.key(self.seed)
        if self.selection is not None and staged:
            model, self.history_ = train_in_stages(
                models, X, y, settings, key, points=self.points, seed=self.seed, selection=self.selection
            )
        else:
            model, self.history_ = train_starts(models, X, y, settings, key)
        """The bound at every step."""
        return model

    def steps_for(self, rows: int) -> int:
        """Steps of training for so many rows."""
        met = self.epochs * rows // self.batch_size if rows > self.full_rows else 0
        return max(self.iterations, met)

    def _bound(self, model: Model, X: np.ndarray, y: np.ndarray) -> float:
        noise = jnp.asarray(quasi_normal(PREDICTION_DRAWS, model.prior.noise_size))
        return float(_evidence_bound(model, padded(X, y), noise[: 1 if model.prior.noise_size == 0 else None]).total)


@dataclass(kw_only=True)
class _Sparse(_Trained):
    """The base of the methods with one pool of kernels."""

    @abstractmethod
    def _pools_and_prior(self, X: np.ndarray, y: np.ndarray) -> tuple[list[Pool], StochasticPrior]:
        """The kernels with the starting values of every start, and the prior on their weights."""

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        pools, prior = self._pools_and_prior(X, y)
        model = self._trained(pools, prior, X, y)
        self.elbo_ = self._bound(model, X, y)
        """The evidence lower bound of the standardised y."""
        self.model_ = jax.tree.map(np.asarray, model)
        self.weights_ = np.asarray(model.prior.quantile(0.5))
        self.pool_ = [str(kernel) for kernel in self.model_.posterior.pool]

    def _predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return moments(*_draws(self.model_, X))

    def components(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of each component w_i g_i at the rows X, (m, N), in the units of y.

        The means add up to the predicted mean less the mean of y.
        """
        with jax.enable_x64(True):
            mean, variance = InBlocks(_drawn(self.model_)).components(self._scale.inputs(np.asarray(X, float)))
        scale = float(self._scale.y_scale)
        return mean * scale, np.sqrt(np.maximum(variance, 0.0)) * scale

    @property
    def noise_variance_(self) -> float | None:
        """The noise variance in the squared units of y."""
        assert isinstance(self.model_.likelihood, Gaussian)
        return float(self.model_.likelihood.variance) * float(self._scale.y_scale) ** 2


_evidence_bound = eqx.filter_jit(evidence_bound)


def _shared(pool: Pool, Z: np.ndarray) -> SVGP:
    start = SVGP.initial(pool, SharedPoints(as_array(Z)))
    return eqx.tree_at(lambda posterior: posterior.q_root, start, START_SPREAD * start.q_root)


def _draws(model: Model, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of y for each draw of the weights."""
    mean, variance = InBlocks(_drawn(model)).draws(X)
    return model.likelihood.predict(mean, variance)


def _drawn(model: Model) -> Any:
    """The posterior with draws of the weights."""
    count = PREDICTION_DRAWS if model.prior.noise_size else 1
    noise = jnp.asarray(quasi_normal(count, model.prior.noise_size))
    return model.posterior.at(draw(model.prior, noise, JAX))


@dataclass(kw_only=True)
class SmoothSVGP(_Sparse):
    """SVGP-SE: one smooth kernel with a lengthscale for each input; points and steps as in the paper."""

    name: ClassVar[str] = "svgp-se"
    points: int = 100
    iterations: int = 3000
    _grouped: ClassVar[bool] = False

    def _pools_and_prior(self, X: np.ndarray, y: np.ndarray) -> tuple[list[Pool], StochasticPrior]:
        lengthscale = np.full(X.shape[1], np.sqrt(X.shape[1]))
        return [stack([SquaredExponential(lengthscale)], inputs=X.shape[1])], NoPrior.initial(1)


@dataclass(kw_only=True)
class PoolMultiSVGP(_Sparse):
    """MultiSVGP, no prior: the paper's pool, a group of inducing points for each kernel."""

    name: ClassVar[str] = "multisvgp"
    initialisation: Initialisation = "both"
    _prior: ClassVar[Any] = NoPrior

    def _pools_and_prior(self, X: np.ndarray, y: np.ndarray) -> tuple[list[Pool], StochasticPrior]:
        seeds = [self.seed + SEEDS_APART * i for i in range(self.starts)]
        pools = [Pool.paper(X, y, initialisation=self.initialisation, seed=seed) for seed in seeds]
        return pools, self._prior.initial(len(pools[0]))


@dataclass(kw_only=True)
class PoolSVGP(PoolMultiSVGP):
    """SVGP, no prior: the paper's pool, inducing points shared by the sum of its kernels."""

    name: ClassVar[str] = "svgp"
    _grouped: ClassVar[bool] = False


@dataclass(kw_only=True)
class SpikeAndSlabSVGP(PoolMultiSVGP):
    """MultiSVGP with a spike-and-slab prior on the weights of the paper's pool."""

    name: ClassVar[str] = "spike-and-slab"
    _prior: ClassVar[Any] = SpikeAndSlab


@dataclass(kw_only=True)
class HorseshoeSVGP(PoolMultiSVGP):
    """The paper's method by the paper's algorithm: MultiSVGP with a horseshoe prior, stochastic steps.

    With `selection=FIRST_STAGE` the kernels that the prior shrinks leave after a first stage.
    """

    name: ClassVar[str] = "paper"
    _prior: ClassVar[Any] = HorseshoePrior


@dataclass(kw_only=True)
class PrintedSVGP(HorseshoeSVGP):
    """The paper's method trained as printed: Adam for all parameters, draws of the weights."""

    name: ClassVar[str] = "paper-as-printed"
    iterations: int = 3000
    batch_size: int = 128
    learning_rate: float = 0.01
    natural: bool = False


@dataclass(kw_only=True)
class SoftmaxSVGP(_Sparse):
    """Softmax selection among 12 candidate sums, deterministic as in the paper; shared inducing points."""

    name: ClassVar[str] = "softmax"
    _grouped: ClassVar[bool] = False

    def _pools_and_prior(self, X: np.ndarray, y: np.ndarray) -> tuple[list[Pool], StochasticPrior]:
        candidates = candidate_products(X, y, self.seed)
        owners = tuple(c for c, products in enumerate(candidates) for _ in products)
        sizes = np.array([len(candidates[c]) for c in owners], float)
        prior = SoftmaxOfSums(owners, as_array(np.zeros(len(candidates))), as_array(sizes**-0.5))
        return [stack([product for products in candidates for product in products], inputs=X.shape[1])], prior

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        super()._fit(X, y)
        assert isinstance(self.model_.prior, SoftmaxOfSums)
        self.shares_ = np.asarray(self.model_.prior.shares())
        """The weight of each candidate."""
        self.kernel_ = CANDIDATES[int(np.argmax(self.shares_))]


@dataclass(kw_only=True)
class VariationalSoftmaxSVGP(_Trained):
    """Softmax selection among 12 candidate sums, variational: a sparse posterior for each, averaged by evidence."""

    name: ClassVar[str] = "softmax-variational"
    _grouped: ClassVar[bool] = False
    iterations: int = 1500

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        pools = [stack(products, inputs=X.shape[1]) for products in candidate_products(X, y, self.seed)]
        models = [self._trained([pool], NoPrior.initial(len(pool)), X, y) for pool in pools]
        self.elbos_ = np.array([self._bound(model, X, y) for model in models])
        self.models_ = [jax.tree.map(np.asarray, model) for model in models]
        # pi maximises sum_c pi_c L_c - KL(pi || uniform)
        self.shares_ = np.exp(self.elbos_ - np.logaddexp.reduce(self.elbos_))
        self.elbo_ = float(np.logaddexp.reduce(self.elbos_) - np.log(len(self.elbos_)))
        self.kernel_ = CANDIDATES[int(np.argmax(self.shares_))]

    @property
    def noise_variance_(self) -> None:
        """Each candidate has a noise variance of its own."""

    def _predict(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        parts = [moments(*_draws(model, X)) for model in self.models_]
        mean = sum(share * part[0] for share, part in zip(self.shares_, parts, strict=True))
        second = sum(share * (v + m**2) for share, (m, v) in zip(self.shares_, parts, strict=True))
        return np.asarray(mean), np.asarray(second - mean**2)


def candidate_products(X: np.ndarray, y: np.ndarray, seed: int) -> list[list[Any]]:
    """The products of each candidate, with starting values from the data."""
    start = Start(X, y, np.random.default_rng(seed))
    return [[start.named(product) for product in formula.split("+")] for formula in CANDIDATES]
