"""Documents that were cut upstream: JSON lines and dictionaries, checked before they are stored."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest

from lexichord import SyncLexichord
from lexichord.ingest.report import Report
from lexichord.types import ContextKind
from tests.conftest import SAMPLES, SPACE

VECTOR = [1.0, 0.0, 0.0, 0.0]
PIECE = {"content": "The zebra clause.", "vector": VECTOR}

type Source = dict[str, Any]

GOOD: Source = {"uri": "good", "space": str(SPACE), "chunks": [PIECE]}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "documents.jsonl"


def write(file: Path, *lines: Source | str) -> Path:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    file.write_text("\n".join(texts) + "\n")
    return file


def chunks(plain: SyncLexichord, uri: str) -> list[dict[str, Any]]:
    return [chunk.to_dict() for chunk in plain.show(uri).chunks]


def spans(plain: SyncLexichord, uri: str) -> list[tuple[int, int]]:
    return [(chunk["start"], chunk["end"]) for chunk in chunks(plain, uri)]


def counts(report: Report) -> tuple[int, int, int]:
    return report.inserted, report.replaced, report.skipped


def test_without_a_text_the_chunks_are_the_text(plain: SyncLexichord, file: Path) -> None:
    contents = ["One zebra.", "Two.", "One zebra.", "Two."]
    write(file, {"uri": "a", "chunks": [{"content": content} for content in contents]})
    assert plain.ingest(chunked_file=file).inserted == 1
    assert plain.show("a").text == "One zebra.\n\nTwo.\n\nOne zebra.\n\nTwo."
    assert spans(plain, "a") == [(0, 10), (12, 16), (18, 28), (30, 34)]


def test_places_are_found_in_the_text_one_after_the_other(plain: SyncLexichord) -> None:
    text = "naïve 🎉: clause, clause; clause"
    pieces = [{"content": "clause"}, {"content": "clause", "start": 25}, {"content": "🎉"}]
    overlapping = [{"content": "one two"}, {"content": "two three"}]
    report = plain.ingest(
        documents=[
            {"uri": "a", "text": text, "chunks": pieces[:2]},
            {"uri": "b", "text": text, "chunks": pieces},
            {"uri": "c", "text": "one two three", "chunks": overlapping},
        ]
    )
    assert report.failed == {"b": "chunks.2: its content does not stand in the text there"}
    assert (spans(plain, "a"), spans(plain, "c")) == ([(9, 15), (25, 31)], [(0, 7), (4, 13)])


def chunk(**fields: object) -> Source:
    return {"chunks": [{"content": "The yak clause.", **fields}]}


def vectors(*values: object, space: object = str(SPACE)) -> Source:
    pieces = [{"content": f"Part {n}.", "vector": vector} for n, vector in enumerate(values)]
    return {"chunks": pieces, "space": space}


# name, and uri unless it has another -> what is wrong, and what is said of it
REFUSED: dict[str, tuple[Source | str, str]] = {
    "some vectors": (vectors(VECTOR, None), "some chunks have a vector and some have none"),
    "no space": (vectors(VECTOR, space=None), "vectors need a space: provider/model/dimension"),
    "other space": (vectors([1, 0], space="a/b/2"), "its vectors are of a/b/2, the database is"),
    "no such space": (vectors(VECTOR, space="tiny"), "'tiny' is no embedding space"),
    "short vector": (vectors([1, 0]), "a vector has not the 4 numbers that its space names"),
    "NaN": (vectors([float("nan"), 1, 0, 0]), "finite number"),
    "infinity": (vectors([float("inf"), 1, 0, 0]), "finite number"),
    "zeros": (vectors([0, 0, 0, 0]), "has no direction"),
    "as good as zeros": (vectors([1e-9, 0, 0, 0]), "has no direction"),
    "too large": (vectors([1e9, 0, 0, 0]), "out of range"),
    "words for numbers": (vectors(["one", 0, 0, 0]), "chunks.0.vector.0: "),
    "another place": (chunk(start=3), "chunks.0: its content does not stand in the text there"),
    "place before the text": (chunk(start=-1), "chunks.0.start: "),
    "place beyond the text": (chunk(start=10**9), "does not stand in the text there"),
    "page of a novel": (chunk(page=2**40), "chunks.0.page: Input should be less than"),
    "unknown field of a chunk": (chunk(contents="x"), "chunks.0.contents: Extra inputs"),
    "unknown field": ({**chunk(), "urn": "x"}, "urn: Extra inputs"),
    "no uri": ('{"chunks": [{"content": "x"}]}', "uri: Field required"),
    "empty uri": ({**GOOD, "uri": ""}, "uri: "),
    "no chunks": ({"chunks": []}, "chunks: "),
    "empty content": (chunk(content=""), "chunks.0.content: "),
    "NUL": (chunk(content="a\0b"), "holds a NUL character"),
    "NUL in metadata": (chunk(metadata={"key": "a\0b"}), "holds a NUL character"),
    "half a character": ('{"uri": "bad", "chunks": [{"content": "\\ud83c"}]}', "Invalid JSON"),
    "no object": ("[1]", "Input should be an object"),
    "half a line": ('{"uri": "bad", "chu', "Invalid JSON"),
    "no JSON": ("uri: bad", "Invalid JSON"),
    "uri beyond an index": ({**GOOD, "uri": "🎉" * 501}, "uri: is longer than 2000"),
    "text beyond a tsvector": (
        chunk(content=" ".join(f"w{number}" for number in range(200_000))),
        "too long for tsvector",
    ),
}


def test_what_is_wrong_fails_alone_with_its_reason(plain: SyncLexichord, file: Path) -> None:
    lines = [
        wrong if isinstance(wrong, str) else {"uri": name, **wrong}
        for name, (wrong, _) in REFUSED.items()
    ]
    report = plain.ingest(chunked_file=write(file, *lines, GOOD))
    for number, (name, (_, reason)) in enumerate(REFUSED.items(), 1):
        failure = report.failed.get(name) or report.failed[f"documents.jsonl:{number}"]
        assert reason in failure
        assert "\n" not in failure
    assert len(report.failed) == len(REFUSED)
    assert [row.uri for row in plain.list()] == ["good"]
    assert plain.status().runs[0].failures == report.failed


def test_what_is_no_json_fails_alone(plain: SyncLexichord) -> None:
    wrong = [{**GOOD, "uri": "bad", "metadata": {"key": value}} for value in ({1}, np.ones(2))]
    report = plain.ingest(documents=[*wrong, GOOD])
    assert report.failed == {
        "document 1": "Object of type set is not JSON serializable",
        "document 2": "Object of type ndarray is not JSON serializable",
    }
    assert report.inserted == 1


def test_a_uri_that_comes_again_is_refused(plain: SyncLexichord, file: Path) -> None:
    """Else its documents would take turns, and one of them would be lost unheard."""
    other = {"uri": "good", "chunks": [{"content": "The yak clause."}]}
    for expected in ((1, 0, 0), (0, 0, 1)):
        report = plain.ingest(chunked_file=write(file, GOOD, other))
        assert counts(report) == expected
        reason = "good was given before: give all its chunks at once"
        assert report.failed == {"documents.jsonl:2": reason}
    assert plain.show("good").text == "The zebra clause."


def test_a_changed_document_is_replaced(plain: SyncLexichord, dsn: str) -> None:
    """In both legs: its words, and its vectors; another vector alone is a change, too."""
    assert counts(plain.ingest(documents=[GOOD])) == (1, 0, 0)
    assert counts(plain.ingest(documents=[GOOD])) == (0, 0, 1)
    (before,) = plain.list()
    turned = {**GOOD, "chunks": [{**PIECE, "vector": [0, 1, 0, 0]}]}
    other = {**GOOD, "chunks": [{"content": "The yak clause.", "vector": [0, 1, 0, 0]}]}
    for changed in (turned, other):
        assert counts(plain.ingest(documents=[changed])) == (0, 1, 0)
    (after,) = plain.list()
    assert after.document_id == before.document_id
    assert plain.search("zebra", mode="keyword").hits == []
    assert len(plain.search("yak", mode="keyword").hits) == 1
    query = "select score from lexichord.dense_candidates('[0,1,0,0]')"
    with psycopg.connect(dsn) as connection:
        assert connection.execute(query).fetchall() == [(pytest.approx(1.0),)]


@pytest.mark.parametrize(
    ("kind", "contexts"),
    [
        ("given", ["upstream", ""]),
        ("none", ["", ""]),
        ("structural", ["upstream", "Title"]),
    ],
)
def test_kinds_of_context(kind: ContextKind, contexts: list[str], plain: SyncLexichord) -> None:
    first = {"content": "zebra clause", "context": "upstream"}
    second = {"content": "clause zebra", "heading": "Rent"}
    source = {"uri": "a", "title": "Title", "chunks": [first, second]}
    plain.ingest(documents=[source], context=kind)
    stored = chunks(plain, "a")
    assert [chunk["context"] for chunk in stored] == contexts
    words = "Rent\nclause zebra" if kind == "structural" else ""
    assert [chunk["keyword_context"] for chunk in stored] == ["", words]


def test_all_that_was_given_is_kept(plain: SyncLexichord) -> None:
    piece = {"content": "zebra", "page": 7, "heading": "Rent", "metadata": {"clause": 4}}
    kind = {"title": "Lease", "media_type": "application/pdf"}
    source = {"uri": "a", "chunks": [piece], "metadata": {"kind": "law", "year": 2020}, **kind}
    plain.ingest(documents=[source, GOOD])
    (hit,) = plain.search("zebra", mode="keyword", filter={"kind": "law"}).hits
    assert (hit.uri, hit.title, hit.heading, hit.page) == ("a", "Lease", "Rent", 7)
    shown = plain.show("a")
    assert (shown.document.media_type, shown.document.metadata) == (
        "application/pdf",
        source["metadata"],
    )
    assert shown.chunks[0].metadata == {"clause": 4}


def test_a_text_without_chunks_is_cut_as_a_file_of_its_kind(
    plain: SyncLexichord, tmp_path: Path
) -> None:
    sample = next(SAMPLES.glob("agreements/*.md"))
    source = {"uri": "a/b", "text": sample.read_text(), "media_type": "text/markdown"}
    plain.ingest([sample], documents=[source, {**source, "uri": "c", "text": " "}])
    ours, theirs = chunks(plain, "a/b"), chunks(plain, sample.name)
    same = "ordinal", "heading", "start", "end", "content"
    assert [[c[name] for name in same] for c in ours] == [
        [c[name] for name in same] for c in theirs
    ]
    assert len(ours) > 3
    assert {row.uri for row in plain.list()} == {"a/b", sample.as_posix()}
    assert plain.ingest(documents=[source]).skipped == 1
    assert plain.ingest([tmp_path], prune=False).deleted == 0
