"""Local servers that speak the wire formats of Gemini's, Cohere's and OpenAI's embeddings.

They check what they are asked as the real ones do, embed by words, and fail in every way that a
test names.
"""

import json
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from threading import Lock
from time import monotonic
from typing import Any, Literal

import numpy as np

from lexichord.providers.embed import EMBEDDING_TIMING, EmbeddingTiming
from lexichord.providers.registry import find_embedder
from lexichord.settings import load_settings
from tests import http_server
from tests.http_server import Reply

type Shape = Literal["gemini", "cohere", "openai", "jina"]
type Fail = Callable[[Request], Reply | None]

SHAPES: tuple[Shape, ...] = ("gemini", "cohere", "openai", "jina")
DIMENSION = 16
SPACES = {
    "gemini": f"gemini/gemini-embedding-001/{DIMENSION}",
    "cohere": f"cohere/embed-v4.0/{DIMENSION}",
    "openai": f"openai/text-embedding-3-small/{DIMENSION}",
    "jina": f"jina/jina-embeddings-v3/{DIMENSION}",
}
MOST = {"gemini": 100, "cohere": 96, "openai": 32, "jina": 32}
PATHS = {
    "gemini": "/v1/models/gemini-embedding-001:batchEmbedContents",
    "cohere": "/v2/embed",
    "openai": "/embeddings",
    "jina": "/embeddings",
}
KINDS = {
    "gemini": {"RETRIEVAL_QUERY": "query", "RETRIEVAL_DOCUMENT": "document"},
    "cohere": {"search_query": "query", "search_document": "document"},
    "jina": {"retrieval.query": "query", "retrieval.passage": "document"},
}


class Request(http_server.Request):
    """A request, in any shape."""

    @property
    def texts(self) -> list[str]:
        """What is to be embedded."""
        if "requests" in self.body:
            return [each["content"]["parts"][0]["text"] for each in self.body["requests"]]
        return list(self.body["texts" if "texts" in self.body else "input"])


@dataclass
class EmbedServer:
    """A running server: its address, what it was asked, and for what it gave vectors.

    `fail` gives the reply to a request instead of vectors, or None. `native` is the length of its
    vectors where none is asked for.
    """

    shape: Shape
    fail: Fail = lambda request: None
    native: int = DIMENSION
    base64: bool = False
    url: str = ""
    requests: list[Request] = field(default_factory=list)
    embedded: Counter[str] = field(default_factory=Counter)
    lock: Lock = field(default_factory=Lock)

    def reply(self, request: Request) -> Reply:
        with self.lock:
            self.requests.append(request)
            failure = self.fail(request)
        return failure or good(self, request)


def vector(text: str, dimension: int = DIMENSION) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Add up a direction for each word; of a length that is not 1."""
    total = np.zeros(dimension)
    for word in re.findall(r"\w+", text.lower()) or [""]:
        seed = int.from_bytes(sha256(word.encode()).digest()[:8])
        total += np.random.default_rng(seed).normal(size=dimension)
    return 3 * total


def unit(text: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Give the vector as it must arrive."""
    raw = vector(text)
    return np.asarray(raw / np.linalg.norm(raw))


def good(server: EmbedServer, request: Request) -> Reply:
    """Embed as the real server does, or refuse what it would refuse."""
    if request.path != PATHS[server.shape]:
        return Reply(404)
    if len(request.texts) > MOST[server.shape] or not request.texts:
        return Reply(400)
    if wrong(server.shape, request.body):
        return Reply(422)
    dimension = server.native
    if server.shape == "gemini":
        dimension = request.body["requests"][0]["outputDimensionality"]
    else:
        dimension = request.body.get("dimensions", request.body.get("output_dimension", dimension))
    with server.lock:
        server.embedded.update(request.texts)
    vectors = [vector(text, dimension).tolist() for text in request.texts]
    return embeddings(server.shape, vectors, server.base64)


def wrong(shape: Shape, body: dict[str, Any]) -> bool:
    """Tell whether a field is missing, or one is there that the service does not know."""
    if shape == "gemini":
        known = {"model", "content", "taskType", "outputDimensionality"}
        return any(
            each.keys() != known
            or each["taskType"] not in KINDS["gemini"]
            or each["model"] != "models/gemini-embedding-001"
            for each in body["requests"]
        )
    if shape == "cohere":
        known = {"model", "texts", "input_type", "embedding_types", "output_dimension"}
        is_wrong = body.get("input_type") not in KINDS["cohere"]
        return is_wrong or body.get("embedding_types") != ["float"] or bool(body.keys() - known)
    known = {"model", "input", "encoding_format", "dimensions"} | (
        {"task"} if shape == "jina" else set()
    )
    return bool(body.keys() - known) or (shape == "jina" and body.get("task") not in KINDS["jina"])


def embeddings(shape: Shape, vectors: Sequence[Any], base64: bool = False) -> Reply:
    """Write vectors, whatever they are, in a shape; 7 tokens for each."""
    tokens = 7 * len(vectors)
    if shape == "gemini":
        body: dict[str, Any] = {"embeddings": [{"values": each} for each in vectors]}
        body["usageMetadata"] = {"promptTokenCount": tokens}
    elif shape == "cohere":
        units = {"billed_units": {"input_tokens": tokens}}
        body = {"id": "x", "embeddings": {"float": list(vectors)}, "texts": [], "meta": units}
    else:
        if base64:
            vectors = [b64encode(np.array(v, "<f4").tobytes()).decode() for v in vectors]
        data = [{"index": place, "embedding": each} for place, each in enumerate(vectors)]
        # Some servers answer in the order in which they are done.
        body = {"data": data[::-1], "usage": {"prompt_tokens": tokens, "total_tokens": tokens}}
    return Reply(body=json.dumps(body).encode())


@contextmanager
def embed_server(
    shape: Shape, fail: Fail = lambda request: None, native: int = DIMENSION, base64: bool = False
) -> Iterator[EmbedServer]:
    """Run a server for the length of a with statement."""
    server = EmbedServer(shape, fail, native, base64)
    with http_server.http_server(Request, server.reply) as server.url:
        yield server


@cache
def patience(shape: Shape) -> float:
    """Return the seconds after which a server is silent, not slow: many times a full request's.

    Of two requests the second is timed: a vendor's SDK loads with its first, which takes seconds.
    """
    with embed_server(shape) as server:
        settings = load_settings(embedding_base_url=server.url, embedding_api_key="any")
        embedder, _ = find_embedder(settings, SPACES[shape])
        assert embedder is not None
        for _ in range(2):
            started = monotonic()
            embedder.embed(["the clause says what it says"] * MOST[shape], "document")
        return 1 + 20 * (monotonic() - started)


def quick_timing(query_seconds: float = EMBEDDING_TIMING.query_seconds) -> EmbeddingTiming:
    """Short pauses between tries, and perhaps less time for a query."""
    quick = replace(EMBEDDING_TIMING.retry, base_seconds=0.001)
    return EmbeddingTiming(query_seconds=query_seconds, retry=quick)
