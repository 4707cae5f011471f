"""Rerankers: the real clients against local servers on real sockets."""

import asyncio
import gzip
import os
import subprocess
import sys
import zlib
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from pydantic import SecretStr

from lexichord.errors import (
    AuthError,
    BadResponseError,
    ConfigError,
    ProviderError,
    ProviderTimeoutError,
    RateLimitError,
)
from lexichord.providers import Reranker
from lexichord.providers.cohere import COHERE_URL, CohereReranker
from lexichord.providers.registry import find_reranker
from lexichord.providers.rerank import JINA_URL, JinaReranker, rank
from lexichord.settings import load_settings
from lexichord.types import Ranked
from tests.http_server import MALFORMED, Manner, Reply
from tests.providers.rerank_servers import (
    NAMES,
    SHAPES,
    RerankServer,
    Shape,
    ranking,
    rerank_server,
)

KEY = "sk-very-secret"
QUERY = "who pays the rent"
TEXTS = ["the weather", "who pays the rent: the tenant", "the rent", "who", "pays the rent daily"]

each_shape = pytest.mark.parametrize("shape", SHAPES)


def client(server: RerankServer, key: str | None = KEY) -> Reranker:
    settings = load_settings(
        reranker=NAMES[server.shape], reranker_base_url=f"{server.url}/", reranker_api_key=key
    )
    reranker = find_reranker(settings)
    assert reranker is not None
    return reranker


async def ask(server: RerankServer, top_n: int = 3, seconds: float = 20) -> list[Ranked]:
    return await rank(client(server), QUERY, TEXTS, top_n, seconds)


async def fails(
    kind: type[ProviderError], shape: Shape, *replies: Reply, seconds: float = 20
) -> list[str]:
    """Check that each reply is one error of just this kind, one line, without the key.

    Give what the errors say; none is asked for again.
    """
    messages = []
    with rerank_server(shape) as server:
        reranker = client(server)
        for server.always in replies:
            with pytest.raises(ProviderError) as caught:
                await asyncio.wait_for(rank(reranker, QUERY, TEXTS, 3, seconds), 30)
            messages.append(str(caught.value))
            assert type(caught.value) is kind, server.always
            assert "\n" not in messages[-1]
            assert KEY not in messages[-1]
    assert len(server.requests) == len(replies)
    return messages


@each_shape
async def test_the_best_come_first_with_their_scores(shape: Shape) -> None:
    with rerank_server(shape) as server:
        assert await ask(server) == [Ranked(1, 1.0), Ranked(4, 0.75), Ranked(2, 0.5)]
    (request,) = server.requests
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body["query"] == QUERY
    assert request.texts == TEXTS
    if shape != "tei":
        assert request.body["top_n"] == 3
        assert request.body["model"] == NAMES[shape].partition("/")[2]


@each_shape
async def test_fewer_texts_than_wanted_are_all_ranked(shape: Shape) -> None:
    with rerank_server(shape) as server:
        assert len(await ask(server, top_n=50)) == len(TEXTS)
        assert await rank(client(server), QUERY, [], 3, 30) == []
    assert len(server.requests) == 1


@each_shape
async def test_equal_scores_keep_the_order(shape: Shape) -> None:
    with rerank_server(shape, always=ranking(shape, [(2, 1), (4, 1), (0, 1), (1, 1), (3, 1)])) as s:
        assert [each.index for each in await ask(s)] == [0, 1, 2]


@each_shape
async def test_a_long_text_is_cut_by_the_server_or_before(shape: Shape) -> None:
    long = ["rent " * 2000, "who pays"]
    with rerank_server(shape) as server:
        ranking = await rank(client(server), QUERY, long, 1, 30)
    assert ranking[0].index == 1
    (request,) = server.requests
    if shape == "cohere":
        assert request.body["max_tokens_per_doc"] == 1000
    if shape == "jina":
        assert [len(text) for text in request.texts] == [1600, 8]
        assert request.body["return_documents"] is False


async def test_tei_is_asked_in_batches() -> None:
    texts = [*["the weather"] * 40, "who pays the rent", *["the weather"] * 29, "the rent"]
    with rerank_server("tei") as server:
        ranking = await rank(client(server), QUERY, texts, 2, 30)
    assert ranking == [Ranked(40, 1.0), Ranked(70, 0.5)]
    assert [len(request.texts) for request in server.requests] == [32, 32, 7]


