"""A model's components in plain English: what each is, how much it matters, and what it does beyond the data.

Fixed rules turn `Facts` (facts.py) into sentences: phrases.py writes the noun and its modifiers, parts.py holds the
thresholds between words, numbers.py writes numbers and dates. A kernel without a rule is named by its formula.

    print(sentences.text(facts, {"month": axis}, Target("passengers"), noise=9.3, rows=144, rest_share=0.002))
"""

import math
import textwrap
from collections.abc import Mapping, Sequence

from farrier.explain.extrapolation import course
from farrier.explain.facts import Axis, Facts, Target
from farrier.explain.numbers import (
    capital,
    count,
    known,
    listing,
    ordinal,
    per_cent,
    significant,
    sized,
)
from farrier.explain.parts import MOST, NAMED, SOME, STRONG, WORTH, Parts, fall, read, wanders
from farrier.explain.phrases import amount, chance, clauses, phrase
from farrier.search.evidence import STRONG as STRONG_EVIDENCE
from farrier.search.evidence import VERY_STRONG, WEAK

BEYOND = 1.05
"""Share of the variance above which components must cancel each other, by judgement."""
EVIDENCE = ((VERY_STRONG, "very strong"), (STRONG_EVIDENCE, "strong"), (WEAK, "moderate"))
"""Words for the evidence of a component, and the least nats for each; after Kass and Raftery, 1995."""
WIDTH = 88
"""Characters in a line of the printed explanation."""


def title(facts: Facts, axes: Mapping[str, Axis], target: Target) -> str:
    """A short noun phrase: 'A yearly pattern whose size grows'."""
    return capital(phrase(facts, read(facts), axes, target, brief=True))


def sentence(facts: Facts, axes: Mapping[str, Axis], target: Target) -> str:
    """What the component is with its parameters, what modifies it, and how much it matters: up to three sentences."""
    parts = read(facts)
    said = [capital(phrase(facts, parts, axes, target, brief=False)) + "."]
    modifiers = clauses(facts, parts, axes, target)
    if modifiers:
        said.append(capital(_joined(modifiers)) + ".")
    evidence = _evidence(facts, target, error_name(axes), several=len(axes) > 1)
    matters = "; ".join(filter(None, [_size(facts, parts, target), evidence]))
    if matters:
        said.append(capital(matters) + ".")
    return " ".join(said)


def shape(facts: Facts, axes: Mapping[str, Axis], target: Target) -> str:
    """The shape of an effect of a table without its name: 'a linear rise of 11.1 per unit of area (10.9 to 11.2)'."""
    return phrase(facts, read(facts), axes, target, brief=False).partition(": ")[2] if len(axes) > 1 else ""


def future(facts: Facts, axes: Mapping[str, Axis], target: Target) -> str:
    """What the component does beyond the data."""
    return capital(course(facts, read(facts), axes, target)) + "."


def flag(facts: Facts) -> str:
    """A warning if the evidence is weak, else empty."""
    gain = fall(facts)
    if gain is None or gain >= WORTH or read(facts).noise:
        return ""
    if _artefact(facts):
        return "Probably an artefact: it carries next to no variance and does not lower the error on rows left out."
    return "Short-lived, or noise: it does not lower the error on rows left out."


def _artefact(facts: Facts) -> bool:
    """Whether a component has next to no variance and does not lower the error."""
    gain = fall(facts)
    return gain is not None and gain < WORTH and facts.share < WORTH and not read(facts).noise


