"""TeX's mouth: tokens of files and of macros, one after the other, none of them twice.

A token is a control sequence with its backslash, a sign that TeX gives a meaning, a space for the
end of a line, PARAGRAPH for empty lines, or a run of other characters; "" stands for the end.
Everything is read in one pass, however deep it is nested; what is taken and put back again is
counted, and ends at a bound.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

PARAGRAPH = "\n\n"
MAX_PUSHED_TOKENS = 2_000_000  # of macros' bodies, and of what was looked at and put back
MAX_CALL_EXPANSIONS = 5000  # macros within a macro, all in all; long ones have hundreds
MAX_OPTION_TOKENS = 2000
MAX_NAME_CHARS = 200
OVERLAY = re.compile(r"<[\d+,.:|a-z -]{1,40}>")


def _token_pattern(letters: str) -> re.Pattern[str]:
    space = r"[ \t]*(?:\n(?![ \t]*\n)[ \t]*)?"
    return re.compile(
        r"%[^\n]*(?:\n(?![ \t]*\n)[ \t]*)?"
        r"|(?P<paragraph>[ \t]*\n[ \t]*\n\s*)"
        r"|(?P<space>[ \t]*\n[ \t]*)"
        rf"|(?P<word>\\[{letters}]+){space}"
        r"|(?P<sign>\\.?)"
        r"|(?P<run>[^\\{}$&~#%^_*\[\]\n]+|.)",
        re.DOTALL,
    )


PACKAGE_ENDING = ".sty"
TOKEN = _token_pattern("A-Za-z")
PACKAGE_TOKEN = _token_pattern("A-Za-z@")


@dataclass(slots=True)
class Source:
    """A text that is read from a place on; `path` is where it stands, if in a file."""

    text: str
    path: Path | None = None
    pattern: re.Pattern[str] = TOKEN
    at: int = 0
    missing: set[str] = field(default_factory=set)  # what stands nowhere further on

    def take(self) -> str:
        """Return the next token that is no comment."""
        while match := self.pattern.match(self.text, self.at):
            self.at = match.end()
            if match.lastgroup in ("word", "run"):
                return match[match.lastgroup]
            if match.lastgroup:
                return _plain(match.lastgroup, match[0])
        return ""

    def takes_at(self, does: bool) -> None:
        """Take @ for a letter in commands' names from here on, or no more."""
        is_package = self.path is not None and self.path.suffix == PACKAGE_ENDING
        self.pattern = PACKAGE_TOKEN if does or is_package else TOKEN

    def up_to(self, end: str) -> str | None:
        """Return what stands before `end`, as it stands, and go on behind it; None without one."""
        place = -1 if end in self.missing else self.text.find(end, self.at)
        if place < 0:
            self.missing.add(end)
            return None
        found, self.at = self.text[self.at : place], place + len(end)
        return found


def _plain(kind: str, found: str) -> str:
    if kind == "sign":
        return "\\ " if found in ("\\", "\\\n", "\\\t") else found
    return PARAGRAPH if kind == "paragraph" else " "


@dataclass(slots=True)
class Pushed:
    """Tokens that were put back, or are a macro's."""

    tokens: Sequence[str]
    at: int = 0

    def take(self) -> str:
        """Return the next token."""
        if self.at == len(self.tokens):
            return ""
        self.at += 1
        return self.tokens[self.at - 1]


