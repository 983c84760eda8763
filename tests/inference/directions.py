"""Directions in the vector of a model, one field at a time: where derivatives are checked by finite differences."""

import numpy as np

from farrier.kernels.parameters import trained


def fields(model):
    """Where each field of a model stands in its vector: of q(w), the noise, and the hyperparameters by family."""
    prior = [f"prior.{name}" for name in trained(type(model.prior)) for _ in np.ravel(getattr(model.prior, name))]
    pool = [f"{type(model.pool.kernels[one.product][one.factor]).__name__}.{one.name}" for one in model.pool.layout]
    names = np.array([*prior, "noise", *pool])
    return {str(name): np.flatnonzero(names == name) for name in dict.fromkeys(names)}


def along_field(model, field, rng):
    """A random direction in the parameters of one field, zero in all others."""
    places = fields(model)
    direction = np.zeros(sum(len(at) for at in places.values()))
    direction[places[field]] = rng.standard_normal(len(places[field]))
    return direction
