"""Families that no file of kernels/ holds, for what evaluation promises to any family of any form."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from farrier.kernels.algebra import Base, Dims, PerColumn
from farrier.kernels.forms import Profile, Stationary
from farrier.kernels.parameters import fixed, positive, real


@dataclass(frozen=True, eq=False, repr=False)
class Gibbs(Base):
    """k(x, z) = exp(-(s(x) - s(z))^2 / 2), s(x) = x + bend tanh(x): neither of rank one nor stationary."""

    symbol: ClassVar[str] = "Gibbs"
    rank: ClassVar[int] = 20
    bend: PerColumn = real(shared=True)
    dims: Dims = None

    @classmethod
    def between(cls, values, X, Z):
        bend = values["bend"]
        away = sum(
            ((X[:, d] + bend * np.tanh(X[:, d]))[:, None] - (Z[:, d] + bend * np.tanh(Z[:, d]))[None, :]) ** 2
            for d in range(X.shape[1])
        )
        K = np.exp(-0.5 * away)

        def back(dK):
            slope = 0.0
            for d in range(X.shape[1]):
                tanh = np.tanh(X[:, d])[:, None] - np.tanh(Z[:, d])[None, :]
                slope -= np.sum(dK * K * (X[:, d][:, None] - Z[:, d][None, :] + bend * tanh) * tanh)
            return {"bend": np.atleast_1d(slope)}

        return K, back

    @classmethod
    def at(cls, values, X):
        return np.ones(len(X)), lambda dk: {"bend": np.zeros(1)}

    def rescale_columns(self, scale, shift):
        raise AssertionError("no test changes the units of this one")


@dataclass(frozen=True, eq=False, repr=False)
class Cosine(Stationary):
    """k(x, z) = cos(2 pi turns (x - z) / period): a stationary family with a number that is never trained."""

    symbol: ClassVar[str] = "Cos"
    rank: ClassVar[int] = 21
    period: PerColumn = positive()
    turns: PerColumn = fixed(default=1.0)
    dims: Dims = None

    @classmethod
    def of_lags(cls, values, lags):
        period = values["period"]
        angle = 2.0 * np.pi * values["turns"] * lags / period
        return np.cos(angle), lambda dR: {"period": np.sum(dR * np.sin(angle) * angle, axis=1) / period[:, 0]}

    def rescale_columns(self, scale, shift):
        return self.replace(period=self.period * scale)


@dataclass(frozen=True, eq=False, repr=False)
class Power(Profile):
    """v(x) = (x - location)^degree: a profile with a number that is never trained."""

    symbol: ClassVar[str] = "Pow"
    rank: ClassVar[int] = 22
    location: PerColumn = real()
    degree: PerColumn = fixed(default=2.0)
    dims: Dims = None

    @classmethod
    def profile(cls, values, x):
        away, degree = x - values["location"], values["degree"]
        return away**degree, lambda dv: {"location": -degree * np.sum(dv * away ** (degree - 1.0))}

    def rescale_columns(self, scale, shift):
        raise AssertionError("no test changes the units of this one")
