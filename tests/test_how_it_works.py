"""The numbers of docs/how-it-works.md are those of the code."""

from pathlib import Path

import pytest

from farrier.estimators.large_tables import FEWEST_BLOCK_ROWS
from farrier.model.members import SERIES_DRAWS
from farrier.model.rows import FITTED_ROWS, PREDICTING_ROWS, SEARCH_ROWS, WINDOWS
from farrier.model.stacking import DRAWS
from farrier.model.target_scale import LOG_ODDS
from farrier.model.tiers import BOUND_DRAWS, EXACT_ROWS, EXACT_TABLE_ROWS
from farrier.out_of_core.memory import SAMPLED_ROWS
from farrier.search.beliefs import PRIOR_SCALE, VOCABULARY
from farrier.search.enriching import FAR
from farrier.search.evidence import CHANCE, STRONG, VERY_STRONG
from farrier.search.rows import REST_WEIGHT
from farrier.search.table_moves import TABLE_ROWS

ROOT = Path(__file__).parent.parent
PAGE = " ".join((ROOT / "docs" / "how-it-works.md").read_text(encoding="utf-8").split())


@pytest.mark.parametrize(
    "said",
    [
        f"({FAR:g} nats; a cycle in a series without seasons {VERY_STRONG:g})",
        f"and {PRIOR_SCALE:g} standard deviations of y for others",
        f"prior log odds of {LOG_ODDS['log']:+g} nats",
        f"a difference of up to {CHANCE:g} nats does not count",
        f"over {SERIES_DRAWS} draws of all parameters",
        f"and {DRAWS} draws of each",
        f"at {DRAWS} draws of its parameters",
        f"{DRAWS} draws by Hamiltonian Monte Carlo if fitted to at most {TABLE_ROWS} rows",
        f"Each factor costs log {len(VOCABULARY)} more, because it is one of seven families",
        f"strong evidence ({VERY_STRONG:g} nats) against noise alone",
        f"within {STRONG:g} nats",
        f"kept with {VERY_STRONG:g} nats more evidence",
        f"a prior scale of {REST_WEIGHT:g} standard deviations",
        f"| a series in time | the last {SEARCH_ROWS},",
        f"| a curve, up to {SEARCH_ROWS} | all |",
        f"| a curve, up to {EXACT_ROWS:,} | as what explains | {SEARCH_ROWS}: half spread",
        f"| {SEARCH_ROWS}, then parameters to at most {WINDOWS[0] * WINDOWS[1] + WINDOWS[2]:,} |",
        f"| a table, up to {TABLE_ROWS} | all |",
        f"| a table, up to {EXACT_TABLE_ROWS:,} | at most {FITTED_ROWS} | {TABLE_ROWS}, at random |",
        f"| a table, more | {FITTED_ROWS}; the structure to all | {TABLE_ROWS}, at random | all, pools at most "
        f"{PREDICTING_ROWS:,} |",
        f"{FEWEST_BLOCK_ROWS:,} and more | a sample of {SAMPLED_ROWS:,}, then all | {TABLE_ROWS} of the sample |",
        f"| up to {EXACT_ROWS:,} rows, or {EXACT_TABLE_ROWS:,} of a table |",
        f"counts of more than {EXACT_ROWS:,} rows",
        f"a fit uses {DRAWS} draws, and reported bounds (`elbo_`) are computed with {BOUND_DRAWS}",
    ],
)
def test_a_number_of_the_page_is_that_of_the_code(said):
    assert said in PAGE
