"""The examples in --help are commands that the command line takes."""

import re
import shlex
from collections.abc import Iterator

import pytest
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from lexichord.cli.commands import app

GROUP = get_command(app)
assert isinstance(GROUP, TyperGroup)


def commands(group: TyperGroup, *words: str) -> Iterator[tuple[tuple[str, ...], TyperCommand]]:
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from commands(command, *words, name)
        elif isinstance(command, TyperCommand):
            yield (*words, name), command


COMMANDS = dict(commands(GROUP))


def examples(command: TyperCommand) -> list[str]:
    return (command.epilog or "").split("\n\n")[1:]


def takes_arguments(command: TyperCommand) -> bool:
    return any(parameter.required for parameter in command.params)


def test_every_command_with_an_argument_shows_an_example() -> None:
    lacking = [
        words
        for words, command in COMMANDS.items()
        if takes_arguments(command) and not examples(command)
    ]
    assert lacking == []


@pytest.mark.parametrize(
    ("words", "line"),
    [(words, line) for words, command in COMMANDS.items() for line in examples(command)],
)
def test_an_example_is_taken(words: tuple[str, ...], line: str) -> None:
    arguments = shlex.split(line.rpartition("| ")[2])
    assert arguments[: 1 + len(words)] == ["lexichord", *words]
    COMMANDS[words].make_context("lexichord", arguments[1 + len(words) :])


def test_help_shows_each_example_on_a_line_of_its_own() -> None:
    for words in [("search",), ()]:
        shown = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "100"}).stdout
        lines = [line.strip() for line in shown.splitlines()]
        assert "lexichord search how do refunds work" in lines


def test_the_commands_stand_in_groups() -> None:
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "100"}).stdout
    panels = [line for line in shown.splitlines() if re.fullmatch(r"\w.*:", line)]
    assert panels == ["Options:", "Search:", "Store and change:", "Look after:", "Run:"]
