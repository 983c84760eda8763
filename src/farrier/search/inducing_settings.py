"""The settings of inducing points, and of tables that are read in blocks of rows because they need not fit in memory.

Each setting says in brackets its unit and the origin of its value, as in settings.py.
"""

from dataclasses import dataclass
from typing import final

from farrier.inference.inducing_points import PointLimits


@final
@dataclass(frozen=True)
class InducingSettings:
    """The number of inducing points of each kernel."""

    tolerance: float = 1e-4
    """Part of a kernel's trace that its inducing points may leave unexplained. [part of the trace; by judgement]"""
    most: int = 400
    """Most inducing points of one kernel. [points; by judgement]"""
    limits: PointLimits = PointLimits()
    """Limits for all kernels together."""


@final
@dataclass(frozen=True)
class BlockSettings:
    """Tables that are read in blocks: a sample for the search, and sums over all rows for the fit."""

    smallest: int = 200_000
    """Rows from which a table in a file or a memory map is read in blocks. [rows; by judgement]"""
    rows: int = 65_536
    """Rows of one block, which is one task of a worker. [rows; by judgement]"""
    sample: int = 20_000
    """Rows drawn at random: the search, the inducing points and the first fit use them, and reports show them.
    [rows; by judgement]"""
    iterations: int = 4
    """Most L-BFGS iterations of a fit to all rows; each reads them twice or more. [iterations; by judgement]"""
    tolerance: float = 0.5
    """Gain of five iterations, in nats for each thousand rows, below which a fit ends.
    [nats for each thousand rows; by judgement]"""
    curvature_rows: int = 4_000
    """Rows of the sample at which the curvature of the log posterior is computed; that of all rows is in proportion.
    [rows; by judgement]"""
    unexplained: float = 1e-6
    """Part of a kernel's trace that its inducing points may leave unexplained: many rows tell smaller differences from
    noise. [part of the trace; by judgement]"""
    limits: PointLimits = PointLimits(together=256, rows=1500)
    """Limits for the inducing points of all kernels together; time is quadratic in their number."""
