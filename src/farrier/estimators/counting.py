"""Counts as the target of a `Regressor`: what they must be, and how they are fitted."""

from collections.abc import Sequence

import numpy as np

from farrier.data.quoting import quoted
from farrier.data.tables import Scale
from farrier.estimators.estimator import Estimator
from farrier.estimators.watching import Show, told
from farrier.inference.counts import NegativeBinomial, Poisson
from farrier.inference.hurdle import Hurdle
from farrier.kernels.algebra import Kernel
from farrier.model.counting import size_of
from farrier.model.fit import fit
from farrier.model.fitted import Fitted
from farrier.model.problem import Given, Problem
from farrier.model.sites import SITE_FITS

COUNTS = ("poisson", "negative-binomial", "hurdle")
"""The likelihoods of counts."""
SEARCHES = SITE_FITS
"""Searches of one fit: counts and classes are searched again with better sites."""
START_SIZE = 5.0
"""The size of a negative binomial at the start of a fit; by judgement."""


class CountingEstimator(Estimator):
    """An estimator that can fit counts."""

    likelihood: str
    scale: str
    method: str

    def _fit_counts(
        self,
        inputs: np.ndarray,
        y: np.ndarray,
        scale: Scale,
        columns: list[str],
        coded: tuple[int, ...],
        known: Sequence[float] | None,
        calendar: Sequence[Kernel],
        show: Show | None,
    ) -> Fitted:
        """Fit counts by Gaussian sites; f is the log of the rate over the mean count. `known` are its seasons."""
        tell, offset = told(show, "sites", SEARCHES), float(np.log(y.mean()))
        known = None if coded else known
        problem = Problem(inputs, y, seasons=known, calendar=calendar, timed=self._timed, coded=coded, tell=tell)
        size = size_of(y, y.mean()) if problem.of_series and self._timed else START_SIZE
        likelihood = Poisson(offset) if self.likelihood == "poisson" else NegativeBinomial(offset, size)
        likelihood = Hurdle.of(y) if self.likelihood == "hurdle" else likelihood
        if self._searches():
            return fit(problem, likelihood=likelihood)
        kernels = self._chosen(inputs, np.log(y + 0.5) - offset, scale, columns, self._seed(), coded)
        return fit(problem, Given(kernels), likelihood=likelihood)

    def _check_counts(self, y: np.ndarray) -> None:
        """Refuse values that are no counts, and what counts do not take."""
        if self.likelihood not in COUNTS:
            return
        bad = np.flatnonzero((y < 0.0) | (y != np.rint(y)))
        if len(bad):
            raise ValueError(
                f"likelihood={self.likelihood!r} needs counts 0, 1, 2, ..., got {y[bad[0]]:g} in row {bad[0]}."
            )
        for name, value, possible in (
            ("scale", self.scale, ("auto", "log")),
            ("method", self.method, ("auto",)),
            ("prior", self.prior, ("horseshoe",)),
        ):
            if value not in possible:
                raise ValueError(f"likelihood={self.likelihood!r} needs {name}={possible[0]!r}, got {quoted(value)}.")
