"""Embedders of vendors: the real clients against local servers on real sockets."""

import gzip
import re
import subprocess
import sys
from itertools import product
from threading import Thread
from time import monotonic

import numpy as np
import pytest

from lexichord.errors import (
    AuthError,
    BadResponseError,
    ConfigError,
    ProviderError,
    ProviderTimeoutError,
    RateLimitError,
)
from lexichord.providers import Embedder, EmbedKind
from lexichord.providers.embed import BatchedEmbedder, EmbeddingTiming
from lexichord.providers.http import RetryLaterError
from lexichord.providers.registry import find_embedder
from lexichord.settings import load_settings
from tests.http_server import MALFORMED, Reply
from tests.providers.embed_servers import (
    DIMENSION,
    KINDS,
    MOST,
    SHAPES,
    SPACES,
    EmbedServer,
    Fail,
    Request,
    Shape,
    embed_server,
    embeddings,
    patience,
    quick_timing,
    unit,
    vector,
)

KEY = "sk-very-secret"
QUICK = quick_timing()
TRIES = QUICK.retry.max_tries
TEXTS = [f"clause {number} on rent" for number in range(250)]

each_shape = pytest.mark.parametrize("shape", SHAPES)


def client(
    server: EmbedServer, space: str = "", timing: EmbeddingTiming = QUICK, **settings: object
) -> BatchedEmbedder:
    arguments = {"embedding_base_url": f"{server.url}/", "embedding_api_key": KEY} | settings
    embedder, degraded = find_embedder(
        load_settings(**arguments), space or SPACES[server.shape], timing
    )
    assert degraded == []
    assert isinstance(embedder, BatchedEmbedder)
    return embedder


def first(*replies: Reply) -> Fail:
    """Fail with these, one after the other, then no more."""
    left = list(replies)
    return lambda request: left.pop(0) if left else None


def always(reply: Reply) -> Fail:
    return lambda request: reply


def fails(kind: type[ProviderError], shape: Shape, *ways: Fail) -> list[str]:
    """Check that each way is one error of just this kind, one line, without the key.

    Give what the errors say.
    """
    messages = []
    with embed_server(shape) as server:
        embedder = client(server)
        for server.fail in ways:
            asked = len(server.requests)
            with pytest.raises(ProviderError) as caught:
                embedder.embed(TEXTS[:3], "document")
            messages.append(str(caught.value))
            assert type(caught.value) is kind, messages[-1]
            assert "\n" not in messages[-1]
            assert KEY not in messages[-1]
            assert len(server.requests) > asked
    return messages


