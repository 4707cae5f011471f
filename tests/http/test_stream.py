"""A query as server-sent events: what comes when, and what counts in the end."""

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest

from lexichord import Stages, SyncLexichord
from lexichord.errors import DatabaseError, ProviderError
from lexichord.types import ChunkHit, Question
from lexichord.types.evidence import Evidence
from lexichord.types.questions import Intent
from tests.alike import differences
from tests.end_to_end.llm_replies import grades, replying, shown, with_model
from tests.end_to_end.processes import wait_until
from tests.http.conftest import DOCUMENTS, KEYS, Keyed
from tests.http.served import new_client, serve_documents, serving
from tests.http.server import active, connected, request
from tests.http.test_guarding import locked
from tests.http.test_key_life import let_expire
from tests.listening import PATIENCE
from tests.providers.chat_servers import ChatServer, chat_server

QUESTION = "What is the yearly rent for the third floor of Saltpan House?"
INVENTED = "The rent is a secret."

type Events = list[tuple[str, dict[str, Any]]]


def read(lines: Iterator[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Read events as the standard has them: names and data, an empty line after each."""
    name = ""
    for line in lines:
        field, _, value = line.partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            yield name, json.loads(value)
        else:
            assert line == ""


def stream(client: httpx.Client, query: str = QUESTION, **options: Any) -> Events:
    with client.stream("POST", "/v1/query", json={"query": query, "stream": True, **options}) as it:
        assert it.status_code == 200, it.read()
        assert it.headers["content-type"].startswith("text/event-stream")
        return list(read(it.iter_lines()))


@pytest.mark.parametrize(
    ("options", "kinds"),
    [
        ({}, ["files", "evidence", "response"]),
        ({"answer": True}, ["files", "evidence", "answer", "response"]),
        ({"answer": True, "intent": "comparison"}, ["files", "evidence", "answer", "response"]),
        ({"reflect": True, "k": 3}, ["files", "evidence", "response"]),
    ],
)
def test_the_last_event_is_what_a_query_gives(
    client: httpx.Client, samples: SyncLexichord, options: Any, kinds: Sequence[str]
) -> None:
    events = stream(client, **options)
    assert [kind for kind, _ in events] == kinds
    response = events[-1][1]
    expected = client.post("/v1/query", json={"query": QUESTION, **options}).json()
    assert differences(response, expected) == []
    assert differences(response, samples.query(QUESTION, **options).to_dict()) == []
    for _, data in events[:-1]:
        assert all(response[name] == value for name, value in data.items())


def clauses(inputs: Any) -> dict[str, Any]:
    """Quote the first source as it stands, and say something that no source holds."""
    first = shown(inputs["sources"])[0]
    quote = {"quote": first.text.rpartition("\n\n")[2], "source": first.number}
    return {"clauses": [{"quote": INVENTED, "source": first.number}, quote], "answer": "x"}


@pytest.fixture
def model() -> Iterator[ChatServer]:
    with chat_server(replying(clauses=clauses, grade=grades(1.0))) as server:
        yield server


@contextmanager
def asking(lexichord: SyncLexichord) -> Iterator[httpx.Client]:
    with serving(lexichord) as url, new_client(url) as client:
        yield client


def test_a_model_is_heard_while_it_writes_and_what_counts_is_checked(
    samples: SyncLexichord, model: ChatServer
) -> None:
    """The model goes on after its first words only when these have arrived."""
    arrived, body = Event(), {"query": QUESTION, "answer": True, "intent": "clause_lookup"}
    model.pause = lambda sent: arrived.wait(PATIENCE) if INVENTED in sent else None
    with with_model(samples, model) as lexichord, asking(lexichord) as client:
        expected = client.post("/v1/query", json=body).json()
        draft, events = "", []
        with client.stream("POST", "/v1/query", json={**body, "stream": True}) as reply:
            for kind, data in read(reply.iter_lines()):
                events.append(kind)
                if kind == "draft":
                    arrived.set()
                    draft = draft[: data["start"]] + data["text"]
    first, *_, before_last, last = events
    assert (first, before_last, last) == ("files", "answer", "response")
    assert set(events) == {"files", "evidence", "draft", "answer", "response"}
    assert events.count("draft") > 3
    assert draft.startswith(f"{INVENTED}\n")
    assert INVENTED not in data["answer"]
    assert data["unverified"] == [INVENTED]
    assert differences(data, expected) == []


def test_a_model_whose_service_cannot_stream_answers_at_once(
    samples: SyncLexichord, model: ChatServer
) -> None:
    model.refuses_streams = 400
    with with_model(samples, model) as lexichord, asking(lexichord) as client:
        options: Any = {"answer": True, "intent": "clause_lookup"}
        events = stream(client, **options)
        plain = client.post("/v1/query", json={"query": QUESTION, **options}).json()
    assert {kind for kind, _ in events} == {"files", "evidence", "answer", "response"}
    response = events[-1][1]
    assert response["unverified"] == [INVENTED]  # of the model's own words
    assert response["degraded"] == plain["degraded"]
    assert response["answer"] == plain["answer"]


def test_a_model_that_fails_leaves_the_answer_to_the_words(
    samples: SyncLexichord, model: ChatServer
) -> None:
    def break_off(sent: str) -> None:
        if INVENTED in sent:
            raise ConnectionResetError

    model.pause = break_off
    with with_model(samples, model) as lexichord, asking(lexichord) as client:
        events = stream(client, answer=True, intent="clause_lookup")
    kind, response = events[-1]
    assert kind == "response"
    assert any(kind == "draft" for kind, _ in events)
    assert response["answer"] == samples.query(QUESTION, answer=True, intent="clause_lookup").answer
    assert any("answer without the model" in line for line in response["degraded"])


@pytest.mark.parametrize(
    ("changes", "status"),
    [({"datasets": ["nowhere"]}, 404), ({"filter": {"nothing": 1}}, 400), ({"query": ""}, 422)],
)
def test_an_error_before_the_first_event_is_the_ordinary_one(
    client: httpx.Client, changes: Any, status: int
) -> None:
    body = {"query": QUESTION, **changes}
    streamed = client.post("/v1/query", json={**body, "stream": True})
    ordinary = client.post("/v1/query", json=body)
    assert (streamed.status_code, streamed.json()) == (status, ordinary.json())


def test_a_key_reaches_no_further_by_a_stream(keyed: Keyed) -> None:
    body, reader = {"query": "zebra", "stream": True}, keyed.by("reader")
    assert keyed.by().post("/v1/query", json=body).status_code == 401
    beyond = reader.post("/v1/query", json={**body, "datasets": ["closed"]})
    assert (beyond.status_code, beyond.json()["error"]["type"]) == (403, "permission_error")
    (_, response) = stream(reader, "zebra")[-1]
    assert {hit["dataset"] for hit in response["hits"]} == {"open"}
    assert "closed" not in json.dumps(response)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (DatabaseError("the secret at /srv/data"), "the database could not answer"),
        (ProviderError("https://secret/"), "a model's service failed"),
        (ValueError("secret"), "it failed"),
    ],
)
def test_an_error_after_it_is_the_last_event(
    samples: SyncLexichord, home: Path, error: Exception, told: str
) -> None:
    async def fail(*, question: Question, intent: Intent, evidence: Evidence) -> Evidence:
        raise error

    dsn = samples.core.database.dsn
    stages = Stages(select_evidence=fail)
    with SyncLexichord(dsn=dsn, home=home, stages=stages) as lexichord, asking(lexichord) as client:
        ordinary = client.post("/v1/query", json={"query": QUESTION})
        events = stream(client)
    assert [kind for kind, _ in events] == ["files", "error"]
    shape, expected = events[-1][1]["error"], ordinary.json()["error"]
    assert {**shape, "message": ""} == {**expected, "message": ""}
    assert told in shape["message"]
    assert "secret" not in json.dumps(shape)


@dataclass
class Endless:
    """What a query that never ends by itself has come to."""

    begun: Event = field(default_factory=Event)
    cancelled: Event = field(default_factory=Event)

    async def wait(
        self, *, question: Question, intent: Intent, hits: Sequence[ChunkHit]
    ) -> Sequence[ChunkHit]:
        self.begun.set()
        try:
            await asyncio.sleep(PATIENCE)
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return hits


@pytest.fixture
def endless(samples: SyncLexichord, home: Path) -> Iterator[tuple[SyncLexichord, Endless]]:
    """An application whose queries never end by themselves."""
    state, dsn = Endless(), samples.core.database.dsn
    with SyncLexichord(dsn=dsn, home=home, stages=Stages(select_hits=state.wait)) as lexichord:
        yield lexichord, state


def test_what_takes_too_long_is_told_and_cancelled(endless: tuple[SyncLexichord, Endless]) -> None:
    lexichord, state = endless
    lexichord.core.settings.request_timeout = 4
    with asking(lexichord) as client:
        events = stream(client)
        assert state.cancelled.wait(PATIENCE)
    assert [kind for kind, _ in events] == ["files", "error"]
    assert events[-1][1]["error"]["type"] == "timeout_error"


def test_whoever_hangs_up_cancels_the_query(endless: tuple[SyncLexichord, Endless]) -> None:
    lexichord, state = endless
    body = {"query": QUESTION, "stream": True}
    with asking(lexichord) as client:
        with client.stream("POST", "/v1/query", json=body) as reply:
            events = read(reply.iter_lines())  # kept, for without it httpx would hang up
            assert next(events)[0] == "files"
            assert state.begun.wait(PATIENCE)
            assert not state.cancelled.is_set()
        assert state.cancelled.wait(PATIENCE / 2)  # before the server's deadline would do it


def test_whoever_hangs_up_before_the_first_event_takes_the_sql_along(
    keyed: Keyed, caplog: pytest.LogCaptureFixture
) -> None:
    body = b'{"query": "zebra", "stream": true}'
    kind = "content-type: application/json", f"content-length: {len(body)}"
    key = f"authorization: Bearer {keyed.keys['reader']}"
    with locked(keyed.dsn):
        with connected(keyed.url) as connection:
            connection.sendall(request("/v1/query", body, *kind, key))
            wait_until(lambda: active(keyed.dsn) != [])
        wait_until(lambda: active(keyed.dsn) == [])
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize("end", [SyncLexichord.revoke_key, let_expire])
def test_a_key_that_ends_amid_a_stream_lets_that_end_and_begins_no_other(
    bare: str, home: Path, end: Callable[[SyncLexichord, int], object]
) -> None:
    begun, go = Event(), Event()

    async def wait(
        *, question: Question, intent: Intent, hits: Sequence[ChunkHit]
    ) -> Sequence[ChunkHit]:
        begun.set()
        await asyncio.to_thread(go.wait, PATIENCE)
        return hits

    with serve_documents(
        bare, DOCUMENTS, KEYS, home=home, stages=Stages(select_hits=wait)
    ) as served:
        made, body = served.lexichord.create_key("Ann"), {"query": "zebra", "stream": True}
        client = served.by(made.secret)
        with client.stream("POST", "/v1/query", json=body) as reply:
            assert begun.wait(PATIENCE)
            end(served.lexichord, made.key.key_id)
            assert client.post("/v1/query", json=body).status_code == 401
            go.set()
            *_, (kind, _) = read(reply.iter_lines())
        assert kind == "response"
