"""The commands with their arguments and options, from the command line's own definitions."""

import re
from collections.abc import Iterator

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup
from typer.main import get_command

from lexichord.cli.commands import app
from reference.markdown import block, code, page, table

EVERYWHERE = ("--dsn", "--model-dir", "--json")  # options that all commands have


def commands() -> dict[str, typer.Context]:
    """Return each command by its words, such as "keys create"."""
    root = get_command(app)
    return dict(_below(root, typer.Context(root, info_name="lexichord")))


def markdown() -> str:
    """Return what stands below the page's beginning."""
    contexts = commands()
    shared = [row for row in _rows(next(iter(contexts.values()))) if _is_shared(row)]
    return page(
        "## Options of all commands\n",
        table(("option", "meaning"), shared),
        *(_section(name, context) for name, context in contexts.items()),
    )


def _below(command: object, context: typer.Context) -> Iterator[tuple[str, typer.Context]]:
    if isinstance(command, TyperGroup):
        for name, inner in command.commands.items():
            yield from _below(inner, typer.Context(inner, info_name=name, parent=context))
    else:
        yield context.command_path.removeprefix("lexichord "), context


def _section(name: str, context: typer.Context) -> str:
    command = context.command
    assert isinstance(command, TyperCommand)
    usage = command.get_usage(context).removeprefix("Usage: ")
    own = [row for row in _rows(context) if not _is_shared(row)]
    _, *examples = (command.epilog or "").split("\n\n")
    return page(
        f"## {name}\n",
        f"{command.help}\n",
        block(usage, "text"),
        table(("", "meaning"), own),
        *([block("\n".join(examples), "sh")] if examples else []),
    )


def _rows(context: typer.Context) -> list[tuple[str, str]]:
    records = [
        (parameter, parameter.get_help_record(context)) for parameter in context.command.params
    ]
    # Arguments first, as they are typed.
    records.sort(key=lambda each: not isinstance(each[0], TyperArgument))
    return [(code(_typed(record[0])), _plain(record[1])) for _, record in records if record]


def _typed(record: str) -> str:
    """Return an option with the type of one value, where it may be repeated."""
    return re.sub(r"list\[(\w+)\]", r"\1", record)


def _plain(text: str) -> str:
    return re.sub(r"\s*\[(required|default: [^\]]+|[^\]]*x[<>]=[^\]]*)\]", r" (\1)", text)


def _is_shared(row: tuple[str, str]) -> bool:
    return row[0].strip("`").split(" ")[0] in EVERYWHERE
