"""The application on the sample corpus, with the real model."""

import asyncio
import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from lexichord import Lexichord, SyncLexichord
from lexichord.errors import ConfigError, NotFoundError
from lexichord.types import Mode, Response, StoredDataset
from tests.conftest import SAMPLES
from tests.end_to_end.test_query import STAGES

HIT = ["chunk_id", "document_id", "dataset", "uri", "title", "heading", "start", "end", "page"]
HIT += ["content", "context", "score", "scores", "ranks"]
FILE = ["document_id", "dataset", "uri", "title", "score", "scores", "hits"]
NOTICE = "What notice ends the master services agreement for convenience?"
NDA = "one-way-nda-clinical-study.txt"
LINES = (SAMPLES / "questions.jsonl").read_text().splitlines()
QUESTIONS: dict[str, dict[str, Any]] = {line["id"]: line for line in map(json.loads, LINES)}
ONE_FILE = [line for line in QUESTIONS.values() if len(line.get("relevant_files", ())) == 1]


def answers(samples: SyncLexichord, by_hint: bool) -> list[tuple[dict[str, Any], Response]]:
    hint = "hint" if by_hint else ""
    return [(line, samples.query(line["query"], hint=line.get(hint), k=5)) for line in ONE_FILE]


def is_quoted(line: dict[str, Any], answer: Response) -> bool:
    return any(
        hit.uri.endswith(span["file"]) and span["quote"] in hit.content
        for span in line["relevant_spans"]
        for hit in answer.hits
    )


@pytest.mark.parametrize("by_hint", [False, True], ids=["question", "hint"])
def test_most_questions_find_their_file_and_their_clause(
    by_hint: bool, samples: SyncLexichord
) -> None:
    """Of 24, some worded on purpose unlike their clause; measured: 18 files, 20 clauses."""
    responses = answers(samples, by_hint)
    files = [answer.files[0].uri.endswith(line["relevant_files"][0]) for line, answer in responses]
    quotes = [is_quoted(line, answer) for line, answer in responses]
    assert len(responses) == 24
    assert sum(files) >= 16
    assert sum(quotes) >= 18


def test_both_sides_of_the_contradiction_are_shown(samples: SyncLexichord) -> None:
    line = QUESTIONS["q23"]
    contents = [hit.content for hit in samples.query(line["query"]).hits]
    for span in line["relevant_spans"]:
        assert any(span["quote"] in content for content in contents)


def test_evidence_is_verbatim_and_says_where_it_stands(samples: SyncLexichord) -> None:
    answer = samples.query(NOTICE)
    assert answer.files[0].uri.endswith("master-services-agreement-sundermoor-brackenlow.md")
    assert 0 < len(answer.context) <= 4000
    for source in answer.sources:
        text = samples.show(source.document_id).text
        passage = f"[{source.number}] {source.citation}\n"
        passage += f"{text[source.start : source.end]}\n"
        assert passage in answer.context
    assert answer.intent.kind == "clause_lookup"
    assert answer.intent.hint == "master services agreement"
    assert list(answer.timings_ms) == STAGES
    assert (answer.answer, answer.degraded) == ("", [])
    assert answer.confidence > 0.5
    assert not answer.abstained


def test_the_shapes_are_the_promised_ones(samples: SyncLexichord) -> None:
    answer = samples.query(NOTICE, hint="the master services agreement").to_dict()
    results = [answer, samples.search(NOTICE).to_dict(), samples.files(NOTICE).to_dict()]
    results.append(samples.similar(NDA).to_dict())
    assert json.loads(json.dumps(results)) == results
    for hit in answer["hits"]:
        assert list(hit) == HIT
        assert {"dense", "keyword", "fused", "variants", "contributions"} == set(hit["scores"])
    for hit in results[1]["hits"]:
        assert list(hit) == HIT
        assert (set(hit["scores"]), set(hit["ranks"])) == (
            {"dense", "keyword", "fused"},
            {"dense", "keyword"},
        )
    for file in answer["files"] + results[2]["files"]:
        assert list(file) == FILE
        assert set(file["scores"]) == {"chunks", "card"}
    assert {tuple(file) for file in results[3]["files"]} == {(*FILE, "metadata")}


@pytest.mark.parametrize("mode", ["hybrid", "dense", "keyword"])
def test_hits_are_the_best_ones_in_order(mode: Mode, samples: SyncLexichord) -> None:
    hits = samples.search(NOTICE, mode=mode).hits
    assert len(hits) == len({hit.chunk_id for hit in hits}) == 10
    assert all(one.score >= other.score for one, other in pairwise(hits))
    assert samples.search(NOTICE, mode=mode, k=3).hits == hits[:3]
    by_dense, by_keyword = (
        [hit.scores.by_list[channel] is not None for hit in hits]
        for channel in ("dense", "keyword")
    )
    assert any(by_dense) == (mode != "keyword")
    assert any(by_keyword) == (mode != "dense")


def test_words_that_stand_nowhere_find_nothing(samples: SyncLexichord) -> None:
    assert samples.search("xyzzy", mode="keyword").hits == []
    assert len(samples.search("xyzzy", mode="dense").hits) == 10


def test_a_hint_names_the_document(samples: SyncLexichord) -> None:
    query = "How long do the obligations survive?"
    for hint, name in [
        ("the one-way agreement between Ambrelune and Korsvale", NDA),
        ("the agreement of the visiting researcher", "visiting-researcher-nda.md"),
    ]:
        assert samples.files(query, hint=hint).files[0].uri.endswith(name)
        assert samples.search(query, hint=hint).hits[0].uri.endswith(name)
        answer = samples.query(query, hint=hint)
        assert answer.intent.hint == hint
        assert answer.hits[0].uri.endswith(name)


