"""The pages that hold measured figures, made from the committed results: `python -m benchmarks pages`.

README.md holds one table of figures of the present version and the output of one run, docs/how-it-works.md that of the
suite `horseshoe`; docs/evaluation.md and docs/reproducing-the-paper.md hold all figures, with the version that measured
each.
"""

from pathlib import Path

from benchmarks import evaluation, horseshoe, readme, reproduction_page


def made(results: Path) -> dict[Path, str]:
    """The text of each page with the figures of the results; the output in README.md is left as it is."""
    return {
        readme.PAGE: readme.with_figures(readme.PAGE.read_text(encoding="utf-8"), results),
        evaluation.PAGE: evaluation.page(results),
        horseshoe.PAGE: horseshoe.with_table(horseshoe.PAGE.read_text(encoding="utf-8"), results),
        reproduction_page.PAGE: reproduction_page.page(results),
    }


def write(results: Path) -> list[Path]:
    """Write the pages, with the output of a run in README.md."""
    pages = made(results)
    pages[readme.PAGE] = readme.with_output(pages[readme.PAGE])
    for path, text in pages.items():
        path.write_text(text, encoding="utf-8")
    return list(pages)
