"""Services that headers name: asked only if allowed, with no key of ours, by nobody else."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from tests.end_to_end.llm_replies import replying, shown
from tests.http_server import Reply, Request, http_server
from tests.mcp.serving import Place, Served, call, inside, over_http, refused
from tests.providers.chat_servers import ChatServer, chat_server
from tests.providers.rerank_servers import RerankServer, rerank_server

QUESTION = "how long are customer support logs kept"
OURS = "sk-the-servers-own"


def quoting(mark: str) -> Any:
    """Reply with a summary, and quotes, that tell who wrote them."""

    def clauses(inputs: Any) -> dict[str, Any]:
        first = shown(inputs["sources"])[0]
        quote = {"quote": first.text.rpartition("\n\n")[2], "source": first.number}
        invented = {"quote": f"{mark} says so", "source": first.number}
        return {"clauses": [quote, invented], "answer": mark}

    return replying(clauses=clauses, boost={"keyword_sets": [[mark, "words"]]})


@contextmanager
def allowing(place: Place, *urls: str, **settings: str) -> Iterator[Served]:
    allowed = {"LEXICHORD_ALLOWED_ADDRESSES": ",".join(urls), **settings}
    with inside(replace(place, settings=allowed)) as running:
        yield running


def llm(server: ChatServer, model: str = "some/model:8b") -> dict[str, str]:
    return {"X_LLM_API_URL": server.url, "X_LLM_MODEL": model}


def reranker(server: RerankServer) -> dict[str, str]:
    return {"X_RERANK_URL": server.url, "X_RERANK_MODEL": "BAAI/bge-reranker-v2-m3"}


async def test_requests_at_the_same_time_ask_each_its_own_services(place: Place) -> None:
    """Interleaved: two clients with models of their own, one without, again and again."""
    with (
        chat_server(quoting("anna")) as anna,
        chat_server(quoting("bela")) as bela,
        rerank_server("jina", lambda _, text: float("logs" in text)) as ranks,
        allowing(place, anna.url, f"{bela.url}/", ranks.url) as server,
    ):

        async def ask(headers: dict[str, str]) -> list[tuple[str, ...]]:
            async with over_http(server.url, **headers) as client:
                calls = [call(client, "assistant", query=QUESTION) for _ in range(4)]
                replies = await asyncio.gather(*calls)
            return [tuple(each["structured_answer"]["unverified"]) for each in replies]

        answers = await asyncio.gather(
            ask(llm(anna)), ask(llm(bela) | reranker(ranks)), ask({}), ask(reranker(ranks))
        )
        expected = [("anna says so",), ("bela says so",), (), ()]
        assert [set(each) for each in answers] == [{each} for each in expected]
        assert (len(anna.requests), len(bela.requests)) == (4, 4)
        assert len(ranks.requests) == 16  # files and chunks of eight calls
        assert {each.body["model"] for each in ranks.requests} == {"BAAI/bge-reranker-v2-m3"}
        assert {each.body["model"] for each in anna.requests} == {"some/model:8b"}


async def test_a_reranker_that_a_header_names_ranks_files_and_passages(place: Place) -> None:
    with rerank_server("jina") as ranks, allowing(place, ranks.url) as server:
        async with over_http(server.url, **reranker(ranks)) as client:
            result = await call(client, "retriever", query=QUESTION, score_threshold=0.3)
            files = await call(
                client, "file_discover", query=QUESTION, relevance_score_threshold=0.3
            )
            assert result["reranked"]
            assert files["reranked"]
            assert all(each["scores"]["rerank"] >= 0.3 for each in result["result"])
            assert all(each["score"] >= 0.3 for each in files["files"])
            request_count = len(ranks.requests)
            plain = await call(client, "retriever", query=QUESTION, does_rerank=False)
            other = await call(client, "file_discover", query=QUESTION, do_file_rerank=False)
            assert (plain["reranked"], other["reranked"]) == (False, False)
            assert len(ranks.requests) == request_count


async def test_a_model_that_a_header_names_makes_keywords_and_may_rewrite(place: Place) -> None:
    with chat_server(quoting("anna")) as anna, allowing(place, anna.url) as server:
        async with over_http(server.url, **llm(anna)) as client:
            result = await call(client, "keyword_generator", query=QUESTION)
            prompt = await client.get_prompt("kbbridge_agent_instructions")
    assert ["anna", "words"] in result["keyword_sets"]
    assert "with enable_query_rewriting or enable_reflection." in str(prompt)


async def test_the_servers_own_keys_go_nowhere_else(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "JINA_API_KEY"):
        monkeypatch.setenv(name, OURS)
    with (
        chat_server(quoting("own")) as own,
        chat_server(quoting("anna")) as anna,
        rerank_server("jina") as ranks,
        rerank_server("jina") as own_ranks,
        allowing(
            place,
            anna.url,
            ranks.url,
            LEXICHORD_LLM="openai/own",
            LEXICHORD_LLM_BASE_URL=own.url,
            LEXICHORD_LLM_API_KEY=OURS,
            LEXICHORD_RERANKER="jina/own",
            LEXICHORD_RERANKER_BASE_URL=own_ranks.url,
            LEXICHORD_RERANKER_API_KEY=OURS,
        ) as server,
    ):
        async with over_http(server.url, **llm(anna), **reranker(ranks)) as client:
            result = await call(client, "assistant", query=QUESTION)
        assert result["structured_answer"]["unverified"] == ["anna says so"]
        assert not own.requests
        assert not own_ranks.requests
        sent = [each.headers for each in anna.requests] + [each.headers for each in ranks.requests]
        assert len(sent) == 3
        assert not any(OURS in str(headers) for headers in sent)
        # What the server is set to anyway may be named.
        async with over_http(server.url, X_LLM_MODEL="own", X_RERANK_MODEL="jina/own") as client:
            result = await call(client, "assistant", query=QUESTION)
        assert result["structured_answer"]["unverified"] == ["own says so"]
        assert OURS in str(own.requests[0].headers)
        assert OURS in str(own_ranks.requests[0].headers)


@pytest.mark.parametrize("name", ["X_LLM_API_URL", "X_RERANK_URL"])
async def test_an_address_that_is_not_allowed_is_left_out_by_the_settings_name(
    server: Served, name: str
) -> None:
    model = "X_LLM_MODEL" if "LLM" in name else "X_RERANK_MODEL"
    async with over_http(server.url, **{name: "http://127.0.0.1:1/v1", model: "any"}) as client:
        for tool in ("assistant", "retriever", "file_discover"):
            result = await call(client, tool, query=QUESTION)
            assert result["status"] == "ok"
            (left_out,) = [line for line in result["degraded"] if "may not ask" in line]
            assert "LEXICHORD_ALLOWED_ADDRESSES" in left_out
            assert name.replace("_", "-") in left_out
    async with over_http(server.url, **{name: "http://127.0.0.1:1/v1"}) as client:
        result = await refused(client, "assistant", query=QUESTION)
        assert model.replace("_", "-") in result["details"]
    async with over_http(server.url, **{model: "openai/gpt-4o"}) as client:
        result = await call(client, "assistant", query=QUESTION)
        assert any(name.replace("_", "-") in line for line in result["degraded"])


async def test_no_redirect_leads_to_another_address(place: Place) -> None:
    with chat_server(quoting("evil")) as evil:
        to = evil.url.removesuffix("/v1")
        with (
            http_server(
                Request, lambda request: Reply(307, headers={"Location": to + request.path})
            ) as url,
            allowing(place, url) as server,
        ):
            headers = {"X_LLM_API_URL": f"{url}/v1", "X_LLM_MODEL": "m"}
            headers |= {"X_RERANK_URL": f"{url}/v1", "X_RERANK_MODEL": "m"}
            async with over_http(server.url, **headers) as client:
                result = await call(client, "assistant", query=QUESTION)
    assert not evil.requests
    assert any("answer without the model" in line for line in result["degraded"])
    assert any("not reranked" in line for line in result["degraded"])
    assert result["answer"]
