"""The models of a server: that of the database's embedding space, and its language model.

`responses` with the tool `file_search` is the language model's answer, quoted from what is stored.
What a model may say is checked against the sources before it is told; so a stream's first words
come when all are there.
"""

import re
import struct
from base64 import b64encode
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from secrets import token_hex
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from lexichord.client.passages import passage_options
from lexichord.errors import ConfigError, NotFoundError, ProviderError
from lexichord.serve.access import ScopedClient
from lexichord.serve.compat.openai.search import (
    ComparisonFilter,
    CompoundFilter,
    RankingOptions,
    VectorStoreResult,
    compile_filter,
    describe_results,
    openai_router,
    searched_texts,
)
from lexichord.serve.errors import public_error
from lexichord.serve.http import Caller, JsonReply
from lexichord.serve.http.bodies import DatasetNames, JsonBody, QueryText, StrictModel
from lexichord.serve.http.jobs import EventStream, event_bytes
from lexichord.serve.limits import MAX_EMBEDDED_TEXTS, MAX_VECTOR_STORE_RESULTS
from lexichord.types import Json, Response

router = openai_router()

TOKEN_CHARS = 4  # characters of a token, roughly: `usage` is an estimate

NOTHING_SAYS = "What is stored does not say."
CITATION = re.compile(r"\[(\d{1,4})\]")
RESPONSE_ID_BYTES = 12  # of randomness

type JsonObject = dict[str, Any]


class ModelObject(BaseModel):
    """A model; `owned_by` is its provider."""

    id: str = Field(examples=["local/all-MiniLM-L6-v2/384"])
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str


class ModelList(BaseModel):
    """All models."""

    object: Literal["list"] = "list"
    data: list[ModelObject]


class EmbeddingsBody(JsonBody):
    """Texts to embed; `dimensions` can only be those of the space."""

    input: (
        QueryText | Annotated[list[QueryText], Field(min_length=1, max_length=MAX_EMBEDDED_TEXTS)]
    )
    model: str = Field(examples=["all-MiniLM-L6-v2"])
    dimensions: int | None = None
    encoding_format: Literal["float", "base64"] = "float"
    user: str | None = None


class EmbeddingObject(BaseModel):
    """The vector of a text, of length 1."""

    object: Literal["embedding"] = "embedding"
    index: int
    embedding: list[float] | str


class EmbeddingUsage(BaseModel):
    """About how many tokens were read."""

    prompt_tokens: int
    total_tokens: int


class EmbeddingList(BaseModel):
    """The vectors in the order of the texts."""

    object: Literal["list"] = "list"
    data: list[EmbeddingObject]
    model: str
    usage: EmbeddingUsage


@router.get("/models", operation_id="list_models")
async def list_models(caller: Caller) -> ModelList:
    """List the model that embeds and, where there is one, the one that writes."""
    return ModelList(data=[_shape(name) for name in _names(caller)])


@router.get("/models/{model:path}", operation_id="retrieve_model")
async def retrieve_model(caller: Caller, model: str) -> ModelObject:
    """Return a model."""
    return _shape(find_model(model, _names(caller)))


@router.post("/embeddings", operation_id="create_embeddings")
async def create_embeddings(caller: Caller, body: EmbeddingsBody) -> EmbeddingList:
    """Embed texts as questions are embedded, in the database's space."""
    texts = [body.input] if isinstance(body.input, str) else body.input
    space = find_model(body.model, [caller.space])
    dimension = int(space.rpartition("/")[2])
    if body.dimensions not in (None, dimension):
        raise ConfigError(f"dimensions: the vectors of {space} have {dimension}")
    vectors = await caller.embed(texts)
    tokens = sum(map(len, texts)) // TOKEN_CHARS + 1
    data = [
        EmbeddingObject(index=place, embedding=_encoded(vector, body.encoding_format))
        for place, vector in enumerate(vectors)
    ]
    usage = EmbeddingUsage(prompt_tokens=tokens, total_tokens=tokens)
    return EmbeddingList(data=data, model=space, usage=usage)


def find_model(model: str, names: Sequence[str]) -> str:
    """Return the full name of a model by that, or by its end. Raises NotFoundError."""
    for name in names:
        provider, _, rest = name.partition("/")
        if model in (name, rest, rest.rpartition("/")[0], f"{provider}/{rest.rpartition('/')[0]}"):
            return name
    raise NotFoundError(f"there is no model {model} here, but {', '.join(names)}")


def _names(caller: ScopedClient) -> list[str]:
    llm = caller.settings.llm
    return [caller.space, llm] if llm else [caller.space]