@dataclass(slots=True)
class Mouth:
    """What is read next stands on top; `endless` holds the macros that were stopped."""

    frames: list[Source | Pushed]
    budget: int = MAX_PUSHED_TOKENS
    endless: list[str] = field(default_factory=list)
    _expansions: int = 0

    def take(self) -> str:
        """Return the next token; "" at the end."""
        while self.frames:
            top = self.frames[-1]
            if piece := top.take():
                if isinstance(top, Source):
                    self._expansions = 0
                elif top.at == len(top.tokens):
                    self.frames.pop()
                return piece
            self.frames.pop()
        return ""

    def push(self, tokens: Sequence[str]) -> None:
        """Put tokens before what is next."""
        if tokens:
            self.budget -= len(tokens)
            self.frames.append(Pushed(tokens))

    def expand(self, name: str, tokens: Sequence[str]) -> bool:
        """Put a macro's tokens in its place; return whether there were not too many by now."""
        self._expansions += 1
        if self._expansions > MAX_CALL_EXPANSIONS or len(tokens) > self.budget:
            while self.frames and isinstance(self.frames[-1], Pushed):
                self.frames.pop()
            self.endless.append(name)
            return False
        self.push(tokens)
        return True

    def source(self) -> Source | None:
        """Return the text that is next, where no pushed token is."""
        top = self.frames[-1] if self.frames else None
        return top if isinstance(top, Source) else None

    def peek(self) -> str:
        """Return the next token that is no space, without the spaces, and leave it."""
        piece = self.take()
        while piece.isspace() and piece != PARAGRAPH:
            piece = self.take()
        stripped = piece.lstrip(" \t") or piece
        if stripped:
            self.frames.append(Pushed((stripped,)))
        return stripped

    def is_next(self, sign: str) -> bool:
        """Return whether a sign follows at once."""
        piece = self.take()
        if piece:
            self.frames.append(Pushed((piece,)))
        return piece == sign

    def skip_star(self) -> bool:
        """Take a star, if one is next."""
        if self.peek() != "*":
            return False
        self.take()
        return True

    def skip_overlay(self) -> None:
        """Take the slides of a talk that something is shown on, as <2->, if they are next."""
        if match := OVERLAY.match(self.peek()):
            rest = self.take()[match.end() :]
            self.push((rest,) if rest else ())

    def one(self) -> list[str]:
        """Return the tokens of a group without its braces, or the one token in its place."""
        first = self.peek()
        if first in ("", "}", PARAGRAPH):
            return []
        self.take()
        if first == "{":
            return self.rest_of_group()
        if len(first) > 1 and first[0] != "\\":
            self.push((first[1:],))
            return [first[0]]
        return [first]

    def rest_of_group(self, may_break: bool = True) -> list[str]:
        """Return the tokens up to the brace that closes the group.

        Of one that is never closed, or is closed behind an empty line though it may not break, what
        was taken is put back, and nothing returned.
        """
        found, depth = list[str](), 1
        while piece := self.take():
            depth += (piece == "{") - (piece == "}")
            if not depth:
                self.budget -= len(found)
                return found
            found.append(piece)
            if (piece == PARAGRAPH and not may_break) or len(found) > self.budget:
                break
        self.push(found)
        return []

    def dropped(self) -> None:
        """Take a group, or one token, that is not printed; one that is never closed stays."""
        first = self.peek()
        if first == "{":
            self.take()
            self.rest_of_group(may_break=False)
        elif first not in ("", "}", PARAGRAPH):
            self.one()

    def option(self) -> list[str] | None:
        """Return what stands in brackets, if they are next."""
        if self.peek() != "[" or self.budget < MAX_OPTION_TOKENS:
            return None
        taken, depth = [self.take()], 0
        while piece := self.take():
            taken.append(piece)
            depth += (piece == "{") - (piece == "}")
            if piece == "]" and depth <= 0:
                self.budget -= len(taken)
                return taken[1:-1]
            if depth < 0 or piece == PARAGRAPH or len(taken) > MAX_OPTION_TOKENS:
                break
        self.budget -= len(taken)
        self.push(taken)
        return None

    def name(self) -> str:
        """Return a group's characters as they stand: a name, a key, a number."""
        return as_source(self.one()).strip()[:MAX_NAME_CHARS]

    def raw_group(self) -> str:
        """Return an address's characters, in which no sign has a meaning but braces."""
        source = self.source()
        if source and (match := RAW_GROUP.match(source.text, source.at)):
            source.at = match.end()
            return match[0].strip()[1:-1].replace("\\", "")
        return as_source(self.one()).replace("\\", "")


RAW_GROUP = re.compile(r"[ \t]*\{(?:[^{}\n]|\{[^{}\n]*\}){0,5000}\}")


def as_source(tokens: Sequence[str]) -> str:
    """Return tokens as they are written."""
    return "".join(f"{piece} " if WORD.fullmatch(piece) else piece for piece in tokens)


WORD = re.compile(r"\\[A-Za-z@]+")
