"""A second ingest: what changed is embedded, what is gone is pruned, what failed is retried."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import psycopg
import pytest

from lexichord import SyncLexichord
from lexichord.providers.base import Vectors
from lexichord.providers.embed.local import LocalEmbedder
from lexichord.types import EmbeddingSpace
from tests.end_to_end.conftest import names

CLAUSES = [
    f"## {number}. Clause of the {animal}\n\n"
    + f"The {animal} is to be fed at {number} o'clock and not later. " * 9
    for number, animal in enumerate(["yak", "zebra", "walrus", "otter", "heron", "lynx"], 1)
]


class Counting:
    """The real embedder, and what it was given."""

    def __init__(self, embedder: LocalEmbedder) -> None:
        self.embedder = embedder
        self.texts: list[str] = []

    @property
    def space(self) -> EmbeddingSpace:
        return self.embedder.space

    def embed(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Vectors:
        self.texts += texts
        return self.embedder.embed(texts, kind)

    def taken(self) -> list[str]:
        texts, self.texts = self.texts, []
        return texts


@pytest.fixture
def lexichord(embedding_dsn: str, home: Path) -> Iterator[SyncLexichord]:
    with SyncLexichord(dsn=embedding_dsn, home=home) as lexichord:
        yield lexichord


@pytest.fixture
def counting(lexichord: SyncLexichord, embedder: LocalEmbedder) -> Counting:
    counting = Counting(embedder)
    lexichord.core.embedder = counting
    return counting


def contract(*clauses: str) -> str:
    return "# Contract\n\n" + "\n\n".join(clauses) + "\n"


def vectors(lexichord: SyncLexichord, name: str) -> list[str]:
    with psycopg.connect(lexichord.core.database.dsn) as connection:
        rows = connection.execute(
            "select c.embedding::text from lexichord_data.chunk c "
            "join lexichord_data.document d on d.id = c.document_id "
            "where right(d.uri, length(%s)) = %s order by c.ordinal",
            [name, name],
        ).fetchall()
    return [vector for (vector,) in rows]


def assert_sound(lexichord: SyncLexichord) -> None:
    report = lexichord.doctor()
    assert {fault.amount for fault in report.faults} == {0}
    assert report.chunks_without_vector == 0


def test_only_the_changed_clause_is_embedded(
    lexichord: SyncLexichord, counting: Counting, folder: Path
) -> None:
    file = folder / "contract.md"
    file.write_text(contract(*CLAUSES))
    report = lexichord.ingest([folder])
    assert report.embedded == report.chunks == len(counting.taken())
    before = vectors(lexichord, file.name)
    changed = CLAUSES[2].replace("walrus", "penguin")
    file.write_text(contract(*CLAUSES[:2], changed, *CLAUSES[3:]))
    report = lexichord.ingest([folder])
    texts = counting.taken()
    assert (report.replaced, report.embedded) == (1, len(texts))
    assert 0 < len(texts) <= 2
    assert all("penguin" in text for text in texts)
    after = vectors(lexichord, file.name)
    assert sum(old != new for old, new in zip(before, after, strict=True)) == len(texts)
    assert "walrus" not in lexichord.show(file.name).text
    assert lexichord.search("penguin", k=1).hits[0].heading.endswith("penguin")
    assert_sound(lexichord)


def test_a_clause_that_moves_keeps_its_vector(
    lexichord: SyncLexichord, counting: Counting, folder: Path
) -> None:
    file = folder / "contract.md"
    file.write_text(contract(*CLAUSES))
    lexichord.ingest([folder])
    before = sorted(vectors(lexichord, file.name))
    counting.taken()
    file.write_text(contract(CLAUSES[0], *reversed(CLAUSES[1:])))
    assert lexichord.ingest([folder]).replaced == 1
    assert counting.taken() == []
    assert sorted(vectors(lexichord, file.name)) == before
    assert_sound(lexichord)


def test_a_renamed_file_keeps_its_vectors(
    lexichord: SyncLexichord, counting: Counting, folder: Path
) -> None:
    (folder / "old.txt").write_text(contract(*CLAUSES))
    (folder / "other.txt").write_text(CLAUSES[0])
    lexichord.ingest([folder])
    before = vectors(lexichord, "old.txt")
    counting.taken()
    (folder / "old.txt").rename(folder / "new.txt")
    report = lexichord.ingest([folder])
    assert (report.inserted, report.embedded, counting.taken()) == (1, 0, [])
    assert names(lexichord) == ["new.txt", "old.txt", "other.txt"]
    assert vectors(lexichord, "new.txt") == before
    report = lexichord.ingest([folder], prune=True)
    assert (report.deleted, report.skipped) == (1, 2)
    assert names(lexichord) == ["new.txt", "other.txt"]
    assert_sound(lexichord)


def test_vectors_that_came_along_are_the_ones_stored(
    lexichord: SyncLexichord, counting: Counting
) -> None:
    space = str(counting.space)
    for number in (1, 2):
        vector = [float(number), *[0.0] * 383]
        pieces = [{"content": "It is fed.", "vector": vector}]
        lexichord.ingest(documents=[{"uri": "x/a", "space": space, "chunks": pieces}])
        assert vectors(lexichord, "a")[0].startswith(f"[{number},0,")
    assert counting.taken() == []
