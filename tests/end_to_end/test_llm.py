"""What a language model behind a real socket does to each stage of a query."""

from collections.abc import Callable, Iterator, Mapping
from urllib.parse import urlsplit

import pytest
from psutil import Process

from lexichord import SyncLexichord
from lexichord.errors import ConfigError
from lexichord.types import LlmStage, Response
from tests.end_to_end.llm_replies import (
    ASPECTS,
    Outputs,
    grades,
    read,
    replying,
    requests_for,
    shown,
    with_model,
)
from tests.providers.chat_servers import ChatServer, chat_server

LEASE = "office-lease-saltpan-house.md"
RENT = "What is the yearly rent for the third floor of Saltpan House?"
INSURER = "In the lease for Saltpan House, who insures the building?"
LAWS = "Compare the governing law of the master services agreement and the software licence"
SCOTLAND = "the law of Scotland"


@pytest.fixture(scope="module")
def served() -> Iterator[ChatServer]:
    with chat_server(replying()) as server:
        yield server


@pytest.fixture(scope="module")
def opened(samples: SyncLexichord, served: ChatServer) -> Iterator[SyncLexichord]:
    with with_model(samples, served) as lexichord:
        yield lexichord


@pytest.fixture
def model(served: ChatServer) -> ChatServer:
    """A server that has not been asked yet, and says nothing of its own."""
    served.reply, served.mode = replying(), "good"
    served.requests.clear()
    served.modes.clear()
    return served


def ask(opened: SyncLexichord, query: str, *stages: LlmStage, **options: object) -> Response:
    return opened.query(query, llm_stages=stages, **options)  # type: ignore[arg-type]


def calls(found: Response) -> list[str]:
    return [step.stage for step in found.trace if step.stage.startswith("llm ")]


def names(found: Response) -> list[str]:
    """Give the variants that were made."""
    (step,) = (step for step in found.trace if step.stage == "variants")
    return list(step.made["names"])


def holding(passage: str, inputs: Mapping[str, str]) -> int:
    """Give the number of the source that holds a passage."""
    return next(
        each.number
        for each in shown(inputs["sources"])
        if passage in " ".join(each.text.replace("\n", " ").split())
    )


def quoting(quote: str, source: int | str) -> Mapping[str, object]:
    return {"clauses": [{"quote": quote, "source": source}], "answer": "That."}


def saying(*sentences: tuple[str, list[int]]) -> Outputs:
    return {"sentences": [{"text": text, "sources": sources} for text, sources in sentences]}


# Which stages a model does.


def test_by_default_it_rewrites_answers_and_grades(
    opened: SyncLexichord, model: ChatServer
) -> None:
    found = opened.query(RENT, rewrite=True, answer=True, reflect=True, intent="clause_lookup")
    assert calls(found) == ["llm rewrite", "llm clauses", "llm grade"]
    step = next(step for step in found.trace if step.stage == "llm rewrite")
    assert step.given == {"model": "openai/any"}
    made = {"requests": 1, "input_tokens": 120, "output_tokens": 30, "dollars": None}
    assert step.made == made
    assert found.timings_ms["llm rewrite"] == step.ms > 0


@pytest.mark.parametrize(
    "do",
    [
        lambda lexichord: lexichord.query(RENT, answer=True),
        lambda lexichord: lexichord.keywords(RENT),
    ],
    ids=["query", "keywords"],
)
def test_no_connection_to_it_is_left(
    samples: SyncLexichord, served: ChatServer, do: Callable[[SyncLexichord], object]
) -> None:
    """A server that answers for months would have no more of them."""
    asked = len(served.requests)
    with with_model(samples, served) as lexichord:
        do(lexichord)
        assert len(served.requests) > asked
        left = [each for each in Process().net_connections() if each.raddr]
    port = urlsplit(served.url).port
    assert [each.status for each in left if each.raddr.port == port] == []


def test_a_stage_that_no_model_does(opened: SyncLexichord, samples: SyncLexichord) -> None:
    told = "a model does not do dance, but intent, boost, rewrite, answer, reflect"
    for lexichord in (opened, samples):
        with pytest.raises(ConfigError, match=told):
            ask(lexichord, RENT, "dance")  # type: ignore[arg-type]


# Intent.


