"""Language model servers on this machine: real HTTP, real wire formats, replies made by a function.

with chat_server(lambda prompt: {"text": "termination notice", ...}) as server:
    Settings(llm="openai/any", llm_base_url=server.url)
    server.requests  # what was asked, parsed
"""

import json
import re
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, Literal

Mode = Literal[
    "good",
    "malformed",
    "empty",
    "no json",
    "unauthorized",
    "limited",
    "unknown",
    "broken",
    "drop",
    "hang",
    "trickle",
]
HEADER = re.compile(r"^\[\[ ## (\w+) ## \]\]$", re.MULTILINE)
TEXTS = {"malformed": '[[ ## wrong ## ]]\n{"half": [', "empty": ""}
STATUS = {"unauthorized": 401, "limited": 429, "unknown": 404, "broken": 500}


@dataclass(frozen=True)
class Prompt:
    """A request as it came. `inputs` are the fields of its last message, as text by name.

    `held` is the body with which the cache was made that a request to Gemini names.

    `wants_json`: the reply is read as one JSON object, else as fields under headers. `fields` are
    the names of the outputs it asks for.
    """

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    held: Mapping[str, Any] | None = None

    @property
    def messages(self) -> list[tuple[str, str]]:
        """Role and text of each message, the system's first; the same for both formats."""
        if "contents" in self.body:
            first = self.held or self.body
            parts = first["systemInstruction"]["parts"]
            contents = [*self.held["contents"], *self.body["contents"]] if self.held else None
            asked = [(turn["role"], turn["parts"]) for turn in contents or self.body["contents"]]
            turns = [("system", parts), *asked]
            return [(role, "".join(part["text"] for part in parts)) for role, parts in turns]
        return [(turn["role"], _text(turn["content"])) for turn in self.body["messages"]]

    @property
    def text(self) -> str:
        return "\n".join(text for _, text in self.messages)

    @property
    def inputs(self) -> dict[str, str]:
        parts = HEADER.split(self.messages[-1][1].rpartition("\n\nRespond with ")[0])
        return {name: text.strip() for name, text in zip(parts[1::2], parts[2::2], strict=True)}

    @property
    def wants_json(self) -> bool:
        return "\n\nRespond with a JSON object" in self.messages[-1][1]

    @property
    def fields(self) -> set[str]:
        system = self.messages[0][1].partition("Your output fields are:")[2]
        return set(re.findall(r"^\d+\. `(\w+)`", system, re.MULTILINE))


Reply = Callable[[Prompt], Mapping[str, object]]


@dataclass
class ChatServer:
    """A running server. `modes` are used up one a request, then `mode` holds.

    The same request is treated so at most `most` times, then answered.

    `url` is the base URL for the settings. `retry_after` is the header of "limited", in seconds;
    who comes back before is refused again if `strict`.
    `tokens` are reported of each reply: in, out. `released` ends what hangs or trickles.

    Gemini's also holds `caches`, by name, until they are `deleted`; `held` counts those that it
    has at once, `holds` tells whether it makes any, `loses` whether it forgets them at once.
    """

    reply: Reply
    gemini: bool
    mode: Mode = "good"
    modes: list[Mode] = field(default_factory=list)
    most: int = 1000
    retry_after: str | None = "1"
    strict: bool = False
    reopens: float = 0.0
    tokens: tuple[int, int] = (120, 30)
    requests: list[Prompt] = field(default_factory=list)
    url: str = ""
    caches: dict[str, dict[str, Any]] = field(default_factory=dict)
    deleted: list[str] = field(default_factory=list)
    held: list[int] = field(default_factory=list)
    holds: bool = True
    loses: bool = False
    released: Event = field(default_factory=Event)

    def body(self, text: str) -> bytes:
        """Give the body of a reply as the real service writes it."""
        return json.dumps((_gemini_body if self.gemini else _chat_body)(text, self.tokens)).encode()


@contextmanager
def chat_server(reply: Reply, mode: Mode = "good") -> Iterator[ChatServer]:
    """Serve chat completions as OpenAI, Ollama and vLLM do; its models are named openai/<any>."""
    with _served(ChatServer(reply, gemini=False, mode=mode), "/v1") as server:
        yield server


@contextmanager
def gemini_server(reply: Reply, mode: Mode = "good") -> Iterator[ChatServer]:
    """Serve Gemini's generateContent; its models are named gemini/<any>."""
    with _served(ChatServer(reply, gemini=True, mode=mode), "/v1beta") as server:
        yield server


