"""A paper's own macros: how they are defined, and what stands in their place."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from lexichord.ingest.load.tex.mouth import Mouth, as_source

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
DOCUMENT_PARAMETER = re.compile(r"(?P<kind>[+!]*[A-Za-z])(?:\{(?P<given>[^{}]*)\})?")


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
