"""How `--help` shows commands: in plain text, for rich takes longer to import than all else."""

from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup

from lexichord.errors import plain_reason

if TYPE_CHECKING:
    from typer._click import Context, HelpFormatter

COMMANDS = "Commands"  # the heading of those that are of no panel


class CommandGroup(TyperGroup):
    """A group that shows its commands below their panels' names, each with its whole text.

    What is wrong with an argument is told in plain words.
    """

    def invoke(self, ctx: "Context") -> Any:  # noqa: ANN401
        """Run the command that is named."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = plain_reason(error.message)
            raise

    def format_commands(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        """Write a list of commands a panel, all in the same two columns."""
        width = max(map(len, self.commands))
        panels: dict[str, list[tuple[str, str]]] = {}
        for name, command in self.commands.items():
            assert isinstance(command, TyperCommand | TyperGroup)
            text = " ".join((command.help or "").partition("\n\n")[0].split())
            row = (name.ljust(width), text)
            panels.setdefault(str(command.rich_help_panel or COMMANDS), []).append(row)
        for panel, rows in panels.items():
            with formatter.section(panel):
                formatter.write_dl(rows)


def command_group(text: str) -> typer.Typer:
    """Return an application for commands of one kind; without one of them it shows its help."""
    return typer.Typer(cls=CommandGroup, help=text, no_args_is_help=True)
