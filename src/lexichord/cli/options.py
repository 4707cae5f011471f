"""The arguments and options that several commands have."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from lexichord.errors import ConfigError
from lexichord.types import Mode, SearchOptions

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
) -> SearchOptions:
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
