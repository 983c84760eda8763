"""What every fitted estimator can tell of itself: in words, as a report, in pictures, as a file."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes

    from farrier.explain.context import Context
    from farrier.explain.explanation import Explanation


class Tells:
    """The methods that explain, draw and save a fitted model."""

    _context: "Context | None" = None
    """What is known about the data beside the numbers; set by whoever knows it."""

    def explain(self) -> "Explanation":
        """The components in plain English, largest first: print it, or take it as a table or as Markdown."""
        from farrier.explain.explanation import Explanation

        check_is_fitted(self)
        return Explanation(self)

    def report(self, path: str | os.PathLike[str], *, title: str | None = None, horizon: int | None = None) -> Path:
        """Write the whole story to one HTML file that needs nothing but a browser.

        `horizon` is how many steps to forecast; by default a sixth of the data where they are evenly spaced in time.
        """
        from farrier.explain import report
        from farrier.explain.story import story

        check_is_fitted(self)
        return report.write(story(self, title=title, horizon=_steps(horizon)), path)

    def plot(self, *, horizon: int | None = 0, ax: "Axes | None" = None) -> "Axes":
        """Draw data, fit and 95 % band, with a forecast of `horizon` steps; of a table, observed against fitted."""
        from farrier.explain import pictures

        check_is_fitted(self)
        return pictures.plot(self, horizon=_steps(horizon), ax=ax)

    def plot_components(self, *, horizon: int | None = 0) -> "np.ndarray":
        """Draw every component with its 95 % band, one panel each, and return their axes."""
        from farrier.explain import pictures

        check_is_fitted(self)
        return pictures.plot_components(self, horizon=_steps(horizon))

    def plot_weights(self, *, ax: "Axes | None" = None) -> "Axes":
        """Draw the weight of every candidate before and after the fit."""
        from farrier.explain import pictures

        check_is_fitted(self)
        return pictures.plot_weights(self, ax=ax)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the model to a file for `farrier.load`."""
        from farrier.estimators import files as saving

        check_is_fitted(self)
        return saving.save(self, path)


def _steps(horizon: Any) -> int | None:
    if horizon is not None and (int(horizon) != horizon or horizon < 0):
        raise ValueError(f"horizon: {horizon} is no number of steps: give 0 or more")
    return None if horizon is None else int(horizon)
