"""Hits as text: numbered passages with their sources."""

from collections.abc import Iterable

from lexichord.types import ChunkHit, Json

MAX_LENGTH = 4000  # characters


def format_context(
    hits: Iterable[ChunkHit], max_length: int = MAX_LENGTH
) -> tuple[str, list[Json]]:
    """Give the passages that fit whole into `max_length` characters, and their sources."""
    passages: list[str] = []
    sources: list[Json] = []
    room = max_length
    for hit in hits:
        number = len(sources) + 1
        source = _source(number, hit)
        passage = f"[{number}] {source['citation']}\n{hit.content}\n"
        if len(passage) > room:
            continue
        room -= len(passage) + 1
        passages.append(passage)
        sources.append(source)
    return "\n".join(passages), sources


def _source(number: int, hit: ChunkHit) -> Json:
    citation = " › ".join(filter(None, (hit.title, hit.heading)))
    place = {"uri": hit.uri, "start": hit.start, "end": hit.end, "page": hit.page}
    ids = {"chunk_id": hit.chunk_id, "document_id": hit.document_id}
    return {"number": number, "citation": citation, **place, **ids, "score": hit.score}
