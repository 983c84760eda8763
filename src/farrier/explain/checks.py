"""Statistical checks of the residuals and of the calibration of the intervals.

There are four checks. Residuals are uncorrelated (autocorrelation). They hold no period (largest peak of the
Lomb-Scargle periodogram). They are normal (Anderson-Darling with estimated mean and standard deviation). Predictions
are calibrated (Kolmogorov-Smirnov on the probability integral transform u, and on |2u - 1|, which shows intervals of
the wrong width). The first two need rows in order of time. p-values are found by permutation or simulation with a fixed
seed, and by a formula for many rows. Holm's method corrects them for the number of checks. Each check has a verdict, a
sentence and a plot. The thresholds are by judgement.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special, stats

if TYPE_CHECKING:
    from farrier.explain.facts import Axis

DOUBTFUL, BAD = 0.05, 0.01
"""Corrected p-values below which the verdict is doubtful, or bad."""
SLIGHT_AUTOCORRELATION, SLIGHT_POWER = 0.1, 0.02
"""An autocorrelation, or a share of the variance, below this is at worst doubtful, however small the p-value."""
FEWEST, FEWEST_HELD_OUT = 20, 10
"""With fewer residuals, or held-out points, there is no verdict."""
DRAWS = 999
"""Permutations or simulations for a p-value."""
MOST_PERMUTED = 600
"""Most points for which p-values are found by permutation or simulation."""
FINER, MOST_CELLS = 3, 2**22
"""Frequencies for each cycle over the whole data, and the most cells of the FFT."""
MOST_LAGS = 40
"""Most lags of the autocorrelation."""
MOST_DRAWN = 400
"""Most points of a plot."""
EVEN = 0.05
"""Times are evenly spaced if at most this share of the steps differs from the median step by more than this share."""


@dataclass(frozen=True)
class Check:
    """One check; the p-values are None if there are too few rows."""

    name: str
    statistic: float | None
    p: float | None
    p_corrected: float | None
    verdict: str
    """"good", "doubtful", "bad", or "none"."""
    sentence: str
    plot: dict[str, Any]
    """The kind of plot, its points x and y, and the band from low to high in which y should lie."""


@dataclass(frozen=True)
class _Finding:
    """A check before its p-value is corrected, with the sentences for both outcomes."""

    name: str
    plot: dict[str, Any]
    fine: str
    found: str = ""
    statistic: float | None = None
    p: float | None = None
    slight: bool = False
    note: str = ""


def three_digits(length: float) -> str:
    """A length as a number of three significant digits."""
    return f"{length:.3g}"


def checks(
    residual_z: np.ndarray,
    x: np.ndarray | None,
    calibration: np.ndarray | None,
    axis: "Axis | None",
    say_length: Callable[[float], str] = three_digits,
) -> list[Check]:
    """The checks that apply: four for a series, the last two for a table (`x` is None).

    `residual_z` are standardised residuals in order of time and `x` their times. `calibration` is the probability
    integral transform of held-out points, which is uniform if the predictions are calibrated. `say_length` writes a
    length of time, in the units of x, in words.
    """
    z = np.asarray(residual_z, dtype=np.float64)
    known = np.isfinite(z)
    z, findings = z[known], []
    unit = f" {axis.unit}" if axis is not None and axis.unit and say_length is three_digits else ""

    def say(length: float) -> str:
        return say_length(length) + unit

    if x is not None:
        times = np.asarray(x, dtype=np.float64)[known]
        findings += [_autocorrelation(z, times, say), _periodogram(z, times, say)]
    u = np.zeros(0) if calibration is None else np.asarray(calibration, dtype=np.float64)
    findings += [_normality(z), _calibration(u[np.isfinite(u)])]
    corrected = iter(holm([finding.p for finding in findings if finding.p is not None]))
    return [_judge(finding, None if finding.p is None else next(corrected)) for finding in findings]


def holm(p: Sequence[float]) -> list[float]:
    """p-values corrected by Holm's method: the smallest times m, the next times m - 1 ..., never decreasing."""
    order = np.argsort(p, kind="stable")
    factors = len(order) - np.arange(len(order))
    corrected = np.empty(len(order))
    corrected[order] = np.minimum(np.maximum.accumulate(factors * np.asarray(p, dtype=np.float64)[order]), 1.0)
    return corrected.tolist()


def _judge(finding: _Finding, corrected: float | None) -> Check:
    if corrected is None:
        verdict, sentence = "none", finding.fine
    elif corrected >= DOUBTFUL:
        verdict, sentence = "good", f"{finding.fine} ({_say_p(corrected)}).{finding.note}"
    else:
        verdict = "doubtful" if corrected >= BAD or finding.slight else "bad"
        sentence = f"{finding.found} ({_say_p(corrected)}).{finding.note}"
    return Check(finding.name, finding.statistic, finding.p, corrected, verdict, sentence, finding.plot)


