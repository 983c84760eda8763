"""The explanation of three or more classes: that of each class against all others, one after the other.

`write_pages` writes a report for each class, and a page that links to them.
"""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from farrier.data.writing import write_whole
from farrier.explain.explanation import Explanation
from farrier.explain.markup import join, text
from farrier.explain.report import write


class ClassExplanations(Sequence[Explanation]):
    """One explanation for each class, in the order of the classes."""

    def __init__(self, of_class: Mapping[str, Explanation]) -> None:
        self.of_class = dict(of_class)

    def __len__(self) -> int:
        return len(self.of_class)

    def __getitem__(self, place: Any) -> Any:
        return list(self.of_class.values())[place]

    def __str__(self) -> str:
        return "\n\n".join(
            f"{name} against all others\n{'-' * (len(name) + 19)}\n{said}" for name, said in self.of_class.items()
        )

    def __repr__(self) -> str:
        return str(self)

    def _repr_markdown_(self) -> str:
        return self.to_markdown()

    @property
    def sentence(self) -> str:
        """The rows in one line."""
        return self[0].findings.setting.sentence()

    def to_markdown(self) -> str:
        """The explanations with headings and tables."""
        return "\n".join(said.to_markdown() for said in self)

    def to_dict(self, *, title: str | None = None) -> dict[str, Any]:
        """The story of each class, by its name."""
        return {"kind": "many classes", "classes": {k: one.to_dict(title=title) for k, one in self.of_class.items()}}


def write_pages(told: ClassExplanations, path: str | os.PathLike[str], title: str | None = None) -> Path:
    """Write a report for each class beside `path`, and the page that links to them to `path`."""
    first = Path(path)
    links = []
    for place, (name, explanation) in enumerate(told.of_class.items(), 1):
        story = explanation.to_dict(title=title)
        story["title"] = f"{story['title']}: {name}" if story["title"] else name
        page = first.with_name(f"{first.stem}-{place}-{_safe(name)}{first.suffix or '.html'}")
        write(story, page)
        summary = text(" ".join(story["summary"]))
        links.append(f'<li><a href="{text(page.name)}">{text(name)} against all others</a><p>{summary}</p></li>')
    heading = text(title or told[0].findings.setting.title or "Classes")
    return write_whole(
        first,
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{heading}</title></head>'
        '<body style="font: 1rem/1.5 sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem">'
        f"<h1>{heading}</h1><p>{text(told.sentence)}</p><ol>{join(links)}</ol></body></html>\n",
    )


def _safe(name: str) -> str:
    """The name of a class as part of the name of a file."""
    return re.sub(r"[^\w-]+", "-", name)[:40].strip("-") or "class"