def test_documents_are_named_by_id_uri_or_the_end_of_it(samples: SyncLexichord) -> None:
    uri = (SAMPLES / "agreements" / NDA).as_posix()
    (row,) = (row for row in samples.list() if row.uri == uri)
    for name in (row.document_id, str(row.document_id), uri, NDA, f"agreements/{NDA}"):
        hits = samples.search("confidentiality", documents=[name]).hits
        assert {hit.document_id for hit in hits} == {row.document_id}
        assert samples.show(name).document.uri == uri
        assert len(samples.list(documents=[name])) == 1


@pytest.mark.parametrize("name", ["study.txt", "999999", "", "%", "agreements"])
def test_a_name_that_means_no_document_is_refused(name: str, samples: SyncLexichord) -> None:
    with pytest.raises(ConfigError, match=r"there is no document .*: see lexichord list"):
        samples.search("confidentiality", documents=[name])


def test_a_prefix_of_uris_is_a_scope(samples: SyncLexichord) -> None:
    prefix = (SAMPLES / "policies").as_posix()
    assert len(samples.list(uri_prefix=prefix)) == 4
    for ask in (samples.search, samples.query):
        hits = ask(NOTICE, uri_prefix=prefix).hits
        assert hits
        assert all(hit.uri.startswith(prefix) for hit in hits)


def test_alike_documents_are_found_by_their_vectors(samples: SyncLexichord) -> None:
    files = samples.similar(NDA, k=12).files
    names = [Path(file.uri).name for file in files]
    assert len(names) == len(set(names)) == 12
    assert NDA not in names
    assert {"mutual-nda-thistlevane-orrinbrook.md", "visiting-researcher-nda.md"} <= set(names[:4])
    assert all(one.score >= other.score for one, other in pairwise(files))


def test_a_chunk_is_shown_with_what_stands_around_it(samples: SyncLexichord) -> None:
    document = samples.show("remote-work-policy.md")
    text, chunks = document.text, document.chunks
    middle = chunks[4]
    for neighbours in (0, 1, 2):
        around = samples.expand(middle.chunk_id, neighbours=neighbours)
        first, last = chunks[4 - neighbours], chunks[4 + neighbours]
        assert (around.start, around.end) == (first.start, last.end)
        assert around.content == text[around.start : around.end]
    section = samples.expand(middle.chunk_id, neighbours=0, whole_section=True)
    same = [chunk for chunk in chunks if chunk.heading == middle.heading]
    assert section.start <= same[0].start
    assert section.end >= same[-1].end
    for unknown in (
        "999999",
        "chunk_borwjinzzbr3ms7v",
        middle.chunk_id[:-1],
        document.document.document_id,
    ):
        with pytest.raises(
            NotFoundError, match=f"^there is no chunk {unknown}: take the id of a hit$"
        ):
            samples.expand(unknown)


def test_the_state_is_told(samples: SyncLexichord) -> None:
    report = samples.doctor()
    assert (report.documents, report.datasets) == (13, 1)
    assert report.by_dataset == [StoredDataset("default", 13, report.chunks)]
    assert report.space == report.embedder == "local/all-MiniLM-L6-v2/384"
    assert report.chunks_without_vector == 0
    assert (report.degraded, report.problems) == ([], [])
    assert {fault.amount for fault in report.faults} == {0}
    (run,) = report.runs
    assert (run.inserted, run.failed) == (13, 0)
    assert set(samples.status().to_dict()) < set(report.to_dict())


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda samples: samples.search(" "), "the query is empty"),
        (lambda samples: samples.search("a", k=0), "k must be at least 1"),
        (lambda samples: samples.search("a", depth=5), "depth must be between"),
        (lambda samples: samples.search("a", k=500), "raise depth as well"),
        (lambda samples: samples.search("a", filter={"no": 1}), 'in scope has the key "no"'),
        (lambda samples: samples.search("a\0b"), "NUL"),
        (lambda samples: samples.search("a\ud83c"), "lone surrogate"),
        (lambda samples: samples.query("a", datasets=["none"]), "there is no dataset 'none'"),
        (lambda samples: samples.files(""), "the query is empty"),
        (lambda samples: samples.search("a", mode="fuzzy"), "there is no mode 'fuzzy': hybrid"),
        (lambda samples: samples.search("a", kk=3), "there is no option kk"),
        (lambda samples: samples.search("a", datasets="defaul"), "'defaul': take one of 'default'"),
        (lambda samples: samples.search("a", documents="nad"), "there is no document nad"),
        (lambda samples: samples.ingest("folder"), "there is no file or folder folder"),
        (lambda samples: samples.delete("nad"), "there is no document nad"),
    ],
)
def test_a_wrong_argument_is_named_in_one_line(
    ask: Callable[[SyncLexichord], object], message: str, samples: SyncLexichord
) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        ask(samples)
    assert "\n" not in str(caught.value)


def test_what_is_not_open_says_so() -> None:
    with pytest.raises(ConfigError, match="inside `with`"):
        SyncLexichord().status()


async def test_it_works_where_an_event_loop_runs_already(samples: SyncLexichord) -> None:
    """As in notebooks; and the asynchronous application beside it gives the same."""
    settings = samples.core.settings
    async with Lexichord(settings) as lexichord:
        expected = samples.search(NOTICE)
        results = await asyncio.gather(*(lexichord.search(NOTICE) for _ in range(12)))
    assert results == [expected] * 12
