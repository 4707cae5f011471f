"""The models of a server: that of the database's embedding space, and its language model."""

import struct
from base64 import b64encode
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from lexichord.errors import ConfigError, NotFoundError
from lexichord.serve.access import ScopedClient
from lexichord.serve.compat.openai.search import openai_router
from lexichord.serve.http.bodies import JsonBody, QueryText
from lexichord.serve.http.routing import Caller
from lexichord.serve.limits import MAX_EMBEDDED_TEXTS

router = openai_router()

TOKEN_CHARS = 4  # characters of a token, roughly: `usage` is an estimate


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
