"""Settings of the stacking of a table's members, and of the draws of their parameters. Part of `SearchSettings`."""

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True)
class StackingSettings:
    """How the members of a table's average predict together. Measured: log score and coverage on inner splits of
    eleven tables, 120 to 300 rows, with test rows that no reported figure uses."""

    gate_spread: float = 1.0
    """Prior standard deviation of the numbers that vary the shares.
    [log of a ratio of shares; measured on inner splits of yacht and servo: 2 is no better, nor is 0.5 on those and on
    boston and energy]"""
    scale_spread: float = 0.5
    """Prior standard deviation of the numbers that vary the size of errors. [log of the size; by judgement]"""
    tails: float = 2.3
    """Prior mean of the log of the degrees of freedom beyond the least. [log of degrees of freedom; by judgement]"""
    least_degrees: float = 2.0
    """Least degrees of freedom: above it a Student-t has a variance. Without a limit densities gather at marks that are
    whole numbers, with tails in which no mean exists.
    [degrees of freedom; measured on wine, where leave-one-out errors were 43 without it, 6 with it]"""
    tail_spread: float = 1.0
    """Its prior standard deviation. [log of degrees of freedom; by judgement]"""
    furthest: float = 4.0
    """Distance from the mean of y beyond which shares and sizes stay as they are.
    [standard deviations; by judgement]"""
    folds: int = 5
    """Folds of the rows: the shares at a row follow from a prediction that has not seen its fold.
    [folds; by judgement]"""
    seen: float = 0.95
    """Part of the left-out rows whose standard deviation is at most the one up to which they tell the size of errors.
    [part of the rows; by judgement]"""
    ends: float = 0.1
    """Part of the rows that is left out at each end of a principal component of the inputs: from such rows comes how
    much of the further variance of a posterior counts, beyond the one up to which single rows tell the size of errors.
    [part of the rows; measured on the outer rows of 17 inner splits of five tables: the log score was -1.72 without it,
    -1.65, -1.63, -1.64 and -1.65 with a fifteenth, a tenth, a seventh and a fifth]"""
    steps: int = 100
    """Most L-BFGS iterations. [iterations; by judgement]"""
    sampled_rows: int = 350
    """Most rows for which the parameters of a pool are drawn by Hamiltonian Monte Carlo; for more the mode predicts.
    [rows; by judgement]"""
    sampled_draws: int = 10
    """Draws that are kept, and draws of the numbers of the stacking.
    [draws, even; measured on 60 inner splits: with 8, 10, 16 and 64 of the latter log scores differ by under 0.01]"""
    apart: int = 2
    """Trajectories from one of them to the next. [trajectories; by judgement]"""
    warm: int = 12
    """Trajectories before the first. [trajectories; by judgement]"""
    leaps: int = 5
    """Steps of a trajectory. [steps; by judgement]"""
    leap: float = 0.3
    """Length of the first step. [standard deviations of Laplace's approximation; by judgement]"""
