"""The HTTP transport: keys, hosts, what is no protocol, kbbridge's own calls, many at once."""

import asyncio
from pathlib import Path

import httpx
import pytest

from tests.http.server import refused as command_refused
from tests.mcp.conftest import Keys
from tests.mcp.serving import HELLO, Place, Served, call, over_http, read, refused, served

QUESTION = "how long are customer support logs kept"
INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
ACCEPT = {"accept": "application/json, text/event-stream"}


async def post(url: str, **headers: str) -> httpx.Response:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    async with httpx.AsyncClient(timeout=30) as http:
        return await http.post(url, json=INITIALIZE, headers=ACCEPT | sent)


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
    assert (await post(locked.url, authorization=f"Bearer {keys.everything}")).is_success
    assert (await post(locked.url, x_retrieval_api_key=keys.everything)).is_success


@pytest.mark.usefixtures("keys")
async def test_a_wrong_key_is_refused_where_none_is_needed(server: Served) -> None:
    assert (await post(server.url)).is_success
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
    [*((method, "", 405) for method in ("GET", "DELETE", "PUT")), ("POST", "/x", 404)],
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


def test_what_cannot_be_served_safely_is_not(fresh: str) -> None:
    command = ("mcp", "--http", "--port", "0")
    assert "make a key" in command_refused(*command, "--host", "0.0.0.0", dsn=fresh)
    line = command_refused(*command, dsn=fresh, allowed_addresses="localhost:1")
    assert "'localhost:1' is no address" in line


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


async def test_nothing_that_was_asked_is_in_the_log(place: Place, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with served(place, log) as process:
        async with over_http(process.url) as client:
            await client.call_tool("assistant", {"query": "secret zebra", "foo": "secret zebra"})
            await client.call_tool("retriever", {"query": "secret zebra", "dataset_id": "zebra"})
            await client.call_tool("retriever", {"query": "secret zebra"})
    assert "/mcp" in log.read_text()
    assert "zebra" not in log.read_text()
