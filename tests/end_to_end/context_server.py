"""A language model server that writes contexts, and what a test asks of it."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from lexichord import SyncLexichord
from lexichord.ingest.flow import INGEST_LIMITS, IngestLimits
from tests.providers.chat_servers import ChatServer, Prompt, chat_server

MARKED = re.compile(r"<source-(\w{12}) number=(\d+)>\n(.*?)\n</source-\1>", re.DOTALL)


def passages(prompt: Prompt) -> list[str]:
    """Give the chunks that a call asks for."""
    return [text for _, _, text in MARKED.findall(prompt.inputs["passages"])]


def contexts(prompt: Prompt, write: Callable[[str], str]) -> dict[str, object]:
    """Give a reply with a context for each chunk."""
    numbered = enumerate(passages(prompt), 1)
    return {"contexts": [{"number": n, "context": write(text)} for n, text in numbered]}


def about(text: str) -> str:
    """Write a context that nothing else could have made."""
    return f"Situated: {text[:20]} told."


@contextmanager
def context_server(write: Callable[[str], str] = about) -> Iterator[ChatServer]:
    with chat_server(lambda prompt: contexts(prompt, write)) as server:
        yield server


def requested_chunks(server: ChatServer) -> list[str]:
    """Give all chunks that were asked for, call by call."""
    return [text for prompt in server.requests for text in passages(prompt)]


def opened(dsn: str, server: ChatServer, **settings: object) -> SyncLexichord:
    """Not open yet; what failed is asked again soon."""
    llm_settings: dict[str, Any] = {"llm": "openai/any", "llm_base_url": server.url} | settings
    lexichord = SyncLexichord(dsn=dsn, **llm_settings)
    lexichord.core.ingest_limits = quick_limits()
    return lexichord


def quick_limits(call_seconds: float = INGEST_LIMITS.context_call_seconds) -> IngestLimits:
    """Limits with short pauses, and perhaps a short time for a call."""
    quick = replace(INGEST_LIMITS.context_retry, base_seconds=0.01)
    return IngestLimits(context_call_seconds=call_seconds, context_retry=quick)


def document(uri: str, *contents: str) -> dict[str, Any]:
    return {"uri": uri, "title": f"Title of {uri}", "chunks": [{"content": c} for c in contents]}


def numbered(uri: str, number: int) -> dict[str, Any]:
    """A document whose chunks are told apart by their first words, and far from each other."""
    return document(uri, *(f"{n:03} of {uri}. " + "lorem ipsum " * 60 for n in range(number)))


def chunks(lexichord: SyncLexichord, uri: str) -> list[dict[str, Any]]:
    return [chunk.to_dict() for chunk in lexichord.show(uri).chunks]
