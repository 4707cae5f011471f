"""Whatever becomes of a language model, a query gives what it gives without one, and says why."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest

from lexichord import SyncLexichord
from lexichord.types import Response
from tests.alike import differences
from tests.end_to_end.llm_replies import KEY, MODELS, STAGES, Outputs, replying, with_model
from tests.providers.chat_servers import (
    ChatServer,
    Mode,
    Prompt,
    Reply,
    chat_server,
    gemini_server,
)

QUERY = "In the lease for Saltpan House, who insures the building?"
SHORT_MS = 1500  # where nothing ever answers
NAMED = ("intent", "keywords", "rewrite", "answer", "reflection")
UNUSABLE = "gave no usable reply: "
# What is told of each way to fail. Of "good" the types are wrong.
TOLD: dict[Mode, str] = {
    "good": UNUSABLE,
    "malformed": UNUSABLE,
    "empty": UNUSABLE,
    "no json": UNUSABLE,
    "limited": "asks for fewer requests: try again later",
    "broken": "failed: try again later",
    "unauthorized": "refuses the key: check LEXICHORD_LLM_API_KEY",
    "drop": "cannot be reached or broke off: check its address",
    "hang": "did not answer within ",
    "trickle": "did not answer within ",
}
SLOW = ("hang", "trickle")  # they may use all time up
LATE = "no time is left for it: raise budget_ms"
WRONG: Outputs = {
    "kind": "dance",
    "keyword_sets": [[{"word": None}]],
    "confidence": "high",
    "clauses": [{"quote": None, "source": "first"}],
    "grounding": {"score": 7, "reason": []},
}

type Serve = Callable[[Reply, Mode], AbstractContextManager[ChatServer]]


def wrong(prompt: Prompt) -> Outputs:
    return {name: WRONG.get(name, 5) for name in prompt.fields}


@pytest.fixture(scope="module", params=[chat_server, gemini_server], ids=["chat", "gemini"])
def served(request: pytest.FixtureRequest) -> Iterator[ChatServer]:
    serve: Serve = request.param
    with serve(wrong, "good") as server:
        server.retry_after = "0.1"
        yield server


@pytest.fixture(scope="module")
def opened(samples: SyncLexichord, served: ChatServer) -> Iterator[SyncLexichord]:
    with with_model(samples, served) as lexichord:
        yield lexichord


@pytest.fixture(scope="module")
def plain(samples: SyncLexichord) -> Response:
    """What is given without a model."""
    return ask(samples)


def ask(lexichord: SyncLexichord, budget_ms: float = 30_000) -> Response:
    return lexichord.query(
        QUERY,
        answer=True,
        rewrite=True,
        reflect={"min_coverage": 0},  # no rounds: how many there is time for is another matter
        llm_stages=STAGES,
        budget_ms=budget_ms,
    )


@pytest.mark.parametrize("mode", TOLD)
def test_a_query_is_answered_in_full(
    plain: Response, opened: SyncLexichord, served: ChatServer, mode: Mode
) -> None:
    served.mode, served.reply = mode, wrong
    found = ask(opened, SHORT_MS) if mode in SLOW else ask(opened)
    assert "The Landlord shall insure the Building" in plain.answer
    same = ("intent", "files", "hits", "quotes", "context", "sources", "answer", "confidence")
    one, other = found.to_dict(), plain.to_dict()
    assert [differences(one[name], other[name]) for name in same] == [[]] * len(same)
    assert len(found.degraded) == len(NAMED)
    told = [f"{MODELS[served.gemini]} {TOLD[mode]}"]
    if mode in SLOW:
        told.append(LATE)
    for name, line in zip(NAMED, found.degraded, strict=True):
        assert line.startswith(tuple(f"{name} without the model: {each}" for each in told))
    calls = [step for step in found.trace if step.stage.startswith("llm ")]
    assert {step.stage for step in calls} == {
        *("llm intent", "llm boost", "llm rewrite", "llm clauses", "llm grade")
    }
    assert all(step.made["error"].startswith(tuple(told)) for step in calls)
    assert found.reflection is not None
    assert (found.reflection.passed, found.reflection.grades) == (False, ())
    assert KEY not in str(found.to_dict())
    assert "\n" not in "".join(found.degraded)


def test_a_model_that_works_is_not_degraded(opened: SyncLexichord, served: ChatServer) -> None:
    quote = "The Landlord shall insure the Building for its full cost of reinstatement."
    clauses = {"clauses": [{"quote": quote, "source": 1}], "answer": "That."}
    served.mode, served.reply = "good", replying(clauses=clauses)
    found = ask(opened)
    assert found.degraded == []
    assert found.answer.startswith(f"{quote} [")


def test_without_any_time_it_is_not_asked(opened: SyncLexichord, served: ChatServer) -> None:
    served.requests.clear()
    found = opened.query(QUERY, answer=True, llm_stages=STAGES, budget_ms=0)
    assert served.requests == []
    stages = ("intent", "keywords", "answer")
    assert found.degraded == [f"{name} without the model: {LATE}" for name in stages]
