"""The learned priors: a whole table, by frequency, and the frequency of a season."""

import numpy as np
import pytest

from farrier.search.learned_priors import GROWTHS, PARAMETERS, SCALES, STEPS, frequency_of, priors_for


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("growth", GROWTHS)
@pytest.mark.parametrize("frequency", ["yearly", "quarterly", "monthly", "weekly", "hourly", "other"])
def test_every_frequency_has_a_prior_for_every_parameter(frequency, growth, scale):
    priors = priors_for(frequency, growth, scale)
    assert tuple(priors) == PARAMETERS
    assert all(np.isfinite(one.mean) and 0.0 < one.sd < 3.0 for one in priors.values())


def test_a_frequency_that_was_not_learned_has_the_priors_of_others():
    for growth in GROWTHS:
        assert priors_for("daily", growth) == priors_for("other", growth)


def test_beside_a_line_growth_fades_faster_than_alone():
    for frequency in ("yearly", "quarterly", "monthly"):
        beside, alone = (priors_for(frequency, growth)["damping"].mean for growth in GROWTHS)
        assert beside > alone


def test_the_frequency_is_told_by_the_steps_in_a_season():
    assert frequency_of(None) == "yearly"
    for name, steps in STEPS.items():
        assert frequency_of(1.004 * steps) == name
    assert frequency_of(365.25 / 7) == "weekly"
    assert frequency_of(17.0) == "other"


def test_a_scale_that_was_not_learned_has_the_priors_of_the_identity():
    assert priors_for("monthly", "line", "square root") == priors_for("monthly", "line", "identity")
