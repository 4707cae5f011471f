"""Anthropic's contextual-retrieval code set: documents in their chunks, golden chunks a query."""

from pathlib import Path

from pydantic import BaseModel

from lexichord.errors import ConfigError
from lexichord.evaluate.datasets.reading import Named, Text, json_file, json_lines
from lexichord.types import Json
from lexichord.types.evaluation import EvalQuery, EvalSet

LAYOUT = "Anthropic's code set (a folder with codebase_chunks.json and evaluation_set.jsonl)"
CHUNKS, QUESTIONS = "codebase_chunks.json", "evaluation_set.jsonl"

type Place = tuple[str, int]  # of a chunk: its document's uri, and its number there


class GivenChunk(BaseModel):
    """A chunk; golden chunks are named by its index."""

    original_index: int
    content: Text


class GivenDocument(BaseModel):
    """A document in its chunks, in order."""

    original_uuid: Named
    content: Text
    chunks: list[GivenChunk]


class GivenQuestion(BaseModel):
    """A line of the questions."""

    query: Named
    golden_chunk_uuids: list[tuple[str, int]]


def fits(path: Path) -> bool:
    """Tell whether this is such a folder."""
    return (path / CHUNKS).is_file() and (path / QUESTIONS).is_file()


def load(path: Path) -> EvalSet:
    """Read a folder. Raises ConfigError."""
    documents = json_file(path / CHUNKS, list[GivenDocument])
    places = {
        (document.original_uuid, chunk.original_index): (document.original_uuid, number)
        for document in documents
        for number, chunk in enumerate(document.chunks)
    }
    queries = tuple(
        _query(number, given, places, place)
        for number, (place, given) in enumerate(json_lines(path / QUESTIONS, GivenQuestion), 1)
    )
    return EvalSet("codebase", tuple(map(_document, documents)), queries)


def _query(number: int, given: GivenQuestion, places: dict[Place, Place], place: str) -> EvalQuery:
    for golden in given.golden_chunk_uuids:
        if golden not in places:
            raise ConfigError(f"{place}: there is no chunk {golden[1]} of {golden[0]}")
    chunks = tuple(dict.fromkeys(places[golden] for golden in given.golden_chunk_uuids))
    files = tuple(dict.fromkeys(uri for uri, _ in chunks))
    return EvalQuery(id=str(number), text=given.query, files=files, chunks=chunks)


def _document(given: GivenDocument) -> Json:
    chunks = [{"content": chunk.content} for chunk in given.chunks]
    return {"uri": given.original_uuid, "text": given.content, "chunks": chunks}