def _say_p(p: float) -> str:
    return "p below 0.001" if p < 0.001 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"


def _percent(share: float | np.floating) -> str:
    return f"{100 * share:.0f} %" if share >= 0.1 or share == 0 else f"{100 * share:.1f} %"


def _none(name: str, kind: str, why: str) -> _Finding:
    return _Finding(name, {"kind": kind, "x": [], "y": [], "low": [], "high": []}, why)


def _too_few(z: np.ndarray) -> str:
    """Why residuals cannot be checked; empty if they can."""
    if len(z) < FEWEST:
        return f"Not checked: there are {len(z)} residuals, and fewer than {FEWEST} say little."
    return "Not checked: the residuals are all the same." if np.ptp(z) == 0 else ""


def _permuted(z: np.ndarray) -> np.ndarray:
    """Random permutations of z, (DRAWS, n), the same on every call."""
    return np.random.default_rng(0).permuted(np.tile(z, (DRAWS, 1)), axis=1)


def _p_value(statistic: float, drawn: np.ndarray) -> float:
    return float((1 + np.sum(drawn >= statistic * (1 - 1e-12))) / (1 + len(drawn)))


def _autocorrelation(z: np.ndarray, x: np.ndarray, say: Callable[[float], str]) -> _Finding:
    """max_k |r_k| / sd_k over lags k = 1 ... K in steps, with sd_k^2 = (n - k) / (n (n + 2)) as in Ljung-Box."""
    name = "residual autocorrelation"
    if why := _too_few(z):
        return _none(name, "acf", why)
    n = len(z)
    lags = np.arange(1, min(MOST_LAGS, n // 4) + 1)
    sd = np.sqrt((n - lags) / (n * (n + 2)))
    r = _acf(z[None], len(lags))[0]
    k = int(np.argmax(np.abs(r) / sd))
    largest = float(np.abs(r[k]) / sd[k])
    if n <= MOST_PERMUTED:
        p = _p_value(largest, np.max(np.abs(_acf(_permuted(z), len(lags))) / sd, axis=1))
    else:
        p = -float(np.expm1(len(lags) * np.log1p(-2 * stats.norm.sf(largest))))
    step = np.diff(x)
    middle = float(np.median(step))
    even = np.mean(np.abs(step - middle) > EVEN * abs(middle)) <= EVEN
    apart = say(middle * lags[k]) if even else f"{lags[k]} row{'s' if lags[k] > 1 else ''}"
    note = "" if even else " Distances count rows, as the times are not evenly spaced."
    alike = "are alike" if r[k] > 0 else "fall on opposite sides"
    fine = f"The residuals look unrelated in time: their largest autocorrelation, {apart} apart, is {r[k]:.2f}"
    found = f"Structure in time is left over: residuals {apart} apart {alike}, with an autocorrelation of {r[k]:.2f}"
    band = stats.norm.ppf(0.975) * sd
    plot = {"kind": "acf", "x": lags.tolist(), "y": r.tolist(), "low": (-band).tolist(), "high": band.tolist()}
    return _Finding(name, plot, fine, found, float(r[k]), p, abs(r[k]) < SLIGHT_AUTOCORRELATION, note)


def _acf(Z: np.ndarray, lags: int) -> np.ndarray:
    """Autocorrelations at lags 1, 2, ... of each row."""
    centred = Z - Z.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, n=2 * Z.shape[1], axis=1)
    products = np.fft.irfft(np.abs(spectrum) ** 2, axis=1)
    return products[:, 1 : lags + 1] / products[:, :1]


def _periodogram(z: np.ndarray, x: np.ndarray, say: Callable[[float], str]) -> _Finding:
    """The largest share of the variance that a sine explains, from one cycle in the data to the Nyquist frequency."""
    name = "residual periodogram"
    why = _too_few(z)
    step = np.diff(x)
    if why or not np.all(step > 0):
        return _none(name, "periodogram", why or "Not checked: the times do not increase.")
    n, span = len(z), float(x[-1] - x[0] + np.median(step))
    highest = min(0.5 / float(np.median(step)), n / span)
    if n <= MOST_PERMUTED:
        frequency = np.arange(1.0, highest * span + 1e-9, 1 / FINER) / span
        power = _power(z[None], x, frequency)[0]
        drawn = np.max(_power(_permuted(z), x, frequency), axis=1)
        p, level = _p_value(power.max(), drawn), float(np.quantile(drawn, 0.95))
    else:
        frequency, power = _fast_power(z, x, span, highest)
        p, grid = float(_false_alarm(power.max(), x, highest)), np.linspace(0, 1, 10_001)
        level = float(grid[np.flatnonzero(_false_alarm(grid, x, highest) > 0.05)[-1]])
    k = int(np.argmax(power))
    period, share = 1 / frequency[k], float(power[k])
    if period * 2 > span:
        found = f"Slow variation is left over: a wave of about {say(period)}, longer than half of the data, carries"
    else:
        found = f"A period near {say(period)} is left over: it carries"
    found += f" {_percent(share)} of the variance of the residuals"
    fine = (
        f"No period stands out in the residuals: the strongest, near {say(period)}, carries {_percent(share)} of them"
    )
    rows = _thin_peaks(power)
    plot = {"kind": "periodogram", "x": (1 / frequency[rows]).tolist(), "y": power[rows].tolist()}
    plot |= {"low": [0.0] * len(rows), "high": [level] * len(rows)}
    return _Finding(name, plot, fine, found, share, p, share < SLIGHT_POWER)


def _power(Z: np.ndarray, x: np.ndarray, frequency: np.ndarray) -> np.ndarray:
    """Lomb-Scargle by row: P(f) = ((c'z)^2 / c'c + (s'z)^2 / s's) / z'z, cosine and sine shifted so that c's = 0."""
    centred = Z - Z.mean(axis=1, keepdims=True)
    angle = 2 * np.pi * frequency[:, None] * (x - x[0])
    shift = 0.5 * np.arctan2(np.sin(2 * angle).sum(axis=1), np.cos(2 * angle).sum(axis=1))[:, None]
    total = np.sum(centred**2, axis=1, keepdims=True)
    power = np.zeros((len(Z), len(frequency)))
    for wave in (np.cos(angle - shift), np.sin(angle - shift)):
        size = np.sum(wave**2, axis=1)
        # at the Nyquist frequency the sine can be zero at every point
        power += np.where(size > 1e-6 * len(x), (centred @ wave.T) ** 2 / np.maximum(size, 1e-12), 0.0) / total
    return power


def _fast_power(z: np.ndarray, x: np.ndarray, span: float, highest: float) -> tuple[np.ndarray, np.ndarray]:
    """P(f) = 2 |sum_j z_j exp(-2 pi i f x_j)|^2 / n z'z by FFT on a grid: near Lomb-Scargle for many points."""
    cell = max(1 / (32 * highest), FINER * span / MOST_CELLS)
    place = np.round((x - x[0]) / cell).astype(np.int64)
    cells = int(np.ceil(FINER * span / cell))
    spectrum = np.fft.rfft(np.bincount(place, weights=z - z.mean(), minlength=cells))
    frequency = np.arange(len(spectrum)) / (cells * cell)
    # stop one cycle below the Nyquist frequency: up to there cosines and sines have equal sums of squares
    kept = (frequency >= 1 / span) & (frequency <= min(highest, 0.25 / cell) - 1 / span)
    return frequency[kept], 2 * np.abs(spectrum[kept]) ** 2 / (len(z) * np.sum((z - z.mean()) ** 2))


def _false_alarm(power: Any, x: np.ndarray, highest: float) -> np.ndarray:
    """P(max over frequencies >= power) for white noise with its mean subtracted: Baluev (2008)."""
    n = len(x)
    gamma = np.sqrt(2 / (n - 1)) * np.exp(special.gammaln((n - 1) / 2) - special.gammaln((n - 2) / 2))
    width = highest * np.sqrt(4 * np.pi * np.var(x))
    tau = gamma * width * (1 - power) ** (0.5 * (n - 4)) * np.sqrt(0.5 * (n - 1) * power)
    return 1 - (1 - (1 - power) ** (0.5 * (n - 3))) * np.exp(-tau)


def _thin_peaks(power: np.ndarray) -> np.ndarray:
    """Indices of the points to plot: the highest of each stretch of frequencies."""
    stretches = np.array_split(np.arange(len(power)), min(len(power), MOST_DRAWN))
    return np.array([rows[np.argmax(power[rows])] for rows in stretches])


def _normality(z: np.ndarray) -> _Finding:
    """Anderson-Darling A^2 with mean and sd estimated; p-value of D'Agostino and Stephens (1986), table 4.9."""
    name = "normality of residuals"
    if why := _too_few(z):
        return _none(name, "qq", why)
    n, i = len(z), np.arange(1, len(z) + 1)
    w = np.sort(z - z.mean()) / z.std(ddof=1)
    squared = -n - np.sum((2 * i - 1) * (stats.norm.logcdf(w) + stats.norm.logsf(w[::-1]))) / n
    a = float(squared * (1 + 0.75 / n + 2.25 / n**2))
    if a >= 0.6:
        p = np.exp(1.2937 - 5.709 * min(a, 100.0) + 0.0186 * min(a, 100.0) ** 2)
    elif a > 0.34:
        p = np.exp(0.9177 - 4.279 * a - 1.38 * a**2)
    elif a > 0.2:
        p = -np.expm1(-8.318 + 42.796 * a - 59.938 * a**2)
    else:
        p = -np.expm1(-13.436 + 101.14 * a - 223.73 * a**2)
    rows = np.unique(np.linspace(0, n - 1, min(n, MOST_DRAWN)).round().astype(int))
    low, high = (stats.norm.ppf(stats.beta.ppf(q, i[rows], n + 1 - i[rows])) for q in (0.025, 0.975))
    plot = {"kind": "qq", "x": stats.norm.ppf((i[rows] - 0.5) / n).tolist(), "y": w[rows].tolist()}
    plot |= {"low": low.tolist(), "high": high.tolist()}
    return _Finding(name, plot, "The residuals look normal", _shape(w), float(squared), float(p))


def _shape(w: np.ndarray) -> str:
    """How sorted values differ from normal ones, by their L-moments, on which outliers have little influence."""
    n = len(w)
    i = np.arange(n)
    b = [np.mean(w)]
    weight = np.ones(n)
    for r in (1, 2, 3):
        weight = weight * (i - r + 1) / (n - r)
        b.append(np.mean(weight * w))
    scale = 2 * b[1] - b[0]
    skew = (6 * b[2] - 6 * b[1] + b[0]) / scale / np.sqrt(0.1866 / n)
    tails = ((20 * b[3] - 30 * b[2] + 12 * b[1] - b[0]) / scale - 0.1226) / np.sqrt(0.0883 / n)
    if abs(skew) > abs(tails):
        side = ("right", "above") if skew > 0 else ("left", "below")
        return f"The residuals are skewed to the {side[0]}: the data stray further {side[1]} the fit than the other way"
    if tails < 0:
        return "The residuals have light tails: large ones are rarer than in a normal distribution"
    beyond = np.mean(np.abs(w) > 3)
    counted = f": {_percent(beyond)} lie beyond three standard deviations, where 0.3 % would" if beyond > 0.004 else ""
    return f"The residuals have heavy tails{counted or ': large ones are more common than in a normal distribution'}"


def _calibration(u: np.ndarray) -> _Finding:
    """The larger Kolmogorov-Smirnov distance of u and of |2u - 1| from the uniform distribution."""
    name = "calibration"
    n = len(u)
    if n < FEWEST_HELD_OUT:
        held_out = f"{n} points were" if n > 1 else "one point was" if n else "no points were"
        why = f"Not checked: {held_out} held out, and fewer than {FEWEST_HELD_OUT} say little of the intervals."
        return _none(name, "calibration", why)
    distance = float(_distance(u[None])[0])
    if n <= MOST_PERMUTED:
        p = _p_value(distance, _distance(np.random.default_rng(0).random((DRAWS, n))))
    else:
        p = min(1.0, 2 * float(stats.kstwo.sf(distance, n)))
    within = np.abs(2 * u - 1)
    shift, width = np.mean(u > 0.5) - 0.5, np.mean(within) - 0.5
    inside = f"the 95 % interval holds {_percent(np.mean(within <= 0.95))} of {n} held-out points, "
    inside += f"the 80 % interval {_percent(np.mean(within <= 0.8))}"
    if abs(shift) > abs(width):
        above = f"{_percent(np.mean(u > 0.5))} of what came lies above their median"
        found = f"The predictions run too {'low' if shift > 0 else 'high'}: {above}; {inside}"
    else:
        found = f"The intervals are too {'narrow' if width > 0 else 'wide'}: {inside}"
    level = np.linspace(0.05, 0.95, 19)
    low, high = (stats.binom.ppf(q, n, level) / n for q in (0.025, 0.975))
    plot = {"kind": "calibration", "x": level.tolist(), "y": [float(np.mean(within <= share)) for share in level]}
    plot |= {"low": low.tolist(), "high": high.tolist()}
    return _Finding(name, plot, f"The intervals are about right: {inside}", found, distance, p)


def _distance(U: np.ndarray) -> np.ndarray:
    """max(KS(u), KS(|2u - 1|)) for each row."""
    above = np.arange(1, U.shape[1] + 1) / U.shape[1]
    below = above - 1 / U.shape[1]
    ordered = (np.sort(U, axis=1), np.sort(np.abs(2 * U - 1), axis=1))
    return np.max([np.maximum(above - s, s - below).max(axis=1) for s in ordered], axis=0)
