"""The HTTP transport: keys, hosts, what is no protocol, kbbridge's own calls, many at once."""

import asyncio
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp.client.streamable_http import streamable_http_client

from mcp import Client
from tests.mcp.conftest import Keys
from tests.mcp.serving import COMMAND, Place, Served, call, over_http, read, refused

QUESTION = "how long are customer support logs kept"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
ACCEPT = {"accept": "application/json, text/event-stream"}


async def post(url: str, **headers: str) -> httpx.Response:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    async with httpx.AsyncClient(timeout=30) as http:
        return await http.post(url, json=INITIALIZE, headers=ACCEPT | sent)


@pytest.fixture
def plain(dsn: str, home: Path) -> Place:
    """Nothing stored, no keys."""
    return Place(dsn, home)


async def test_without_a_valid_key_nobody_comes_in(locked: Served, keys: Keys) -> None:
    wrong: list[dict[str, str]] = [
        {},
        {"authorization": "Bearer"},
        {"authorization": "Bearer lx_wrong"},
        {"authorization": f"Basic {keys.everything}"},
        {"authorization": f"Bearer {keys.revoked}"},
        {"x_retrieval_api_key": "lx_wrong"},
        {"x_retrieval_api_key": keys.everything, "authorization": "Bearer lx_wrong"},
    ]
    for headers in wrong:
        reply = await post(locked.url, **headers)
        assert reply.status_code == 401, headers
        assert reply.headers["www-authenticate"] == "Bearer"
        body = reply.json()
        assert body["error"] == "Authentication failed"
        assert body.keys() == {"error", "status", "message", "errors", "required_headers"}
    for name in ("authorization", "x_retrieval_api_key"):
        key = f"Bearer {keys.everything}" if name == "authorization" else keys.everything
        assert (await post(locked.url, **{name: key})).status_code == 200


async def test_a_wrong_key_is_refused_where_none_is_needed(server: Served) -> None:
    assert (await post(server.url)).status_code == 200
    assert (await post(server.url, authorization="Bearer lx_wrong")).status_code == 401


async def test_a_key_reaches_its_datasets_in_every_tool(locked: Served, keys: Keys) -> None:
    async with over_http(locked.url, authorization=f"Bearer {keys.everything}") as client:
        every = await call(client, "file_lister", dataset_id="agreements")
        hidden = every["documents"][0]
        passages = await call(client, "retriever", query="term", document_name=hidden["uri"])
        chunk = passages["result"][0]["chunk_id"]
    async with over_http(locked.url, x_retrieval_api_key=keys.policies) as client:
        for tool in ("assistant", "retriever", "file_discover"):
            for name in ("agreements", "neither"):  # told alike, whether it is there or not
                result = await refused(client, tool, query="term", resource_id=name)
                assert result["type"] == "permission_error"
                told = f"does not reach dataset {name}: it reaches 'policies'"
                assert result["details"].endswith(told)
        assert (await refused(client, "file_count", dataset_id="agreements"))["error"]
        assert (await refused(client, "fetch", id=f"chunk://{chunk}"))["error"]
        assert (await refused(client, "fetch", id=f"document://{hidden['document_id']}"))["error"]
        for uri in (f"chunk://{chunk}", f"document://{hidden['document_id']}"):
            with pytest.raises(Exception, match="there is no"):
                await client.read_resource(uri)
        listed = await call(client, "file_lister")
        assert {each["dataset"] for each in listed["documents"]} == {"policies"}
        answered = await call(client, "assistant", query="term of the agreement", verbose=True)
        assert {each["dataset_id"] for each in answered["dataset_results"]} <= {"policies"}
        words = await call(client, "keyword_generator", query="licensor tamberlow")
        assert "tamberlow" not in {word for each in words["keyword_sets"][1:] for word in each}
        guide = (await client.get_prompt("dataset_setup_guide")).messages[0].content
        assert "policies" in guide.text  # type: ignore[union-attr]
        assert "agreements" not in guide.text  # type: ignore[union-attr]


