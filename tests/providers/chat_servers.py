"""Language model servers on this machine: real HTTP, real wire formats, replies made by a function.

with chat_server(lambda prompt: {"text": "termination notice", ...}) as server:
    Settings(llm="openai/any", llm_base_url=server.url)
    server.requests  # what was asked, parsed
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from gzip import compress
from time import monotonic
from typing import Any, Literal

from tests import http_server
from tests.http_server import Manner, Request

Mode = Literal[
    "good",
    "malformed",
    "empty",
    "no json",
    "bomb",
    "unauthorized",
    "limited",
    "unknown",
    "broken",
    "drop",
    "hang",
    "trickle",
]
PIECE_CHARS = 5
BARE = ""  # the name of an output that is the whole reply
HEADER = re.compile(r"^\[\[ ## (\w+) ## \]\]$", re.MULTILINE)
TEXTS = {"malformed": '[[ ## wrong ## ]]\n{"half": [', "empty": ""}
STATUS = {"unauthorized": 401, "limited": 429, "unknown": 404, "broken": 500}
MANNERS: dict[Mode, Manner] = {"hang": "silent", "drop": "gone", "trickle": "trickle"}
BOMB = compress(b" " * 100_000_000)
# Replies that do not depend on what was asked.
FORMS = {mode: http_server.Reply(body=b"", manner=manner) for mode, manner in MANNERS.items()}
FORMS["bomb"] = http_server.Reply(body=BOMB, headers={"Content-Encoding": "gzip"})


@dataclass(frozen=True)
class Prompt(Request):
    """A request as it came. `inputs` are the fields of its last message, as text by name.

    `held` is the body with which the cache was made that a request to Gemini names.

    `wants_json`: the reply is read as one JSON object, else as fields under headers. `fields` are
    the names of the outputs it asks for.
    """

    held: Mapping[str, Any] | None = None

    @property
    def messages(self) -> list[tuple[str, str]]:
        """Role and text of each message, the system's first; the same for both formats."""
        if "contents" in self.body:
            first = self.held or self.body
            parts = first["systemInstruction"]["parts"]
            contents = [*self.held["contents"], *self.body["contents"]] if self.held else None
            following = [
                (turn["role"], turn["parts"]) for turn in contents or self.body["contents"]
            ]
            turns = [("system", parts), *following]
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
    def wants_stream(self) -> bool:
        return "streamGenerateContent" in self.path or bool(self.body.get("stream"))

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

    Where a request wants a stream, `pause` is called with what was sent before each further piece;
    one that `refuses_streams` answers with that status, by 200 with the whole reply at once.

    `url` is the base URL for the settings. `retry_after` is the header of "limited", in seconds;
    who comes back before is refused again if `strict`.
    `tokens` are reported of each reply: in, out.

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
    pause: Callable[[str], object] = len
    refuses_streams: int | None = None

    def answer(self, prompt: Prompt) -> http_server.Reply:
        """Reply as the real service does, or fail in its way."""
        if prompt.method == "DELETE":
            self.deleted.append(prompt.path.partition("/v1beta/")[2])
            return http_server.Reply()
        if prompt.path.endswith("/cachedContents"):
            return self._hold(prompt.body)
        if name := prompt.body.get("cachedContent"):
            if self.loses or name not in self.caches:
                return _refusal(403, "PERMISSION_DENIED")
            prompt = replace(prompt, held=self.caches[name])
        before = sum(each.body == prompt.body for each in self.requests)
        self.requests.append(prompt)
        mode = self._mode() if before < self.most else "good"
        if mode in STATUS:
            return self._refuse(mode, prompt.headers)
        if mode in FORMS:
            return FORMS[mode]
        if prompt.wants_stream and mode != "no json" and self.refuses_streams != 200:
            return self._stream(self._text(mode, prompt))
        return http_server.Reply(body=self._body(mode, prompt))

    def _stream(self, text: str) -> http_server.Reply:
        if self.refuses_streams is not None:
            return _refusal(self.refuses_streams, "no streams")
        kind = {"Content-Type": "text/event-stream"}
        return http_server.Reply(200, b"", kind, "unmeasured", self._pieces(text))

    def _pieces(self, text: str) -> Iterator[bytes]:
        """Give a text in pieces of some characters, as events."""
        write = _gemini_piece if self.gemini else _chat_piece
        for start in range(0, len(text), PIECE_CHARS):
            if start:
                self.pause(text[:start])
            yield _event(write(text[start : start + PIECE_CHARS]))
        if self.gemini:
            yield _event(_gemini_body("", self.tokens))
        else:
            end = _chat_body("", self.tokens) | {"choices": []}
            yield _event(end | {"object": "chat.completion.chunk"}) + b"data: [DONE]\n\n"

    def _mode(self) -> Mode:
        now = monotonic()
        if self.strict and now < self.reopens:
            return "limited"
        mode = self.modes.pop(0) if self.modes else self.mode
        if mode == "limited":
            self.reopens = now + float(self.retry_after or 0)
        return mode

    def _hold(self, body: dict[str, Any]) -> http_server.Reply:
        if not self.holds:
            return _refusal(400, "too small")
        name = f"cachedContents/c{len(self.caches) + 1}"
        self.caches[name] = body
        self.held.append(len(self.caches) - len(self.deleted))
        return http_server.Reply(body=json.dumps({"name": name, "model": body["model"]}).encode())

    def _refuse(self, mode: Mode, headers: Mapping[str, str]) -> http_server.Reply:
        # Some services repeat the key that they refuse, and write more than a line.
        key = headers.get("authorization", headers.get("x-goog-api-key"))
        refusal = _refusal(STATUS[mode], f"refused:\n  {mode} {key}")
        if mode == "limited" and self.retry_after is not None:
            return replace(refusal, headers={"Retry-After": self.retry_after})
        return refusal

    def _body(self, mode: Mode, prompt: Prompt) -> bytes:
        if mode == "no json":
            return b"<html>busy</html>"
        text = self._text(mode, prompt)
        return json.dumps((_gemini_body if self.gemini else _chat_body)(text, self.tokens)).encode()

    def _text(self, mode: Mode, prompt: Prompt) -> str:
        if mode in TEXTS:
            return TEXTS[mode]
        outputs = self.reply(prompt)
        return str(outputs.get(BARE) or written(outputs, as_json=prompt.wants_json))


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


def _chat_piece(text: str) -> dict[str, Any]:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "any",
        "choices": [choice],
    }


def _gemini_piece(text: str) -> dict[str, Any]:
    return {"candidates": [{"index": 0, "content": {"role": "model", "parts": [{"text": text}]}}]}


def _event(data: Mapping[str, Any]) -> bytes:
    return f"data: {json.dumps(data)}\n\n".encode()


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


def _refusal(status: int, message: str) -> http_server.Reply:
    error = {"code": status, "message": message, "status": "REFUSED"}
    return http_server.Reply(status, json.dumps({"error": error}).encode())


@contextmanager
def _served(chat: ChatServer, path: str) -> Iterator[ChatServer]:
    with http_server.http_server(Prompt, chat.answer) as url:
        chat.url = url + path
        yield chat