def written(outputs: Mapping[str, object], *, as_json: bool) -> str:
    """Write outputs in the form that DSPy's adapter reads."""
    if as_json:
        return json.dumps(outputs)
    values = {k: v if isinstance(v, str) else json.dumps(v) for k, v in outputs.items()}
    parts = [f"[[ ## {name} ## ]]\n{value}" for name, value in values.items()]
    return "\n\n".join([*parts, "[[ ## completed ## ]]"])


def _text(content: str | list[dict[str, str]]) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def _chat_body(text: str, tokens: tuple[int, int]) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "any",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": dict(zip(("prompt_tokens", "completion_tokens"), tokens, strict=True))
        | {"total_tokens": sum(tokens)},
    }


def _gemini_body(text: str, tokens: tuple[int, int]) -> dict[str, Any]:
    content = {"role": "model", "parts": [{"text": text}]}
    return {
        "candidates": [{"index": 0, "content": content, "finishReason": "STOP"}],
        "usageMetadata": {
            "promptTokenCount": tokens[0],
            "candidatesTokenCount": tokens[1],
            "totalTokenCount": sum(tokens),
        },
        "modelVersion": "any",
    }


@contextmanager
def _served(chat: ChatServer, path: str) -> Iterator[ChatServer]:
    server = _Server(("127.0.0.1", 0), _Handler)
    server.chat = chat
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    chat.url = f"http://127.0.0.1:{server.server_port}{path}"
    try:
        yield chat
    finally:
        chat.released.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # else many at once are turned away, or wait a second
    chat: ChatServer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each reply waits 40 ms for an acknowledgment

    @property
    def chat(self) -> ChatServer:
        assert isinstance(self.server, _Server)
        return self.server.chat

    def log_message(self, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = json.loads(self.rfile.read(int(headers["content-length"])))
        if self.path.endswith("/cachedContents"):
            self.hold(body)
            return
        name = body.get("cachedContent")
        if name and (self.chat.loses or name not in self.chat.caches):
            self.send(403, b'{"error": {"code": 403, "status": "PERMISSION_DENIED"}}')
            return
        prompt = Prompt(self.path, headers, body, self.chat.caches[name] if name else None)
        before = sum(each.body == body for each in self.chat.requests)
        self.chat.requests.append(prompt)
        mode = self.mode() if before < self.chat.most else "good"
        if mode in STATUS:
            self.refuse(mode, headers)
        elif mode == "hang":
            self.chat.released.wait()
        elif mode == "drop":
            self.connection.shutdown(socket.SHUT_RDWR)
        elif mode == "trickle":
            self.trickle()
        else:
            self.send(200, self.body(mode, prompt))

    def mode(self) -> Mode:
        chat, now = self.chat, time.monotonic()
        if chat.strict and now < chat.reopens:
            return "limited"
        mode = chat.modes.pop(0) if chat.modes else chat.mode
        if mode == "limited":
            chat.reopens = now + float(chat.retry_after or 0)
        return mode

    def hold(self, body: dict[str, Any]) -> None:
        if not self.chat.holds:
            self.send(400, b'{"error": {"code": 400, "message": "too small"}}')
            return
        name = f"cachedContents/c{len(self.chat.caches) + 1}"
        self.chat.caches[name] = body
        self.chat.held.append(len(self.chat.caches) - len(self.chat.deleted))
        self.send(200, json.dumps({"name": name, "model": body["model"]}).encode())

    def do_DELETE(self) -> None:
        self.chat.deleted.append(self.path.partition("/v1beta/")[2])
        self.send(200, b"{}")

    def body(self, mode: Mode, prompt: Prompt) -> bytes:
        if mode == "no json":
            return b"<html>busy</html>"
        if mode in TEXTS:
            return self.chat.body(TEXTS[mode])
        return self.chat.body(written(self.chat.reply(prompt), as_json=prompt.wants_json))

    def refuse(self, mode: Mode, headers: Mapping[str, str]) -> None:
        # Some services repeat the key that they refuse, and write more than a line.
        key = headers.get("authorization", headers.get("x-goog-api-key"))
        error = {"message": f"refused:\n  {mode} {key}", "code": STATUS[mode], "status": mode}
        self.send(STATUS[mode], json.dumps({"error": error}).encode())

    def send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if status == STATUS["limited"] and self.chat.retry_after is not None:
            self.send_header("Retry-After", self.chat.retry_after)
        with suppress(ConnectionError):  # the client may have been killed
            self.end_headers()
            self.wfile.write(body)

    def trickle(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "100000")
        self.end_headers()
        while not self.chat.released.is_set():
            try:
                self.wfile.write(b" ")
            except OSError:  # the client has gone
                return
            time.sleep(0.02)
