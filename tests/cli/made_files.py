"""Small files for tests of the command line, and options that keep fits short."""

import math

FAST = ("--kernels", "paper", "--method", "exact", "--scale", "identity")


"""Fixed candidates, on one scale: a fit of a second or two."""


def monthly(rows=24, start=2020, offset=0.0):
    wave = [offset + 100 + 2 * i + 10 * math.sin(i * math.pi / 6) + (i * 7 % 5) / 2 for i in range(rows)]
    return [(f"{start + i // 12}-{i % 12 + 1:02d}", f"{value:.2f}") for i, value in enumerate(wave)]


def text_of(header, rows):
    return "\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n"