ALL = [(index, 0.5) for index in range(5)]
UNFIT: dict[str, Sequence[tuple[object, object]]] = {
    "out of range": [*ALL[:4], (5, 0.5)],
    "negative": [*ALL[:4], (-1, 0.5)],
    "twice": [*ALL[:4], (0, 0.5)],
    "twice beside all": [*ALL, (0, 0.5)],
    "index is text": [*ALL[:4], ("4", 0.5)],
    "index is true": [*ALL[1:], (False, 0.5)],
    "index is a fraction": [*ALL[:4], (4.0, 0.5)],
    "index is missing": [*ALL[:4], (None, 0.5)],
    "not a number": [*ALL[:4], (4, float("nan"))],
    "infinite": [*ALL[:4], (4, float("inf"))],
    "huge": [*ALL[:4], (4, 10**400)],
    "score is text": [*ALL[:4], (4, "0.5")],
    "score is true": [*ALL[:4], (4, True)],
    "score is missing": [*ALL[:4], (4, None)],
    "too few": ALL[:2],
    "none": [],
}
LOOSE = {"index is text", "index is true", "index is a fraction", "score is text", "score is true"}


@each_shape
async def test_a_ranking_that_does_not_fit_is_not_believed(shape: Shape) -> None:
    # Cohere's SDK makes a number of what is loose before anyone sees it.
    names = UNFIT.keys() - LOOSE if shape == "cohere" else UNFIT.keys()
    await fails(BadResponseError, shape, *(ranking(shape, UNFIT[name]) for name in names))


BODIES = MALFORMED | {
    "half": b'{"results": [{"index": 0',
    "text": b'"index"',
    "error": b'{"error": "overloaded"}',
    "results are text": b'{"results": "index"}',
    "results are null": b'{"results": null}',
    "results are an object": b'{"results": {"index": 0, "relevance_score": 1}}',
    "items are numbers": b'{"results": [1, 2, 3, 4, 5]}',
    "list of numbers": b"[1, 2, 3, 4, 5]",
    "list of lists": b"[[], [], [], [], []]",
    "items without keys": b'{"results": [{}, {}, {}, {}, {}]}',
    "items without a score": b'[{"index": 0}, {"index": 1}, {"index": 2}]',
}


@each_shape
async def test_a_reply_without_an_end_is_left(
    shape: Shape, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = 2_000_000
    monkeypatch.setattr("lexichord.providers.transport.MAX_REPLY_BYTES", limit)
    body = b"[" + b"1," * limit
    packed = Reply(body=gzip.compress(body), headers={"content-encoding": "gzip"})
    for message in await fails(BadResponseError, shape, Reply(body=body), packed):
        assert message.endswith("gave a reply of more than 2 MB")


@pytest.mark.parametrize("shape", ["jina", "tei"])
async def test_no_more_is_parsed_than_a_ranking_has(shape: Shape) -> None:
    """It is parsed where all searches wait for it."""
    (message,) = await fails(BadResponseError, shape, Reply(body=b"[" + b"[]," * 10**6))
    assert message.endswith("gave a reply of more than 2 MB")


@each_shape
async def test_a_packed_reply_is_read(shape: Shape) -> None:
    body = ranking(shape, [(place, 1 - place / 10) for place in (1, 0, 2, 3, 4)]).body
    for coding, packed in (("gzip", gzip.compress(body)), ("deflate", zlib.compress(body))):
        with rerank_server(shape) as server:
            server.always = Reply(body=packed, headers={"content-encoding": coding})
            assert [hit.index for hit in await ask(server, 5)] == [0, 1, 2, 3, 4]


@each_shape
async def test_a_reply_packed_in_a_way_that_nobody_asked_for_is_an_error(shape: Shape) -> None:
    for coding, body in (("br", b"{}"), ("gzip", b"{}"), ("gzip", gzip.compress(b"{}") + b"x")):
        reply = Reply(body=body, headers={"content-encoding": coding})
        assert "DecodingError" in (await fails(ProviderError, shape, reply))[0]


@each_shape
async def test_a_pause_until_a_year_that_no_clock_has_is_none(shape: Shape) -> None:
    date = "Mon, 01 Jan 99999999999999999999 00:00:00 GMT"
    await fails(RateLimitError, shape, Reply(429, headers={"retry-after": date}))


@each_shape
async def test_a_malformed_reply_is_an_error(shape: Shape) -> None:
    await fails(BadResponseError, shape, *(Reply(body=body) for body in BODIES.values()))


KINDS = {
    **dict.fromkeys((400, 404, 422, 500, 503, 599), ProviderError),
    **dict.fromkeys((401, 403), AuthError),
    429: RateLimitError,
}


@each_shape
@pytest.mark.parametrize(("status", "kind"), KINDS.items())
async def test_a_refusal_is_named(shape: Shape, status: int, kind: type[ProviderError]) -> None:
    bodies = (b"{}", b"no JSON", f'{{"message": "{KEY} is bad"}}'.encode())
    replies = [Reply(status, body) for body in bodies]
    assert all(str(status) in message for message in await fails(kind, shape, *replies))


@each_shape
async def test_a_rate_limit_is_waited_for_if_there_is_time(shape: Shape) -> None:
    with rerank_server(shape, replies=[Reply(429, headers={"Retry-After": "0"})]) as server:
        assert [each.index for each in await ask(server)] == [1, 4, 2]
    assert len(server.requests) == 2


async def test_a_date_is_waited_for_as_well() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=1), usegmt=True)
    with rerank_server("jina", replies=[Reply(429, headers={"Retry-After": soon})]) as server:
        await ask(server)
    assert len(server.requests) == 2


