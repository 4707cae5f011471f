"""Vectors that are made here: at once, later, or not at all."""

import asyncio
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from threading import Event

import pytest

from lexichord import SyncLexichord
from lexichord.db import store
from lexichord.db.pool import Database
from lexichord.errors import ConfigError, ProviderError
from lexichord.ingest.flow import INGEST_LIMITS
from lexichord.ingest.report import Report
from lexichord.ingest.vectors import ChunkEmbedder
from lexichord.providers.embed.local import LOCAL_SPACE
from lexichord.types import Chunk, Document, Json
from lexichord.work import in_thread
from tests.end_to_end.hashing import OLD, Hashing, application
from tests.end_to_end.processes import PATIENCE

GROUP = INGEST_LIMITS.group_chunks
NO_LIBRARIES = "no embedder: by words only; run: pip install 'lexichord[local]'"


def write(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text)


def nearest(lexichord: SyncLexichord, query: str) -> str:
    return Path(lexichord.search(query, mode="dense").hits[0].uri).name


@pytest.fixture
def opened(embedding_dsn: str, home: Path) -> Callable[[], SyncLexichord]:
    """Opens the application on one database, as often as it is called."""
    return lambda: SyncLexichord(dsn=embedding_dsn, home=home)


def test_chunks_without_vectors_are_filled_in_later(opened: Callable[[], SyncLexichord]) -> None:
    """More of them than one batch, beside some that have their vectors."""
    contents = [f"Clause {number} is about cats." for number in range(GROUP + 5)]
    text = "\n".join(contents)
    chunks = [
        Chunk(text.index(content), text.index(content) + len(content), content)
        for content in contents
    ]
    document = Document("default", "stored", "", "text/plain", "0" * 64, "none", text)
    with opened() as lexichord:
        lexichord.ingest(documents=[{"uri": "embedded", "chunks": [{"content": "Dogs bark."}]}])
        vectors = [None] * len(chunks)
        database = lexichord.core.database
        lexichord.run(store.store_document(database, document, chunks, vectors, 1))
        assert lexichord.status().chunks_without_vector == len(chunks)
        report = lexichord.ingest()
        assert report.vectors_filled == len(chunks)
        assert lexichord.status().chunks_without_vector == 0
        hits = lexichord.search("Clause 77 is about cats", mode="dense", k=1).hits
        assert hits[0].content == "Clause 77 is about cats."
        assert (hits[0].scores.dense or 0) > 0.99
        assert lexichord.ingest().vectors_filled == 0


def test_without_the_libraries_words_are_searched_and_vectors_come_later(
    opened: Callable[[], SyncLexichord], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, a="A cat sleeps on the sofa.", b="Taxes are due in April.")
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "onnxruntime", None)  # as if it were not installed
        with opened() as lexichord:
            report = lexichord.ingest([tmp_path])
            assert (report.inserted, report.degraded) == (2, [NO_LIBRARIES])
            result = lexichord.search("cat")
            assert [Path(hit.uri).name for hit in result.hits] == ["a.md"]
            assert result.degraded == [NO_LIBRARIES]
            assert lexichord.search("cat", mode="keyword").degraded == []
            with pytest.raises(ConfigError, match="mode dense needs an embedder: no embedder"):
                lexichord.search("cat", mode="dense")
            with pytest.raises(ConfigError, match="has no vectors yet: ingest again"):
                lexichord.similar("a.md")
            status = lexichord.status()
            assert (status.embedder, status.chunks_without_vector) == (None, 2)
    with opened() as lexichord:
        report = lexichord.ingest([tmp_path])
        assert (report.skipped, report.vectors_filled, report.degraded) == (2, 2, [])
        assert nearest(lexichord, "a kitten naps on the couch") == "a.md"


def test_a_folder_without_the_model_is_refused(embedding_dsn: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="does not hold all-MiniLM-L6-v2") as caught:
        SyncLexichord(dsn=embedding_dsn, home=tmp_path, model_dir=tmp_path).__enter__()
    assert "\n" not in str(caught.value)


def document_with_vector(number: int) -> Json:
    """Give a document with a vector of its own, for which no model is needed."""
    vector = [Random(number + place).gauss(0, 1) for place in range(LOCAL_SPACE.dimension)]
    pieces = [{"content": f"Clause {number}.", "vector": vector}]
    return {"uri": f"given {number}", "chunks": pieces, "space": str(LOCAL_SPACE)}


def test_files_are_stored_while_later_ones_are_embedded(dsn: str, tmp_path: Path) -> None:
    """Fewer chunks than a full group: the last file is embedded once another one was stored."""
    write(tmp_path, **{f"{number:03}": f"Clause {number}." for number in range(GROUP // 2)})
    last = f"Clause {GROUP // 2 - 1}."
    stored, waited = Event(), list[bool]()

    def wait(texts: Sequence[str]) -> None:
        if any(last in text for text in texts):
            waited.append(stored.wait(30))

    with application(dsn, heard=wait) as lexichord:
        report = lexichord.ingest([tmp_path], listener=lambda *_: stored.set())
    assert (report.inserted, waited) == (GROUP // 2, [True])


def waits(go: Event) -> None:
    go.wait(PATIENCE)


async def test_no_query_waits_for_the_services_of_ingests(database: Database) -> None:
    go = Event()
    embedder = Hashing(OLD, heard=lambda texts: waits(go))
    ingest = ChunkEmbedder(database, embedder, OLD, lambda n: None, lambda u: None, Report())
    waiting = [asyncio.create_task(ingest.embed([f"w{n}"], ["chunk"])) for n in range(50)]
    try:
        await asyncio.sleep(0.1)  # all of them ask
        async with asyncio.timeout(PATIENCE / 2):
            assert len(await in_thread(embedder.embed, ["w1"], "query")) == 1
    finally:
        go.set()
        await asyncio.gather(*waiting)


def test_a_model_that_fails_in_the_middle_keeps_what_was_reported(
    opened: Callable[[], SyncLexichord], embedding_dsn: str, tmp_path: Path
) -> None:
    """One group is being stored while the next one fails: it is stored to its end."""
    for name in ("model.safetensors", "tokenizer.json"):
        (tmp_path / name).write_text("damaged")
    first = INGEST_LIMITS.first_group_chunks
    documents = [document_with_vector(number) for number in range(first)]
    documents.append({"uri": "to embed", "chunks": [{"content": "Cats sleep."}]})
    heard: list[str] = []
    with (
        SyncLexichord(dsn=embedding_dsn, home=tmp_path, model_dir=tmp_path) as lexichord,
        pytest.raises(ProviderError, match="is not the official file"),
    ):
        lexichord.ingest(documents=documents, listener=lambda uri, *_: heard.append(uri))
    assert len(heard) == first
    with opened() as lexichord:
        assert sorted(row.uri for row in lexichord.list()) == sorted(heard)
        assert lexichord.status().runs[0].finished_at is None
        report = lexichord.ingest(documents=documents)
        assert (report.skipped, report.inserted) == (first, 1)