def _shape(name: str) -> ModelObject:
    return ModelObject(id=name, owned_by=name.partition("/")[0])


def _encoded(vector: Sequence[float], encoding: str) -> list[float] | str:
    if encoding == "float":
        return list(vector)
    return b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


class InputText(JsonBody):
    """A text of a message."""

    type: Literal["input_text"]
    text: QueryText


class InputMessage(JsonBody):
    """A message."""

    type: Literal["message"] = "message"
    role: Literal["user"] = Field(description="Earlier turns and instructions are not heeded.")
    content: QueryText | Annotated[list[InputText], Field(min_length=1, max_length=1)]

    @property
    def text(self) -> str:
        """The question."""
        return self.content if isinstance(self.content, str) else self.content[0].text


class FileSearchTool(JsonBody):
    """Where to look, and what for."""

    type: Literal["file_search"]
    vector_store_ids: DatasetNames = Field(min_length=1)
    filters: ComparisonFilter | CompoundFilter | None = None
    max_num_results: int = Field(10, ge=1, le=MAX_VECTOR_STORE_RESULTS)
    ranking_options: RankingOptions | None = None


class ToolChoice(StrictModel):
    """That the one tool is to be used, which it always is."""

    type: Literal["file_search"]


class ResponsesBody(JsonBody):
    """A question, and the stores that are to answer it; a response is not stored."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "model": "openai/gpt-4o-mini",
                    "input": "How long do the confidentiality obligations survive?",
                    "tools": [{"type": "file_search", "vector_store_ids": ["default"]}],
                }
            ]
        }
    )

    model: str
    input: QueryText | Annotated[list[InputMessage], Field(min_length=1, max_length=1)]
    tools: Annotated[list[FileSearchTool], Field(min_length=1, max_length=1)]
    tool_choice: Literal["auto", "required"] | ToolChoice = "auto"
    include: list[Literal["file_search_call.results"]] | None = None
    instructions: str | None = None
    metadata: dict[str, str] | None = None
    store: bool | None = None
    stream: bool | None = None

    @property
    def question(self) -> str:
        """What is asked."""
        return self.input if isinstance(self.input, str) else self.input[0].text


class FileSearchResponse(BaseModel):
    """A response: the search, and a message with citations of the files that it quotes."""

    model_config = ConfigDict(extra="allow")

    id: str
    object: Literal["response"]
    created_at: int
    status: Literal["in_progress", "completed"]
    model: str
    output: list[JsonObject]


@router.post("/responses", operation_id="create_response", response_model=FileSearchResponse)
async def create_response(caller: Caller, body: ResponsesBody) -> JsonReply | EventStream:
    """Answer a question from vector stores, by the language model that the server is set to."""
    await caller.count(datasets=body.tools[0].vector_store_ids)  # which fails where one is not
    if caller.settings.llm is None:
        raise ConfigError(
            "no language model is set here (LEXICHORD_LLM): vector_stores.search needs none"
        )
    if body.instructions:
        raise ConfigError("instructions: the answer is quoted as it is stored: leave them out")
    model = find_model(body.model, [caller.settings.llm])
    begun = _begun(body, model)
    if body.stream:
        events = _numbered(_events(caller, body, begun))
        return EventStream(events)
    search, message, usage = await _answer(caller, body)
    return JsonReply({**begun, "status": "completed", "output": [search, message], "usage": usage})


def _begun(body: ResponsesBody, model: str) -> JsonObject:
    empty = ("error", "incomplete_details", "instructions", "previous_response_id", "usage")
    return {
        "id": f"resp_{token_hex(RESPONSE_ID_BYTES)}",
        "object": "response",
        "created_at": int(datetime.now(UTC).timestamp()),
        "status": "in_progress",
        "model": model,
        "output": [],
        "parallel_tool_calls": False,
        "tool_choice": body.model_dump(include={"tool_choice"})["tool_choice"],
        "tools": [tool.model_dump(exclude_none=True) for tool in body.tools],
        "metadata": body.metadata or {},
        "store": False,
        **dict.fromkeys(empty),
    }


async def _answer(
    caller: ScopedClient, body: ResponsesBody
) -> tuple[JsonObject, JsonObject, JsonObject]:
    """Return the search as it was done, the message and what it took. Raises ProviderError."""
    tool = body.tools[0]
    options: Json = {
        "datasets": tool.vector_store_ids,
        "k": tool.max_num_results,
        "filter": None if tool.filters is None else compile_filter(tool.filters),
        "intent": None,
        "answer": True,
        "llm_stages": ("answer",),
    }
    response = await caller.query(body.question, **passage_options(options))
    _check_model_answered(response)
    passages = await caller.passages(response, len(response.hits))
    results = await describe_results(caller, passages)
    by_document = {
        passage.hit.document_id: result for passage, result in zip(passages, results, strict=True)
    }
    least = (tool.ranking_options and tool.ranking_options.score_threshold) or 0.0
    shown = [result for result in results if result.score >= least][: tool.max_num_results]
    return (
        _search_call(body, searched_texts(body.question, response), shown),
        _message(response, by_document),
        _usage(response),
    )


def _check_model_answered(response: Response) -> None:
    """Raise ProviderError where the model failed: whoever names one wants no other's words."""
    steps = [step.made for step in response.trace if step.stage.startswith("llm ")]
    if any(isinstance(made, dict) and "error" in made for made in steps):
        raise ProviderError("the language model failed")


