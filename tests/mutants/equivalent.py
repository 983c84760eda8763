"""Mutants that no test can kill, because they compute the same: for each the file, the text of the line, the change,
and the reason. They are left out of the score.
"""

EQUIVALENT: dict[tuple[str, str, str], str] = {}
"""By file, changed text and new text: why both compute the same."""