def test_it_reads_a_query(opened: SyncLexichord, model: ChatServer) -> None:
    reading = read(
        "How high is the rent?",
        kind="summary",
        hint="the lease of  Saltpan House",
        entities=["rent", " ", "rent", "N/A"],
        sub_questions=["When is rent due?", "How high is\nthe rent?"],
        domain="leases",
        reason="because\x1b[31m",
    )
    model.reply = replying(intent=reading)
    found = ask(opened, "zzz", "intent", "boost")
    assert (found.intent.kind, found.intent.question) == ("summary", "How high is the rent?")
    assert found.intent.hint == "the lease of Saltpan House"
    assert found.files[0].uri.endswith(LEASE)
    assert found.intent.documents == (found.files[0].document_id,)
    assert found.intent.entities == ("rent",)
    assert found.intent.sub_questions == ("When is rent due?", "How high is the rent?")
    assert found.intent.reason.startswith("summary: because")
    (prompt,) = requests_for(model, "intent")
    assert prompt.inputs == {"query": "zzz", "given_hint": ""}
    assert {each.inputs["domain"] for each in requests_for(model, "boost")} == {"leases"}


def test_what_it_reads_is_searched_and_judged(opened: SyncLexichord, model: ChatServer) -> None:
    parts = ["Who insures the building?", "Which exoplanets have methane?"]
    model.reply = replying(intent=read(RENT, sub_questions=parts, entities=["Zorblax"]))
    found = ask(opened, "zzz", "intent", reflect=True)
    assert "EUR 214,200" in found.hits[0].content
    assert found.reflection is not None
    assert found.reflection.coverage is not None
    assert found.reflection.coverage.missing_entities == ("Zorblax",)
    assert found.reflection.coverage.uncovered_sub_questions == (parts[1],)
    assert parts[1] in [each.query for each in found.reflection.rounds]


def test_a_callers_hint_and_kind_stay(opened: SyncLexichord, model: ChatServer) -> None:
    model.reply = replying(intent=read("other", hint="the travel policy", kind="list_all"))
    found = ask(opened, RENT, "intent", hint="the office lease", intent="clause_lookup")
    assert (found.intent.hint, found.intent.question) == ("the office lease", RENT)
    assert found.intent.kind == "clause_lookup"
    assert found.files[0].uri.endswith(LEASE)
    assert requests_for(model, "intent")[0].inputs["given_hint"] == "the office lease"


# Rewrite.


def test_its_words_are_searched_as_well(
    opened: SyncLexichord, model: ChatServer, samples: SyncLexichord
) -> None:
    text = "assistance\nanimals brought into the Building"
    wording = {"kind": "expansion", "text": text, "confidence": 0.75, "reason": "a dog\nis one"}
    model.reply = replying(rewrite=wording)
    query = "Am I allowed a Zwergpinscher?"
    found = ask(opened, query, "rewrite", rewrite=True, k=50)
    first = next(hit for hit in found.hits if hit.ranks.get("rewrite") == 1)
    assert "assistance animals" in first.content
    step = next(step for step in found.trace if step.stage == "rewrite")
    reason = "a dog is one (confidence 0.75)"
    said = {"kind": "expansion", "text": text.replace("\n", " "), "reason": reason}
    assert step.made == said
    (prompt,) = requests_for(model, "rewrite")
    assert "zwergpinscher" in prompt.inputs["missing"].lower()
    hits = sorted(samples.query(query).hits, key=lambda hit: -(hit.scores.variants or 0))
    assert [each.text for each in shown(prompt.inputs["passages"])] == [
        hit.content for hit in hits[:5]
    ]


# Content boost.


def test_keywords_are_searched_inside_their_file(
    opened: SyncLexichord, model: ChatServer, samples: SyncLexichord
) -> None:
    sets = [["escrow", "release"], ["Escrow", "release"], [" "], ["arbitrators", "seat of"]]
    model.reply = replying(boost={"keyword_sets": sets})
    found = ask(opened, RENT, "boost", instructions="only money")
    assert names(found) == ["original", *(f"file {place} keywords 1" for place in (1, 2, 3))]
    (step,) = (step for step in found.trace if step.stage == "variants")
    assert step.made["reason"].endswith("3 sets of keywords")
    ranked = [hit for hit in found.hits if "file 2 keywords 1" in hit.ranks]
    assert ranked
    assert {hit.document_id for hit in ranked} == {found.files[1].document_id}
    prompts = requests_for(model, "boost")
    titles = {each.inputs["document"] for each in prompts}
    assert titles == {" ".join(file.title.split()) for file in found.files[:3]}
    assert {each.inputs["guidance"] for each in prompts} == {"only money"}
    assert {each.inputs["number"] for each in prompts} == {"1"}