def _search_call(
    body: ResponsesBody, queries: list[str], results: list[VectorStoreResult]
) -> JsonObject:
    shown = [
        {
            "file_id": result.file_id,
            "filename": result.filename,
            "score": result.score,
            "attributes": result.attributes,
            "text": result.content[0].text,
        }
        for result in results
    ]
    return {
        "id": f"fs_{token_hex(RESPONSE_ID_BYTES)}",
        "type": "file_search_call",
        "status": "completed",
        "queries": queries,
        "results": shown if body.include else None,
    }


def _message(response: Response, by_document: Mapping[str, VectorStoreResult]) -> JsonObject:
    text = response.answer or NOTHING_SAYS
    documents = {source.number: source.document_id for source in response.sources}
    cited = [
        (match.start(), by_document.get(documents.get(int(match[1]), "")))
        for match in CITATION.finditer(text)
    ]
    annotations = [
        {
            "type": "file_citation",
            "index": place,
            "file_id": result.file_id,
            "filename": result.filename,
        }
        for place, result in cited
        if result is not None
    ]
    part = {"type": "output_text", "text": text, "annotations": annotations, "logprobs": []}
    return {
        "id": f"msg_{token_hex(RESPONSE_ID_BYTES)}",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }


def _usage(response: Response) -> JsonObject:
    steps = [step.made for step in response.trace if step.stage.startswith("llm ")]
    read = sum(made["input_tokens"] for made in steps)
    written = sum(made["output_tokens"] for made in steps)
    return {
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": read + written,
    }


async def _numbered(events: AsyncIterator[JsonObject]) -> AsyncGenerator[bytes]:
    """Write events as server-sent ones, numbered; an error is the last."""
    number = 0
    try:
        async for event in events:
            yield _written(event, number)
            number += 1
    except Exception as error:
        public = public_error(error)
        failed = {"type": "error", "code": public.type, "message": public.message, "param": None}
        yield _written(failed, number)


def _written(event: JsonObject, number: int) -> bytes:
    return event_bytes(event["type"], {**event, "sequence_number": number})


async def _events(
    caller: ScopedClient, body: ResponsesBody, begun: JsonObject
) -> AsyncIterator[JsonObject]:
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    search, message, usage = await _answer(caller, body)
    for event in (*_search_events(search), *_message_events(message)):
        yield event
    done = {**begun, "status": "completed", "output": [search, message], "usage": usage}
    yield {"type": "response.completed", "response": done}


def _search_events(search: JsonObject) -> Iterator[JsonObject]:
    place = {"output_index": 0}
    begun = {**search, "status": "in_progress", "queries": [], "results": None}
    yield {"type": "response.output_item.added", **place, "item": begun}
    for state in ("in_progress", "searching", "completed"):
        yield {"type": f"response.file_search_call.{state}", **place, "item_id": search["id"]}
    yield {"type": "response.output_item.done", **place, "item": search}


def _message_events(message: JsonObject) -> Iterator[JsonObject]:
    (part,) = message["content"]
    item = {"output_index": 1}
    place = {**item, "item_id": message["id"], "content_index": 0}
    begun = {**message, "status": "in_progress", "content": []}
    yield {"type": "response.output_item.added", **item, "item": begun}
    empty = {**part, "text": "", "annotations": []}
    yield {"type": "response.content_part.added", **place, "part": empty}
    for words in re.findall(r"\S+\s*", part["text"]):
        yield {"type": "response.output_text.delta", **place, "delta": words, "logprobs": []}
    for number, annotation in enumerate(part["annotations"]):
        cited = {"annotation_index": number, "annotation": annotation}
        yield {"type": "response.output_text.annotation.added", **place, **cited}
    yield {"type": "response.output_text.done", **place, "text": part["text"], "logprobs": []}
    yield {"type": "response.content_part.done", **place, "part": part}
    yield {"type": "response.output_item.done", **item, "item": message}
