"""Where a tool looks: kbbridge's datasets, folders and document names as a search's options."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lexichord.errors import ConfigError, NotFoundError
from lexichord.serve.access import Limited
from lexichord.types import StoredDocument

MOST = 500  # documents that are named one by one: each is looked up by itself
EXAMPLE = '[{"id": "contracts", "source_path": ""}]'


@dataclass(frozen=True, slots=True)
class Place:
    """A dataset, "" means all in reach, and a folder in it, "" means everywhere."""

    dataset: str
    folder: str = ""


def place(resource_id: str, dataset_id: str, folder: str = "") -> Place:
    """Give the place of a tool that looks in one dataset. Raises ConfigError."""
    if resource_id and dataset_id and resource_id != dataset_id:
        raise ConfigError("dataset_id and resource_id name the same thing: leave one out")
    return Place(resource_id or dataset_id, folder)


def read_places(info: str | Sequence[object] | None, resource_id: str) -> list[Place]:
    """Read dataset_info, JSON or what it would be, or else resource_id. Raises ConfigError."""
    if not info:
        return [Place(resource_id)]
    if resource_id:
        raise ConfigError("dataset_info and resource_id name the same thing: leave one out")
    try:
        items = json.loads(info) if isinstance(info, str) else info
    except (ValueError, RecursionError):
        items = None
    read = [_place(item) for item in items] if isinstance(items, list | tuple) else []
    found = [each for each in read if each is not None]
    if not found or len(found) < len(read):
        raise ConfigError(f"dataset_info is a JSON list of datasets with their folders: {EXAMPLE}")
    return found


def _place(item: object) -> Place | None:
    given = item if isinstance(item, dict) else {}
    name, folder = given.get("id"), given.get("source_path") or ""
    return Place(name, folder) if isinstance(name, str) and isinstance(folder, str) else None


async def where(limited: Limited, places: Sequence[Place], document: str = "") -> dict[str, Any]:
    """Give the options of a search that looks in these places, or in one document there.

    A folder is what documents' uris begin with, or one or more whole folder names inside them:
    "2024" and "contracts/2024" both mean /home/ann/contracts/2024/nda.txt. Raises ConfigError,
    NotFoundError.
    """
    options: dict[str, Any] = {}
    if all(each.dataset for each in places):
        options["datasets"] = list(dict.fromkeys(each.dataset for each in places))
    if not document and not any(each.folder for each in places):
        return options
    found = [await documents_in(limited, each) for each in places]
    for each, documents in zip(places, found, strict=True):
        if each.folder and not documents:
            raise NotFoundError(
                f"no document lies in '{each.folder}': file_lister shows the documents' names"
            )
    rows = [row for documents in found for row in documents]
    prefixes = {prefix(row.uri, places[0].folder) for row in rows}
    if document:
        options["documents"] = _ids(named(rows, document))
    elif len(places) == len(prefixes) == 1:
        options["uri_prefix"] = prefixes.pop()
    else:
        options["documents"] = _ids(rows)
    return options


def named(rows: Sequence[StoredDocument], name: str) -> list[StoredDocument]:
    """Give the documents that a name means. Raises NotFoundError.

    It is an id, a uri or the end of one, or else, as in kbbridge, a part of files' names.
    """
    end = f"/{name.lstrip('/')}"
    found = [row for row in rows if name in (row.uri, str(row.document_id))]
    found = found or [row for row in rows if row.uri.endswith(end)]
    part = name.casefold()
    found = found or [row for row in rows if part in row.uri.rpartition("/")[2].casefold()]
    if not found:
        raise NotFoundError(f"there is no document '{name}' here: file_lister shows their names")
    return found


async def documents_in(limited: Limited, where: Place) -> list[StoredDocument]:
    """List the documents of a place, none if it has none. Raises NotFoundError for a dataset."""
    rows = await limited.list(datasets=[where.dataset] if where.dataset else ())
    return [row for row in rows if not where.folder or prefix(row.uri, where.folder)]


def prefix(uri: str, folder: str) -> str:
    """Give the part of a uri that ends with a folder, "" if it does not lie in it.

    What a uri begins with counts as well, for uris that are names given by the user.
    """
    inner = folder.strip("/")
    for whole in (f"{folder.rstrip('/')}/", f"{inner}/"):
        if uri.startswith(whole):
            return whole
    before, found, _ = uri.partition(f"/{inner}/")
    if found and inner:
        return f"{before}{found}"
    return folder if uri.startswith(folder) else ""


def _ids(rows: Sequence[StoredDocument]) -> list[int]:
    ids = list(dict.fromkeys(row.document_id for row in rows))
    if len(ids) > MOST:
        raise ConfigError(f"that means {len(ids)} documents: name one folder, or fewer documents")
    return ids
