"""What requests hold.

The names are those of the Python options. Fields that nobody reads are refused: a misspelt filter
would search everything.
"""

import json
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from lexichord.errors import ConfigError
from lexichord.ingest.chunked import GivenDocument
from lexichord.serve.limits import LONGEST, LONGEST_IN_ADDRESS
from lexichord.types import ContextFormat, IntentKind, LlmStage, Mode, QueryOptions, Unit

DEEPEST = 32  # objects and lists inside each other


Text = Annotated[str, Field(min_length=1, max_length=LONGEST)]
Name = Annotated[str, Field(min_length=1, max_length=1_000)]
Names = Annotated[list[Name], Field(max_length=100)]
Id = Annotated[int, Field(ge=1, lt=2**53, examples=[1])]  # more is not exact in all JSON
Ends = Annotated[list[Id | Name], Field(max_length=100)]
Share = Annotated[float, Field(ge=0, le=1)]
K = Annotated[int, Field(ge=1, le=1_000)]


def shallow[V](value: V) -> V:
    """Give a value back. Raises ValueError where it is nested too deep for others to read."""
    level: list[Any] = [value]
    for _ in range(DEEPEST):
        inner = [each.values() if isinstance(each, dict) else each for each in level]
        level = [part for each in inner for part in each if isinstance(part, dict | list)]
        if not level:
            return value
    raise ValueError(f"holds more than {DEEPEST} objects or lists inside each other")


Filter = Annotated[dict[str, Any], AfterValidator(shallow)]


def _whole(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


class Body(BaseModel):
    """What a request holds, and nothing else."""

    model_config = ConfigDict(extra="forbid")


class JsonBody(Body):
    """A body of JSON, where a number is no text, 0 is no false, and 10.0 is 10."""

    model_config = ConfigDict(strict=True)

    @model_validator(mode="before")
    @classmethod
    def _whole_numbers(cls, given: object) -> object:
        if not isinstance(given, dict):
            return given
        return {
            name: [*map(_whole, value)] if isinstance(value, list) else _whole(value)
            for name, value in given.items()
        }


class SearchBody(JsonBody):
    """A question, and where to look; the filter's form is described in sql/README.md."""

    query: Text
    hint: Text | None = Field(None, description="Which documents are meant, in words.")
    k: K = Field(10, description="How many results at most.")
    depth: int = Field(100, ge=100, le=1_000, description="Candidates of each channel.")
    mode: Mode = "hybrid"
    dense_share: Share | None = Field(
        None, description="The weight of meaning in mode hybrid, by default as measured."
    )
    datasets: Names = Field([], description="By default all.")
    documents: Ends = Field([], description="Ids, uris or the ends of uris.")
    uri_prefix: Name | None = None
    filter: Filter | None = Field(None, description="On the documents' metadata.")

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"query": "What notice ends the master services agreement?", "k": 3}]
        }
    )


class QueryBody(SearchBody):
    """A question for the whole pipeline."""

    intent: IntentKind | None = Field(None, description="By default the question tells.")
    instructions: Text | None = Field(None, description="Its words are searched as well.")
    variants: int = Field(QueryOptions.variants, ge=1, le=20, description="Ways of asking at most.")
    files: int = Field(QueryOptions.files, ge=1, le=100, description="How many files.")
    rewrite: bool = Field(False, description="Search the question in other words, too.")
    fallbacks: Annotated[list[Text], Field(max_length=10)] = Field(
        [], description="Searched in turn while nothing answers."
    )
    reflect: bool = Field(False, description="Search again for what the evidence lacks.")
    rounds: int = Field(QueryOptions.rounds, ge=0, le=10, description="Of reflection, at most.")
    budget_ms: float = Field(
        QueryOptions.budget_ms,
        ge=0,
        le=600_000,
        description="Of models, rerankers and reflection, together.",
    )
    min_coverage: Share = Field(
        QueryOptions.min_coverage, description="Of the question, that ends reflection."
    )
    min_grade: Share = Field(
        QueryOptions.min_grade, description="Of an answer, by a model, that ends reflection."
    )
    llm_stages: Annotated[list[LlmStage], Field(max_length=5)] = Field(
        list(QueryOptions.llm_stages),
        description="What the server's language model does, if it has one.",
    )
    format: ContextFormat = Field("simple", description="How the evidence is written.")
    max_length: int = Field(
        QueryOptions.max_length, ge=1, le=1_000_000, description="Of the evidence."
    )
    unit: Unit = Field("characters", description="What max_length counts.")
    answer: bool = Field(False, description="Write one, in the evidence's own words.")
    min_score: Annotated[dict[str, float], Field(max_length=10)] = Field(
        {}, description="The least of named scores."
    )
    neutral: Names = Field([], description="Words that a reranker does not see.")

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"query": "How long must Skarnbro keep records?", "answer": True},
                {
                    "query": "Compare the liability caps",
                    "intent": "comparison",
                    "datasets": ["default"],
                },
            ]
        }
    )


class DocumentsBody(JsonBody):
    """Documents to store: each with its text, which is cut here, or with its chunks."""

    dataset: Name = "default"
    documents: Annotated[list[GivenDocument], Field(min_length=1, max_length=1_000)]

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "dataset": "handbook",
                    "documents": [
                        {
                            "uri": "hr/leave.md",
                            "text": "# Leave\n\nEverybody has 30 days of leave a year.",
                            "media_type": "text/markdown",
                            "metadata": {"year": 2026},
                        }
                    ],
                }
            ]
        }
    )

    @model_validator(mode="after")
    def _shallow_metadata(self) -> Self:
        for document in self.documents:
            shallow(document.metadata)
            for chunk in document.chunks or ():
                shallow(chunk.metadata)
        return self


class AskBody(JsonBody):
    """A question to answer by the `top_k` best passages."""

    question: Text
    top_k: K = 10

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"question": "Who pays for travel?", "top_k": 5}]}
    )


class Within(Body):
    """Which documents, as parameters of an address."""

    dataset: Names = Field([], description="By default all; repeatable.", examples=[["default"]])
    uri_prefix: Name | None = Field(None, examples=["hr/"])
    filter: str | None = Field(
        None,
        max_length=LONGEST_IN_ADDRESS,
        description="JSON, on the documents' metadata.",
        examples=['{"year": 2026}'],
    )

    def options(self) -> dict[str, Any]:
        """Give them by the names of the Python options. Raises ConfigError."""
        read = None if self.filter is None else _read(self.filter)
        return {"datasets": self.dataset, "uri_prefix": self.uri_prefix, "filter": read}


def _read(text: str) -> dict[str, Any]:
    try:
        value = shallow(json.loads(text))
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise ConfigError('filter is to be a JSON object, such as {"year": 2026}')
    return value


class Listed(Within):
    """Which documents to list, and which part of the list."""

    limit: int = Field(100, ge=1, le=1_000)
    offset: int = Field(0, ge=0, lt=2**31)


class Alike(Within):
    """Among which documents to look for similar ones."""

    k: K = 10


class Around(Body):
    """How much of the text around a chunk."""

    neighbours: int = Field(1, ge=0, le=100, description="Chunks on each side.")
    whole_section: bool = Field(False, description="All that stands under the same heading.")


class Latest(Body):
    """How many, the latest first."""

    dataset: Names = Field([], description="By default all; repeatable.", examples=[["default"]])
    limit: int = Field(20, ge=1, le=100)


class Asked(Body):
    """A search as parameters of an address."""

    query: str = Field(
        min_length=1, max_length=LONGEST_IN_ADDRESS, examples=["notice of termination"]
    )
    top_k: K = 10
