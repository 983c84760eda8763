"""Numbers from papers and other packages, to compare ours with; the sources are named with each table."""

DEVIATIONS = 2.0
"""Printed standard deviations within which a printed number counts as reached."""
CLOSE = 0.05
"""The part of a printed number within which it counts as reached if no standard deviation is printed; by judgement."""


def verdict_on(ours: float, printed: float, spread: float | None, digit: float, *, more_is_better: bool) -> str:
    """ "reached" if ours is close to the printed number on either side, else "better" or "worse".

    `spread` is the printed standard deviation, None where there is none; `digit` is half a unit of the last printed
    digit, which is allowed for.
    """
    ahead = (ours - printed) * (1.0 if more_is_better else -1.0)
    tolerance = (CLOSE * abs(printed) if spread is None else DEVIATIONS * spread) + digit
    return "reached" if abs(ahead) <= tolerance else "better" if ahead > 0.0 else "worse"


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
    "boston": {
        "svgp-se": ((7.30, 0.21), (-3.72, 0.07)),
        "multisvgp": ((7.24, 0.27), (-3.72, 0.10)),
        "softmax": ((6.90, 0.34), (-3.36, 0.04)),
        "gp-nkn": ((5.53, 0.49), (-3.77, 0.26)),
        "paper": ((5.41, 0.10), (-3.24, 0.11)),
    },
    "concrete": {
        "svgp-se": ((9.64, 0.14), (-3.54, 0.01)),
        "multisvgp": ((8.70, 1.05), (-3.45, 0.08)),
        "softmax": ((7.46, 0.43), (-3.39, 0.04)),
        "gp-nkn": ((6.44, 0.19), (-3.10, 0.01)),
        "paper": ((7.39, 0.42), (-3.33, 0.06)),
    },
    "energy": {
        "svgp-se": ((0.83, 0.07), (-1.11, 0.03)),
        "multisvgp": ((0.69, 0.18), (-1.07, 0.08)),
        "softmax": ((0.51, 0.05), (-0.89, 0.04)),
        "gp-nkn": ((0.41, 0.03), (-0.54, 0.04)),
        "paper": ((0.37, 0.05), (-0.76, 0.05)),
    },
    "kin8nm": {
        "svgp-se": ((0.11, 0.00), (0.71, 0.01)),
        "multisvgp": ((0.11, 0.08), (0.74, 0.02)),
        "softmax": ((0.13, 0.00), (0.60, 0.01)),
        "gp-nkn": ((0.09, 0.00), (1.02, 0.05)),
        "paper": ((0.09, 0.01), (0.89, 0.01)),
    },
    "wine": {
        "svgp-se": ((0.62, 0.00), (-1.04, 0.00)),
        "multisvgp": ((0.62, 0.01), (-1.04, 0.00)),
        "softmax": ((0.64, 0.01), (-1.07, 0.01)),
        "gp-nkn": ((0.67, 0.01), (-1.01, 0.01)),
        "paper": ((0.63, 0.01), (-1.04, 0.01)),
    },
    "yacht": {
        "svgp-se": ((1.45, 0.10), (-1.91, 0.14)),
        "multisvgp": ((1.22, 0.44), (-1.67, 0.46)),
        "softmax": ((1.81, 0.53), (-2.16, 0.13)),
        "gp-nkn": ((0.46, 0.05), (-0.63, 0.02)),
        "paper": ((0.36, 0.05), (-0.83, 0.12)),
    },
}
"""Mean and standard deviation over 10 runs of the root mean square error and of the mean log-likelihood of the test
rows, from the AAAI 2021 paper (its main table and the one with softmax); "multisvgp" is its column "no prior"."""

IMPLICIT = {
    "CO2": {"bbq": (0.068, -1.242), "paper": (0.157, -1.649)},
    "Passenger": {"bbq": (0.096, -0.610), "paper": (0.035, -1.702)},
    "Concrete": {"bbq": (0.124, -0.577), "paper": (0.086, -0.742)},
    "Noise": {"bbq": (0.138, -0.173), "paper": (0.074, -0.922)},
    "Rubber": {"bbq": (0.248, 0.523), "paper": (0.225, -0.010)},
    "Pores": {"bbq": (0.256, 0.335), "paper": (0.574, 0.898)},
    "Tread": {"bbq": (0.114, -0.754), "paper": (0.123, -0.644)},
}
"""Root mean square error and mean negative log-likelihood, from the same paper's appendix."""

CLASSIFICATION = {
    "heart": {"additive GPs": 18.15, "no prior": 16.00, "paper": 14.00},
    "liver": {"additive GPs": 30.36, "no prior": 40.29, "paper": 27.43},
    "pima": {"additive GPs": 23.99, "no prior": 29.87, "paper": 20.52},
}
"""Per cent of the test rows told wrong, mean over 10 splits, from the same paper."""

