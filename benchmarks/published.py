"""Numbers from papers, to stand beside ours; the sources are named with each table."""

TIMESERIES = {
    "airline": 14.62,
    "solar": 0.382,
    "mauna": 1.373,
    "wheat": 42.75,
    "call_centre": 13.65,
    "radio": 0.641,
}
"""Root mean square error on the last tenth: the best of nine published methods for each series."""

TIMESERIES_ROWS = {"airline": 129, "solar": 361, "mauna": 490, "wheat": 333, "call_centre": 162, "radio": 216}
"""Rows to train on: the published split."""

UCI = {
    "boston": {"SVGP-SE": (7.30, -3.72), "GP-NKN": (5.53, -3.77), "paper": (5.41, -3.24)},
    "concrete": {"SVGP-SE": (9.64, -3.54), "GP-NKN": (6.44, -3.10), "paper": (7.39, -3.33)},
    "energy": {"SVGP-SE": (0.83, -1.11), "GP-NKN": (0.41, -0.54), "paper": (0.37, -0.76)},
    "kin8nm": {"SVGP-SE": (0.11, 0.71), "GP-NKN": (0.09, 1.02), "paper": (0.09, 0.89)},
    "wine": {"SVGP-SE": (0.62, -1.04), "GP-NKN": (0.67, -1.01), "paper": (0.63, -1.04)},
    "yacht": {"SVGP-SE": (1.45, -1.91), "GP-NKN": (0.46, -0.63), "paper": (0.36, -0.83)},
}
"""Root mean square error and mean log-likelihood of the test rows, from the AAAI 2021 paper's main table."""
