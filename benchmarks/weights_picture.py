"""The picture of the weights suite: one bar a kernel, horseshoe on the left, no prior on the right."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Patch

from benchmarks.style import BLUE, DARK, ORANGE, save

TITLES = {"horseshoe": "Horseshoe prior", "none": "No prior"}


def draw(found: dict[str, dict], seed: int, path: Path) -> None:
    """Write the picture of one seed."""
    figure, panels = plt.subplots(1, 2, figsize=(10, 6.2), sharey=True, layout="constrained")
    formulas = found["horseshoe"]["formulas"]
    # structures that hold Per on top; copies of one structure together
    order = sorted(range(len(formulas)), key=lambda i: ("Per" not in formulas[i], len(formulas[i]), formulas[i], i))
    place = np.arange(len(order))[::-1]
    for axes, (prior, figures) in zip(panels, found.items(), strict=True):
        colours = [BLUE if "Per" in formulas[i] else ORANGE for i in order]
        axes.barh(place, np.array(figures["weights"])[order], color=colours, height=0.72)
        contributions = np.array(figures["contributions"])[order]
        (dots,) = axes.plot(contributions, place, "o", color="white", markeredgecolor=DARK, markersize=4.5)
        axes.set_title(
            f"{TITLES[prior]}: {figures['below_tenth_of_largest']} of {len(order)} below a tenth of the largest,\n"
            f"{figures['periodic_share_of_w2']:.0%} of the sum of w² on structures with Per"
        )
        axes.set(xlabel="median weight w", ylim=(-0.7, len(order) - 0.3))
        axes.set_xlim(left=0)
        axes.grid(axis="x")
        axes.tick_params(axis="y", length=0)
    panels[0].set_yticks(place, [formulas[i] for i in order])
    keys = [
        Patch(color=BLUE, label="weight, structure with Per"),
        Patch(color=ORANGE, label="weight, structure without"),
        dots,
    ]
    labels = [keys[0].get_label(), keys[1].get_label(), "contribution: sd of the component's posterior mean"]
    figure.legend(keys, labels, loc="outside lower center", ncols=3)
    figure.suptitle(f"Data from Per + SE * Per, 100 points, 24 kernels (seed {seed})", x=0.01, ha="left")
    save(figure, path)
