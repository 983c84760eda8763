"""The periodic kernels: patterns that repeat exactly every period.

With e = sum_d (cos(2 pi (x_d - z_d) / p_d) - 1) / l_d^2 the kernel is exp(e), or exp(e) without its mean over a period.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from farrier.kernels.algebra import Back, Base, Dims, PerColumn, Slopes, Values
from farrier.kernels.forms import Stationary
from farrier.kernels.parameters import ParameterPrior, positive

PERIOD = ParameterPrior(spread=math.inf, reach=0.08, typical=0.014, typical_of_value=True)
"""Prior of a period. Data usually determine a period to about one per cent; less precisely the longer it is, because
fewer cycles are observed."""
SHAPE = ParameterPrior(spread=0.7, reach=1.6, typical=0.5)
"""Prior of the lengthscale within a period, which data determine only weakly."""
WAVES = np.cos(2.0 * np.pi * np.arange(256) / 256) - 1.0
"""cos - 1 at 256 points of a circle, for means over a period: exact to rounding for lengthscales above about 0.03."""


@dataclass(frozen=True, eq=False, repr=False)
class _Repeating(Stationary):
    """A kernel that repeats every period p; l is the lengthscale within one period, in radians."""

    centred: ClassVar[bool]
    """Whether the mean over a period is removed."""

    @classmethod
    def of_lags(cls, values: Values, lags: np.ndarray) -> tuple[np.ndarray, Back]:
        period = values["period"]
        angle = (2.0 * np.pi / period) * lags
        R, by_angle_and_shape = cls._of_angles([angle], [values["lengthscale"]])

        def back(dR: np.ndarray) -> Slopes:
            ((by_angle, by_shape),) = by_angle_and_shape(dR)
            along = np.sum(by_angle * angle, axis=1)
            return {"period": -(along / period[:, 0]), "lengthscale": by_shape.sum(axis=1)}

        return R, back

    @classmethod
    def between(cls, values: Values, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, Back]:
        periods = values["period"]
        columns = range(X.shape[1])
        angles = [(2.0 * np.pi / periods[d]) * (X[:, d][:, None] - Z[:, d][None, :]) for d in columns]
        R, by_angles_and_shapes = cls._of_angles(angles, list(values["lengthscale"]))

        def back(dR: np.ndarray) -> Slopes:
            pairs = by_angles_and_shapes(dR)
            by_period = [-(np.vdot(by, angle) / p) for (by, _), angle, p in zip(pairs, angles, periods, strict=True)]
            return {"period": np.array(by_period), "lengthscale": np.array([by.sum() for _, by in pairs])}

        return R, back

    @classmethod
    def _of_angles(cls, angles: list[np.ndarray], shapes: list[np.ndarray]):
        """The kernel from the angle in each column, and the backward pass to pairs (by angle, by lengthscale)."""
        each = [(np.cos(angle) - 1.0) / shape**2 for angle, shape in zip(angles, shapes, strict=True)]
        e = sum(each[1:], start=each[0])
        wave = np.expm1(e)
        # the mean of exp(e) over a period, minus one
        means = [np.mean(np.expm1(WAVES / shape**2), axis=-1, keepdims=True) for shape in shapes] if cls.centred else []
        b = means[0] if len(means) == 1 else np.prod([1.0 + m for m in means], axis=0) - 1.0 if means else -1.0

        def back(dR: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
            by_e = dR * (wave + 1.0) / -b
            found = []
            for d, (angle, shape, e_d) in enumerate(zip(angles, shapes, each, strict=True)):
                by_shape = -2.0 * by_e * e_d / shape
                if cls.centred:
                    slope = np.mean(WAVES * np.exp(WAVES / shape**2), axis=-1, keepdims=True) * -2.0 / shape**3
                    if len(means) > 1:
                        slope = slope * (1.0 + b) / (1.0 + means[d])
                    by_shape += dR * wave * (slope / b**2)
                found.append((-by_e * np.sin(angle) / shape**2, by_shape))
            return found

        return 1.0 - wave / b, back

    def rescale_columns(self, scale: np.ndarray, shift: np.ndarray) -> Base:
        return self.replace(period=self.parameters()["period"] * scale)


@final
@dataclass(frozen=True, eq=False, repr=False)
class Periodic(_Repeating):
    """k(x, z) = exp(-2 sin^2(pi (x - z) / p) / l^2) = exp((cos(2 pi (x - z) / p) - 1) / l^2): repeats every p.

    Deviation: for several columns the paper uses the sine of |x - z|, which is not positive definite; this is the
    product over columns, which is.
    """

    symbol: ClassVar[str] = "Per"
    rank: ClassVar[int] = 9
    kind: ClassVar[str] = "periodic"
    centred: ClassVar[bool] = False
    period: PerColumn = positive(PERIOD)
    lengthscale: PerColumn = positive(SHAPE, default=1.0)
    dims: Dims = None


@final
@dataclass(frozen=True, eq=False, repr=False)
class CentredPeriodic(_Repeating):
    """The periodic kernel without its constant: its functions have mean zero over a period.

    With b = prod_d exp(-1 / l_d^2) I_0(1 / l_d^2), the mean of exp(e) over a period, k = (exp(e) - b) / (1 - b). In one
    column it tends to cos(2 pi (x - z) / p) as l grows.
    """

    symbol: ClassVar[str] = "Per0"
    rank: ClassVar[int] = 10
    kind: ClassVar[str] = "periodic"
    centred: ClassVar[bool] = True
    period: PerColumn = positive(PERIOD)
    lengthscale: PerColumn = positive(SHAPE, default=1.0)
    dims: Dims = None
