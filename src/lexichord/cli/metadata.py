"""The commands for documents' metadata, and how keys with values are written."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexichord.cli.deferred import render
from lexichord.cli.help import command_group
from lexichord.cli.options import SCOPE_OPTIONS, Invocation, command, say_error
from lexichord.errors import ConfigError, some_names

if TYPE_CHECKING:
    from lexichord.client.sync import SyncLexichord
    from lexichord.types import Facet

metadata_app = command_group("Documents' metadata.")


@command(metadata_app, "set", examples=("lexichord metadata set lease.pdf year=2024 party=Acme",))
def set_metadata(
    invocation: Invocation,
    reference: Annotated[str, typer.Argument(help="A document's id, uri or uri's end.")],
    pairs: Annotated[list[str], typer.Argument(help="KEY=VALUE, in JSON or text; null: none.")],
) -> None:
    """Set keys of a document's metadata; nothing is embedded again."""
    changes = parse_pairs(pairs)
    with invocation.open() as lexichord:
        _note_missing_keys(lexichord, reference, changes)
        metadata = lexichord.set_metadata(reference, changes)
    invocation.show({"metadata": metadata}, lambda _: render.metadata(metadata))


def _note_missing_keys(lexichord: "SyncLexichord", reference: str, changes: dict[str, Any]) -> None:
    """Say which keys that are to go are not there: they may be misspelt."""
    gone = [key for key, value in changes.items() if value is None]
    if not gone:
        return
    (document,) = lexichord.list(documents=[reference])
    keys = document.metadata.keys()
    for key in gone:
        if key not in keys:
            there = f"take one of {some_names(keys, [key])}" if keys else "it has no metadata"
            say_error(f"{reference} has no key '{key}': {there}")


@command(
    metadata_app,
    "count",
    group=SCOPE_OPTIONS,
    examples=("lexichord metadata count media_type --dataset contracts",),
)
def count_by(
    invocation: Invocation,
    key: Annotated[str, typer.Argument(help="A key, or dataset, uri, title, media_type, folder.")],
    options: dict[str, Any],
) -> None:
    """Count documents by the values of a key."""
    with invocation.open() as lexichord:
        invocation.show_list("facets", lexichord.count_by(key, **options), _list)


def parse_pairs(pairs: Iterable[str]) -> dict[str, Any]:
    """Read KEY=VALUE; a value that is no JSON is text. Raises ConfigError."""
    values: dict[str, Any] = {}
    for pair in pairs:
        key, equals, written = pair.partition("=")
        if not equals or not key:
            raise ConfigError(f"'{pair}' is no metadata: write KEY=VALUE")
        values[key] = _value(written)
    return values


def _value(written: str) -> Any:  # noqa: ANN401
    try:
        return json.loads(written)
    except (ValueError, RecursionError):
        return written


def _list(facets: "Iterable[Facet]") -> None:
    for facet in facets:
        shown = facet.value if isinstance(facet.value, str) else json.dumps(facet.value)
        render.out.print(render.printable(f"{facet.documents:>7}  {shown}"))
