"""The application on the sample corpus, with the real model."""

import asyncio
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from lexichord import Lexichord, SyncLexichord
from lexichord.db.search import discover_files, propose_candidates, relevance_feedback
from lexichord.errors import ConfigError
from lexichord.retrieve.search import discover, name_first
from lexichord.retrieve.trace import Trace
from lexichord.types import FileHit, Question, Ranked, Scope
from tests.conftest import SAMPLES
from tests.end_to_end.processes import run_cli
from tests.end_to_end.test_query import STAGES

FILE = ["document_id", "dataset", "uri", "title", "score", "scores", "hits"]
NOTICE = "What notice ends the master services agreement for convenience?"
NDA = "one-way-nda-clinical-study.txt"


def test_evidence_is_verbatim_and_says_where_it_stands(samples: SyncLexichord) -> None:
    answer = samples.query(NOTICE)
    assert answer.files[0].uri.endswith("master-services-agreement-sundermoor-brackenlow.md")
    assert {*answer.files[0].to_dict()} == {*FILE}
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
        (lambda samples: samples.list(limt=3), r"there is no option limt: did you mean limit\?"),
        (lambda samples: samples.keywords("a", set=3), r"no option set: did you mean sets\?"),
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


async def test_it_works_where_an_event_loop_runs_already(samples: SyncLexichord) -> None:
    """As in notebooks; and the asynchronous application beside it gives the same."""
    settings = samples.core.settings
    async with Lexichord(settings) as lexichord:
        expected = samples.search(NOTICE)
        results = await asyncio.gather(*(lexichord.search(NOTICE) for _ in range(12)))
    assert results == [expected] * 12


def test_vectors_are_those_that_searches_compare(samples: SyncLexichord) -> None:
    query = "how long are customer support logs kept"
    (hit, *_) = samples.search(query, k=1, mode="dense").hits
    (chunk,) = (one for one in samples.show(hit.document_id).chunks if one.chunk_id == hit.chunk_id)
    text = "\n\n".join(filter(None, [chunk.context, chunk.content]))
    asked, stored = samples.embed([query], "query"), samples.embed([text, "something else"])
    assert asked.shape == (1, 384)
    assert np.allclose(np.linalg.norm(stored, axis=1), 1, atol=1e-3)
    near, far = stored @ asked[0]
    assert near == pytest.approx(hit.scores.dense, abs=0.02)
    assert far < near
    assert samples.embed([]).shape[0] == 0


def test_what_cannot_be_embedded_is_refused(samples: SyncLexichord, plain: SyncLexichord) -> None:
    with pytest.raises(ConfigError, match="kind"):
        samples.embed(["a"], "passage")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="nothing embeds in"):
        plain.embed(["a"])


ASKED = Question("how long are customer support logs kept", depth=100)
OTHER = "Which agreement provides for escrow of source code?"


def both(samples: SyncLexichord, question: Question) -> tuple[Any, Any]:
    database = samples.core.database
    found = samples.run(discover_files(database, question))
    return found, samples.run(relevance_feedback(database, question, None))


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"query": OTHER},
        {"scope": Scope(uri_prefix="nowhere")},
        {"mode": "keyword"},
        {"dense_share": 0.9},
        {"depth": 200},
        {"hint": "data retention policy"},
    ],
    ids=str,
)
def test_a_question_that_is_another_is_searched_for(
    samples: SyncLexichord, change: dict[str, Any]
) -> None:
    database, embedder = samples.core.database, samples.core.embedder
    assert embedder is not None
    vectors = dict(
        zip((ASKED.query, OTHER), embedder.embed([ASKED.query, OTHER], "query"), strict=True)
    )
    question = replace(ASKED, vector=vectors[ASKED.query].tolist(), space=str(embedder.space))
    known = samples.run(propose_candidates(database, question))
    assert known.candidates is not None
    changed = replace(question, **change)
    changed = replace(changed, vector=vectors[changed.query].tolist())
    given = replace(changed, candidates=known.candidates)
    assert both(samples, given) == both(samples, changed)


