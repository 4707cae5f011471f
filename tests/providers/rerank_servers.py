"""Local servers that speak the wire formats of Cohere, Jina and text-embeddings-inference.

They check what they are asked as the real ones do, rank by a function of a test's, and fail in
every way that a test names.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, Literal

type Shape = Literal["cohere", "jina", "tei"]
type Score = Callable[[str, str], float]  # of a text for a query

SHAPES: tuple[Shape, ...] = ("cohere", "jina", "tei")
NAMES = {"cohere": "cohere/rerank-v3.5", "jina": "jina/some/reranker", "tei": "tei"}
PATHS = {"cohere": "/v2/rerank", "jina": "/rerank", "tei": "/rerank"}
TEI_BATCH, TEI_CHARACTERS = 32, 2000


@dataclass(frozen=True)
class Asked:
    """A request that came in; the names of its headers are in lower case."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def texts(self) -> list[str]:
        return list(self.body["documents" if "documents" in self.body else "texts"])


@dataclass(frozen=True)
class Reply:
    """What goes back, and in which manner: silent never answers, drop stops half-way."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    manner: Literal["whole", "silent", "trickle", "drop"] = "whole"


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
    asked: list[Asked] = field(default_factory=list)
    closed: Event = field(default_factory=Event)

    def reply(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        if self.replies:
            return self.replies.pop(0)
        return self.always or good(self.shape, self.score, asked)


def shared_words(query: str, text: str) -> float:
    words = set(re.findall(r"\w+", query.lower()))
    return len(words.intersection(re.findall(r"\w+", text.lower()))) / len(words)


def good(shape: Shape, score: Score, asked: Asked) -> Reply:
    """Rank as the real server does, or refuse what it would refuse."""
    if asked.path != PATHS[shape]:
        return Reply(404)
    body = asked.body
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
    with ThreadingHTTPServer(("127.0.0.1", 0), _handler(server)) as http:
        http.daemon_threads = True
        server.url = f"http://127.0.0.1:{http.server_port}"
        thread = Thread(target=http.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.closed.set()
            http.shutdown()
            thread.join()


def _handler(server: RerankServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = server.reply(Asked(self.path, headers, json.loads(body)))
            self.close_connection = reply.manner != "whole"
            if reply.manner == "silent":
                server.closed.wait()
                return
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            longer = 0 if reply.manner == "whole" else 1000
            self.send_header("content-length", str(len(reply.body) + longer))
            self.end_headers()
            self.wfile.write(reply.body)
            while reply.manner == "trickle" and not server.closed.wait(0.05):
                self.wfile.write(b" ")

        def log_message(self, *_: object) -> None:
            pass

        def handle(self) -> None:
            with suppress(OSError):  # the client went away, as some tests want it to
                super().handle()

    return Handler
