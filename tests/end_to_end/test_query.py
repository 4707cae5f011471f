"""One question of each kind through the whole pipeline, on the sample corpus."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import pytest

from lexichord import SyncLexichord
from lexichord.db.call_settings import asking_for
from lexichord.errors import ConfigError
from lexichord.providers.base import Embedder, Reranker, Vectors
from lexichord.retrieve.query import SentenceVectors
from lexichord.types import Ranked, Response

STAGES = [
    "intent",
    "embed",
    "candidates",
    "discover",
    "variants",
    "search",
    "confidence",
    "aggregate",
    "answer",
]


def test_a_clause(samples: SyncLexichord) -> None:
    found = samples.query("In the lease for Saltpan House, who insures the building?", answer=True)
    assert (found.intent.kind, found.intent.hint) == (
        "clause_lookup",
        "lease for Saltpan House",
    )
    assert found.files[0].uri.endswith("office-lease-saltpan-house.md")
    assert "The Landlord shall insure the Building" in found.quotes[0].text
    assert "The Landlord shall insure the Building" in found.answer
    assert "[1]" in found.answer
    assert not found.abstained


def test_a_comparison(samples: SyncLexichord) -> None:
    found = samples.query(
        "Compare the governing law of the master services agreement and the software licence",
        answer=True,
    )
    assert found.comparison is not None
    assert found.comparison.aspects == ("governing law",)
    assert [file.document_id for file in found.comparison.documents] == [*found.intent.documents]
    cells = {cell.document_id: cell for cell in found.comparison.cells}
    assert len(cells) == 2
    texts = " ".join(quote.text for cell in cells.values() for quote in cell.quotes)
    assert "law of Scotland" in texts
    assert "laws of the Netherlands" in texts
    assert found.answer.startswith("| File |")


def test_a_named_document_that_does_not_say_is_no_answer_from_others(
    samples: SyncLexichord,
) -> None:
    found = samples.query("How are encryption keys rotated under the lease?", answer=True)
    lease = "Lease of Office Space: Third Floor, Saltpan House"
    assert found.intent.hint == "lease"
    assert {quote.title for quote in found.quotes} == {lease}
    assert found.abstained
    assert found.answer.startswith(f"“{lease}” does not say.")
    assert all(quote.title != lease for quote in found.elsewhere)
    said = [quote.text for quote in found.elsewhere]
    assert all(text in found.answer for text in said)


def test_one_thing_asked_of_a_list_of_documents_is_a_comparison(samples: SyncLexichord) -> None:
    found = samples.query(
        "How long do duties last under the mutual NDA and the clinical study NDA?"
    )
    assert found.comparison is not None
    assert found.comparison.aspects == ("How long do duties last?",)
    assert len(found.comparison.documents) == 2


def test_a_comparison_of_nothing_in_particular(samples: SyncLexichord) -> None:
    """Its columns are headings that the files share."""
    found = samples.query("Compare the Saltpan House lease and the software licence")
    assert found.comparison is not None
    assert {"Definitions", "GOVERNING LAW"} <= {*found.comparison.aspects}
    laws = [cell for cell in found.comparison.cells if cell.aspect == "GOVERNING LAW"]
    assert [("Ireland" in c.quotes[0].text, c.found) for c in laws] == [(True, True), (False, True)]


def test_a_list(samples: SyncLexichord) -> None:
    found = samples.query("List every clause on late payment interest", answer=True)
    assert found.intent.kind == "list_all"
    assert len(found.hits) > 10
    assert len({quote.document_id for quote in found.quotes}) >= 2


def test_a_summary(samples: SyncLexichord) -> None:
    found = samples.query("Summarise the remote work policy", answer=True)
    assert found.intent.kind == "summary"
    starts = [(quote.document_id, quote.start) for quote in found.quotes]
    assert len(starts) >= 3
    assert found.answer


def test_a_question_without_an_answer(samples: SyncLexichord) -> None:
    found = samples.query("Which exoplanets have an atmosphere of methane?", answer=True)
    assert found.abstained
    assert found.answer == ""
    assert found.confidence < 0.2


def test_every_quote_is_the_stored_text(samples: SyncLexichord) -> None:
    for query in ("List every deadline", "Summarise the travel policy", "Who pays the rent?"):
        for quote in samples.query(query).quotes:
            text = samples.show(quote.document_id).text
            assert text[quote.start : quote.end] == quote.text


def test_the_callers_word_counts(samples: SyncLexichord) -> None:
    found = samples.query("support logs", intent="summary", hint="the data retention policy")
    assert (found.intent.kind, found.intent.hint) == ("summary", "the data retention policy")
    assert (found.intent.question, found.intent.reason) == ("support logs", "given")


def test_rewrite_and_reflection_say_what_they_did(samples: SyncLexichord) -> None:
    query = "How long are support logs kept and who supervises the doctors on Mars?"
    found = samples.query(query, rewrite=True, reflect=True)
    stages = [step.stage for step in found.trace]
    assert stages.count("rewrite") == 1
    assert stages.count("search") >= 2
    assert found.reflection is not None
    assert found.reflection.stopped
    assert found.reflection.coverage is not None
    assert samples.query(query).reflection is None


def test_the_trace_is_whole_and_timed(samples: SyncLexichord) -> None:
    found = samples.query("Who pays the rent?")
    assert [step.stage for step in found.trace] == STAGES
    assert all(step.ms >= 0 for step in found.trace)
    ranks = {made["chunk_id"]: made["ranks"] for made in found.trace[5].made}
    assert ranks == {hit.chunk_id: hit.ranks for hit in found.hits}


def test_a_least_score_drops_and_says_so(samples: SyncLexichord) -> None:
    every = samples.query("Who pays the rent?")
    least = sorted(hit.scores.dense or 0 for hit in every.hits)[5]
    found = samples.query("Who pays the rent?", min_score={"dense": least})
    assert 0 < len(found.hits) <= 5
    (step,) = (step for step in found.trace if step.stage == "min_score")
    assert len(step.dropped or ()) == len(every.hits) - len(found.hits)
    with pytest.raises(ConfigError, match="there is no score price"):
        samples.query("rent", min_score={"price": 1})


def test_lengths_and_forms(samples: SyncLexichord) -> None:
    short = samples.query("Who pays the rent?", max_length=600)
    assert 0 < len(short.context) <= 600
    dropped = short.trace[-1].dropped
    assert dropped is not None
    assert len(dropped) == len(short.quotes) - len(short.sources) > 0
    assert dropped[0].startswith("no room for ")
    tokens = samples.query("Who pays the rent?", max_length=600, unit="tokens")
    assert len(tokens.context) > 600
    asked = samples.query("Who pays the rent?", format="qa")
    assert asked.context.startswith("Question: ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"colour": "red"}, "there is no option colour"),
        ({"intent": "poem"}, "there is no intent 'poem': clause_lookup, comparison"),
        ({"variants": 0}, "variants must be at least 1, not 0"),
        ({"max_length": 0}, "max_length must be at least 1, not 0"),
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
    def tried(found: Response) -> list[str]:
        return [step.given["query"] for step in found.trace if step.stage == "fallback"]

    sure = samples.query("Who insures the building of Saltpan House?", fallbacks=["overview"])
    assert (sure.abstained, tried(sure)) == (False, [])
    lost = samples.query("Which exoplanets have methane?", fallbacks=["overview", "definitions"])
    assert tried(lost) == ["overview", "definitions"]
    assert lost.abstained


def test_a_round_of_reflection_is_timed_and_bounded(samples: SyncLexichord) -> None:
    query = "Who pays the rent and who supervises the doctors on Mars?"
    found = samples.query(query, reflect=True, answer=True, rounds=1, min_coverage=1)
    assert found.reflection is not None
    assert len(found.reflection.rounds) == 1
    assert found.reflection.stopped == "no rounds are left"
    assert found.reflection.unsupported == ()
    assert not found.reflection.passed
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
        found = samples.query("Who pays the rent?", k=4)
        listed = samples.query("List every deadline")
    assert len(found.hits) == 4
    lengths = [-hit.scores.to_dict()["rerank"] for hit in found.hits]
    assert lengths == sorted(lengths)
    shortest = sorted(len(hit.context) + len(hit.content) for hit in wide.hits)
    assert len(found.hits[0].context) + len(found.hits[0].content) <= shortest[0]
    assert all(hit.scores.rerank is None for hit in listed.hits)
    assert "rerank" in found.timings_ms


def test_a_risk_sets_the_border(samples: SyncLexichord) -> None:
    question = "how long are customer support logs kept"
    default = samples.query(question, answer=True)
    assert not default.abstained
    none = samples.query(question, answer=True, risk=0)
    assert (none.abstained, none.claimed) == (True, False)
    assert none.confidence == pytest.approx(default.confidence)
    parrots = "what colour may the pet parrots of the tenant be"
    assert samples.query(parrots, answer=True).abstained
    assert not samples.query(parrots, answer=True, risk=1).abstained
    named = samples.query("In the lease for Saltpan House, who insures the building?", risk=0)
    assert not named.abstained
    assert [line for line in named.degraded if line.startswith("risk is not heeded")]


def test_all_that_is_asked_is_embedded_at_once(samples: SyncLexichord) -> None:
    assert samples.core.embedder is not None
    embedder: Embedder = samples.core.embedder
    asked: list[list[str]] = []

    class Listening:
        space = embedder.space

        def embed(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Vectors:
            if kind == "query":
                asked.append([*texts])
            return embedder.embed(texts, kind)

    question = "In the lease for Saltpan House, who insures the building?"
    samples.core.embedder = Listening()
    try:
        found = samples.query(question)
    finally:
        samples.core.embedder = embedder
    assert asked == [[found.intent.question, question, found.intent.hint]]
    (search,) = (step for step in found.trace if step.stage == "search")
    assert "asked" in search.given["variants"]


def test_sentences_are_embedded_once(samples: SyncLexichord) -> None:
    assert samples.core.embedder is not None
    embedder: Embedder = samples.core.embedder
    seen: list[str] = []

    class Counting:
        space = embedder.space

        def embed(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Vectors:
            if kind == "document":
                seen.extend(texts)
            return embedder.embed(texts, kind)

    samples.core.embedder, samples.core.sentences = Counting(), SentenceVectors()
    try:
        found = samples.query("how long are customer support logs kept", answer=True)
        first = [*seen]
        again = samples.query("how long are customer support logs kept", answer=True)
        assert seen == first
        with asking_for("another"):  # how long it takes is not to tell what others asked
            samples.query("how long are customer support logs kept", answer=True)
    finally:
        samples.core.embedder = embedder
    assert (again.answer, again.confidence) == (found.answer, found.confidence)
    assert found.answer
    assert len(first) == len(set(first)) > 0
    assert seen[len(first) :] == first
    (step,) = (step for step in found.trace if step.stage == "confidence")
    assert step.given["judged_by"] == "meaning"