def test_results_are_frames(samples: SyncLexichord, monkeypatch: pytest.MonkeyPatch) -> None:
    question = "how long are customer support logs kept"
    result = samples.search(question, k=4)
    frame = result.to_frame()
    assert [*frame["chunk_id"]] == [hit.chunk_id for hit in result.hits]
    assert [*frame["scores.dense"]] == [hit.scores.dense for hit in result.hits]
    response = samples.query(question, k=3)
    assert [*response.to_frame()["content"]] == [hit.content for hit in response.hits]
    files = samples.files(question, k=2)
    assert [*files.to_frame()["title"]] == [file.title for file in files.files]
    assert len(samples.list().to_frame()) == 13
    nothing = samples.search("xyzzyplugh", mode="keyword").to_frame()
    assert (len(nothing), {"chunk_id", "content", "score"} <= {*nothing.columns}) == (0, True)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ConfigError, match="pip install pandas"):
        samples.list().to_frame()


def titles(samples: SyncLexichord, query: str) -> set[str]:
    response = samples.query(query)
    rows = samples.list(documents=list(response.relevant_files)) if response.relevant_files else []
    return {row.title for row in rows}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("how long are customer support logs kept", {"Data Retention Policy"}),
        ("what does the remote work policy say about travel", {"Remote Work Policy"}),
        (
            "compare the retention policy and the remote work policy by who pays",
            {"Data Retention Policy", "Remote Work Policy"},
        ),
    ],
)
def test_a_query_is_about_what_it_names_or_what_stands_out(
    samples: SyncLexichord, query: str, expected: set[str]
) -> None:
    assert titles(samples, query) == expected


def test_the_command_says_how_many(samples: SyncLexichord) -> None:
    settings = samples.core.settings
    query = partial(run_cli, settings.dsn, settings.home, "query")
    assert "Files (1 relevant)" in query("how long are customer support logs kept").stdout
    refused = query("who won the world cup in 1998", "--answer").stdout
    assert "that the evidence holds an answer: none is given" in refused
    assert "Files (none stands out)" in refused


ESCROW = "Which agreement provides for escrow of source code?"


class SharedWords:
    """Counts the query's words in a text."""

    async def rerank(self, query: str, texts: Sequence[str], top_n: int) -> list[Ranked]:
        words = {*query.lower().rstrip("?").split()}
        shared = [len(words.intersection(text.lower().split())) for text in texts]
        return [Ranked(index, score) for index, score in enumerate(shared)]


def test_a_document_that_is_named_comes_before_what_its_name_finds(samples: SyncLexichord) -> None:
    database, question = samples.core.database, Question(ESCROW)
    files = samples.run(discover(database, question, Trace(), 5))
    ids = [file.document_id for file in files]

    def put(named: Sequence[str], found: list[FileHit], limit: int = 5) -> list[FileHit]:
        return list(samples.run(name_first(database, question, found, named, limit)))

    first, *others = put([ids[4]], files)
    assert (first.document_id, first.score) == (ids[4], files[0].score)
    assert others == files[:4]
    both = [file.document_id for file in put([ids[2], ids[4]], files)]
    assert both == [ids[4], ids[2], ids[0], ids[1], ids[3]]
    assert [file.document_id for file in put([ids[4]], files[:1])] == [ids[4], ids[0]]
    assert len(put([ids[3], ids[4]], files, limit=1)) == 1
    assert put([ids[2]], files) == files
    assert put([ids[4]], []) == []


def test_a_reranked_file_is_preferred_by_the_score_that_boosts(samples: SyncLexichord) -> None:
    database, question = samples.core.database, Question(ESCROW)
    files = samples.run(discover(database, question, Trace(), 5, SharedWords()))
    first, *_ = samples.run(name_first(database, question, files, [files[4].document_id], 5))
    assert first.scores["fused"] == max(file.scores["fused"] or 0 for file in files)


SIGNS = "".join(map(chr, range(33, 127)))
ODD_QUESTIONS = [
    "the of and to",
    "notice " * 15_000,
    "'; drop table lexichord_data.chunk; --",
    'term AND (notice OR "period") NOT w:* & | ! <->',
    SIGNS,
    "契約の期間は何年ですか",
    "🎉 👩‍👩‍👧 ☃",
    "\u202enotice\u200b period\u2066",
    "%s %(name)s {0} $1",
]


@pytest.mark.parametrize("question", ODD_QUESTIONS, ids=range(len(ODD_QUESTIONS)))
def test_any_question_gets_an_answer(question: str, samples: SyncLexichord) -> None:
    for ask in (samples.search, samples.files, samples.query):
        ask(question)
    if "notice" in question:
        assert samples.search(question, mode="keyword").hits