@each_shape
async def test_a_rate_limit_is_not_waited_for_in_vain(shape: Shape) -> None:
    pauses = ("30", "99999999999", "Fri, 31 Dec 2999 23:59:59 GMT", "tomorrow", "-1", "")
    with rerank_server(shape) as server:
        for after in pauses:
            server.always = Reply(429, headers={"Retry-After": after})
            with pytest.raises(RateLimitError, match="asks for fewer requests"):
                await ask(server, seconds=29)
    assert len(server.requests) == len(pauses)


@each_shape
async def test_a_rate_limit_is_waited_for_once(shape: Shape) -> None:
    with (
        rerank_server(shape, always=Reply(429, headers={"Retry-After": "0"})) as server,
        pytest.raises(RateLimitError),
    ):
        await ask(server)
    assert len(server.requests) == 2


@each_shape
async def test_a_server_that_hangs_or_trickles_is_left_in_time(shape: Shape) -> None:
    with rerank_server(shape) as server:
        await ask(server)  # Cohere's SDK loads for longer than this waits
    manners: tuple[Manner, ...] = ("silent", "trickle")
    slow = [Reply(body=b'{"results": [', manner=manner) for manner in manners]
    messages = await fails(ProviderTimeoutError, shape, *slow, seconds=0.5)
    assert all("in time" in message for message in messages)


@each_shape
async def test_no_time_is_too_little(shape: Shape) -> None:
    with rerank_server(shape) as server, pytest.raises(ProviderTimeoutError):
        await ask(server, seconds=0)
    assert server.requests == []


@each_shape
async def test_a_connection_that_breaks_off_is_named(shape: Shape) -> None:
    half = Reply(body=b'{"results": [', manner="drop")
    (message,) = await fails(ProviderError, shape, half)
    assert "broke off" in message


@each_shape
async def test_a_server_that_is_not_there_is_named(shape: Shape) -> None:
    with rerank_server(shape) as server:
        reranker = client(server)
    with pytest.raises(ProviderError, match="cannot be reached") as caught:
        await rank(reranker, QUERY, TEXTS, 3, 30)
    assert server.url.removeprefix("http://") in str(caught.value)
    assert server.requests == []


@each_shape
async def test_a_redirect_takes_neither_key_nor_text_elsewhere(shape: Shape) -> None:
    with rerank_server(shape) as other:
        place = {"Location": f"{other.url}/rerank"}
        away = [Reply(status, headers=place) for status in (301, 302, 307, 308)]
        await fails(ProviderError, shape, *away)
    assert other.requests == []


ASKING = """
import asyncio, sys
from lexichord.errors import ProviderTimeoutError
from lexichord.providers.rerank import rank
from lexichord.providers.registry import find_reranker
from lexichord.settings import load_settings
for name, url in (sys.argv[1:3], sys.argv[3:]):
    found = find_reranker(load_settings(reranker=name, reranker_base_url=url, reranker_api_key="k"))
    asyncio.run(rank(found, "query", ["text"], 1, 30))
    try:
        asyncio.run(rank(found, "query", ["text"], 1, 1))
    except ProviderTimeoutError:
        print("late")
"""


def test_a_process_asks_where_the_settings_say_and_ends_while_servers_hang() -> None:
    """Cohere's SDK would take the address of a variable that it reads when it is imported."""
    silent = Reply(manner="silent")
    with (
        rerank_server("cohere", replies=[ranking("cohere", [(0, 1.0)])], always=silent) as cohere,
        rerank_server("jina", replies=[ranking("jina", [(0, 1.0)])], always=silent) as jina,
        rerank_server("cohere") as other,
    ):
        names = (NAMES["cohere"], cohere.url, NAMES["jina"], jina.url)
        run = subprocess.run(
            [sys.executable, "-c", ASKING, *names], capture_output=True, text=True, timeout=60,
            env={**os.environ, "CO_API_URL": other.url},
        )  # fmt: skip
    assert (run.returncode, run.stdout) == (0, "late\n" * 2), run.stderr
    assert [len(each.requests) for each in (cohere, jina, other)] == [2, 2, 0]


