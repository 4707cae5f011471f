"""Sentences of a passage, each with its span and the heading that it stands under.

sentencex (Wikimedia, MIT) finds the borders inside a paragraph. It keeps "U.S. law" and "Mr. Smith"
whole; numbers and run-in headings ("5.2. Term.") are put back before the sentence that they open.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

import sentencex  # type: ignore[import-untyped]

LANGUAGE = "en"  # of the abbreviations; sentencex falls back to general rules for what it lacks
LONGEST, SMALL = 10, 4  # words of a heading; letters of a word that may stay small in a title
WRAPPED = 60  # characters from which on a line without an end may go on in the next

NUMBER = re.compile(r"\s*[^\w\s]*\s*(?:\d+(?:\.\d+)*|[IVXLC]+|\w)[.)]")
ENDED = re.compile(r"[.;:!?|][\"'”’)*]*\s*\Z")
SECTION = re.compile(
    r"(?:(?:article|section|part|§)\s*)?(?:\d+(?:\.\d+)*|[IVXLC]+)[.)]?\s+[-–]?\s*", re.I
)
NO_NAME = re.compile(r"[\d:|_]|[.;!?,][\"'”’)*]*\Z")  # what a heading does not hold
BLOCK = re.compile(r"[^\n]*(?:\n|\Z)")


class Sentence(NamedTuple):
    """A stretch from `start` to `end` of the text given, and the heading line above it, or ""."""

    start: int
    end: int
    heading: str


def split_sentences(text: str) -> list[Sentence]:
    """Give the sentences of `text` in order, without the white space around them.

    A list item, a table row and a paragraph end a sentence; a line that is a heading is none.
    """
    found: list[Sentence] = []
    heading = ""
    for start, end in _blocks(text):
        block = text[start:end]
        if _is_heading(block):
            heading = block.strip(" \n#*")
            continue
        found += [Sentence(start + a, start + b, heading) for a, b in _in_block(block)]
    return found


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Give lines, those together that one sentence runs through."""
    start = end = 0
    for line in BLOCK.finditer(text):
        if end > start and not _goes_on(text[start:end], line.group()):
            yield start, end
            start = end
        end = line.end()
    if end > start:
        yield start, end


def _goes_on(block: str, line: str) -> bool:
    last = block.rstrip("\n").rpartition("\n")[2]
    if not line.strip() or not last.strip():
        return False
    if not line.lstrip()[0].islower() and len(last) < WRAPPED:
        return False
    return not ENDED.search(last) and not NUMBER.match(line)


def _is_heading(block: str) -> bool:
    """Whether a line is one by its sign, or short, without an end, and numbered or in capitals."""
    line = block.strip()
    if line.startswith("#"):
        return True
    number = SECTION.match(line)
    name = line[number.end() :] if number else line
    words = name.split()
    if not words or len(words) > LONGEST or NO_NAME.search(name) or not name[0].isupper():
        return False
    return bool(number) or all(word[0].isupper() for word in words if len(word) > SMALL)


def _in_block(block: str) -> Iterator[tuple[int, int]]:
    """Give the sentences of a paragraph, wrongly parted ones joined."""
    start = end = 0
    for border in sentencex.get_sentence_boundaries(LANGUAGE, block):
        piece = block[border["start_index"] : border["end_index"]]
        is_open = not ENDED.search(block[start:end]) or _opens(block[start:end])
        if not is_open and not _continues(piece):
            yield _trim(block, start, end)
            start = border["start_index"]
        end = border["end_index"]
    if block[start:end].strip():
        yield _trim(block, start, end)


def _opens(piece: str) -> bool:
    """Whether this is a number or a numbered run-in heading, not a sentence of its own."""
    number = NUMBER.match(piece)
    if number is None:
        return False
    words = piece[number.end() :].split()
    is_title = len(words) <= LONGEST and all(w[0].isupper() for w in words if len(w) >= SMALL)
    return len(words) <= 2 or is_title


def _continues(piece: str) -> bool:
    """Whether a sentence cannot begin so: it would be with a small letter."""
    return piece.lstrip()[:1].islower() or not any(map(str.isalnum, piece))


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    return start, start + len(piece.strip())
