"""Notes below an explanation: what was done to predictions that the components do not tell."""

import numpy as np

from farrier.data.copies import without_copies
from farrier.explain.context import Setting
from farrier.explain.count_words import about_counts
from farrier.explain.numbers import listing, per_cent
from farrier.model.result import Result

ENDS = 0.025, 0.975
"""The ends of the 95 % intervals."""
MOST_RIVALS = 2
"""Most other structures that are named, by judgement."""
SMALL_SHIFT = 0.1
"""Shift of the end of the forecast, in half-widths, below which it is not worth a number, by judgement."""
MOST_ROWS = 200
"""Most fitted rows at which a floor or a cap is looked for, evenly chosen, by judgement."""


def notes(result: Result, setting: Setting) -> tuple[str, ...]:
    """One sentence for each note."""
    said = *about_counts(result, setting), *about_columns(result), *about_copies(result), *about_bounds(result, setting)
    return (*about_forecast(result), *said, *about_regressors(result, setting))


def about_forecast(result: Result) -> list[str]:
    """How much of the forecast the components account for, and which other structures would do nearly as well."""
    found = result.explained
    if found.remainder is None:
        return []
    said = []
    if found.survivors:
        named = "This component accounts" if found.survivors == 1 else "Together these components account"
        said.append(
            f"{named} for the forecast to within {per_cent(found.remainder)} of the half-width of its 95 % interval."
        )
    for one in sorted(found.rivals, key=lambda rival: rival.behind)[:MOST_RIVALS]:
        end = "would leave the end of the forecast where it is"
        if abs(one.shift) > SMALL_SHIFT:
            side = "higher" if one.shift > 0 else "lower"
            end = f"would put the end of the forecast {side} by {per_cent(abs(one.shift))} of that half-width"
        said.append(f"Another structure is supported nearly as well by the rows ({one.formula}): it {end}.")
    return said


def about_regressors(result: Result, setting: Setting) -> list[str]:
    """The regressors of a series for which the search found no effect."""
    if setting.kind != "series" or result.explained.appraisal is None:
        return []
    inputs = len(result.columns)
    used = {d for kernel in result.kernels for factor in kernel.products()[0] for d in factor.positions(inputs)}
    gone = [name for d, name in enumerate(result.columns) if d > 0 and d not in used]
    return [f"No effect of {listing(gone, 'or')} was found."] if gone else []


def about_columns(result: Result) -> list[str]:
    """The columns that are left out, and the cells that are empty."""
    if result.table is None:
        return []
    said = []
    gone = [f"{one.name} ({one.note})" for one in result.table.left_out]
    if result.recipe.settings.get("kernels") != "auto":
        inputs = len(result.columns)
        factors = [one for kernel in result.explained.kernels for one in kernel.products()[0]]
        used = {result.columns[d] for factor in factors for d in factor.positions(inputs)}
        gone += [f"{name} (no kernel acts on it)" for name in result.table.categories if name not in used]
    if gone:
        said.append(f"Left out: {'; '.join(gone)}.")
    empty = [f"{one.name}: {one.note}" for one in result.table.columns if one.inputs and one.note]
    if empty:
        said.append(f"Empty cells: {'; '.join(empty)}.")
    return said


def about_copies(result: Result) -> list[str]:
    """How many rows of a table are copies of others, which count once."""
    if result.explained.beliefs.clock is not None or result.explained.stacking is None or result.recipe.has_weights:
        return []
    gone = len(result.target) - len(without_copies(result.inputs, result.target))
    if not gone:
        return []
    if gone == 1:
        return ["One row is a copy of another and was left out."]
    return [f"{gone} rows are copies of others and were left out."]


def about_bounds(result: Result, setting: Setting) -> list[str]:
    """The floor and the cap, where they cut a 95 % interval, of the rows or of the forecast."""
    floor, cap = result.explained.floor, result.explained.cap
    if (floor is None and cap is None) or setting.kind == "classes":
        return []
    shaped = cap is not None and f" to {cap:.17g}" in result.explained.component_scale.transform.name
    inputs = result.inputs[np.unique(np.linspace(0, len(result.inputs) - 1, MOST_ROWS).round().astype(int))]
    ahead = setting.horizon(None)
    if ahead and setting.time is not None:
        inputs = np.vstack([inputs, result.at(setting.ahead(ahead)[0])])
    low, high = result.explained.quantiles(inputs, ENDS)
    said = []
    # counts are never below zero, whatever the floor is
    if floor is not None and low.min() <= floor and not (result.explained.counts and floor <= 0.0):
        why = ", because no value does" if result.recipe.settings.get("floor", "auto") == "auto" else ""
        off = " (floor=None turns this off)" if why else ""
        said.append(f"Forecasts do not go below {floor:g}{why}: what the model puts lower counts as {floor:g}{off}.")
    if shaped and cap is not None:
        said.append(f"What grows slows towards the cap of {cap:g}, and does not go above it.")
    elif cap is not None and high.max() >= cap:
        said.append(f"Forecasts do not go above {cap:g}: what the model puts higher counts as {cap:g}.")
    return said