@pytest.mark.parametrize("shape", ["jina", "tei"])
async def test_a_local_server_needs_no_key(shape: Shape) -> None:
    with rerank_server(shape) as server:
        assert await rank(client(server, key=None), QUERY, TEXTS, 1, 30) == [Ranked(1, 1.0)]
    assert "authorization" not in server.requests[0].headers


@pytest.mark.parametrize("name", ["CO_API_KEY", "COHERE_API_KEY", "JINA_API_KEY"])
async def test_a_vendors_key_goes_to_the_vendor_alone(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, KEY)
    vendor: Shape = "jina" if name == "JINA_API_KEY" else "cohere"
    at_home = find_reranker(load_settings(reranker=NAMES[vendor]))
    assert isinstance(at_home, CohereReranker | JinaReranker)
    assert at_home.key == SecretStr(KEY)
    assert at_home.base_url == (JINA_URL if vendor == "jina" else COHERE_URL)
    assert KEY not in repr(at_home)
    with rerank_server("jina") as server:
        await rank(client(server, key=None), QUERY, TEXTS, 1, 30)
    assert "authorization" not in server.requests[0].headers
    with rerank_server("cohere") as server, pytest.raises(ConfigError, match="needs a key"):
        client(server, key=None)


@pytest.mark.parametrize("name", [None, ""])
def test_none_is_asked_where_none_is_named(name: str | None) -> None:
    assert find_reranker(load_settings(reranker=name)) is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"reranker": "voyage/rerank-2"}, "no reranker voyage/rerank-2: cohere/MODEL, jina/MODEL"),
        ({"reranker": "cohere"}, "no reranker cohere: cohere/MODEL"),
        ({"reranker": "jina/"}, "no reranker jina/: "),
        ({"reranker": "tei/some-model"}, "no reranker tei/some-model: "),
        ({"reranker": "tei"}, "needs an address: set LEXICHORD_RERANKER_BASE_URL"),
        ({"reranker": "cohere/rerank-v3.5"}, "needs a key: set LEXICHORD_RERANKER_API_KEY"),
        ({"reranker": "tei", "reranker_base_url": "localhost:8080"}, "is no address like http"),
        ({"reranker": "tei", "reranker_base_url": "http://"}, "is no address like http"),
        ({"reranker": "tei", "reranker_base_url": "http://h:x"}, "is no address like http"),
        ({"reranker": "tei", "reranker_base_url": "file:///etc"}, "is no address like http"),
        ({"reranker": "jina/m", "reranker_api_key": "a\nb"}, "holds characters that no key has"),
        ({"reranker": "jina/m", "reranker_api_key": "é"}, "holds characters that no key has"),
    ],
)
def test_a_wrong_setting_is_named(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        find_reranker(load_settings(**settings))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("shape", "library"), [("cohere", "cohere"), ("jina", "httpx")])
def test_a_missing_library_is_named_with_its_remedy(
    shape: Shape, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ConfigError, match=r"pip install 'lexichord\[(cohere|rerank)\]'"):
        find_reranker(load_settings(reranker=NAMES[shape], reranker_api_key=KEY))


async def test_a_password_in_the_address_is_not_repeated() -> None:
    settings = load_settings(reranker="tei", reranker_base_url="http://me:pass@127.0.0.1:9")
    reranker = find_reranker(settings)
    assert reranker is not None
    with pytest.raises(ProviderError, match=r"at 127\.0\.0\.1:9 cannot be reached"):
        await rank(reranker, QUERY, TEXTS, 1, 30)


async def test_a_key_that_cannot_be_sent_is_not_repeated() -> None:
    with (
        rerank_server("jina") as server,
        pytest.raises(ProviderError, match="LocalProtocolError") as caught,
    ):
        await rank(JinaReranker("m", SecretStr(f"{KEY}\n"), server.url), QUERY, TEXTS, 1, 30)
    assert KEY not in str(caught.value)


async def test_a_server_is_asked_through_the_proxy_that_the_environment_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with rerank_server("jina") as proxy:
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/v1"))
        settings = load_settings(
            reranker=NAMES["jina"], reranker_base_url="http://far.test/v1", reranker_api_key=KEY
        )
        reranker = find_reranker(settings)
        assert reranker is not None
        with suppress(ProviderError):  # the server is no proxy: it is to be asked at all
            await rank(reranker, QUERY, TEXTS, 3, 20)
        assert proxy.requests
