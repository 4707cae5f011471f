"""Sets of questions: each format as its makers write it, and what is wrong with a broken one."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lexichord.errors import ConfigError
from lexichord.evaluate.datasets import SET_FORMATS, load_set
from lexichord.evaluate.entities import score_entities
from lexichord.types.evaluation import (
    EvalQuery,
    EvalSet,
    EvidenceSpan,
    ExpectedAnswer,
    ExpectedCell,
)
from tests.conftest import SAMPLES

QUESTION = {"id": "a", "query": "How many?"}


def write(file: Path, content: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content, newline="", encoding="utf-8")
    return file


def write_lines(file: Path, *rows: Mapping[str, Any]) -> Path:
    return write(file, "".join(f"{json.dumps(row)}\n" for row in rows))


def by_uri(loaded: EvalSet) -> dict[str, Mapping[str, Any]]:
    return {document["uri"]: document for document in loaded.documents}


def refused(path: Path) -> str:
    """The error: one line that names a file of the set."""
    with pytest.raises(ConfigError) as caught:
        load_set(path)
    message = str(caught.value)
    assert "\n" not in message
    assert str(path.parent) in message
    return message


# names and formats


def test_the_sample_has_a_name() -> None:
    loaded = load_set("sample")
    assert (loaded.name, len(loaded.queries)) == ("sample", 30)
    assert sorted(by_uri(loaded)) == sorted(
        file.relative_to(SAMPLES).as_posix()
        for folder in ("agreements", "policies")
        for file in (SAMPLES / folder).iterdir()
    )
    assert load_set(SAMPLES).queries == loaded.queries


def test_a_quote_of_the_sample_holds_what_its_question_asks_for() -> None:
    loaded = load_set("sample")
    texts = {uri: document["text"] for uri, document in by_uri(loaded).items()}
    for query in loaded.queries:
        assert bool(query.spans) == query.answerable
        answer = " ".join(texts[span.file][span.start : span.end] for span in query.spans)
        scores = score_entities(query, answer)
        assert {score for score in scores.values() if score is not None} <= {1.0}, query.id
    assert [query.id for query in loaded.queries if not query.answerable] == ["q30"]


def test_what_is_not_there_is_said() -> None:
    with pytest.raises(ConfigError, match="no file or folder nowhere, and 'sample' is the only"):
        load_set("nowhere")


def test_what_no_format_fits_lists_them(tmp_path: Path) -> None:
    write(tmp_path / "in" / "notes.txt", "x")
    for path in (tmp_path / "in", tmp_path / "in" / "notes.txt"):
        message = refused(path)
        assert all(known.layout in message for known in SET_FORMATS)


@pytest.mark.parametrize(
    ("file", "fixture"),
    [("dev.json", "contractnli"), ("questions.jsonl", "native"), ("ndas.json", "legalbench")],
)
def test_a_file_named_from_its_own_folder(
    file: str, fixture: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = request.getfixturevalue(fixture)
    path = next(folder.parent.rglob(file))
    whole = load_set(path)
    monkeypatch.chdir(path.parent)
    assert load_set(file).queries == whole.queries
    assert load_set(file).name == whole.name


# BEIR


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    folder = tmp_path / "small"
    write_lines(
        folder / "corpus.jsonl",
        {"_id": "d1", "title": "Pumps", "text": "They pump.", "metadata": {}},
        {"_id": "d2", "title": "", "text": "Nul \0 here"},
        {"_id": "d3", "title": "", "text": ""},
        {"_id": "d4", "title": "Title only", "text": None},
    )
    write_lines(
        folder / "queries.jsonl",
        {"_id": "q1", "text": "What pumps?", "metadata": {"year": 2020}},
        {"_id": "q2", "text": "Of the training part"},
        {"_id": "q3", "text": "Who?"},
    )
    rows = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq3\td4\t1\n"
    write(folder / "qrels" / "test.tsv", rows)
    write(folder / "qrels" / "train.tsv", "query-id\tcorpus-id\tscore\nq2\td1\t1\n")
    return folder


def test_beir(beir: Path) -> None:
    loaded = load_set(beir)
    assert loaded.name == "small"
    assert loaded.queries == (
        EvalQuery("q1", "What pumps?", grades={"d1": 2, "d2": 0}),
        EvalQuery("q3", "Who?", grades={"d4": 1}),
    )
    assert list(loaded.documents) == [
        {"uri": "d1", "title": "Pumps", "text": "Pumps\n\nThey pump."},
        {"uri": "d2", "title": "", "text": "Nul \ufffd here"},
        {"uri": "d4", "title": "Title only", "text": "Title only"},
    ]


def test_judgments_that_cannot_be_met_are_told_of(
    beir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(beir / "qrels" / "test.tsv", "q1\td1\t1\nq1\tgone\t1\nq9\td1\t1\n")
    assert [query.grades for query in load_set(beir).queries] == [{"d1": 1, "gone": 1}]
    assert "relevant documents that the corpus lacks: 1, for example gone" in caplog.text
    assert "judged queries without a text: 1, for example q9" in caplog.text


# TREC


@pytest.fixture
def trec(tmp_path: Path) -> Path:
    folder = tmp_path / "trec"
    write(folder / "corpus" / "a" / "one.txt", "The first.")
    write(folder / "corpus" / "two.md", "# Second\n\nText.")
    write(folder / "queries.tsv", "301\tWhat is first?\n302\tWhat\tis second?\n")
    write(folder / "qrels.test.txt", "301 0 a/one 2\n301 0 two.md -1\n302 Q0 two   1\n")
    return folder


def test_trec(trec: Path) -> None:
    loaded = load_set(trec)
    assert loaded.queries == (
        EvalQuery("301", "What is first?", grades={"a/one.txt": 2, "two.md": -1}),
        EvalQuery("302", "What\tis second?", grades={"two.md": 1}),
    )
    documents = by_uri(loaded)
    assert documents["a/one.txt"]["text"] == "The first."
    assert documents["two.md"]["title"] == "Second"
    assert documents["two.md"]["media_type"] == "text/markdown"


def test_trec_over_lines_of_json(trec: Path) -> None:
    shutil.rmtree(trec / "corpus")
    write_lines(trec / "corpus.jsonl", {"_id": "a/one", "text": "1"}, {"_id": "two", "text": "2"})
    (trec / "queries.tsv").unlink()
    write_lines(trec / "queries.jsonl", {"_id": "302", "text": "What is second?"})
    loaded = load_set(trec)
    assert loaded.queries == (EvalQuery("302", "What is second?", grades={"two": 1}),)
    assert list(by_uri(loaded)) == ["a/one", "two"]


def test_a_name_that_fits_two_files_fits_none(trec: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(trec / "corpus" / "two.txt", "Another second.")
    assert load_set(trec).queries[1].grades == {"two": 1}
    assert "for example two" in caplog.text


# Anthropic's code set


@pytest.fixture
def codebase(tmp_path: Path) -> Path:
    folder = tmp_path / "code"
    chunks = [{"original_index": index, "content": word} for index, word in [(3, "a;"), (5, "b;")]]
    document = {"doc_id": "doc_1", "original_uuid": "u1", "content": "a;\nb;", "chunks": chunks}
    write(folder / "codebase_chunks.json", json.dumps([document]))
    golden = {"golden_doc_uuids": ["u1"], "golden_chunk_uuids": [["u1", 5], ["u1", 5], ["u1", 3]]}
    write_lines(folder / "evaluation_set.jsonl", {"query": "What is b?", "answer": "b", **golden})
    return folder


def test_codebase(codebase: Path) -> None:
    loaded = load_set(codebase)
    assert loaded.queries == (
        EvalQuery("1", "What is b?", files=("u1",), chunks=(("u1", 1), ("u1", 0))),
    )
    assert list(loaded.documents) == [
        {"uri": "u1", "text": "a;\nb;", "chunks": [{"content": "a;"}, {"content": "b;"}]}
    ]


# ContractNLI


@pytest.fixture
def contractnli(tmp_path: Path) -> Path:
    answers = {"n1": {"choice": "Entailment", "spans": [1, 2]}}
    answers["n2"] = {"choice": "NotMentioned", "spans": []}
    document = {
        "id": 7,
        "file_name": "our-nda.pdf",
        "text": "Title\nKeep it secret.",
        "spans": [[0, 5], [6, 21], [5, 6]],
        "annotation_sets": [{"annotations": answers}],
    }
    labels = {name: {"hypothesis": f"Is it {name}?"} for name in answers}
    content = json.dumps({"documents": [document], "labels": labels})
    return write(tmp_path / "nli" / "dev.json", content)


def test_contractnli(contractnli: Path) -> None:
    uri = "7/our-nda.pdf"
    loaded = load_set(contractnli)
    assert loaded.name == "contractnli-dev"
    assert loaded.queries == (
        EvalQuery(
            "7/n1", "Is it n1?", within=(uri,), spans=(EvidenceSpan(uri, 6, 21),)
        ),  # no blank
        EvalQuery("7/n2", "Is it n2?", within=(uri,), answerable=False),
    )
    text = "Title\nKeep it secret."
    assert list(loaded.documents) == [{"uri": uri, "title": "our nda", "text": text}]
    assert load_set(contractnli.parent) == loaded


# LegalBench-RAG


@pytest.fixture
def legalbench(tmp_path: Path) -> Path:
    folder = tmp_path / "legal"
    write(folder / "corpus" / "ndas" / "one.txt", "Keep it – secret.\nFor ever.")
    write(folder / "corpus" / "ndas" / "other.txt", "Nothing.")
    write(folder / "corpus" / "mergers" / "a_b.txt", "Pay.")
    spans = [{"file_path": "ndas/one.txt", "span": [10, 16], "answer": "secret"}]
    spans.append({"file_path": "ndas/one.txt", "span": [18, 26], "answer": "For ever"})
    test = {"query": "Consider the NDA; is it secret?", "snippets": spans}
    write(folder / "benchmarks" / "ndas.json", json.dumps({"tests": [test]}))
    spans = [{"file_path": "mergers/a:b.txt", "span": [0, 4], "answer": "Pay."}]
    test = {"query": "Who pays?", "snippets": spans}
    write(folder / "benchmarks" / "mergers.json", json.dumps({"tests": [test]}))
    return folder


NDAS = EvalQuery(
    "ndas-1",
    "Consider the NDA; is it secret?",
    files=("ndas/one.txt",),
    spans=(EvidenceSpan("ndas/one.txt", 10, 16), EvidenceSpan("ndas/one.txt", 18, 26)),
)


def test_legalbench(legalbench: Path) -> None:
    loaded = load_set(legalbench)
    pays = EvalQuery(
        "mergers-1",
        "Who pays?",
        files=("mergers/a_b.txt",),
        spans=(EvidenceSpan("mergers/a_b.txt", 0, 4),),
    )
    assert loaded.queries == (pays, NDAS)
    assert list(by_uri(loaded)) == ["mergers/a_b.txt", "ndas/one.txt", "ndas/other.txt"]


def test_one_benchmark_is_asked_of_its_own_part_of_the_corpus(legalbench: Path) -> None:
    loaded = load_set(legalbench / "benchmarks" / "ndas.json")
    assert (loaded.name, loaded.queries) == ("legalbenchrag-ndas", (NDAS,))
    assert list(by_uri(loaded)) == ["ndas/one.txt", "ndas/other.txt"]


def test_the_place_of_a_mark_at_the_start_counts(legalbench: Path) -> None:
    write(legalbench / "corpus" / "mergers" / "a_b.txt", "\ufeffPay.")
    file = legalbench / "benchmarks" / "mergers.json"
    file.write_text("\ufeff" + file.read_text().replace("[0, 4]", "[1, 5]"))
    assert load_set(file).queries[0].spans == (EvidenceSpan("mergers/a_b.txt", 1, 5),)


# what is wrong

type Change = str | bytes | tuple[str, str] | None

BROKEN: dict[str, list[tuple[str, Change, str]]] = {
    "beir": [
        ("qrels/test.tsv", "q1\td1\n", "test.tsv:1: has to be query-id, corpus-id, score"),
        ("qrels/test.tsv", "q1\td1\tyes\n", "test.tsv:1: the grade 'yes' is not a whole number"),
        ("qrels/test.tsv", "q1\td1\t1\n\nq1\td1\t2\n", "test.tsv:3: d1 had another grade"),
        ("qrels/test.tsv", "q7\td1\t1\n", "holds no relevant document"),
        ("qrels/test.tsv", "q1\tdocs/d1\t1\n", "names no document of the corpus"),
        ("qrels/test.tsv", None, "qrels/test.tsv cannot be read: No such file"),
        ("queries.jsonl", None, "queries.jsonl cannot be read: No such file"),
        ("queries.jsonl", '{"_id": "q1"}\n', "queries.jsonl:1: text: Field required"),
        ("queries.jsonl", "\n{\n", "queries.jsonl:2: Invalid JSON"),
        ("queries.jsonl", '{"_id": "a", "text": "b"}\n' * 2, ":2: the query a was there before"),
        (
            "queries.jsonl",
            b'{"_id": "\xfc"}',
            "queries.jsonl cannot be read: it is not valid UTF-8",
        ),
    ],
    "trec": [
        ("qrels.test.txt", "301 a/one 1\n", "qrels.test.txt:1: has to be query, 0, document"),
        ("queries.tsv", "301 What?\n", "queries.tsv:1: has to be an id, a tab"),
        ("qrels.dev.txt", "301 0 two 1\n", "has 2 files qrels*: keep one"),
    ],
    "codebase": [
        (
            "evaluation_set.jsonl",
            '{"query": "b?", "golden_chunk_uuids": [["u1", 1]]}',
            "evaluation_set.jsonl:1: there is no chunk 1 of u1",
        )
    ],
    "contractnli": [
        (
            "dev.json",
            ('"spans": [1, 2]', '"spans": [3]'),
            "document 7, n1: its annotation or a span of it",
        ),
        ("dev.json", ("[6, 21]", "[6, 22]"), "document 7, n1: a span does not lie in the text"),
    ],
    "legalbench": [
        (
            "benchmarks/ndas.json",
            ("[10, 16]", "[11, 17]"),
            "ndas.json: test 1: its answer does not stand at its span",
        ),
        (
            "benchmarks/ndas.json",
            ("ndas/one.txt", "ndas/two.txt"),
            "ndas.json: test 1: the corpus has no file ndas/two",
        ),
    ],
}


@pytest.mark.parametrize(
    ("name", "file", "change", "says"),
    [(name, *each) for name, changes in BROKEN.items() for each in changes],
)
def test_what_is_wrong_with_a_broken_set_is_said(
    name: str, file: str, change: Change, says: str, request: pytest.FixtureRequest
) -> None:
    """A change is a new content, an old part and a new one, or None where the file is to go."""
    made: Path = request.getfixturevalue(name)
    folder = made if made.is_dir() else made.parent
    if change is None:
        (folder / file).unlink()
    elif isinstance(change, tuple):
        content = (folder / file).read_text()
        assert change[0] in content
        write(folder / file, content.replace(*change))
    else:
        (folder / file).write_bytes(change.encode() if isinstance(change, str) else change)
    assert says in refused(folder)


# our own


@pytest.fixture
def native(tmp_path: Path) -> Path:
    folder = tmp_path / "own"
    write(folder / "README.md", "No document: it lies beside the questions.")
    write(folder / "docs" / "deep" / "a.txt", "Ten pumps.\r\nTen “seals”.\r\n")
    write(folder / "docs" / "b.md", "# B\n\naaa")
    write_lines(folder / "questions.jsonl", QUESTION)
    return folder


def test_a_question_with_all_that_may_be_known_of_it(native: Path) -> None:
    spans = [
        {"file": "docs/deep/a.txt", "quote": "Ten pumps.\r\nTen"},
        {"file": "docs/deep/a.txt", "start": 17, "end": 22},
    ]
    known = {
        "hint": "the pumps",
        "relevant_files": ["docs/b.md"],
        "relevant_spans": spans,
        "entities": {"TIME": ["30 days|thirty days"], "MONEY": ["EUR 5"]},
        "critical_types": ["TIME"],
        "intent": "list_all",
        "answerable": True,
    }
    write_lines(native / "questions.jsonl", {**QUESTION, **known})
    loaded = load_set(native)
    assert loaded.name == "own"
    assert loaded.queries == (
        EvalQuery(
            "a",
            "How many?",
            hint="the pumps",
            files=("docs/b.md", "docs/deep/a.txt"),
            spans=(EvidenceSpan("docs/deep/a.txt", 0, 15), EvidenceSpan("docs/deep/a.txt", 17, 22)),
            entities={"TIME": ["30 days|thirty days"], "MONEY": ["EUR 5"]},
            critical=("TIME",),
            intent="list_all",
        ),
    )
    documents = by_uri(loaded)
    assert list(documents) == ["docs/b.md", "docs/deep/a.txt"]
    assert documents["docs/deep/a.txt"]["text"][17:22] == "seals"


def test_documents_that_bring_their_chunks(native: Path) -> None:
    chunks = [{"content": "One"}, {"content": "Two", "heading": "Second"}]
    write_lines(
        native / "documents.jsonl",
        {"uri": "x", "chunks": chunks},
        {"uri": "y", "text": "Uncut.", "metadata": {"year": 2024}},
    )
    spans = [{"file": "x", "quote": "e\n\nT"}, {"file": "y", "quote": "Uncut"}]
    known = {"relevant_chunks": [["x", 1]], "relevant_spans": spans}
    write_lines(native / "questions.jsonl", {**QUESTION, **known})
    loaded = load_set(native)
    (query,) = loaded.queries
    assert query.chunks == (("x", 1),)
    assert query.spans == (EvidenceSpan("x", 2, 6), EvidenceSpan("y", 0, 5))
    assert list(loaded.documents) == [
        {"uri": "x", "chunks": chunks},
        {"uri": "y", "text": "Uncut.", "metadata": {"year": 2024}},
    ]


WRONG_SPANS: list[tuple[dict[str, object], str]] = [
    ({"quote": "bbb"}, "docs/b.md does not hold the quote 'bbb'"),
    ({"quote": "aa"}, "docs/b.md holds the quote 'aa' more than once"),  # they overlap
    ({"start": 5, "end": 9}, "5 to 9 is no part of docs/b.md, which has 8 characters"),
    ({"start": 5, "quote": "aaa"}, "relevant_spans.0: a span has either start and end, or a quote"),
]


@pytest.mark.parametrize(
    ("known", "says"),
    [
        ({"id": "first"}, "the id first was there before"),
        ({"relevant_file": ["docs/b.md"]}, "relevant_file: Extra inputs"),
        ({"relevant_files": ["b.md"]}, "there is no document b.md"),
        ({"entities": {"DATE": ["2024"]}}, "entities.DATE"),
        ({"critical_types": ["TIME"]}, "critical_types has TIME, which entities lacks"),
        ({"answerable": False, "relevant_files": ["docs/b.md"]}, "what is not answerable has no"),
        ({"relevant_chunks": [["docs/b.md", 0]]}, "docs/b.md does not come with a chunk 0"),
        ({"columns": ["law"], "cells": []}, "columns and the aspects of cells differ in 'law'"),
        ({"first": ["x"], "answerable": False}, "what is not answerable has no relevant files"),
        *(({"relevant_spans": [{"file": "docs/b.md", **at}]}, says) for at, says in WRONG_SPANS),
    ],
)
def test_a_question_that_is_wrong(native: Path, known: Mapping[str, Any], says: str) -> None:
    write_lines(native / "questions.jsonl", {**QUESTION, "id": "first"}, {**QUESTION, **known})
    assert f"questions.jsonl:2: {says}" in refused(native)


def test_nothing_to_ask_or_to_ask_about(native: Path) -> None:
    write(native / "questions.jsonl", "\n")
    assert "holds no question" in refused(native)
    write_lines(native / "questions.jsonl", QUESTION)
    shutil.rmtree(native / "docs")
    assert "has neither documents.jsonl nor folders with files" in refused(native)


def test_a_document_that_cannot_be_read_is_not_left_out(native: Path) -> None:
    write(native / "docs" / "c.txt", "a\0b")
    with pytest.raises(ConfigError, match=r"docs/c\.txt holds NUL characters"):
        list(load_set(native).documents)


def test_a_file_that_lies_elsewhere(native: Path, tmp_path: Path) -> None:
    (native / "docs" / "link.md").symlink_to(write(tmp_path / "outside.md", "text"))
    assert "link.md is a link out of the folder" in refused(native)


# the public sets


def test_a_question_says_what_a_right_answer_holds(tmp_path: Path) -> None:
    write(tmp_path / "docs" / "a.md", "# Lease\n\nThe rent is EUR 5.\n")
    span = {"file": "docs/a.md", "quote": "The rent is EUR 5."}
    cell = {"file": "docs/a.md", "aspect": "rent", "value": "EUR 5"}
    more = {"kind": "leases", "type": "look-up", "first": ["EUR 5"], "relevant_spans": [span]}
    write_lines(
        tmp_path / "questions.jsonl",
        {**QUESTION, **more},
        {"id": "b", "query": "Compare", "columns": ["rent"], "cells": [cell]},
        {"id": "c", "query": "Plain"},
    )
    told, compared, plain = load_set(tmp_path).queries
    assert told.expected == ExpectedAnswer("leases", "look-up", ("EUR 5",), ("The rent is EUR 5.",))
    assert compared.expected
    assert compared.expected.cells == (ExpectedCell("docs/a.md", "rent", "EUR 5"),)
    assert compared.files == ("docs/a.md",)
    assert plain.expected is None
