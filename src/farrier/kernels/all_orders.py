"""Interactions of all orders at once: a product over the inputs of one plus a kernel of each.

    k(x, z) = prod_d (1 + s_d r_d(x_d, z_d)) / (1 + s_d)

Of a number r = exp(-((w(x) - w(z)) / l)^2 / 2), with w the transform of a skewed input (warped.py); of a code r = 1 if
x and z are the same level, else 0 (category.py). Multiplied out, k is a sum over all sets of inputs, each with the
product of their kernels: a constant, an effect of every input, an interaction of every pair, and so on (Stitson et al.
1999; Duvenaud et al. 2011). The strengths s say how much of each there is, with two numbers an input instead of one for
every set. Where a combination of values was never seen, effects of fewer inputs still tell what to expect there; a
kernel of the distance in all inputs forgets.
"""

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from farrier.kernels.algebra import Back, Base, Dims, PerColumn, Slopes, Values
from farrier.kernels.parameters import ParameterPrior, fixed, positive
from farrier.kernels.warped import warped


@final
@dataclass(frozen=True, eq=False, repr=False)
class AllOrders(Base):
    """Effects and interactions of all inputs, of every order."""

    symbol: ClassVar[str] = "All"
    rank: ClassVar[int] = 17
    kind: ClassVar[str] = "smooth"
    lengthscale: PerColumn = positive()
    """Of numbers; that of a code has no effect."""
    strength: PerColumn = positive(ParameterPrior(spread=1.5), default=0.3)
    """The variance of what an input does beside that of leaving it out. Start and prior by judgement."""
    power: PerColumn = fixed(default=1.0)
    location: PerColumn = fixed(default=0.0)
    unit: PerColumn = fixed(default=1.0)
    coded: PerColumn = fixed(default=0.0)
    """1 for a column of codes, 0 for numbers."""
    dims: Dims = None

    @classmethod
    def between(cls, values: Values, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, Back]:
        lengths, strengths = values["lengthscale"], values["strength"]
        columns = [_Column.of(values, d, X, Z) for d in range(X.shape[1])]
        K = np.ones((len(X), len(Z)))
        for column, s in zip(columns, strengths, strict=True):
            K *= (1.0 + s * column.r) / (1.0 + s)

        def back(dK: np.ndarray) -> Slopes:
            M, by = dK * K, np.zeros((2, len(strengths)))
            total = float(M.sum())
            for d, (column, s) in enumerate(zip(columns, strengths, strict=True)):
                # d log k / ds = r / (1 + s r) - 1 / (1 + s), and dr/dl = r q / l with q = ((w(x) - w(z)) / l)^2
                part = M * column.r
                part /= 1.0 + s * column.r
                by[1, d] = float(part.sum()) - total / (1.0 + s)
                if column.q is not None:
                    by[0, d] = s * float(np.vdot(part, column.q)) / lengths[d]
            return {"lengthscale": by[0], "strength": by[1]}

        return K, back

    def rescale_columns(self, scale: np.ndarray, shift: np.ndarray) -> Base:
        return self.replace(location=self.location * scale + shift, unit=self.unit * scale)


@final
@dataclass(frozen=True, eq=False)
class _Column:
    """r of one column for all pairs of rows, and q; None for codes."""

    r: np.ndarray
    q: np.ndarray | None

    @classmethod
    def of(cls, values: Values, d: int, X: np.ndarray, Z: np.ndarray) -> "_Column":
        one = {name: values[name][d] for name in ("lengthscale", "power", "location", "unit", "coded")}
        x, z = ((rows[:, d] - one["location"]) / one["unit"] for rows in (X, Z))
        if one["coded"]:
            return cls((np.rint(x)[:, None] == np.rint(z)[None, :]).astype(float), None)
        x, z = (warped(rows, one["power"]) / one["lengthscale"] for rows in (x, z))
        q = (x[:, None] - z[None, :]) ** 2
        # rows often share their values: an exponential for each pair of distinct ones
        (x_values, x_places), (z_values, z_places) = (np.unique(rows, return_inverse=True) for rows in (x, z))
        if 4 * len(x_values) * len(z_values) > q.size:
            r = -0.5 * q
            return cls(np.exp(r, out=r), q)
        table = np.exp(-0.5 * (x_values[:, None] - z_values[None, :]) ** 2)
        return cls(table[:, z_places][x_places], q)