async def test_only_its_own_names_are_answered(locked: Served, keys: Keys) -> None:
    key = f"Bearer {keys.everything}"
    assert (await post(locked.url, host="evil.example", authorization=key)).status_code == 400
    assert (await post(locked.url, host="search.example.com", authorization=key)).is_success


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "", 405),
        ("DELETE", "", 405),
        ("PUT", "", 405),
        ("POST", "/x", 404),
        ("GET", "/x", 404),
    ],
)
async def test_what_is_no_request_of_the_protocol_does_not_hang(
    server: Served, method: str, path: str, status: int
) -> None:
    async with httpx.AsyncClient(timeout=10) as http:
        reply = await http.request(method, server.url + path, headers=ACCEPT)
    assert reply.status_code == status
    assert reply.json()["error"]["message"]


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff", b"[]", b'{"jsonrpc":"2.0"}', b"[" * 100_000, b"null"]
)
async def test_a_body_that_is_no_request_is_refused(server: Served, body: bytes) -> None:
    headers = ACCEPT | {"content-type": "application/json"}
    async with httpx.AsyncClient(timeout=10) as http:
        reply = await http.post(server.url, content=body, headers=headers)
    assert 400 <= reply.status_code < 500
    assert "Traceback" not in reply.text


async def test_kbbridges_own_calls_work(locked: Served, keys: Keys) -> None:
    """Those of its announcement, by tools/call; without addresses that are not allowed here."""
    headers = {
        "X_RETRIEVAL_ENDPOINT": "https://your-dify-or-backend",
        "X_RETRIEVAL_API_KEY": keys.everything,
    }
    async with over_http(locked.url, **headers) as client:
        files = await call(
            client,
            "file_discover",
            query="confidentiality after NDA termination at University of Michigan",
            dataset_id="agreements",
            top_k_return=10,
            do_file_rerank=True,
        )
        answer = await call(
            client,
            "assistant",
            dataset_info='[{"id": "agreements", "source_path": ""}]',
            query="What confidentiality obligations remain after the NDA expires or is terminated?",
            custom_instructions="Focus on legal clauses and preserve original wording where "
            "critical.",
            enable_query_rewriting=True,
        )
    assert files["distinct_files"]
    assert answer["answer"]
    for result in (files, answer):
        assert result["ignored"].keys() == {"X-RETRIEVAL-ENDPOINT"}


@pytest.mark.parametrize(
    ("arguments", "variables", "message"),
    [
        (["--host", "0.0.0.0"], {}, "make a key"),
        ([], {"LEXICHORD_ALLOWED_ADDRESSES": "localhost:1"}, "'localhost:1' is no address"),
    ],
)
def test_what_cannot_be_served_safely_is_not(
    plain: Place, arguments: list[str], variables: dict[str, str], message: str
) -> None:
    environment = {**plain.environment, **variables}
    run = subprocess.run(
        [*COMMAND, "--http", *arguments], env=environment, capture_output=True, text=True
    )
    assert (run.returncode, run.stdout) == (2, "")
    assert message in run.stderr
    assert run.stderr.count("\n") == 1


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_clients_of_both_generations_are_answered(server: Served, mode: Any) -> None:
    async with Client(streamable_http_client(server.url), mode=mode) as client:
        assert (await call(client, "file_count"))["has_files"]


async def test_clients_at_the_same_time_get_their_own_answers(server: Served) -> None:
    async def ask(dataset: str) -> set[str]:
        async with over_http(server.url) as client:
            calls = [
                client.call_tool("retriever", {"query": "term", "dataset_id": dataset})
                for _ in range(5)
            ]
            replies = [read(result) for result in await asyncio.gather(*calls)]
        return {hit["dataset"] for reply in replies for hit in reply["result"]}

    datasets = await asyncio.gather(*(ask(each) for each in ("policies", "agreements")))
    assert datasets == [{"policies"}, {"agreements"}]


async def test_nothing_that_was_asked_is_in_the_log(server: Served) -> None:
    async with over_http(server.url) as client:
        await client.call_tool("assistant", {"query": "secret zebra", "foo": "secret zebra"})
        await client.call_tool("retriever", {"query": "secret zebra", "dataset_id": "zebra"})
        await client.call_tool("retriever", {"query": "secret zebra"})
    assert "zebra" not in server.log.read_text()
