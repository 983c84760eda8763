"""From rows to a model that predicts and components that explain: the whole way, for Gaussian noise.

The scale of the target is chosen by evidence, the structure is found (search/search.py), and then two models are kept
apart on purpose. The *survivors* explain: few, each worth its price. The whole shrunk pool predicts: the survivors
beside every ordinary candidate at a small weight, fitted together under the horseshoe, so that a forecast does not hang
on a trend being exactly straight or a season exactly strict. What the others add is one row, the rest: parts add up.

Few rows go through the exact tier. With many the structure is found on a part of them, and the collapsed tier fits it
to all. A long series whose components are too short for inducing points keeps the numbers of that part, and its rows
are predicted block by block (blockwise.py).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from farrier.evaluation.covariance import covariance_of
from farrier.inference.blas import one_thread
from farrier.inference.blockwise import LocalPosterior
from farrier.inference.collapsed import CollapsedPosterior
from farrier.inference.exact import ExactObjective
from farrier.inference.exact_posterior import GaussianPosterior
from farrier.inference.horseshoe import Horseshoe
from farrier.inference.lbfgs import climb
from farrier.inference.parameter_vector import ExactModel
from farrier.inference.weight_priors import NoPrior, Softmax, SpikeAndSlab, starting_weight
from farrier.kernels.algebra import Kernel, product_of
from farrier.model.target_scale import Transform, named, worth_trying
from farrier.model.tiers import (
    Tell,
    collapsed_fit,
    collapsed_objective,
    exact_posterior,
    local_posterior,
    needs_rows,
    tier_of,
    weights_of,
)
from farrier.search import candidates
from farrier.search.appraisal import Appraisal, appraise
from farrier.search.averaging import Member, average
from farrier.search.periods import find_periods
from farrier.search.search import Search
from farrier.search.settings import RowSettings, SearchSettings
from farrier.search.structure import LEVEL, Decision, Part, Structure, model_with

PRIORS: dict[str, type[Horseshoe | NoPrior | Softmax | SpikeAndSlab]] = {
    "horseshoe": Horseshoe,
    "none": NoPrior,
    "softmax": Softmax,
    "spike-and-slab": SpikeAndSlab,
}


@dataclass(frozen=True)
class Learned:
    """What was found: on the scale of the model, x and z standardised."""

    transform: Transform
    z_mean: float
    z_scale: float
    structure: Structure
    """The survivors alone."""
    model: ExactModel
    """The whole shrunk pool; its first kernels are the survivors."""
    kernels: tuple[Kernel, ...]
    level: int | None
    """Which of the kernels is the level, that is, a constant that nobody asked for."""
    posterior: GaussianPosterior | CollapsedPosterior | LocalPosterior
    bound: float
    """A lower bound on the log evidence of y in its own units."""
    tier: str
    steps: int
    """Steps of the last fit."""
    appraisal: Appraisal | None
    """How sure the survivors are; None where nobody looked."""
    record: tuple[Decision, ...]
    members: tuple[Member, ...] = ()
    """The pools that predict together; none but on few rows."""
    settings: SearchSettings = SearchSettings()

    @property
    def survivors(self) -> int:
        """How many components explain."""
        return len(self.structure.parts)

    @property
    def noise(self) -> float:
        """The variance of the noise on the scale of the model."""
        return float(self.model.noise)


def learn(
    X: np.ndarray,
    y: np.ndarray,
    *,
    known: Sequence[float] = (),
    transform: str = "auto",
    tier: str = "auto",
    timed: bool = False,
    tell: Tell = lambda what, bound: None,
    settings: SearchSettings = SearchSettings(),
) -> Learned:
    """The structure of y given standardised inputs; `known` are periods worth trying, in the same units.

    `timed` says that the first of several inputs is time.
    """
    with one_thread():
        best = _best_scale(X, y, known, transform, timed, tell, settings)
    with one_thread(small=len(X) <= settings.rows.exact):
        return best.finish(X, y, tier)


def _best_scale(
    X: np.ndarray,
    y: np.ndarray,
    known: Sequence[float],
    transform: str,
    timed: bool,
    tell: Tell,
    settings: SearchSettings,
) -> "_Scaled":
    """The scale of y on which a structure explains it best, with that structure."""
    scales = settings.scales
    tried = worth_trying(y, scales.smallest_ratio) if transform == "auto" else [named(transform)]
    searches = [
        _Scaled.of(one, X, y, known, tell, settings, timed)
        for one in tried
        if one.name != "square root" or transform != "auto"
    ]
    # the same candidates on every scale, so that their bounds can be compared
    periods = searches[-1].search.periods()
    for scaled in searches:
        scaled.structure = scaled.whole = scaled.search.whole(periods)
    for scaled in (left := _hopeful(searches, _Scaled.total, scales.pool_margin)):
        scaled.structure = scaled.search.shrunk(scaled.structure)
    for scaled in (left := _hopeful(left, _Scaled.score, scales.structure_margin)):
        scaled.structure = scaled.search.best(scaled.structure)
    best = max(left, key=_Scaled.score)
    best.note_choice(searches)
    return best.or_square_root(X, y, known, tell) if len(searches) > 1 else best


def _hopeful(searches: Sequence["_Scaled"], height: Callable[["_Scaled"], float], nats: float) -> list["_Scaled"]:
    """The scales that are so close to the best that more work may turn them round."""
    top = max(height(scaled) for scaled in searches)
    return [scaled for scaled in searches if height(scaled) > top - nats]


def fit_given(
    kernels: Sequence[Kernel],
    X: np.ndarray,
    y: np.ndarray,
    *,
    prior: str = "horseshoe",
    transform: str = "auto",
    tier: str = "auto",
    iterations: int = 300,
    tolerance: float | None = None,
    tell: Tell = lambda what, bound: None,
    settings: SearchSettings = SearchSettings(),
) -> Learned:
    """Weights and numbers of kernels that somebody chose; nothing is added or dropped."""
    fits = settings.fits
    tolerance = fits.final_tolerance if tolerance is None else tolerance
    scale = named("identity" if transform == "auto" else transform)
    z = scale.forward(y)
    mean, sd = float(z.mean()), float(z.std())
    z = (z - mean) / sd
    products = [
        Part(product_of(factors), product_of(factors), 1.0) for kernel in kernels for factors in kernel.products()
    ]
    parts = [replace(part, weight=starting_weight(len(products))) for part in products]
    model = model_with(parts, fits.start_noise, X.shape[1])
    if prior != "horseshoe":
        model = replace(model, prior=PRIORS[prior].initial(len(parts)))
    exact = tier == "exact" or (tier == "auto" and len(X) <= settings.rows.exact)
    objective: Any = (
        ExactObjective.of(model, X, z, fits.final_draws)
        if exact
        else collapsed_objective(model, X, z, fits.final_draws, settings)
    )
    with one_thread(small=exact):
        numbers, terms = climb(objective, iterations, tolerance, callback=lambda i, t: tell("fitting", t.total))
    model = objective.model(numbers)
    weights = weights_of(model, settings.posterior.draws)
    posterior = (
        exact_posterior(model, X, z, settings, weights) if exact else CollapsedPosterior.of(objective, model, weights)
    )
    medians = np.asarray(model.prior.quantile(0.5))
    found = tuple(Part(model.pool[i], part.centre, float(medians[i])) for i, part in enumerate(parts))
    structure = Structure(found, float(model.noise), terms[-1].total, model, terms[-1])
    jacobian = float(scale.log_slope(y).sum()) - len(y) * float(np.log(sd))
    return Learned(
        transform=scale,
        z_mean=mean,
        z_scale=sd,
        structure=structure,
        model=model,
        kernels=tuple(part.kernel for part in found),
        level=None,
        posterior=posterior,
        bound=terms[-1].total + jacobian,
        tier="exact" if exact else "collapsed",
        steps=len(terms),
        appraisal=None,
        record=(),
        settings=settings,
    )


@dataclass
class _Scaled:
    """One scale of the target with its search."""

    transform: Transform
    z_mean: float
    z_scale: float
    jacobian: float
    search: Search
    structure: Structure
    whole: Structure | None = None
    """The ordinary candidates, shrunk."""

    @classmethod
    def of(
        cls,
        transform: Transform,
        X: np.ndarray,
        y: np.ndarray,
        known: Sequence[float],
        tell: Tell,
        settings: SearchSettings,
        timed: bool = False,
    ) -> "_Scaled":
        z = transform.forward(y)
        mean, scale = float(z.mean()), float(z.std())
        rows = search_rows(X, settings.rows)
        # the density of y is that of the standardised z times its slope
        jacobian = float(transform.log_slope(y[rows]).sum()) - len(rows) * float(np.log(scale))
        shown = None
        if X.shape[1] == 1 and len(rows) < len(y):
            shown = find_periods(X[:, 0], z, settings.candidates.most_periods, known, settings.periods)
        search = Search(
            X[rows],
            (z[rows] - mean) / scale,
            covariance_of(X[rows]),
            known,
            tell,
            settings=settings,
            shown=shown,
            timed=timed,
        )
        return cls(transform, mean, scale, jacobian, search, search.empty())

    def score(self) -> float:
        """Evidence less price, of y in its own units, and what is believed of the scale."""
        preference = self.search.settings.scales.preference(self.transform.name)
        return self.structure.score + self.jacobian + preference

    def total(self) -> float:
        """The bound, of y in its own units."""
        return (self.structure.terms.total if self.structure.terms else self.structure.score) + self.jacobian

    def note_choice(self, others: Sequence["_Scaled"]) -> None:
        """What the other scales lacked, in the record."""
        for other in others if len(others) > 1 else ():
            gain = other.score() - max(o.score() for o in others if o is not other)
            action = "kept" if other is self else "dropped"
            self.search.record.append(
                Decision(0, action, f"scale: {other.transform.name}", gain, "evidence of the scale")
            )

    def or_square_root(self, X: np.ndarray, y: np.ndarray, known: Sequence[float], tell: Tell) -> "_Scaled":
        """The square root where the same structure fits much better on it."""
        if not self.structure.parts:
            return self
        root = _Scaled.of(named("square root"), X, y, known, tell, self.search.settings, self.search.timed)
        root.structure = root.search.fit(self.structure.parts, self.structure.noise)
        gain = root.score() - self.score()
        better = gain > 0.0
        if better:
            root.structure = root.search.run(start=root.structure)
            root.whole = self.whole and root.search.fit(self.whole.parts, self.whole.noise)
        decision = Decision(0, "kept" if better else "dropped", "scale: square root", gain, "evidence of the scale")
        root.search.record[:0] = [*self.search.record, decision]
        self.search.record.append(decision)
        return root if better else self

    def others(self, wide: Structure, rows: Search) -> list[Structure]:
        """What else explains the rows about as well as the pool that predicts, each fitted as well as that one.

        The structures in which other starts ended, beside the ordinary candidates, and these candidates alone.
        """
        if rows is not self.search or wide.terms is None:
            return []
        settings = self.search.settings
        tried = [("another structure", beside(rows, runner), runner.noise) for runner in rows.runners]
        least = wide.terms.total - settings.scales.pool_margin
        if self.whole is not None and self.whole.terms and self.whole.terms.total > least:
            tried.append(("the ordinary candidates alone", list(self.whole.parts), self.whole.noise))
        # where nothing was worth its price, what is not better is noise
        margin = settings.averaging.margin
        behind = margin if self.structure.parts else 0.0
        close = []
        for name, parts, noise in tried:
            rows.tell("fitting other pools", wide.terms.total)
            found = finally_fitted(rows, parts, noise)
            gain = found.terms.total - wide.terms.total if found.terms else -np.inf
            action = "averaged" if -behind < gain < margin else "kept" if gain > 0 else "dropped"
            rows.record.append(Decision(0, action, name, gain, "evidence of the pool"))
            close += [found] if gain > -behind else []
        return close

    def finish(self, X: np.ndarray, y: np.ndarray, tier: str) -> Learned:
        """The shrunk pool on all rows."""
        search, structure, settings = self.search, self.structure, self.search.settings
        z = (self.transform.forward(y) - self.z_mean) / self.z_scale
        search.tell("fitting the whole pool", structure.score)
        parts = beside(search, structure)
        exact = tier == "exact" or (tier == "auto" and len(X) <= settings.rows.exact)
        if exact:
            all_rows = search if len(search.y) == len(y) else replace(search, X=X, y=z, covariance=covariance_of(X))
            many = len(y) > settings.rows.search
            wide = finally_fitted(
                all_rows, parts, structure.noise, settings.fits.final_draws_many_rows if many else None
            )
            found = average([wide, *self.others(wide, all_rows)], settings)
            model, total, kernels, members = found.model, found.bound, found.kernels, found.members
            posterior: Any = exact_posterior(model, X, z, settings, found.weights)
        else:
            model, total, posterior = self._many_rows(parts, X, z, tier)
            kernels, members = tuple(model.pool[i] for i in range(len(parts) + 1)), ()
        jacobian = float(self.transform.log_slope(y).sum()) - len(y) * float(np.log(self.z_scale))
        return Learned(
            transform=self.transform,
            z_mean=self.z_mean,
            z_scale=self.z_scale,
            structure=structure,
            model=model,
            kernels=kernels,
            level=len(parts),
            posterior=posterior,
            bound=total + jacobian,
            tier=tier_of(posterior),
            steps=search.steps,
            appraisal=appraise(search, structure),
            record=tuple(search.record),
            members=members,
            settings=settings,
        )

    def _many_rows(
        self, parts: Sequence[Part], X: np.ndarray, z: np.ndarray, tier: str
    ) -> tuple[ExactModel, float, CollapsedPosterior | LocalPosterior]:
        """The shrunk pool by the collapsed tier, or block by block where that cannot carry it."""
        search, noise, settings = self.search, self.structure.noise, self.search.settings
        if X.shape[1] == 1 and tier == "auto":
            wide = finally_fitted(search, parts, noise)
            assert wide.model is not None
            if needs_rows(wide.model, X, settings):
                search.tell("fitting block by block", wide.score)
                posterior = local_posterior(wide.model, X, z, settings)
                return wide.model, posterior.evidence, posterior
        return collapsed_fit([*parts, LEVEL], noise, X, z, search.tell, settings)


def finally_fitted(search: Search, parts: Sequence[Part], noise: float, draws: int | None = None) -> Structure:
    """A pool that predicts, fitted to the rows of a search."""
    fits = search.settings.fits
    return search.fit(parts, noise, fits.final_iterations, fits.final_tolerance, draws or fits.final_draws)


def beside(search: Search, structure: Structure) -> list[Part]:
    """The components of a structure, and the candidates that stand beside them in a pool that predicts."""
    found = [part.kernel for part in structure.parts]
    others = search.ordinary(candidates.periods_of(found, search.settings.candidates), found)
    weight = search.settings.averaging.rest_weight
    return [*structure.parts, *(Part(kernel, kernel, weight) for kernel in others)]


def search_rows(X: np.ndarray, settings: RowSettings) -> np.ndarray:
    """The rows among which a structure is looked for: all, or a part that is the same every time."""
    if len(X) <= (settings.search if X.shape[1] == 1 else settings.part):
        return np.arange(len(X))
    if X.shape[1] > 1:
        return np.sort(np.random.default_rng(0).choice(len(X), settings.part, replace=False))
    # one input: half of the rows in pieces, for what is short, half spread over all, for what is long
    order = np.argsort(X[:, 0])
    spread = np.linspace(0, len(X) - 1, settings.part // 2).astype(int)
    length = settings.part // 2 // settings.pieces
    starts = np.linspace(0, len(X) - length, settings.pieces).astype(int)
    pieces = (starts[:, None] + np.arange(length)).ravel()
    return order[np.union1d(spread, pieces)]
