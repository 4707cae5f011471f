"""Long Markdown is read in steps that grow as it does: counted, for a clock tells the load, too."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from lexichord.ingest.chunk.splitter import split
from lexichord.ingest.load import load

FEW, MANY = 200, 800
SHAPES = {
    "headings": "# Heading {n}\n\nText {n} of it.\n\n",
    "headings alone": "# Heading {n}\n",
    "levels": "#{marks} Heading {n}\n\nText.\n\n",
    "underlined": "Heading {n}\n---\n\nText.\n\n",
    "clauses": "# {n}.1 Term\n\n(a) one\n\n(b) two\n\n",
    "links": "# [Heading {n}][name{n}]\n\n[name{n}]: https://example.com/{n}\n\n",
    "never closed": "# Heading {n}\n\n:::{{note}}\n<!-- a comment\n\n",
    "code and tables": "# Heading {n}\n\n```\nx\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n",
}


def steps(work: Callable[[], object]) -> int:
    """Count the calls that some work makes, those of Python's own functions among them."""
    count = 0

    def see(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_four_times_the_headings_take_four_times_the_steps(tmp_path: Path, shape: str) -> None:
    def read(amount: int) -> int:
        lines = (shape.format(n=n, marks="#" * (n % 6)) for n in range(amount))
        file = tmp_path / f"{amount}.md"
        file.write_text("".join(lines))
        return steps(lambda: [*split(load(file))])

    read(FEW)  # imports what it needs
    few, many = read(FEW), read(MANY)
    assert few > FEW
    assert many < 1.2 * MANY / FEW * few
