"""The results of MCP tools hold what the records hold, under the same names."""

from dataclasses import fields, replace

from lexichord.serve.compat.kbbridge import (
    FileItem,
    ListedFile,
    PassageItem,
    named_documents,
    short_names,
    uri_prefix,
)
from lexichord.types import ChunkHit, FileHit, StoredDocument
from tests.builders import DOCUMENT


def names(record: type) -> set[str]:
    return {field.name for field in fields(record)}


def test_passages_and_files_hold_every_field_of_a_hit() -> None:
    assert set(PassageItem.model_fields) == names(ChunkHit) | {"document_name"}
    discovered = names(FileHit) - {"metadata"}  # which those of file discovery lack
    assert set(FileItem.model_fields) == discovered | {"document_name"}


def test_a_list_leaves_out_what_names_no_document() -> None:
    unlisted = {"media_type", "metadata", "updated_at"}
    assert set(ListedFile.model_fields) == names(StoredDocument) - unlisted | {"document_name"}


def test_a_document_is_named_by_as_much_of_its_uri_as_tells_it() -> None:
    uris = ["/w/a/index.md", "/w/b/index.md", "/w/b/c.md", "c/x.md", "http://h:8899/", "x.md"]
    ends = ["a/index.md", "b/index.md", "c.md", "c/x.md", "h:8899/", "x.md"]
    assert short_names([*uris, *uris]) == dict(zip(uris, ends, strict=True))
    documents = [replace(DOCUMENT, uri=uri) for uri in uris]
    assert [row.uri for end in ends for row in named_documents(documents, end)] == uris


def test_a_folder_is_a_whole_part_of_a_uri() -> None:
    uris = ["/w/24/a.md", "24/a.md", "/w/2024/a.md", "/w/24.md"]
    assert [uri_prefix(uri, "24") for uri in uris] == ["/w/24/", "24/", "", ""]
