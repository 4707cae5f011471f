"""OpenAI's `responses` with `file_search`, through its own client; the model is a real server."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import openai
import pytest

from tests.conftest import new_database
from tests.end_to_end.llm_replies import KEY, replying, shown
from tests.http.served import serve
from tests.providers.chat_servers import ChatServer, chat_server

QUESTION = "What is the yearly rent for the third floor of Saltpan House?"
TOOL: Any = {"type": "file_search", "vector_store_ids": ["agreements"]}


def clauses(inputs: Any) -> dict[str, Any]:
    """Quote the first source as it stands, and say something that no source holds."""
    first = shown(inputs["sources"])[0]
    quote = {"quote": first.text.rpartition("\n\n")[2], "source": first.number}
    invented = {"quote": "The rent is a secret.", "source": first.number}
    return {"clauses": [quote, invented], "answer": "x"}


@contextmanager
def answering(dsn: str, home: Path, **settings: Any) -> Iterator[openai.OpenAI]:
    with (
        serve(dsn, home=home, **settings) as served,
        openai.OpenAI(api_key="any", base_url=f"{served.url}/v1", max_retries=0) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def stored(corpus: str) -> Iterator[str]:
    with new_database(corpus, copy_of=corpus) as dsn:
        yield dsn


@pytest.fixture(scope="module")
def model() -> Iterator[ChatServer]:
    with chat_server(replying(clauses=clauses)) as server:
        yield server


@pytest.fixture(scope="module")
def client(stored: str, home: Path, model: ChatServer) -> Iterator[openai.OpenAI]:
    named = {"llm": "openai/any", "llm_base_url": model.url, "llm_api_key": KEY}
    with answering(stored, home, **named) as client:
        yield client


def test_an_answer_quotes_files_and_cites_them(client: openai.OpenAI) -> None:
    response = client.responses.create(
        model="openai/any", input=QUESTION, tools=[TOOL], include=["file_search_call.results"]
    )
    search, message = response.output
    assert search.type == "file_search_call"
    assert search.queries == [QUESTION]
    assert search.results
    assert message.type == "message"
    (part,) = message.content
    assert part.type == "output_text"
    assert "secret" not in response.output_text  # no source holds it
    citation = part.annotations[0]
    assert citation.type == "file_citation"
    assert response.output_text[citation.index] == "["
    assert citation.file_id in {result.file_id for result in search.results}
    assert citation.filename == "office-lease-saltpan-house.md"
    assert response.usage
    assert response.usage.total_tokens > 0
    assert (response.status, response.model) == ("completed", "openai/any")


def test_a_stream_ends_with_the_same(client: openai.OpenAI) -> None:
    with client.responses.stream(model="any", input=QUESTION, tools=[TOOL]) as stream:
        events = list(stream)
        final = stream.get_final_response()
    kinds = [event.type for event in events]
    assert kinds[:2] == ["response.created", "response.in_progress"]
    assert kinds[-1] == "response.completed"
    assert "response.file_search_call.completed" in kinds
    assert [event.sequence_number for event in events] == list(range(len(events)))
    deltas = "".join(e.delta for e in events if e.type == "response.output_text.delta")
    assert deltas == final.output_text
    plain = client.responses.create(model="any", input=QUESTION, tools=[TOOL])
    assert plain.output_text == final.output_text


def test_a_message_filters_and_a_threshold_are_heeded(client: openai.OpenAI) -> None:
    question: Any = [{"role": "user", "content": [{"type": "input_text", "text": QUESTION}]}]
    lease: Any = {"type": "eq", "key": "title", "value": "Master Services Agreement"}
    tool: Any = {**TOOL, "filters": lease, "max_num_results": 2}
    response = client.responses.create(
        model="any", input=question, tools=[tool], include=["file_search_call.results"]
    )
    (search, *_) = response.output
    assert search.type == "file_search_call"
    assert search.results is not None
    assert len(search.results) == 2
    assert {each.attributes["title"] for each in search.results if each.attributes} == {
        "Master Services Agreement"
    }


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"model": "gpt-4.1"}, openai.NotFoundError, "there is no model gpt-4.1 here"),
        ({"tools": []}, openai.UnprocessableEntityError, "tools"),
        ({"tools": [{"type": "web_search"}]}, openai.UnprocessableEntityError, "tools"),
        ({"instructions": "Be brief."}, openai.BadRequestError, "is quoted as it is stored"),
        ({"previous_response_id": "resp_1"}, openai.UnprocessableEntityError, "no such field"),
        ({"tools": [{**TOOL, "vector_store_ids": ["x"]}]}, openai.NotFoundError, "x"),
    ],
)
def test_what_is_not_done_here_is_refused_by_name(
    client: openai.OpenAI, changes: dict[str, Any], error: type[Exception], message: str
) -> None:
    asked: Any = {"model": "any", "input": QUESTION, "tools": [TOOL], **changes}
    for stream in (False, True):
        with pytest.raises(error, match=message):
            client.responses.create(**asked, stream=stream)


def test_a_failing_model_is_told(client: openai.OpenAI, model: ChatServer) -> None:
    model.mode = "broken"
    try:
        with pytest.raises(openai.InternalServerError, match="model's service failed"):
            client.responses.create(model="any", input=QUESTION, tools=[TOOL])
        events = list(
            client.responses.create(model="any", input=QUESTION, tools=[TOOL], stream=True)
        )
        assert events[-1].type == "error"
        assert "model's service failed" in events[-1].message
    finally:
        model.mode = "good"


def test_without_a_model_it_is_said(stored: str, home: Path) -> None:
    refused = pytest.raises(openai.BadRequestError, match="no language model is set here")
    with answering(stored, home) as client, refused:
        client.responses.create(model="any", input=QUESTION, tools=[TOOL])
