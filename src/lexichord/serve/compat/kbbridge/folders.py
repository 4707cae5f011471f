"""Where a tool looks: kbbridge's datasets, folders and document names as a search's options."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from lexichord.errors import ConfigError, NotFoundError, some_names
from lexichord.serve.access import ScopedClient
from lexichord.serve.limits import MAX_NAMED_DOCUMENTS
from lexichord.serve.mcp.schemas import UNPUBLISHED
from lexichord.types import Json, StoredDocument

DATASET_INFO_EXAMPLE = '[{"id": "contracts", "source_path": ""}]'


def _read_text(value: object) -> object:
    """Read what agents send for a text that they leave out, or for an id."""
    return "" if value is None else str(value) if isinstance(value, int) else value


TextArgument = Annotated[str, BeforeValidator(_read_text)]
DatasetArgument = Annotated[TextArgument, Field(description="A dataset's name; by default all.")]
ResourceArgument = Annotated[
    # dataset_id by its newer name
    TextArgument,
    Field(json_schema_extra=UNPUBLISHED),
]
DocumentArgument = Annotated[
    TextArgument,
    Field(description="Only documents of this name, a part of one, id or uri."),
]
FolderArgument = Annotated[
    TextArgument,
    Field(description="Only this folder, such as contracts/2024."),
]
FilterArgument = Annotated[
    Json | None,
    Field(
        description='Only documents with this metadata or media_type, as {"author": "Ann"}.',
    ),
]


@dataclass(frozen=True, slots=True)
class Folder:
    """A dataset, "" means all in reach, and a path in it, "" means everywhere."""

    dataset: str
    path: str = ""


def one_folder(resource_id: str, dataset_id: str, path: str = "") -> Folder:
    """Return the folder of a tool that looks in one dataset. Raises ConfigError."""
    if resource_id and dataset_id and resource_id != dataset_id:
        raise ConfigError("dataset_id and resource_id name the same thing: leave one out")
    return Folder(resource_id or dataset_id, path)


def read_folders(info: str | Sequence[object] | None, resource_id: str) -> list[Folder]:
    """Read dataset_info, JSON or what it would be, or else resource_id. Raises ConfigError."""
    if info is None or info == "":
        return [Folder(resource_id)]
    if resource_id:
        raise ConfigError("dataset_info and resource_id name the same thing: leave one out")
    try:
        items = json.loads(info) if isinstance(info, str) else info
    except (ValueError, RecursionError):
        items = None
    parsed = [_folder(item) for item in items] if isinstance(items, list | tuple) else []
    folders = [folder for folder in parsed if folder is not None]
    if not folders or len(folders) < len(parsed):
        raise ConfigError(
            f"dataset_info is a JSON list of datasets with their folders: {DATASET_INFO_EXAMPLE}"
        )
    return folders


def _folder(item: object) -> Folder | None:
    members = item if isinstance(item, dict) else {}
    dataset, path = members.get("id"), members.get("source_path") or ""
    return Folder(dataset, path) if isinstance(dataset, str) and isinstance(path, str) else None


async def scope_options(
    scoped: ScopedClient,
    folders: Sequence[Folder],
    document: str = "",
    filter: Json | None = None,
) -> dict[str, Any]:
    """Return the options of a search that looks in these folders, or in one document there.

    A folder is what documents' uris begin with, or one or more whole folder names inside them:
    "2024" and "contracts/2024" both mean /home/ann/contracts/2024/nda.txt. Raises ConfigError,
    NotFoundError.
    """
    options: dict[str, Any] = {} if filter is None else {"filter": filter}
    if all(folder.dataset for folder in folders):
        options["datasets"] = list(dict.fromkeys(folder.dataset for folder in folders))
    if not document and not any(folder.path for folder in folders):
        return options
    documents = [await documents_in(scoped, folder) for folder in folders]
    for folder, rows in zip(folders, documents, strict=True):
        if folder.path and not rows:
            raise NotFoundError(
                f"no document lies in '{folder.path}': file_lister shows the documents' names"
            )
    rows = [row for some in documents for row in some]
    prefixes = {uri_prefix(row.uri, folders[0].path) for row in rows}
    if document:
        options["documents"] = _ids(named_documents(rows, document))
    elif len(folders) == len(prefixes) == 1:
        options["uri_prefix"] = prefixes.pop()
    else:
        options["documents"] = _ids(rows)
    return options


def named_documents(rows: Sequence[StoredDocument], name: str) -> list[StoredDocument]:
    """Return the documents that a name means. Raises NotFoundError.

    It is an id, a uri or the end of one, or else, as in kbbridge, a part of files' names.
    """
    end = f"/{name.lstrip('/')}"
    part = name.casefold()
    documents = (
        [row for row in rows if name in (row.uri, row.document_id)]
        or [row for row in rows if row.uri.endswith(end)]
        or [row for row in rows if part in row.uri.rpartition("/")[2].casefold()]
    )
    if not documents:
        names = some_names({row.uri.rpartition("/")[2] for row in rows}, [name])
        raise NotFoundError(f"there is no document '{name}' here: take one of {names or 'none'}")
    return documents


async def documents_in(
    scoped: ScopedClient, folder: Folder, filter: Json | None = None
) -> list[StoredDocument]:
    """List the documents of a folder, none if it has none. Raises NotFoundError for a dataset."""
    datasets = [folder.dataset] if folder.dataset else None
    rows = await scoped.list(datasets=datasets, filter=filter)
    return [row for row in rows if not folder.path or uri_prefix(row.uri, folder.path)]


def uri_prefix(uri: str, path: str) -> str:
    """Return the part of a uri that ends with a folder, "" if it does not lie in it.

    What a uri begins with counts as well, for uris that are names given by the user.
    """
    inner = path.strip("/")
    for whole in (f"{path.rstrip('/')}/", f"{inner}/"):
        if uri.startswith(whole):
            return whole
    before, within, _ = uri.partition(f"/{inner}/")
    if within and inner:
        return f"{before}{within}"
    return path if uri.startswith(path) else ""


def _ids(rows: Sequence[StoredDocument]) -> list[str]:
    ids = list(dict.fromkeys(row.document_id for row in rows))
    if len(ids) > MAX_NAMED_DOCUMENTS:
        raise ConfigError(f"that means {len(ids)} documents: name one folder, or fewer documents")
    return ids
