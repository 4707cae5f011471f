"""Stages told while a question is asked, and the page of it, which does not ask again."""

import json
from collections.abc import Iterator

import httpx
import pytest

from lexichord.serve.limits import MAX_FOUND
from lexichord.serve.page.routes import FoundResponses
from tests.builders import RESPONSE
from tests.end_to_end.processes import wait_until
from tests.http.pages import LEASE, LICENCE, words
from tests.http.served import Keys, Served, serve_documents

QUESTION = "/?q=Which+party+gives+ninety+days"


@pytest.fixture(scope="module")
def asked(bare: str) -> Iterator[Served]:
    keys: Keys = {"first": {}, "second": {}, "narrow": {"datasets": ["closed"]}}
    with serve_documents(bare, {"open": [LEASE, LICENCE], "closed": [LICENCE]}, keys) as served:
        yield served


def told(client: httpx.Client, question: str = QUESTION) -> list[tuple[str, str]]:
    """Give the events of a question: their names, with a stage's line."""
    answer = client.get(question.replace("/?", "/stages?"))
    assert answer.status_code == 200, answer.text
    assert answer.headers["cache-control"] == "no-store"
    events = [event.split("\n", 1) for event in answer.text.strip().split("\n\n")]
    return [
        (name.removeprefix("event: "), json.loads(data.removeprefix("data: ")).get("line", ""))
        for name, data in events
    ]


def wait_for_queries(asked: Served, name: str, amount: int) -> None:
    def are_there() -> bool:
        calls = asked.lexichord.list_calls()
        return sum(call.kind == "query" and call.name == name for call in calls) == amount

    wait_until(are_there)


def test_each_stage_is_told_and_the_page_asks_no_second_time(asked: Served) -> None:
    client = asked.by("first")
    events = told(client)
    assert "Office Lease" in words(client.get(QUESTION).text)
    assert [name for name, _ in events] == ["stage"] * (len(events) - 1) + ["found"]
    lines = [line for _, line in events]
    assert lines[0].startswith("Documents: Office Lease")
    assert any(line.startswith("Evidence: ") for line in lines)
    wait_for_queries(asked, "first", 1)
    client.get(QUESTION)  # what was found is given out once
    wait_for_queries(asked, "first", 2)


def test_nobody_is_given_what_was_found_for_another(asked: Served) -> None:
    told(asked.by("second"))
    assert "Office Lease" not in words(asked.by("narrow").get(QUESTION).text)
    assert "Office Lease" in words(asked.by("second").get(QUESTION).text)
    wait_for_queries(asked, "second", 1)
    wait_for_queries(asked, "narrow", 1)


def test_what_goes_wrong_is_told_by_the_page(asked: Served) -> None:
    client = asked.by("first")
    assert told(client, "/?q=gnu&dataset=none")[-1][0] == "failed"
    assert "none" in words(client.get("/?q=gnu&dataset=none").text)
    for wrong in ("", "q=gnu&k=0", f"q={'x' * 2_001}"):
        assert client.get(f"/stages?{wrong}").status_code == 400
    assert asked.by().get("/stages?q=gnu").status_code == 401


def test_what_was_found_is_given_out_once_and_little_is_kept() -> None:
    kept, found = FoundResponses(), RESPONSE
    kept.keep("a", found, 0.5)
    assert kept.take("a") == (found, 0.5)
    assert kept.take("a") is None
    for number in range(MAX_FOUND + 1):
        kept.keep(number, found, 0.5)
    assert kept.take(0) is None
    assert kept.take(1) == (found, 0.5)


def test_what_was_found_is_kept_for_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lexichord.serve.page.routes.FOUND_SECONDS", 0.0)
    kept = FoundResponses()
    kept.keep("a", RESPONSE, 0.5)
    assert kept.take("a") is None
