"""Anthropic's contextual-retrieval code set: documents in their chunks, golden chunks a query."""

from pathlib import Path

from pydantic import BaseModel

from lexichord.errors import ConfigError
from lexichord.evaluate.datasets.reading import (
    NonBlankText,
    SetFormat,
    StorableText,
    read_json,
    read_json_lines,
)
from lexichord.types import Json
from lexichord.types.evaluation import EvalQuery, EvalSet

CODEBASE_CHUNKS_FILE, CODEBASE_QUESTIONS_FILE = "codebase_chunks.json", "evaluation_set.jsonl"

type ChunkPlace = tuple[str, int]  # a document's uri, and a chunk's number there


class CodebaseChunk(BaseModel):
    """A chunk; golden chunks are named by its index."""

    original_index: int
    content: StorableText


class CodebaseDocument(BaseModel):
    """A document in its chunks, in order."""

    original_uuid: NonBlankText
    content: StorableText
    chunks: list[CodebaseChunk]


class CodebaseQuestion(BaseModel):
    """A line of the questions."""

    query: NonBlankText
    golden_chunk_uuids: list[tuple[str, int]]


def fits(path: Path) -> bool:
    """Return whether this is such a folder."""
    return (path / CODEBASE_CHUNKS_FILE).is_file() and (path / CODEBASE_QUESTIONS_FILE).is_file()


def load(path: Path) -> EvalSet:
    """Read a folder. Raises ConfigError."""
    documents = read_json(path / CODEBASE_CHUNKS_FILE, list[CodebaseDocument])
    places = {
        (document.original_uuid, chunk.original_index): (document.original_uuid, number)
        for document in documents
        for number, chunk in enumerate(document.chunks)
    }
    queries = tuple(
        _query(number, question, places, place)
        for number, (place, question) in enumerate(
            read_json_lines(path / CODEBASE_QUESTIONS_FILE, CodebaseQuestion), 1
        )
    )
    return EvalSet("codebase", tuple(map(_document, documents)), queries)


def _query(
    number: int, question: CodebaseQuestion, places: dict[ChunkPlace, ChunkPlace], place: str
) -> EvalQuery:
    for golden in question.golden_chunk_uuids:
        if golden not in places:
            raise ConfigError(f"{place}: there is no chunk {golden[1]} of {golden[0]}")
    chunks = tuple(dict.fromkeys(places[golden] for golden in question.golden_chunk_uuids))
    files = tuple(dict.fromkeys(uri for uri, _ in chunks))
    return EvalQuery(id=str(number), text=question.query, files=files, chunks=chunks)


def _document(document: CodebaseDocument) -> Json:
    chunks = [{"content": chunk.content} for chunk in document.chunks]
    return {"uri": document.original_uuid, "text": document.content, "chunks": chunks}


CODEBASE_FORMAT = SetFormat(
    "Anthropic's code set (a folder with codebase_chunks.json and evaluation_set.jsonl)", fits, load
)