# Clauses.


def test_a_quote_is_shown_as_it_is_stored(opened: SyncLexichord, model: ChatServer) -> None:
    stored = "The Landlord shall insure the Building for its full cost of reinstatement."
    said = f" “{stored.replace(' ', '  ', 3).replace(' its', chr(10) + 'its')}” "
    model.reply = replying(clauses=lambda inputs: quoting(said, holding(stored, inputs)))
    found = ask(opened, INSURER, "answer", answer=True)
    number = holding(stored, requests_for(model, "clauses")[0].inputs)
    assert found.answer == f"{stored} [{number}]"
    source = found.sources[number - 1]
    assert (source.number, source.uri.endswith(LEASE)) == (number, True)
    assert (found.unverified, found.degraded) == ((), [])


def test_an_invented_quote_is_unverified_and_nowhere_else(
    opened: SyncLexichord, model: ChatServer
) -> None:
    lie = "The Tenant shall insure the moon."
    stored = "The Landlord shall insure the Building"
    model.reply = replying(
        clauses={
            "clauses": [{"quote": lie, "source": 1}, {"quote": stored, "source": -7}],
            "answer": lie,
        }
    )
    found = ask(opened, INSURER, "answer", answer=True)
    assert found.answer.startswith(f"{stored} [")
    assert found.unverified == (lie,)
    shape = found.to_dict()
    assert shape.pop("unverified") == [lie]
    assert "moon" not in str(shape)


def test_if_nothing_can_be_shown_the_rules_answer(
    opened: SyncLexichord, model: ChatServer, samples: SyncLexichord
) -> None:
    model.reply = replying(clauses=quoting("out of thin air", 1))
    found = ask(opened, INSURER, "answer", answer=True)
    assert found.answer == samples.query(INSURER, answer=True).answer
    assert found.unverified == ("out of thin air",)
    assert found.degraded == ["answer without the model: nothing in its reply can be shown"]


def test_where_the_rules_abstain_it_is_not_asked(opened: SyncLexichord, model: ChatServer) -> None:
    query = "Which exoplanets have an atmosphere of methane?"
    found = ask(opened, query, "answer", "reflect", answer=True, reflect=True)
    assert (found.answer, found.abstained, model.requests) == ("", True, [])


# Summaries.


def test_sentences_cite_their_sources(
    opened: SyncLexichord, model: ChatServer, samples: SyncLexichord
) -> None:
    query = "Summarise the lease of Saltpan House"
    parts = samples.query(query, k=30, max_length=9000)
    places = {quote.start: quote.text for quote in parts.quotes}
    other = next(s.number for s in parts.sources if "Building" not in places[s.start])
    model.reply = replying(
        summary=saying(
            ("The rent\nis paid [9] in quarters.", [2, 1, 99]),
            ("Nobody says so.", []),
            ("Nobody at all [1].", [99, -1, 0]),
            ('It is called "the golden rent of the moon".', [1]),
            ("See ![it](//evil.example/a).", [1]),
            ('> The "Building" is Saltpan House.', [*range(1, 99)]),
            ('It is "Building" to another.', [other]),
        )
    )
    found = ask(opened, query, "answer", answer=True, k=30, max_length=9000)
    first, second = found.answer.split("\n")
    assert first == "The rent is paid in quarters. [1] [2]"
    assert second.startswith('The "Building" is Saltpan House. [1] [2]')
    assert found.unverified == (
        "Nobody says so.",
        "Nobody at all.",
        'It is called "the golden rent of the moon".',
        "See ![it](//evil.example/a).",
        'It is "Building" to another.',
    )


# Comparisons.


def cell(document: int, aspect: str, text: str, source: int = 1) -> Mapping[str, object]:
    return {"document": document, "aspect": aspect, "text": text, "source": source}


def test_cells_are_its_quotes(
    opened: SyncLexichord, model: ChatServer, samples: SyncLexichord
) -> None:
    plain = samples.query(LAWS, answer=True).answer.split("\n")
    model.reply = replying(comparison={"cells": [cell(1, " Governing LAW".strip(), SCOTLAND)]})
    found = ask(opened, LAWS, "answer", answer=True)
    rows = found.answer.split("\n")
    assert f"“{SCOTLAND}”" in rows[2] != plain[2]
    assert (rows[:2], rows[3]) == (plain[:2], plain[3])
    assert (found.unverified, found.degraded) == ((), [])


