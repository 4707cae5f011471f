"""Gemini's embeddings, and a document that it holds for some calls, through google-genai.

DSPy cannot ask about a held document, so its prompt is sent by google-genai: instructions and
document when the cache is made, the rest with each call. Whatever cannot be done so is done without
a cache.
"""

import asyncio
import os
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import SecretStr

from lexichord.errors import BadResponseError, ConfigError, ProviderError, ProviderTimeoutError
from lexichord.providers import EmbedKind, Generator, OnDraft
from lexichord.providers.embed import EmbeddingReply, EmbedRequest
from lexichord.providers.http import (
    HTTP_TIMEOUT_SECONDS,
    PLACEHOLDER_KEY,
    certificates,
    error_for_status,
    has_library,
    host,
    llm_connection,
    named_failures,
    new_client,
    told_tokens,
)
from lexichord.settings import Settings
from lexichord.types import EmbeddingSpace
from lexichord.types.questions import Generated, Task, Usage
from lexichord.work import in_thread

if TYPE_CHECKING:
    from google.genai import Client
    from httpx import AsyncClient

GEMINI_URL = "https://generativelanguage.googleapis.com"
GEMINI_TASK_TYPES = {"query": "RETRIEVAL_QUERY", "document": "RETRIEVAL_DOCUMENT"}


@dataclass(frozen=True, slots=True)
class GeminiEmbeddings:
    """Asks POST {base_url}/v1/models/{model}:batchEmbedContents."""

    space: EmbeddingSpace
    key: SecretStr
    base_url: str = GEMINI_URL
    max_texts: int = 100  # that the API takes at once

    @property
    def who(self) -> str:
        """Return its name in messages."""
        return f"the embedder at {host(self.base_url)}"

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[EmbedRequest]:
        """Open a connection."""
        async with new_client() as http:
            client = _new_genai_client(self.key.get_secret_value(), http, self.base_url)
            yield partial(self._ask, client)

    async def _ask(self, client: "Client", texts: Sequence[str], kind: EmbedKind) -> EmbeddingReply:
        from google.genai import types
        from google.genai.errors import APIError

        # Of a list of texts newer models make a single vector.
        contents = [types.Content(parts=[types.Part(text=text)]) for text in texts]
        config = types.EmbedContentConfig(
            task_type=GEMINI_TASK_TYPES[kind], output_dimensionality=self.space.dimension
        )
        try:
            with named_failures(self.who):
                reply = await client.aio.models.embed_content(
                    model=self.space.model, contents=list(contents), config=config
                )
        except APIError as error:
            raise self._refusal(error) from None
        except (AttributeError, TypeError, ValueError, RecursionError):
            message = f"{self.who} gave a reply that holds no vectors: check its address"
            raise BadResponseError(message) from None
        vectors = [embedding.values or [] for embedding in reply.embeddings or []]
        usage = reply.usage_metadata
        return EmbeddingReply(vectors, told_tokens(usage.prompt_token_count if usage else None))

    def _refusal(self, error: Any) -> ProviderError:  # noqa: ANN401 - its class is loaded late
        headers = dict(getattr(error.response, "headers", None) or {})
        # Gemini says in the body how long to wait: {"@type": …RetryInfo, "retryDelay": "34s"}.
        if delay := re.search(r"'retryDelay': '(\d{1,9})(?:\.\d+)?s'", str(error.details)):
            headers.setdefault("retry-after", str(int(delay[1]) + 1))
        if error.code == 400 and "API_KEY_INVALID" in str(error.details):
            return error_for_status(self.who, 401, headers)
        return error_for_status(self.who, error.code, headers)


def _new_genai_client(
    key: str, http: "AsyncClient", base_url: str, api_version: str | None = None
) -> "Client":
    """Return a client that asks by `http`.

    All is set that the SDK would else take from variables: the address, and whose service. Of its
    three transports it uses one; for each it would read all certificates.
    """
    from google import genai
    from google.genai import types

    read = certificates()
    options = types.HttpOptions(
        base_url=base_url,
        api_version=api_version,
        timeout=int(HTTP_TIMEOUT_SECONDS * 1000),
        httpx_async_client=http,
        client_args={"verify": read},
        async_client_args={"verify": read, "ssl": read},
    )
    return genai.Client(vertexai=False, api_key=key, http_options=options)


GEMINI_API_URL = "https://generativelanguage.googleapis.com/v1beta"
# Tokens that a cache has to have: 1,024 to 4,096 by model, as documented in 2026. The service
# refuses what is too small, and then it goes without; with this it is seldom asked in vain.
MIN_CACHED_TOKENS = 4096
CACHE_SECONDS = 300  # after which the service deletes a cache that nobody has deleted
PASSAGES_FIELD = "\n\n[[ ## passages ## ]]\n"  # where the part of a prompt begins that is not held
GEMINI_KEY_VARIABLES = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
# Of a call: the cache may be gone; the request without one will fail for its own reason.
CACHE_LOST_STATUSES = (400, 403, 404)


class PromptGenerator(Generator, Protocol):
    """A generator whose prompts another may send: the one of `providers.llm`."""

    def prompt(self, task: Task, inputs: Mapping[str, object]) -> tuple[str, str]:
        """Return instructions, and the message to answer."""

    def read(self, task: Task, reply: str) -> dict[str, Any]:
        """Read a reply: a task's outputs. Raises BadResponseError."""


