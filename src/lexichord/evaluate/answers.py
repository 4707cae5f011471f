"""What a written answer says, against what a right one says: first sentence, quotes, cells."""

import re
from functools import lru_cache

MARKS = re.compile(r"[*`]+")  # of Markdown, around words
CITATION = re.compile(r"\s*\[\d+\]")
MAX_FIRST_CHARS = 400  # of an answer's first sentence that are judged


@lru_cache(maxsize=4096)
def fold(text: str) -> str:
    """Return a text in lower case, without Markdown's marks, white space as single blanks."""
    return " ".join(MARKS.sub("", text).casefold().split())


def holds(text: str, part: str) -> bool:
    """Return whether a text holds a part, by whole words and numbers, however it is set."""
    wanted = fold(part)
    start = r"(?<![a-z0-9])" if wanted[:1].isalnum() else ""
    end = r"(?![a-z0-9])" if wanted[-1:].isalnum() else ""
    return bool(re.search(f"{start}{re.escape(wanted)}{end}", fold(text)))


def first_sentence(answer: str) -> str:
    """Return the first sentence of an answer, up to its citation; a list's file names are none."""
    lines = [line for line in answer.splitlines() if line.strip() and not line.endswith(":")]
    first = CITATION.split(lines[0], maxsplit=1)[0] if lines else ""
    return first.removeprefix("- ")[:MAX_FIRST_CHARS]
