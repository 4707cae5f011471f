"""What was written into a file, word by word, and where the guide says that it is found again.

Each part of a file has a word of its own, which stands nowhere else. `docs/guides/ingest.md` says
of each kind what is text, what is marked and what is left out; a writer notes for every word which
of these it is. What is left out has to be named there: nothing is left out in silence.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from lexichord.ingest.load.marks import LoadOptions
from lexichord.types import LoadedText

GUIDE = Path(__file__).parents[2] / "docs/guides/ingest.md"
CONSONANTS, VOWELS = "bdfgklmnprst", "aeiou"


@cache
def left_out(kind: str) -> str:
    """Return what the guide's table says is left out of a kind of files."""
    lines = (line for line in GUIDE.read_text().splitlines() if line.startswith("| "))
    rows = ([cell.strip() for cell in line.strip()[1:-1].split("|")] for line in lines)
    return next(row[-1] for row in rows if len(row) == 5 and row[0] == kind)


@dataclass
class Said:
    """The words of one file so far; `options` say what becomes of hidden parts and comments."""

    kind: str
    options: LoadOptions = field(default_factory=LoadOptions)
    texts: Counter[str] = field(default_factory=Counter)
    least: set[str] = field(default_factory=set)
    absent: set[str] = field(default_factory=set)
    absent_by_place: set[str] = field(default_factory=set)  # in a hidden row or column
    patterns: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    headings: list[str] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)
    dropped: Counter[str] = field(default_factory=Counter)
    may_drop: set[str] = field(default_factory=set)
    order: list[str] = field(default_factory=list)
    _count: int = 0

    def word(self) -> str:
        """Return a new word, none of which holds another."""
        number, self._count = self._count, self._count + 1
        letters = ""
        for _ in range(3):
            number, rest = divmod(number, len(CONSONANTS) * len(VOWELS))
            letters += CONSONANTS[rest // len(VOWELS)] + VOWELS[rest % len(VOWELS)]
        return f"x{letters}"

    def text(self, count: int = 1, in_order: bool = True) -> str:
        """Return a word of running text, which stands there so often."""
        word = self.word()
        self.texts[word] = count
        self.order += [word] if in_order else []
        return word

    def heading(self) -> str:
        """Return the word of a heading."""
        word = self.text()
        self.headings.append(word)
        return word

    def marked(self, pattern: str) -> str:
        """Return a word that stands once, where the pattern says, in which {} is the word."""
        word = self.text(in_order=False)
        self.patterns.append(pattern.format(word))
        return word

    def gone(self, reason: str) -> str:
        """Return a word that is left out, for a reason that the guide names."""
        assert reason in left_out(self.kind), f"{self.kind}: {reason} is left out in silence"
        word = self.word()
        self.absent.add(word)
        return word

    def fact(self, key: str) -> str:
        """Return a word that becomes metadata."""
        word = self.word()
        self.facts[key] = word
        self.absent.add(word)
        return word

    def picture(self) -> str:
        """Return a word of what is said of a picture."""
        return self.marked(r"Picture: (the )?{}\b")

    def passage(self) -> str:
        """Return a word that is hidden amid the text."""
        if self.options.hidden == "keep":
            return self.text()
        word = self.gone("hidden passages")
        self.dropped["hidden passage"] += 1
        return word

    def comment(self, by: str = "") -> str:
        """Return a word that somebody said about the text."""
        if self.options.comments == "drop":
            word = self.word()
            self.absent.add(word)
            self.dropped["comment"] += 1
            return word
        if self.options.comments == "keep":
            return self.text(in_order=False)
        named = f" by {by}" if by else ""
        return self.marked(rf"Comment{named}(, [\d-]+)?: (on \w+: )?{{}}")

    def hidden_part(self, kind: str, pattern: str) -> str:
        """Return a word of a part that is hidden as a whole."""
        if self.options.hidden == "drop":
            word = self.word()
            self.absent.add(word)
            self.dropped[f"hidden {kind}"] += 1
            return word
        if self.options.hidden == "keep":
            return self.text(in_order=False)
        return self.marked(pattern)

    def row(self, words: Iterable[str]) -> None:
        """Note that words stand in one row."""
        self.rows.append(list(words))


def check(loaded: LoadedText, said: Said) -> None:
    """Find all that was said where it belongs, and nothing besides."""
    text = loaded.text
    for word, count in said.texts.items():
        found = len(re.findall(rf"(?<!\w){word}(?!\w)", text))
        is_right = found >= count if word in said.least else found == count
        assert is_right, f"{word} stands {found} times, not {count}:\n{text}"
    for word in said.absent:
        assert word not in text, f"{word} is text:\n{text}"
    for pattern in said.patterns:
        assert re.search(pattern, text), f"nothing is {pattern}:\n{text}"
    _check_order(text, said.order)
    _check_rows(text, said.rows)
    names = " ".join(heading.name for heading in loaded.headings)
    for word in said.headings:
        assert word in names, f"{word} is no heading: {names}"
    _check_metadata(loaded, said)


def _check_order(text: str, words: Sequence[str]) -> None:
    places = [text.index(word) for word in words]
    assert places == sorted(places), f"not in the order {words}:\n{text}"


def _check_rows(text: str, rows: Sequence[Sequence[str]]) -> None:
    lines = text.splitlines()
    for row in rows:
        assert any(all(word in line for word in row) for line in lines), f"no row {row}:\n{text}"


def _check_metadata(loaded: LoadedText, said: Said) -> None:
    told = {**loaded.metadata, "title": loaded.title}
    for key, word in said.facts.items():
        assert word in str(told.get(key)), f"{key} is no {word}: {told}"
    flags = loaded.metadata.get("flags", [])
    for name, amount in said.dropped.items():
        told_amount = f"left out: {amount} {name}{'' if amount == 1 else 's'}"
        assert told_amount in flags, f"not flagged: {told_amount}: {flags}"
    left = [flag for flag in flags if flag.startswith("left out: ")]
    besides = [flag for flag in left if any(name in flag for name in said.may_drop)]
    assert len(left) == len(said.dropped) + len(besides), f"flagged besides: {flags}"
    assert besides or not said.absent_by_place, f"left out in silence: {said.absent_by_place}"