def summary(
    components: Sequence[Facts],
    axes: Mapping[str, Axis],
    target: Target,
    noise: float | None,
    rows: int,
    *,
    stays: bool = False,
) -> list[str]:
    """Two or three sentences: the number of components, how many of them matter, the main ones, and the noise.

    `stays` says that the forecast stays at the last value.
    """
    n, data = len(components), f"{count(rows)} row{'' if rows == 1 else 's'}"
    if all(_artefact(facts) for facts in components):
        plain = "counts of a constant rate" if target.counts else "a constant level and noise"
        return [f"No component stands out: the {data} look like {plain}.", *_noise(target, noise)]
    if len(axes) == 1 and all(wanders(read(facts)) for facts in components):
        walk = "like a random walk: the best forecast is the last value" if stays else "nearly like a random walk"
        return [f"The {data} move {walk}.", *_noise(target, noise)]
    most = next((i for i, c in enumerate(components, 1) if known(c.cumulative) and c.cumulative >= MOST), n)
    counts = f"{capital(count(n))} component{'s were' if n > 1 else ' was'} found in {data}"
    said = [counts, *_carried(components, most)]
    helpful = _helpful(components)
    error = error_name(axes)
    if n > 1 and helpful == 0:
        said.append(f"none of them lowers the {error}")
    elif n > 1 and helpful == n:
        # a component in between may raise it
        each = all((gain := fall(facts)) is not None and gain > 0 for facts in components)
        said += [f"the {error} falls with each of them"] if each else []
    elif n > 1 and helpful is not None:
        said.append(f"after the {ordinal(helpful)} the {error} stops falling")
    main = min(max(most, helpful or 0), NAMED + 1)
    names = [phrase(c, read(c), axes, target, brief=True) for c in components[:main]]
    opening = "It is" if n == 1 else "The largest is" if main == 1 else "They are" if main == n else "The main ones are"
    first = said[0] + ("; " + ", and ".join(said[1:]) if said[1:] else "")
    return [f"{first}.", f"{opening} {_listed(names)}.", *_noise(target, noise)]


def text(
    components: Sequence[Facts],
    axes: Mapping[str, Axis],
    target: Target,
    noise: float | None,
    rows: int,
    rest_share: float | None,
    outliers: Sequence[str] = (),
    notes: Sequence[str] = (),
    *,
    stays: bool = False,
    rest: str = "everything too small to name",
) -> str:
    """The whole explanation as plain text, for `print`; `outliers` is what is said of them, and the notes come last."""
    opening = " ".join(summary(components, axes, target, None, rows, stays=stays))
    paragraphs = [_wrapped(opening)]
    for i, facts in enumerate(components, 1):
        body = " ".join(filter(None, [sentence(facts, axes, target), future(facts, axes, target), flag(facts)]))
        paragraphs.append(_wrapped(body, f"{i}. "))
    paragraphs += [_wrapped(said) for said in _noise(target, noise)]
    paragraphs += [_wrapped(" ".join(outliers))] if outliers else []
    if rest_share is not None and known(rest_share) and rest_share > 0:
        paragraphs.append(_wrapped(f"The rest, {rest}, carries {per_cent(rest_share)} of the variance."))
    return "\n\n".join([*paragraphs, *(_wrapped(note) for note in notes)])


def _wrapped(paragraph: str, indent: str = "") -> str:
    # a number and its per cent sign stay on one line
    lines = textwrap.fill(
        paragraph.replace(" %", "\N{NO-BREAK SPACE}%"),
        WIDTH,
        initial_indent=indent,
        subsequent_indent=" " * len(indent),
        break_on_hyphens=False,
        break_long_words=False,
    )
    return lines.replace("\N{NO-BREAK SPACE}%", " %")


def _joined(parts: Sequence[str]) -> str:
    """Clauses as one sentence."""
    return f"{', '.join(parts[:-1])}, and {parts[-1]}" if len(parts) > 1 else parts[0]


def _listed(names: list[str]) -> str:
    """A list in a sentence; with semicolons if a name contains a comma."""
    if len(names) > 1 and any("," in name for name in names):
        return f"{'; '.join(names[:-1])}; and {names[-1]}"
    return listing(names)


def _noise(target: Target, noise: float | None) -> list[str]:
    if noise is None or not known(noise) or target.scale == "odds":
        return []
    return [f"What no component explains is noise with a standard deviation of {amount(noise, target)}."]