def test_another_files_words_are_no_quote_of_a_cell(
    opened: SyncLexichord, model: ChatServer, samples: SyncLexichord
) -> None:
    wrong = [
        cell(2, "governing law", SCOTLAND),
        cell(9, "governing law", SCOTLAND),
        cell(1, "colour", SCOTLAND),
        cell(1, "governing law", "the law of the moon"),
        cell(1, "governing law", " "),
    ]
    model.reply = replying(comparison={"cells": wrong * 200})
    found = ask(opened, LAWS, "answer", answer=True)
    assert found.answer == samples.query(LAWS, answer=True).answer
    assert {*found.unverified} == {SCOTLAND, "the law of the moon"}


# Grades, and writing again.

SURE = "The Landlord shall insure the Building"
GOOD = [(name, 0.8) for name in ASPECTS]


def test_good_grades_end_it(opened: SyncLexichord, model: ChatServer) -> None:
    model.reply = replying(clauses=quoting(SURE, 1), grade=grades(0.8))
    found = ask(opened, INSURER, "answer", "reflect", answer=True, reflect={"min_coverage": 0})
    assert found.reflection is not None
    assert {(each.name, each.score) for each in found.reflection.grades} == set(GOOD)
    assert found.reflection.passed
    assert found.reflection.stopped == "every grade is at least 0.7"
    (prompt,) = requests_for(model, "grade")
    assert prompt.inputs["answer"] == found.answer
    assert prompt.inputs["question"] == INSURER
    assert [each.number for each in shown(prompt.inputs["sources"])] == [
        source.number for source in found.sources
    ]


def improving(first: float, second: float, missing: str) -> Outputs:
    """Quote more once told what was lacking, and grade that otherwise."""
    more = "hold public liability cover of at least EUR 6,500,000"

    def clauses(inputs: Mapping[str, str]) -> Outputs:
        return quoting(more if "fell short" in inputs["question"] else SURE, 1)

    def grade(inputs: Mapping[str, str]) -> Outputs:
        return grades(second if more in inputs["answer"] else first, missing)

    return {"clauses": clauses, "grade": grade}


def test_low_grades_search_what_is_missing_and_write_again(
    opened: SyncLexichord, model: ChatServer
) -> None:
    model.reply = replying(**improving(0.3, 0.9, "heating outside\nhours charged"))  # type: ignore[arg-type]
    found = ask(opened, INSURER, "answer", "reflect", answer=True, reflect={"min_coverage": 0})
    assert "EUR 6,500,000" in found.answer
    assert found.reflection is not None
    (round_,) = found.reflection.rounds
    assert (round_.query, round_.grade) == ("heating outside hours charged", 0.9)
    assert round_.reason.startswith("grounding: grounding?; completeness: ")
    assert found.reflection.passed
    question = requests_for(model, "clauses")[1].inputs["question"]
    assert question.endswith(f"An earlier answer fell short. {round_.reason}")
    ranked = [hit for hit in found.hits if any("refinement" in name for name in hit.ranks)]
    assert any("48 per hour" in hit.content for hit in ranked)
    steps = [step.stage for step in found.trace]
    assert steps.count("llm grade") == 2
    assert steps[-1] == "refine"


def test_what_is_no_better_is_not_kept(opened: SyncLexichord, model: ChatServer) -> None:
    model.reply = replying(**improving(0.3, 0.2, "heating"))  # type: ignore[arg-type]
    found = ask(opened, INSURER, "answer", "reflect", answer=True, reflect={"min_coverage": 0})
    assert SURE in found.answer
    assert not any("refinement" in name for hit in found.hits for name in hit.ranks)
    assert found.reflection is not None
    assert [each.grade for each in found.reflection.rounds] == [0.2]
    assert [each.score for each in found.reflection.grades] == [0.3] * 4
    assert found.reflection.stopped == "writing it again made it no better"
    assert not found.reflection.passed


def test_what_was_not_graded_has_not_passed(opened: SyncLexichord, model: ChatServer) -> None:
    model.reply = replying(clauses=quoting(SURE, 1), grade={"grounding": "fine"})
    found = ask(opened, INSURER, "answer", "reflect", answer=True, reflect={"min_coverage": 0})
    reason = "openai/any gave no usable reply: try another model"
    assert SURE in found.answer
    assert found.reflection is not None
    assert (found.reflection.errors, found.reflection.passed) == ((reason,), False)
    assert found.reflection.stopped == f"not graded: {reason}"
    assert found.degraded == [f"reflection without the model: {reason}"]


# Several at once.
