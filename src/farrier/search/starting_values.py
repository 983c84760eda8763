"""The grids on which kernels start, and how near two of them may be before they are the same one.

Lengths over time are parts of its range, those of the inputs of a table their standard deviations.
"""

LENGTHSCALES = (1.0, 0.3, 0.1, 0.03)
"""Starting lengthscales over time: of curves, of rough drifts, of the change of a cycle's shape. [part of the range; by
judgement]"""
SHAPES = (1.0, 0.5)
"""Starting lengthscales of a periodic kernel; cycles that drift or grow start at the first. [radians; by judgement]"""
CHANGEPOINT_WIDTH = 0.25
"""Starting width of a changepoint. [steps between neighbours; by judgement]"""
INPUT_LENGTHSCALES = (3.0, 1.0)
"""Starting lengthscales of one input of a table; of all together, times the square root of their number. [standard
deviations of the input; measured on inner splits of seven tables]"""
INPUT_LENGTHSCALE = 2.0
"""That of each input in the pool of a table and in interactions. [standard deviations of the input; measured on inner
splits of seven tables]"""
SAME_LENGTHSCALE = 0.6
"""Difference up to which two candidates have the same lengthscale. [log of the lengthscale; by judgement]"""
SAME_PERIOD = 0.04
"""Difference up to which two periods are the same. [part of the period; by judgement]"""
SAME_CHANGE = 0.1
"""Distance up to which two changepoints are the same. [standard deviations of time; by judgement]"""
