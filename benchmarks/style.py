"""How pictures look: colours that colour-blind eyes tell apart (Okabe and Ito), thin grids, no frames."""

import matplotlib

matplotlib.use("Agg")

from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

ORANGE, SKY, GREEN, BLUE, VERMILION, PINK = "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7"
GREY, DARK = "#B5B5B5", "#333333"

plt.rcParams.update(
    {
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlesize": 10,
        "axes.titlelocation": "left",
        "axes.axisbelow": True,
        "grid.color": "#E6E6E6",
        "legend.frameon": False,
    }
)


def save(figure: Figure, path: Path) -> None:
    """Write the picture and forget it."""
    figure.savefig(path, dpi=110, facecolor="white")
    plt.close(figure)
