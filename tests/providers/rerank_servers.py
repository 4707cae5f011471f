"""Local servers that speak the wire formats of Cohere, Jina and text-embeddings-inference.

They check what they are asked as the real ones do, rank by a function of a test's, and fail in
every way that a test names.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from tests import http_server
from tests.http_server import Reply

type Shape = Literal["cohere", "jina", "tei"]
type Score = Callable[[str, str], float]  # of a text for a query

SHAPES: tuple[Shape, ...] = ("cohere", "jina", "tei")
NAMES = {"cohere": "cohere/rerank-v3.5", "jina": "jina/some/reranker", "tei": "tei"}
PATHS = {"cohere": "/v2/rerank", "jina": "/rerank", "tei": "/rerank"}
TEI_BATCH, TEI_CHARACTERS = 32, 2000


class Request(http_server.Request):
    """A request, in any shape."""

    @property
    def texts(self) -> list[str]:
        """What is to be ranked."""
        return list(self.body["documents" if "documents" in self.body else "texts"])


@dataclass
class RerankServer:
    """A running server: its address, what it was asked, and the replies it gives before good ones.

    With `always` it never gives a good one.
    """

    shape: Shape
    score: Score
    replies: list[Reply]
    always: Reply | None = None
    url: str = ""
    requests: list[Request] = field(default_factory=list)

    def reply(self, request: Request) -> Reply:
        self.requests.append(request)
        if self.replies:
            return self.replies.pop(0)
        return self.always or good(self.shape, self.score, request)


def shared_words(query: str, text: str) -> float:
    words = set(re.findall(r"\w+", query.lower()))
    return len(words.intersection(re.findall(r"\w+", text.lower()))) / len(words)


def good(shape: Shape, score: Score, request: Request) -> Reply:
    """Rank as the real server does, or refuse what it would refuse."""
    if request.path != PATHS[shape]:
        return Reply(404)
    body = request.body
    if shape == "tei":
        return _tei(score, body)
    known = {"model", "query", "documents", "top_n"}
    known |= {"max_tokens_per_doc"} if shape == "cohere" else {"return_documents"}
    if not {"model", "query", "documents"} <= body.keys() <= known:
        return Reply(422)
    return ranking(shape, _order(score, body["query"], body["documents"])[: body["top_n"]])


def _tei(score: Score, body: dict[str, Any]) -> Reply:
    long = any(len(text) > TEI_CHARACTERS for text in body["texts"])
    if len(body["texts"]) > TEI_BATCH or (long and not body.get("truncate")):
        return Reply(422, b'{"error": "batch size", "error_type": "Validation"}')
    return ranking("tei", _order(score, body["query"], body["texts"]))


def _order(score: Score, query: str, texts: Sequence[str]) -> list[tuple[int, float]]:
    scored = [(index, score(query, text)) for index, text in enumerate(texts)]
    return sorted(scored, key=lambda pair: -pair[1])


def ranking(shape: Shape, pairs: Sequence[tuple[object, object]]) -> Reply:
    """Write pairs of index and score, whatever they are, in a shape."""
    name = "score" if shape == "tei" else "relevance_score"
    items = [{"index": index, name: score} for index, score in pairs]
    whole = items if shape == "tei" else {"id": "x", "results": items}
    return Reply(body=json.dumps(whole).encode())


@contextmanager
def rerank_server(
    shape: Shape,
    score: Score = shared_words,
    replies: Sequence[Reply] = (),
    always: Reply | None = None,
) -> Iterator[RerankServer]:
    """Run a server for the length of a with statement."""
    server = RerankServer(shape, score, list(replies), always)
    with http_server.http_server(Request, server.reply) as server.url:
        yield server
