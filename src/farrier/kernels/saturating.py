"""Growth that ends: a sigmoid between nothing and a level that it approaches, or that it falls to.

With z = (x - end) / width + progress, Richards' curve is

    s(x) = (1 + shape exp(-z))^(-1 / shape)

which is the logistic curve at shape 1, Gompertz's as the shape goes to 0, and a ramp that bends into a level as it goes
to infinity: the logarithm of the logistic curve. What the kernel uses is its part of the rise from `start` to `end`,

    v(x) = (s(x) - s(start)) / (s(end) - s(start)),     k(x, z) = v(x) v(z)

so that the weight is the size of what the rows show, however far off the level is. A very wide sigmoid is a line.
"""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from scipy.special import expit

from farrier.kernels.algebra import Back, Base, Dims, PerColumn, Slopes, Values
from farrier.kernels.forms import Profile
from farrier.kernels.parameters import ParameterPrior, fixed, positive, real

PROGRESS = ParameterPrior(spread=1.0, reach=4.0, typical=0.4)
"""Prior of how far the growth has come at the last row: at 1, three quarters. [by judgement]"""
WIDTH = ParameterPrior(spread=0.6, reach=2.5, typical=0.2)
"""Prior of the width of the sigmoid. [by judgement]"""
SHAPE = ParameterPrior(spread=0.8, reach=2.5, typical=0.7)
"""Prior of the shape, which data hardly determine before the growth has slowed. [by judgement]"""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Saturating(Profile):
    """A sigmoid that is 0 at `start`, 1 at `end`, and goes on to `ceiling`; the formula stands at the top of this file.

    `start` and `end` say in which unit its size is counted, and are not trained.
    """

    symbol: ClassVar[str] = "Sat"
    rank: ClassVar[int] = 30
    kind: ClassVar[str] = "saturating"
    progress: PerColumn = real(PROGRESS, shared=True)
    width: PerColumn = positive(WIDTH, shared=True)
    shape: PerColumn = positive(SHAPE, shared=True, default=1.0)
    start: PerColumn = fixed(default=0.0)
    end: PerColumn = fixed(default=1.0)
    dims: Dims = None

    # several curves at once: hyperparameters of shape (k, 1) give v of shape (k, N)
    @classmethod
    def profile(cls, values: Values, x: np.ndarray) -> tuple[np.ndarray, Back]:
        width, shape = values["width"], values["shape"]
        ends = np.array([values["start"], values["end"]], float)
        # log s at the rows, at the start and at the end, and its derivatives
        away = (np.concatenate([x, ends]) - values["end"]) / width
        t = np.log(shape) - away - values["progress"]
        log_s = -np.logaddexp(0.0, t) / shape
        gone, whole = log_s[..., :-2] - log_s[..., -1:], log_s[..., -2:-1] - log_s[..., -1:]
        # v = 1 - (1 - s(x) / s(end)) / (1 - s(start) / s(end))
        top, bottom = np.expm1(gone), np.expm1(whole)

        def back(dv: np.ndarray) -> Slopes:
            bent = expit(t) / shape
            slopes = {"progress": bent, "width": -bent * away / width, "shape": -(log_s + bent) / shape}
            by_gone, by_whole = -dv * np.exp(gone) / bottom, (dv @ top) * float(np.exp(whole[0]) / bottom[0] ** 2)
            return {
                name: by_gone @ (one[:-2] - one[-1]) + by_whole * (one[-2] - one[-1]) for name, one in slopes.items()
            }

        return 1.0 - top / bottom, back

    @property
    def ceiling(self) -> float:
        """What v(x) approaches."""
        values = {name: np.ravel(value)[0] for name, value in self.parameters().items()}
        return float(self.profile(values, np.array([np.inf]))[0][0])

    def rescale_columns(self, scale: np.ndarray, shift: np.ndarray) -> Base:
        now = self.parameters()
        return self.replace(
            width=now["width"] * scale, start=now["start"] * scale + shift, end=now["end"] * scale + shift
        )
