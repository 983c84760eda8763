"""What components save that change at the same time: the time of their change is known once.

A change of regime is two products, one until the change and one from it on, and each has a location of its own. If both
are at one place, that there is one change has an evidence too: with u the location of the second,

    log p(y | one change) = log p(y | two) - log( p(u) sqrt(2 pi) sd(u) )

because the likelihood is the same and the prior of a second location is not paid. One or several changes are equally
probable before.
"""

from itertools import pairwise

import numpy as np

from farrier.search.structure import Mode


def saved_by_sharing(mode: Mode, log_densities: np.ndarray, apart: float) -> float:
    """The gain of log evidence if changes that are closer than `apart` are one. [nats]

    `log_densities` are the log prior densities of all parameters.
    """
    fitted = sorted((place for place in mode.changes if mode.deviations[place] > 0.0), key=lambda place: mode.u[place])
    prices = {place: -log_densities[place] - np.log(np.sqrt(2.0 * np.pi) * mode.deviations[place]) for place in fitted}
    total = 0.0
    for before, place in pairwise(fitted):
        if mode.u[place] - mode.u[before] < apart:
            # the time of the change is as sure as the surest of both
            # one change, or several: the price of saying that it is one
            total += max(min(prices[before], prices[place]) - np.log(2.0), 0.0)
    return float(total)