CLASSIFICATION_ORDERS = {"heart": 1, "liver": 3, "pima": 6}
"""Inputs of each set in the same table: its number of kernels is (13 over 1), (6 over 3) and (8 over 6)."""

AUTHORS_RUN = {"airline": 14.8, "mauna400": 0.82}
"""Root mean square error on the last tenth of the series: the weights that the authors' code ends with, run by us."""

COMPETITIONS: dict[str, dict[str, tuple[float, float, float, float, float, float | None]]] = {
    "m1_yearly": {
        "auto-ets": (3.950, 19.17, 0.54, 0.68, 60.7, 0.01),
        "auto-theta": (3.609, 17.65, 0.42, 0.55, 79.1, 0.02),
        "naive": (4.893, 22.43, 0.46, 0.62, 88.0, None),
    },
    "m1_quarterly": {
        "auto-ets": (1.659, 16.34, 0.61, 0.76, 23.2, 0.1),
        "auto-theta": (1.667, 16.35, 0.52, 0.65, 28.5, 0.02),
        "seasonal-naive": (2.078, 18.94, 0.60, 0.80, 25.1, None),
    },
    "m1_monthly": {
        "auto-ets": (1.090, 14.91, 0.69, 0.85, 10.3, 0.2),
        "auto-theta": (1.101, 17.25, 0.66, 0.81, 11.5, 0.03),
        "seasonal-naive": (1.314, 17.30, 0.74, 0.90, 10.4, None),
    },
    "m3_yearly": {
        "auto-ets": (2.488, 16.19, 0.72, 0.85, 24.4, 0.02),
        "auto-theta": (2.421, 17.12, 0.62, 0.75, 34.8, None),
        "naive": (3.033, 18.04, 0.63, 0.80, 36.6, None),
    },
    "m3_quarterly": {
        "auto-ets": (1.145, 9.83, 0.69, 0.85, 10.9, 0.2),
        "auto-theta": (1.130, 9.77, 0.63, 0.79, 12.3, None),
        "seasonal-naive": (1.421, 11.32, 0.74, 0.90, 11.5, None),
    },
    "m3_monthly": {
        "auto-ets": (0.854, 13.70, 0.74, 0.90, 6.39, 0.5),
        "auto-theta": (0.850, 14.21, 0.72, 0.87, 7.38, None),
        "seasonal-naive": (1.129, 16.65, 0.81, 0.93, 8.37, None),
    },
    "m3_other": {
        "auto-ets": (1.636, 3.36, 0.83, 0.94, 11.8, 0.05),
        "auto-theta": (1.982, 3.95, 0.79, 0.92, 12.5, None),
        "naive": (2.944, 4.96, 0.67, 0.87, 18.4, None),
    },
    "m4_weekly": {
        "auto-ets": (0.367, 6.70, 0.87, 0.97, 2.60, 0.1),
        "auto-theta": (0.378, 6.58, 0.85, 0.92, 2.90, 0.2),
        "seasonal-naive": (0.950, 13.73, 0.79, 0.94, 6.37, None),
    },
    "m4_hourly": {
        "auto-ets": (1.575, 16.80, 0.71, 0.84, 28.4, 1.6),
        "auto-theta": (2.841, 14.93, 0.79, 0.90, 28.9, 0.3),
        "seasonal-naive": (1.214, 13.36, 0.84, 0.96, 9.98, None),
    },
    "tourism_yearly": {
        "auto-ets": (2.753, 21.00, 0.73, 0.87, 26.0, 0.03),
        "auto-theta": (2.590, 19.68, 0.54, 0.67, 36.6, None),
        "naive": (3.016, 22.14, 0.58, 0.73, 35.3, None),
    },
    "tourism_quarterly": {
        "auto-ets": (1.608, 15.12, 0.85, 0.93, 14.9, 0.3),
        "auto-theta": (1.649, 15.31, 0.65, 0.80, 18.0, None),
        "seasonal-naive": (1.722, 16.72, 0.74, 0.88, 16.1, None),
    },
    "tourism_monthly": {
        "auto-ets": (1.521, 18.54, 0.82, 0.92, 15.2, 0.9),
        "auto-theta": (1.630, 19.52, 0.69, 0.84, 16.2, None),
        "seasonal-naive": (1.648, 21.53, 0.76, 0.90, 15.2, None),
    },
}
"""MASE, sMAPE, shares inside the 80 % and the 95 % interval, MSIS at 95 %, seconds a series: means over all series of a
set, learning and reporting part together. Measured with statsforecast 2.1 on one core; from the README of the folder
`forecast` of the data. AutoETS has no season on the weekly set: it takes none above 24."""
