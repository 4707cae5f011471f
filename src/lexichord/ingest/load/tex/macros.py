"""TeX's mouth, tokens one after the other, none twice; a paper's own macros."""

import re
from collections.abc import Collection, Sequence
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


type Parameter = tuple[str, tuple[str, ...]]  # its kind, and what stands where it is not given

REQUIRED, OPTIONAL, STAR = "required", "optional", "star"
NEW_COMMANDS = (
    *("\\newcommand", "\\renewcommand", "\\providecommand", "\\DeclareRobustCommand"),
    "\\newrobustcmd",
)
DEFINITIONS = ("\\def", "\\gdef", "\\edef", "\\xdef")
DOCUMENT_COMMANDS = tuple(
    f"\\{verb}DocumentCommand" for verb in ("New", "Renew", "Provide", "Declare")
)
NEW_ENVIRONMENTS = ("\\newenvironment", "\\renewenvironment")
DOCUMENT_ENVIRONMENTS = tuple(
    f"\\{verb}DocumentEnvironment" for verb in ("New", "Renew", "Provide", "Declare")
)
MAX_PARAMETERS = 9
LET_MARK = "\0"  # behind a command that keeps its first meaning, whatever is defined later
DOCUMENT_PARAMETER = re.compile(r"(?<![+!])(?P<kind>[+!]*[A-Za-z])(?:\{(?P<given>[^{}]*)\})?")


@dataclass(frozen=True, slots=True)
class Macro:
    """What it takes, and the tokens that stand for it; # and a digit stand for what it got."""

    parameters: tuple[Parameter, ...]
    body: tuple[str, ...]

    def expanded(self, mouth: Mouth) -> list[str]:
        """Take what it is given; return what stands in its place."""
        return filled(self.body, [_given(mouth, parameter) for parameter in self.parameters])


@dataclass(frozen=True, slots=True)
class Environment:
    """What an environment of the paper's own puts before what it holds, and behind."""

    parameters: tuple[Parameter, ...]
    before: tuple[str, ...]
    behind: tuple[str, ...]

    def opened(self, mouth: Mouth) -> tuple[list[str], list[str]]:
        """Take what it is given; return what stands before what it holds, and behind."""
        given = [_given(mouth, parameter) for parameter in self.parameters]
        return filled(self.before, given), filled(self.behind, given)


@dataclass(slots=True)
class Macros:
    """All that was defined so far. Names in `fixed` keep their meaning, whatever is defined."""

    fixed: Collection[str] = frozenset()
    commands: dict[str, Macro] = field(default_factory=dict)
    environments: dict[str, Environment] = field(default_factory=dict)
    theorems: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def define(self, command: str, mouth: Mouth) -> bool:
        """Read a definition, if the command makes one."""
        if command in NEW_COMMANDS:
            self._new_command(mouth)
        elif command in DEFINITIONS:
            self._define(mouth)
        elif command == "\\let":
            self._let(mouth)
        elif command in DOCUMENT_COMMANDS:
            name, parameters = _name(mouth), _document_parameters(mouth)
            self._keep(name, Macro(parameters, tuple(mouth.one())))
        elif command in NEW_ENVIRONMENTS or command in DOCUMENT_ENVIRONMENTS:
            self._new_environment(mouth, command in DOCUMENT_ENVIRONMENTS)
        elif command == "\\DeclareMathOperator":
            mouth.skip_star()
            self._keep(_name(mouth), Macro((), ("\\operatorname", "{", *mouth.one(), "}")))
        elif command == "\\newtheorem":
            self._new_theorem(mouth)
        else:
            return False
        return True

    def _keep(self, name: str, macro: Macro) -> None:
        if name and name not in self.fixed:
            self.commands[name] = macro

    def _new_command(self, mouth: Mouth) -> None:
        mouth.skip_star()
        name = _name(mouth)
        parameters = _counted_parameters(mouth)
        self._keep(name, Macro(parameters, tuple(mouth.one())))

    def _define(self, mouth: Mouth) -> None:
        """Read \\def\\name#1#2{…}; one whose parameters stand between signs of its own is none."""
        name, pattern = mouth.peek(), list[str]()
        if name.startswith("\\"):
            mouth.take()
        while (piece := mouth.peek()) not in ("{", "") and len(pattern) < 2 * MAX_PARAMETERS:
            pattern.append(mouth.take())
        body = tuple(mouth.one()) if piece == "{" else ()
        signs = "".join(pattern).replace(" ", "")
        count = signs.count("#")
        if signs == "".join(f"#{number}" for number in range(1, count + 1)):
            self._keep(name, Macro(((REQUIRED, ()),) * count, body))

    def _let(self, mouth: Mouth) -> None:
        name = mouth.peek()
        mouth.take()
        if mouth.peek().startswith("="):
            mouth.push((mouth.take()[1:].lstrip() or " ",))
        mouth.peek()
        other = mouth.take()
        first = f"{other}{LET_MARK}" if other.startswith("\\") else other
        self._keep(name, self.commands.get(other, Macro((), (first,))))

    def _new_environment(self, mouth: Mouth, has_kinds: bool) -> None:
        mouth.skip_star()
        name = mouth.name()
        parameters = _document_parameters(mouth) if has_kinds else _counted_parameters(mouth)
        before, behind = tuple(mouth.one()), tuple(mouth.one())
        if name not in self.fixed:
            self.environments[name] = Environment(parameters, before, behind)

    def _new_theorem(self, mouth: Mouth) -> None:
        mouth.skip_star()
        name = mouth.name()
        mouth.option()
        self.theorems[name] = tuple(mouth.one())
        mouth.option()


def _name(mouth: Mouth) -> str:
    """Return the control sequence that is next, in braces or not."""
    return as_source(mouth.one()).strip()


def _counted_parameters(mouth: Mouth) -> tuple[Parameter, ...]:
    """Read [2][default]."""
    count = as_source(mouth.option() or []).strip()
    if not count.isdecimal() or not 0 < int(count[:3]) <= MAX_PARAMETERS:
        return ()
    default = mouth.option()
    first: Parameter = (REQUIRED, ()) if default is None else (OPTIONAL, tuple(default))
    return (first, *((REQUIRED, ()),) * (int(count) - 1))


def _document_parameters(mouth: Mouth) -> tuple[Parameter, ...]:
    """Read {s O{default} m m}."""
    kinds = {"s": STAR, "o": OPTIONAL, "O": OPTIONAL}
    found = DOCUMENT_PARAMETER.finditer(as_source(mouth.one()))
    return tuple(
        (
            kinds.get(match["kind"][-1], REQUIRED),
            (match["given"],) if match["given"] else (),
        )
        for match in list(found)[:MAX_PARAMETERS]
    )


def _given(mouth: Mouth, parameter: Parameter) -> Sequence[str]:
    kind, default = parameter
    if kind == STAR:
        return ("*",) if mouth.skip_star() else ()
    if kind == OPTIONAL:
        option = mouth.option()
        return default if option is None else option
    return mouth.one()


def filled(body: Sequence[str], given: Sequence[Sequence[str]]) -> list[str]:
    """Return a body with what was given in the places of #1, #2 …"""
    if not given:
        return list(body)
    result, at = list[str](), 0
    while at < len(body):
        piece, follows = body[at], body[at + 1] if at + 1 < len(body) else ""
        number = int(follows[0]) if piece == "#" and follows[:1].isdecimal() else 0
        if 0 < number <= len(given):
            result += given[number - 1]
            result += [follows[1:]] if follows[1:] else []
            at += 2
        else:
            result.append(piece)
            at += 1
    return result