@asynccontextmanager
async def cached_document(
    generator: Generator, settings: Settings, document: str, tokens: int
) -> AsyncGenerator[Generator]:
    """Yield a generator for the task `contexts` on one document, of about so many tokens.

    It is `generator` itself where the model is none of Gemini's, google-genai is not installed, the
    document is too short, or the service will not hold it. The cache is deleted at the end.
    """
    async with AsyncExitStack() as opened:
        held = generator
        if (
            (settings.llm or "").startswith("gemini/")
            and tokens >= MIN_CACHED_TOKENS
            and has_library("google.genai")
        ):
            with suppress(ProviderError, ConfigError):
                held = await opened.enter_async_context(_cache(generator, settings, document))  # type: ignore[arg-type]
        yield held


@asynccontextmanager
async def _cache(
    plain: PromptGenerator, settings: Settings, document: str
) -> AsyncGenerator[Generator]:
    from google.genai import types

    system, message = plain.prompt("contexts", {"document": document, "passages": ""})
    document_part = message.partition(PASSAGES_FIELD)[0]
    model = plain.name.removeprefix("gemini/")
    async with AsyncExitStack() as opened:
        client = await _connect(opened, settings)
        with _cache_failures(plain.name):
            cache = await client.aio.caches.create(
                model=model,
                config=types.CreateCachedContentConfig(
                    contents=[types.Content(role="user", parts=[types.Part(text=document_part)])],
                    system_instruction=system,
                    ttl=f"{CACHE_SECONDS}s",
                ),
            )
        try:
            yield _CachedDocument(plain, client, model, str(cache.name), document)
        finally:
            with suppress(Exception):  # it deletes itself after CACHE_SECONDS
                await asyncio.shield(client.aio.caches.delete(name=str(cache.name)))


async def _connect(opened: AsyncExitStack, settings: Settings) -> "Client":
    access = llm_connection(settings)
    base, _, version = access.get("api_base", GEMINI_API_URL).rpartition("/")
    http = await opened.enter_async_context(await in_thread(new_client))
    key = access.get("api_key") or next(
        filter(None, map(os.environ.get, GEMINI_KEY_VARIABLES)), PLACEHOLDER_KEY
    )
    return await in_thread(partial(_new_genai_client, key, http, base, version))


@contextmanager
def _cache_failures(name: str) -> Iterator[None]:
    """Raise ProviderError for what goes wrong in a request; its body is never repeated."""
    from google.genai.errors import APIError

    try:
        with named_failures(name):
            yield
    except APIError as error:
        headers = dict(getattr(error.response, "headers", None) or {})
        raise error_for_status(name, error.code, headers) from None


class _LostError(Exception):
    """The service does not hold the document any more, or will not be asked about it."""


@dataclass(frozen=True, slots=True)
class _CachedDocument:
    """Asks about the document of one cache; `plain` is asked where that fails."""

    plain: PromptGenerator
    client: "Client"
    model: str
    cache: str
    document: str

    @property
    def name(self) -> str:
        return self.plain.name

    async def generate(
        self,
        task: Task,
        inputs: Mapping[str, object],
        seconds: float,
        on_draft: OnDraft | None = None,
    ) -> Generated:
        """As `Generator.generate`; a reply that cannot be read is asked for again in one form."""
        if task != "contexts" or inputs["document"] != self.document:
            return await self.plain.generate(task, inputs, seconds, on_draft)
        field = "".join(self.plain.prompt(task, inputs)[1].partition(PASSAGES_FIELD)[1:]).lstrip()
        try:
            async with asyncio.timeout(seconds):
                with suppress(BadResponseError):
                    return await self._generate(task, field)
                return await self._generate(task, field, again=True)
        except TimeoutError:
            message = f"{self.name} did not answer within {seconds:.3g} s: give it more time"
            raise ProviderTimeoutError(message) from None
        except _LostError:
            return await self.plain.generate(task, inputs, seconds)

    async def complete(self, prompt: str, seconds: float) -> tuple[str, Usage]:
        """As `Generator.complete`, without the cache."""
        return await self.plain.complete(prompt, seconds)

    async def aclose(self) -> None:
        """As `Generator.aclose`: its own are closed where the cache is deleted."""
        await self.plain.aclose()

    async def _generate(self, task: Task, message: str, *, again: bool = False) -> Generated:
        reply = await self._ask(message)
        outputs = self.plain.read(task, reply.text or "")
        return Generated(outputs, _usage(reply.usage_metadata, 1 + again))

    async def _ask(self, message: str) -> Any:  # noqa: ANN401 - its class is loaded late
        """Return the reply. Raises ProviderError; _LostError where the cache may be at fault."""
        from google.genai import types
        from google.genai.errors import APIError

        config = types.GenerateContentConfig(cached_content=self.cache, temperature=0)
        with _cache_failures(self.name):
            try:
                return await self.client.aio.models.generate_content(
                    model=self.model, contents=message, config=config
                )
            except APIError as error:
                if error.code in CACHE_LOST_STATUSES:
                    raise _LostError from None
                raise
            except (AttributeError, TypeError, ValueError, RecursionError):
                raise BadResponseError(f"{self.name} gave a reply that is none") from None


def _usage(metadata: Any, requests: int) -> Usage:  # noqa: ANN401 - its class is loaded late
    """Return the tokens; those from the cache count in full, so that the price is one at most."""
    if metadata is None:
        return Usage(requests, 0, 0, None)
    asked, *taken = map(
        told_tokens,
        (
            metadata.prompt_token_count,
            metadata.candidates_token_count,
            metadata.thoughts_token_count,
        ),
    )
    return Usage(requests, requests * asked, requests * sum(taken), None)