def _carried(components: Sequence[Facts], most: int) -> list[str]:
    cumulative = components[most - 1].cumulative
    if not known(cumulative):
        return []
    n = len(components)
    who = "it carries" if n == 1 else "together they carry" if most == n else f"the {count(most)} largest carry"
    who = "the largest alone carries" if most == 1 < n else who
    shares = [facts.share for facts in components if known(facts.share)]
    if n > 1 and sum(shares) > BEYOND and max(shares) > 1.0:
        return ["some of them pull against each other, so that their shares add up to more than the whole"]
    return [f"{who} {per_cent(cumulative)} of the variance"]


def _helpful(components: Sequence[Facts]) -> int | None:
    """The number of components after which the error stops falling; None if unknown."""
    gains = [fall(facts) for facts in components]
    if any(gain is None for gain in gains):
        return None
    return max((i for i, gain in enumerate(gains, 1) if gain is not None and gain >= WORTH), default=0)


def _size(facts: Facts, parts: Parts, target: Target) -> str:
    """The clause on the effect on y and the share of the variance."""
    said = []
    straight = (
        (parts.alone == "line" and facts.slope is not None) or facts.jump is not None or facts.slopes_around is not None
    )
    straight = straight or (facts.contrast is not None and not facts.profile)
    told = bool(facts.profile) and not facts.partial
    if known(facts.sd) and facts.sd > 0 and not (parts.noise or told or parts.alone in ("constant", "level")):
        if target.scale == "odds":
            up = min(0.5 * (1 + math.erf(facts.sd / math.sqrt(2))), 0.9999)
            even = chance(target).replace("the", "an even", 1)
            said.append(f"typically turns {even} into {per_cent(up)} or {per_cent(1 - up)}")
        elif not straight and known(facts.swing):
            ends = " from end to end" if facts.monotone or facts.overall else " from low to high"
            said.append(f"moves {target.name or 'y'} by {amount(facts.swing, target, ends)}")
    if known(facts.share) and not wanders(parts):
        larger = known(facts.cumulative) and facts.cumulative > 1.0005 * facts.share
        larger = larger and per_cent(facts.cumulative) != per_cent(facts.share)
        with_larger = f" ({per_cent(facts.cumulative)} with those above)" if larger else ""
        varies = f"varies {significant(math.sqrt(facts.share), 2)} times as much as {target.name or 'y'} itself, which "
        varies += "other components take back"
        said.append(varies if facts.share > BEYOND else f"carries {per_cent(facts.share)} of the variance{with_larger}")
    return f"it {' and '.join(said)}" if said else ""


def _evidence(facts: Facts, target: Target, name: str, *, several: bool) -> str:
    """The clause on the evidence for it and the error with it; for several inputs, how much it helps."""
    said = []
    if facts.evidence is not None and known(facts.evidence):
        said.append(evidence_words(facts.evidence))
    gain = fall(facts)
    if gain is not None and facts.error_before is not None and facts.error_after is not None:
        relative = target.scale == "multiplicative"
        before, after = (sized(error, relative=relative) for error in (facts.error_before, facts.error_after))
        if gain >= WORTH and before != after:
            ratio = 1 - gain
            strength = "strongly" if ratio < STRONG else "somewhat" if ratio < SOME else "a little"
            adverb = f" {strength}," if several else ""
            said.append(f"adding it lowers the {name}{adverb} from {before} to {after}")
        elif gain > -WORTH:
            said.append(
                f"adding it {f'does not help: the {name} stays' if several else f'leaves the {name}'} at {after}"
            )
    return ", and ".join(said)


def evidence_words(nats: float) -> str:
    """How strong the evidence is, as a clause: 'the evidence for it is very strong'."""
    if nats < 0:
        return "others could take its place"
    return f"the evidence for it is {next((word for least, word in EVIDENCE if nats >= least), 'weak')}"


def error_name(axes: Mapping[str, Axis]) -> str:
    """What a leave-one-out error is: along time it is one of interpolation, not of a forecast."""
    return "interpolation error" if any(axis.timed for axis in axes.values()) else "cross-validated error"
