"""One question of each kind through the whole pipeline, on the sample corpus."""

from collections.abc import Iterator, Sequence
from typing import Self

import pytest

from lexichord import SyncLexichord
from lexichord.db.session import asking_for
from lexichord.providers import Reader
from lexichord.retrieve.cache import QueryCache
from lexichord.retrieve.confidence import EMBEDDED_BESIDE_READER
from lexichord.types import Response
from lexichord.types.questions import Passage, Reading, Usage
from tests.end_to_end.hashing import Counting

STAGES = [
    "intent",
    "embed",
    "candidates",
    "discover",
    "variants",
    "search",
    "aggregate",
    "read",
    "confidence",
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


def test_reflection_says_what_it_did_and_rewrite_that_it_needs_a_model(
    samples: SyncLexichord,
) -> None:
    query = "How long are support logs kept and who supervises the doctors on Mars?"
    found = samples.query(query, rewrite=True, reflect=True)
    stages = [step.stage for step in found.trace]
    assert stages.count("rewrite") == 0
    assert any("rewrite needs a language model" in line for line in found.degraded)
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
    found = samples.query(query, reflect={"rounds": 1, "min_coverage": 1}, answer=True)
    assert found.reflection is not None
    assert len(found.reflection.rounds) == 1
    assert found.reflection.stopped == "no rounds are left"
    assert found.reflection.unsupported == ()
    assert not found.reflection.passed
    easy = samples.query("Who pays the rent?", reflect={"min_coverage": 0, "rounds": 0})
    assert easy.reflection is not None
    assert easy.reflection.passed
    late = samples.query(query, reflect={"min_coverage": 1}, budget_ms=0)
    assert late.reflection is not None
    assert late.reflection.rounds == ()


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


class CountingReader:
    """Another reader, which counts the passages that it is given."""

    def __init__(self, reader: Reader) -> None:
        self.reader, self.fit = reader, reader.fit
        self.passages: list[Passage] = []

    def read(self, question: str, passages: Sequence[Passage]) -> list[Reading]:
        self.passages += passages
        return self.reader.read(question, passages)


def test_a_passage_is_read_once_for_a_question(
    samples: SyncLexichord, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert samples.core.reader is not None
    reader = CountingReader(samples.core.reader)
    monkeypatch.setattr(samples.core, "reader", reader)
    question = "how long are customer support logs kept"
    found, first = samples.query(question, answer=True), [*reader.passages]
    assert len(first) == len(set(first)) > 0
    again = samples.query(question, answer=True)
    assert reader.passages == first
    assert (again.answer, again.confidence) == (found.answer, found.confidence)
    with asking_for("another"):  # how long it takes is not to tell what others asked
        samples.query(question, answer=True)
    assert reader.passages == first * 2
    samples.query("how long are customer support logs deleted", answer=True)
    assert len(reader.passages) > len(first) * 2


@pytest.fixture
def counting(samples: SyncLexichord) -> Iterator[Counting]:
    assert samples.core.embedder is not None
    samples.core.embedder = counting = Counting(samples.core.embedder)
    yield counting
    samples.core.embedder = counting.embedder


def test_a_question_is_embedded_before_it_is_known_what_else_is(
    samples: SyncLexichord, counting: Counting
) -> None:
    samples.core.cache = QueryCache()
    question = "In the lease for Saltpan House, who insures the building?"
    found = samples.query(question)
    assert counting.calls["query"] == [[question], [found.intent.question, found.intent.hint]]
    samples.query(question)
    assert len(counting.calls["query"]) == 2
    (search,) = (step for step in found.trace if step.stage == "search")
    assert "asked" in search.given["variants"]


def test_what_is_searched_again_is_not_embedded_anew(
    samples: SyncLexichord, counting: Counting
) -> None:
    samples.core.cache = QueryCache()
    question = "how long are customer support logs kept"
    few = samples.search(question, k=3)
    assert samples.search(question, k=5).hits[:3] == few.hits
    samples.files(question)
    assert counting.calls["query"] == [[question]]


class CountingService(Counting):
    """The same behind a service, which is asked rather once than at once."""

    def for_queries(self) -> Self:
        return self

    def used(self) -> Usage:
        return Usage(0, 0, 0, None)

    def stop(self) -> None:
        """Nothing runs longer than the call."""


def test_a_service_is_asked_once_for_all_that_is_embedded(samples: SyncLexichord) -> None:
    assert samples.core.embedder is not None
    local, service = samples.core.embedder, CountingService(samples.core.embedder)
    samples.core.cache, samples.core.embedder = QueryCache(), service
    try:
        question = "In the lease for Saltpan House, who insures the building?"
        found = samples.query(question)
    finally:
        samples.core.embedder = local
    assert service.calls["query"] == [[found.intent.question, question, found.intent.hint]]


def test_beside_a_reader_few_sentences_are_embedded(
    samples: SyncLexichord, counting: Counting
) -> None:
    samples.core.cache = QueryCache()
    found = samples.query("how long are customer support logs kept", answer=True)
    assert 0 < len(counting.taken()) <= 2 * EMBEDDED_BESIDE_READER
    assert not found.abstained


def test_without_a_reader_sentences_are_embedded_once(
    samples: SyncLexichord, counting: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(samples.core, "reader", None)
    samples.core.cache = QueryCache()
    question = "how long are customer support logs kept"
    found, first = samples.query(question, answer=True), counting.taken()
    again = samples.query(question, answer=True)
    assert counting.taken() == []
    with asking_for("another"):  # how long it takes is not to tell what others asked
        samples.query(question, answer=True)
    assert counting.taken() == first
    assert len(first) == len(set(first)) > 0
    assert (again.answer, again.confidence) == (found.answer, found.confidence)
    assert found.answer
    (step,) = (step for step in found.trace if step.stage == "confidence")
    assert step.given["judged_by"] == "meaning"