@each_shape
def test_each_text_has_its_unit_vector_in_its_place(shape: Shape) -> None:
    with embed_server(shape) as server:
        vectors = client(server).embed(TEXTS, "document")
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, [unit(text) for text in TEXTS], atol=1e-6)
    assert max(len(request.texts) for request in server.requests) <= MOST[shape]
    assert len(server.requests) == -(-len(TEXTS) // MOST[shape])
    assert server.embedded.total() == len(TEXTS)


@each_shape
def test_no_texts_cost_no_request(shape: Shape) -> None:
    with embed_server(shape) as server:
        assert client(server).embed([], "document").shape == (0, DIMENSION)
    assert server.requests == []


@pytest.mark.parametrize("shape", ["gemini", "cohere", "jina"])
@pytest.mark.parametrize("kind", ["query", "document"])
def test_queries_and_documents_are_told_apart(shape: Shape, kind: EmbedKind) -> None:
    with embed_server(shape) as server:
        client(server).embed(["who pays"], kind)
    (request,) = server.requests
    body = request.body["requests"][0] if shape == "gemini" else request.body
    name = {"gemini": "taskType", "cohere": "input_type", "jina": "task"}[shape]
    assert KINDS[shape][body[name]] == kind


@pytest.mark.parametrize(
    ("model", "query", "document"),
    [
        ("nomic-embed-text:v1.5", "search_query: x", "search_document: x"),
        ("intfloat/multilingual-e5-large", "query: x", "passage: x"),
        ("intfloat/multilingual-e5-large-instruct", "x", "x"),
    ],
)
def test_open_models_get_the_prefixes_that_they_were_made_with(
    model: str, query: str, document: str
) -> None:
    with embed_server("openai") as server:
        embedder = client(server, f"openai/{model}/{DIMENSION}")
        embedder.embed(["x"], "query")
        embedder.embed(["x"], "document")
    assert [request.texts for request in server.requests] == [[query], [document]]
    assert {request.body["model"] for request in server.requests} == {model}


@pytest.mark.parametrize("base64", [False, True])
def test_dimensions_are_sent_only_where_they_change_something(base64: bool) -> None:
    with embed_server("openai", base64=base64) as server:
        client(server, f"openai/own/model/{DIMENSION}").embed(["x"], "query")
        assert "dimensions" not in server.requests.pop().body
    with embed_server("openai", native=99, base64=base64) as server:
        embedder = client(server, f"openai/own/model/{DIMENSION}")
        for _ in range(2):
            np.testing.assert_allclose(embedder.embed(["x"], "query")[0], unit("x"), atol=1e-6)
    assert [request.body.get("dimensions") for request in server.requests] == [
        None,
        DIMENSION,
        DIMENSION,
    ]


def test_cohere_is_told_the_dimension_where_the_model_has_a_choice() -> None:
    with embed_server("cohere") as server:
        client(server).embed(["x"], "query")
        client(server, f"cohere/embed-english-v3.0/{DIMENSION}").embed(["x"], "query")
    assert [a.body.get("output_dimension") for a in server.requests] == [DIMENSION, None]


@each_shape
def test_any_text_can_be_asked(shape: Shape) -> None:
    with embed_server(shape) as server:
        vectors = client(server).embed(["\ud800 half", "NUL \0", ""], "document")
    assert np.isfinite(vectors).all()


@each_shape
@pytest.mark.parametrize(
    "failure",
    [
        Reply(429, headers={"Retry-After": "0"}),
        Reply(429),
        Reply(500),
        Reply(manner="drop"),
        Reply(manner="silent"),
    ],
    ids=["429 with Retry-After", "429", "500", "drop", "silent"],
)
def test_what_passes_is_tried_again(shape: Shape, failure: Reply) -> None:
    seconds = patience(shape) if failure.manner == "silent" else 60
    with embed_server(shape, first(failure, failure)) as server:
        vectors = client(server, embedding_timeout=seconds).embed(TEXTS[:40], "document")
    np.testing.assert_allclose(vectors, [unit(text) for text in TEXTS[:40]], atol=1e-6)
    assert server.embedded.total() == 40
    assert len(server.requests) == 2 + -(-40 // MOST[shape])


def test_a_pause_that_is_asked_for_is_kept() -> None:
    with embed_server("openai", first(Reply(429, headers={"Retry-After": "1"}))) as server:
        client(server).embed(["x"], "document")
    one, other = server.requests
    assert other.at - one.at >= 1


def test_gemini_says_in_the_body_how_long_to_wait() -> None:
    body = b"""{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": [
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "700.5s"}]}}"""
    (message,) = fails(RetryLaterError, "gemini", always(Reply(429, body)))
    assert "try again in 701 seconds" in message
    endless = body.replace(b"700.5", b"9" * 5000)
    fails(RateLimitError, "gemini", always(Reply(429, endless)))


@each_shape
@pytest.mark.parametrize(
    ("status", "kind", "tries"),
    [
        *((401, AuthError, 1), (404, ProviderError, 1), (302, ProviderError, 1)),
        *((500, ProviderError, TRIES), (429, RateLimitError, TRIES)),
    ],
)
def test_a_refusal_is_named_and_only_what_may_pass_is_tried_again_so_often(
    shape: Shape, status: int, kind: type[ProviderError], tries: int
) -> None:
    seen: list[Request] = []

    def fail(request: Request) -> Reply:
        seen.append(request)
        return Reply(status, f'{{"message": "{KEY} is bad"}}'.encode())

    (message,) = fails(kind, shape, fail)
    assert str(status) in message
    assert len(seen) == tries


@each_shape
def test_a_pause_without_end_is_not_kept(shape: Shape) -> None:
    with embed_server(shape) as server:
        embedder = client(server)
        for number, after in enumerate(("601", "Fri, 31 Dec 2999 23:59:59 GMT"), 1):
            server.fail = always(Reply(429, headers={"Retry-After": after}))
            told = "in 601 seconds" if after == "601" else "later"
            with pytest.raises(RateLimitError, match=f"try again {told}$"):
                embedder.embed(["x"], "document")
            assert len(server.requests) == number


REFUSED = {0: 400, 77: 422, 140: 413}  # statuses by the text's number


def poison(request: Request) -> Reply | None:
    found = (Reply(status) for number, status in REFUSED.items() if TEXTS[number] in request.texts)
    return next(found, None)


@each_shape
def test_a_text_that_is_refused_fails_alone(shape: Shape) -> None:
    with embed_server(shape, poison) as server:
        vectors = client(server).embed(TEXTS, "document")
    good = [number for number in range(len(TEXTS)) if number not in REFUSED]
    np.testing.assert_allclose(vectors[good], [unit(TEXTS[n]) for n in good], atol=1e-6)
    assert np.isnan(vectors[[*REFUSED]]).all()
    assert [server.embedded[TEXTS[number]] for number in good] == [1] * len(good)


@pytest.mark.parametrize(
    ("shape", "number"),
    [
        *product(SHAPES, [float("nan"), float("inf"), 0.0]),
        ("openai", None),  # the SDKs refuse the whole reply
    ],
)
def test_a_vector_that_is_none_is_one_texts_fault(shape: Shape, number: float | None) -> None:
    def fail(request: Request) -> Reply | None:
        if "bad" not in request.texts:
            return None
        vectors = [
            [number] * DIMENSION if text == "bad" else vector(text).tolist()
            for text in request.texts
        ]
        return embeddings(shape, vectors)

    with embed_server(shape, fail) as server:
        embedded = client(server).embed(["one", "bad", "other"], "document")
    np.testing.assert_allclose(embedded[[0, 2]], [unit("one"), unit("other")], atol=1e-6)
    assert np.isnan(embedded[1]).all()


@each_shape
def test_a_service_that_refuses_everything_is_an_error(shape: Shape) -> None:
    """Else every chunk of an ingest would be stored without a vector, one after the other."""
    (message,) = fails(ProviderError, shape, always(Reply(422)))
    assert "422" in message


@each_shape
@pytest.mark.parametrize(
    ("vector", "more", "says"),
    [
        ([0.0] * DIMENSION, 0, "zero"),
        ([1.0] * DIMENSION, -1, "2 vectors for 3 texts"),
        ([1.0] * DIMENSION, 1, "4 vectors for 3 texts"),
        ([1.0] * 7, 0, "of 7 numbers"),
    ],
)
def test_vectors_that_cannot_be_right_are_not_believed(
    shape: Shape, vector: list[float], more: int, says: str
) -> None:
    def fail(request: Request) -> Reply:
        return embeddings(shape, [vector] * (len(request.texts) + more))

    (message,) = fails(BadResponseError, shape, fail)
    assert says in message


BODIES = MALFORMED | {
    "texts": b'{"id": "x", "data": ["x", "y", "z"], "embeddings": ["x", "y", "z"]}',
    "words": b'{"id": "x", "data": [{"index": 0, "embedding": "!"}],'
    b' "embeddings": {"float": ["a", "b", "c"]}}',
    "ragged": b'{"id": "x", "embeddings": {"float": [[1], [1, 2], [3]]}, "data": ['
    b'{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1, 2]},'
    b'{"index": 2, "embedding": [3]}]}',
    "places": b'{"id": "x", "data": [{"index": 0, "embedding": [1]},'
    b'{"index": 0, "embedding": [1]}, {"index": 3, "embedding": [1]}]}',
    "huge": b'{"id": "x", "embeddings": {"float": [[1' + b"0" * 400 + b"]]}}",
}


@each_shape
def test_a_malformed_reply_is_an_error(shape: Shape) -> None:
    fails(BadResponseError, shape, *(always(Reply(body=body)) for body in BODIES.values()))


@each_shape
def test_a_query_does_not_wait(shape: Shape) -> None:
    replies = [Reply(manner="silent"), Reply(429, headers={"Retry-After": "30"}), Reply(500)]
    with embed_server(shape) as server:
        embedder = client(server, timing=quick_timing(0.2))
        for reply in replies:
            server.fail = always(reply)
            asks: tuple[tuple[Embedder, EmbedKind], ...]
            asks = (embedder, "query"), (embedder.for_queries(), "document")
            for asked, kind in asks:
                started = monotonic()
                with pytest.raises(ProviderError):
                    asked.embed(["x"], kind)
                assert monotonic() - started < 10


def test_requests_keep_their_distance_over_all_threads() -> None:
    with embed_server("openai") as server:
        embedder = client(server, embedding_requests_per_minute=600)
        started = monotonic()
        embedder.embed(["x"], "document")  # the first opens what the others find open
        threads = [Thread(target=embedder.embed, args=(TEXTS[:64], "document")) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(server.requests) == 11
    last = max(asked.at for asked in server.requests)
    assert last - started >= 1.0  # ten distances of a tenth of a second


def test_no_more_requests_than_allowed_are_under_way() -> None:
    with embed_server("openai", always(Reply(manner="silent"))) as server:
        timing = quick_timing(patience("openai"))
        embedder = client(server, timing=timing, embedding_concurrency=3)
        with pytest.raises(ProviderTimeoutError):
            embedder.for_queries().embed(TEXTS, "document")
        assert len(server.requests) == 3


@each_shape
@pytest.mark.parametrize("price", [None, 2.0])
def test_tokens_are_counted_and_dollars_where_there_is_a_price(
    shape: Shape, price: float | None
) -> None:
    prices = {} if price is None else {SPACES[shape].rpartition("/")[0]: price}
    with embed_server(shape, first(Reply(500))) as server:
        embedder = client(server, prices=prices)
        assert (embedder.used().requests, embedder.used().dollars) == (0, None)
        embedder.embed(TEXTS[:10], "document")
    used = embedder.used()
    assert (used.requests, used.input_tokens) == (2, 70)
    assert used.dollars == (None if price is None else pytest.approx(140e-6))


@each_shape
def test_tokens_that_no_request_has_are_not_believed(shape: Shape) -> None:
    prices = {SPACES[shape].rpartition("/")[0]: 2.0}

    def told(request: Request) -> Reply:
        reply = embeddings(shape, [vector(text).tolist() for text in request.texts])
        many = re.sub(rb'(okens?(?:Count)?"): \d+', rb"\1: " + b"9" * 4000, reply.body)
        assert many != reply.body
        return Reply(body=many)

    with embed_server(shape, told) as server:
        embedder = client(server, prices=prices)
        embedder.embed(["x"], "document")
    assert 0 <= embedder.used().input_tokens <= 10**9


@each_shape
def test_a_reply_without_an_end_is_left(shape: Shape, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = 2_000_000
    monkeypatch.setattr("lexichord.providers.transport.MAX_REPLY_BYTES", limit)
    body = b"[" + b"1," * limit
    packed = Reply(body=gzip.compress(body), headers={"content-encoding": "gzip"})
    for message in fails(BadResponseError, shape, always(Reply(body=body)), always(packed)):
        assert message.endswith("gave a reply of more than 2 MB")


def test_what_is_under_way_can_be_stopped() -> None:
    caught: list[BaseException] = []

    def run(embedder: BatchedEmbedder) -> None:
        try:
            embedder.embed(["x"], "document")
        except ProviderError as error:
            caught.append(error)

    with embed_server("openai", always(Reply(429, headers={"Retry-After": "300"}))) as server:
        embedder = client(server)
        thread = Thread(target=run, args=(embedder,))
        thread.start()
        while not server.requests:
            pass
        embedder.stop()
        thread.join(10)
    assert "stopped" in str(caught[0])


@each_shape
def test_the_key_goes_where_it_belongs(shape: Shape, monkeypatch: pytest.MonkeyPatch) -> None:
    """A vendor's variable is not sent to an address of one's own."""
    for name in ("GEMINI_API_KEY", "CO_API_KEY", "OPENAI_API_KEY", "JINA_API_KEY"):
        monkeypatch.setenv(name, "sk-vendor")
    with embed_server(shape) as server:
        client(server).embed(["x"], "query")
        headers = server.requests[0].headers
        sent = headers["x-goog-api-key" if shape == "gemini" else "authorization"]
        assert sent.removeprefix("Bearer ") == KEY
        embedder, degraded = find_embedder(
            load_settings(embedding_base_url=server.url), SPACES[shape]
        )
        if shape in ("openai", "jina"):
            assert embedder is not None
            embedder.embed(["x"], "query")
            assert "authorization" not in server.requests[1].headers
        else:
            assert (embedder, degraded) == (
                None,
                [
                    f"no embedder for {SPACES[shape]}: by words only; "
                    "set LEXICHORD_EMBEDDING_API_KEY"
                ],
            )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"embedding_base_url": "localhost:8080"}, "embedding_base_url is no address like http"),
        ({"embedding_api_key": "sk\nx"}, "key holds characters that no key has"),
        ({"embedding_api_key": "schlüssel"}, "key holds characters that no key has"),
    ],
)
def test_what_cannot_work_is_said_at_once(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        find_embedder(load_settings(**settings), SPACES["openai"])
    assert "schlüssel" not in str(caught.value)
    assert "\n" not in str(caught.value)


@each_shape
def test_without_its_library_it_is_not_there(shape: Shape, monkeypatch: pytest.MonkeyPatch) -> None:
    library = {"gemini": "google.genai", "cohere": "cohere"}.get(shape, "httpx")
    monkeypatch.setitem(sys.modules, library, None)
    embedder, (reason,) = find_embedder(load_settings(embedding_api_key=KEY), SPACES[shape])
    extra = {"jina": "openai"}.get(shape, shape)
    assert embedder is None
    assert reason.endswith(f"by words only; run: pip install 'lexichord[{extra}]'")


def test_no_sdk_is_loaded_before_it_is_used() -> None:
    code = (
        "import sys; from lexichord.providers.registry import find_embedder;"
        "from lexichord.settings import load_settings;"
        "[find_embedder(load_settings(embedding_api_key='k'), s) for s in "
        f"{list(SPACES.values())!r}];"
        "print([m for m in ('httpx', 'cohere', 'google.genai', 'openai') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
