"""One question of each kind through the whole pipeline, on the sample corpus."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from lexichord import SyncLexichord
from lexichord.errors import ConfigError
from lexichord.providers.base import Reranker
from lexichord.types import Ranked, Response

STAGES = ["intent", "embed", "discover", "variants", "search", "confidence", "aggregate", "answer"]


def test_a_clause(samples: SyncLexichord) -> None:
    response = samples.query(
        "In the lease for Saltpan House, who insures the building?", answer=True
    )
    assert (response.intent.kind, response.intent.hint) == (
        "clause_lookup",
        "lease for Saltpan House",
    )
    assert response.files[0].uri.endswith("office-lease-saltpan-house.md")
    assert "The Landlord shall insure the Building" in response.quotes[0].text
    assert "The Landlord shall insure the Building" in response.answer
    assert "[1]" in response.answer
    assert not response.abstained


def test_a_comparison(samples: SyncLexichord) -> None:
    response = samples.query(
        "Compare the governing law of the master services agreement and the software licence",
        answer=True,
    )
    assert response.comparison is not None
    assert response.comparison.aspects == ("governing law",)
    assert [file.document_id for file in response.comparison.documents] == [
        *response.intent.documents
    ]
    cells = {cell.document_id: cell for cell in response.comparison.cells}
    assert len(cells) == 2
    texts = " ".join(quote.text for cell in cells.values() for quote in cell.quotes)
    assert "law of Scotland" in texts
    assert "laws of the Netherlands" in texts
    assert response.answer.startswith("| File |")


def test_one_thing_asked_of_a_list_of_documents_is_a_comparison(samples: SyncLexichord) -> None:
    response = samples.query(
        "How long do duties last under the mutual NDA and the clinical study NDA?"
    )
    assert response.comparison is not None
    assert response.comparison.aspects == ("How long do duties last?",)
    assert len(response.comparison.documents) == 2


def test_a_comparison_of_nothing_in_particular(samples: SyncLexichord) -> None:
    """Its columns are headings that the files share."""
    response = samples.query("Compare the Saltpan House lease and the software licence")
    assert response.comparison is not None
    assert {"Definitions", "GOVERNING LAW"} <= {*response.comparison.aspects}
    laws = [cell for cell in response.comparison.cells if cell.aspect == "GOVERNING LAW"]
    assert [("Ireland" in c.quotes[0].text, c.found) for c in laws] == [(True, True), (False, True)]


def test_a_list(samples: SyncLexichord) -> None:
    response = samples.query("List every clause on late payment interest", answer=True)
    assert response.intent.kind == "list_all"
    assert len(response.hits) > 10
    assert len({quote.document_id for quote in response.quotes}) >= 2


def test_a_summary(samples: SyncLexichord) -> None:
    response = samples.query("Summarise the remote work policy", answer=True)
    assert response.intent.kind == "summary"
    starts = [(quote.document_id, quote.start) for quote in response.quotes]
    assert len(starts) >= 3
    assert response.answer


def test_a_question_without_an_answer(samples: SyncLexichord) -> None:
    response = samples.query("Which exoplanets have an atmosphere of methane?", answer=True)
    assert response.abstained
    assert response.answer == ""
    assert response.confidence < 0.2


def test_every_quote_is_the_stored_text(samples: SyncLexichord) -> None:
    for query in ("List every deadline", "Summarise the travel policy", "Who pays the rent?"):
        for quote in samples.query(query).quotes:
            text = samples.show(quote.document_id).text
            assert text[quote.start : quote.end] == quote.text


def test_the_callers_word_counts(samples: SyncLexichord) -> None:
    response = samples.query("support logs", intent="summary", hint="the data retention policy")
    assert (response.intent.kind, response.intent.hint) == ("summary", "the data retention policy")
    assert (response.intent.question, response.intent.reason) == ("support logs", "given")


def test_rewrite_and_reflection_say_what_they_did(samples: SyncLexichord) -> None:
    query = "How long are support logs kept and who supervises the doctors on Mars?"
    response = samples.query(query, rewrite=True, reflect=True)
    stages = [step["stage"] for step in response.trace]
    assert stages.count("rewrite") == 1
    assert stages.count("search") >= 2
    assert response.reflection is not None
    assert response.reflection.stopped
    assert response.reflection.coverage is not None
    assert samples.query(query).reflection is None


def test_the_trace_is_whole_and_timed(samples: SyncLexichord) -> None:
    response = samples.query("Who pays the rent?")
    assert [step["stage"] for step in response.trace] == STAGES
    assert all(step["ms"] >= 0 for step in response.trace)
    ranks = {row["chunk_id"]: row["ranks"] for row in response.trace[4]["made"]}
    assert ranks == {hit.chunk_id: hit.ranks for hit in response.hits}


def test_a_least_score_drops_and_says_so(samples: SyncLexichord) -> None:
    every = samples.query("Who pays the rent?")
    least = sorted(hit.scores["dense"] or 0 for hit in every.hits)[5]
    response = samples.query("Who pays the rent?", min_score={"dense": least})
    assert 0 < len(response.hits) <= 5
    (step,) = (step for step in response.trace if step["stage"] == "min_score")
    assert len(step["dropped"]) == len(every.hits) - len(response.hits)
    with pytest.raises(ConfigError, match="there is no score price"):
        samples.query("rent", min_score={"price": 1})


def test_lengths_and_forms(samples: SyncLexichord) -> None:
    short = samples.query("Who pays the rent?", max_length=600)
    assert 0 < len(short.context) <= 600
    dropped = short.trace[-1]["dropped"]
    assert len(dropped) == len(short.quotes) - len(short.sources) > 0
    assert dropped[0].startswith("no room for ")
    tokens = samples.query("Who pays the rent?", max_length=600, unit="tokens")
    assert len(tokens.context) > 600
    response = samples.query("Who pays the rent?", format="qa")
    assert response.context.startswith("Question: ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"colour": "red"}, "there is no option colour"),
        ({"intent": "poem"}, "there is no intent 'poem': clause_lookup, comparison"),
        ({"variants": 0}, "variants must be at least 1, not 0"),
        ({"max_length": 0}, "max_length must be at least 1, not 0"),
        ({"fallbacks": "overview"}, r"fallbacks takes a list: write fallbacks=\['overview'\]"),
    ],
)
def test_what_cannot_be_meant_is_an_error(
    samples: SyncLexichord, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        samples.query("rent", **options)


def test_instructions_are_searched_as_well(samples: SyncLexichord) -> None:
    query = "How much notice ends the agreement?"
    plain = samples.query(query)
    steered = samples.query(query, instructions="hotel bookings and taxis")
    ranks = {hit.chunk_id: hit.ranks.get("instructions") for hit in steered.hits}
    assert any(rank is not None for rank in ranks.values())
    assert [hit.chunk_id for hit in plain.hits] != list(ranks)
    assert steered.intent == plain.intent


def test_fallbacks_are_tried_only_where_nothing_answers(samples: SyncLexichord) -> None:
    def tried(response: Response) -> list[str]:
        return [step["given"]["query"] for step in response.trace if step["stage"] == "fallback"]

    sure = samples.query("Who insures the building of Saltpan House?", fallbacks=["overview"])
    assert (sure.abstained, tried(sure)) == (False, [])
    lost = samples.query("Which exoplanets have methane?", fallbacks=["overview", "definitions"])
    assert tried(lost) == ["overview", "definitions"]
    assert lost.abstained


def test_a_round_of_reflection_is_timed_and_bounded(samples: SyncLexichord) -> None:
    query = "Who pays the rent and who supervises the doctors on Mars?"
    response = samples.query(query, reflect=True, answer=True, rounds=1, min_coverage=1)
    assert response.reflection is not None
    assert len(response.reflection.rounds) == 1
    assert response.reflection.stopped == "no rounds are left"
    assert response.reflection.unsupported == ()
    assert not response.reflection.passed
    easy = samples.query(query, reflect=True, min_coverage=0, rounds=0)
    assert easy.reflection is not None
    assert easy.reflection.passed
    late = samples.query(query, reflect=True, min_coverage=1, budget_ms=0)
    assert late.reflection is not None
    assert late.reflection.rounds == ()


class Shortest:
    """Prefers short texts."""

    async def rerank(self, query: str, texts: Sequence[str], top_n: int) -> list[Ranked]:
        return [Ranked(index, -len(text)) for index, text in enumerate(texts)]


@contextmanager
def reranked(samples: SyncLexichord, reranker: Reranker) -> Iterator[None]:
    samples.core.reranker = reranker
    try:
        yield
    finally:
        samples.core.reranker = None


def test_a_reranker_chooses_among_more_chunks(samples: SyncLexichord) -> None:
    wide = samples.query("Who pays the rent?", k=12)
    with reranked(samples, Shortest()):
        response = samples.query("Who pays the rent?", k=4)
        listed = samples.query("List every deadline")
    assert len(response.hits) == 4
    lengths = [-hit.scores["rerank"] for hit in response.hits]
    assert lengths == sorted(lengths)
    shortest = sorted(len(hit.context) + len(hit.content) for hit in wide.hits)
    assert len(response.hits[0].context) + len(response.hits[0].content) <= shortest[0]
    assert all("rerank" not in hit.scores for hit in listed.hits)
    assert "rerank" in response.timings_ms
