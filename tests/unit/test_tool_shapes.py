"""The results of MCP tools hold what the records hold, under the same names."""

from dataclasses import fields

from lexichord.serve.compat.kbbridge.shapes import FileItem, ListedFile, PassageItem
from lexichord.types import ChunkHit, FileHit, StoredDocument


def names(record: type) -> set[str]:
    return {field.name for field in fields(record)}


def test_passages_and_files_hold_every_field_of_a_hit() -> None:
    assert set(PassageItem.model_fields) == names(ChunkHit) | {"document_name"}
    discovered = names(FileHit) - {"metadata"}  # which those of file discovery lack
    assert set(FileItem.model_fields) == discovered | {"document_name"}


def test_a_list_leaves_out_what_names_no_document() -> None:
    unlisted = {"media_type", "metadata", "updated_at"}
    assert set(ListedFile.model_fields) == names(StoredDocument) - unlisted | {"document_name"}
