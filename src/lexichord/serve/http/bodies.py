"""What requests hold.

The names are those of the Python options. Fields that nobody reads are refused: a misspelt filter
would search everything.
"""

import json
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from lexichord.errors import ConfigError
from lexichord.ingest.chunked import GivenDocument
from lexichord.retrieve.evidence import MAX_LENGTH
from lexichord.retrieve.judge.refine import ROUNDS
from lexichord.retrieve.judge.reflect import ENOUGH, GOOD
from lexichord.retrieve.llm_stages import ASKED
from lexichord.retrieve.search.discover import SHOWN
from lexichord.retrieve.search.variants import VARIANTS
from lexichord.retrieve.trace import BUDGET_MS
from lexichord.serve.limits import (
    MAX_ADDED_DOCUMENTS,
    MAX_JSON_DEPTH,
    MAX_LIST_NAMES,
    MAX_NAME_CHARS,
    MAX_QUERY_CHARS,
    MAX_URL_QUERY_CHARS,
)
from lexichord.types import ContextFormat, IntentKind, LlmStage, Mode, Unit

QueryText = Annotated[str, Field(min_length=1, max_length=MAX_QUERY_CHARS)]
NameText = Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARS)]
NameList = Annotated[list[NameText], Field(max_length=MAX_LIST_NAMES)]
RowId = Annotated[int, Field(ge=1, lt=2**53, examples=[1])]  # more is not exact in all JSON
DocumentNames = Annotated[list[RowId | NameText], Field(max_length=MAX_LIST_NAMES)]
Fraction = Annotated[float, Field(ge=0, le=1)]
ResultLimit = Annotated[int, Field(ge=1, le=1_000)]


def check_depth[V](value: V) -> V:
    """Return a value as it is. Raises ValueError where it is nested too deep for others to read."""
    level: list[Any] = [value]
    for _ in range(MAX_JSON_DEPTH):
        members = [one.values() if isinstance(one, dict) else one for one in level]
        level = [member for some in members for member in some if isinstance(member, dict | list)]
        if not level:
            return value
    raise ValueError(f"holds more than {MAX_JSON_DEPTH} objects or lists inside each other")


MetadataFilter = Annotated[dict[str, Any], AfterValidator(check_depth)]


def _whole_number(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


class StrictModel(BaseModel):
    """What a request holds, and nothing else."""

    model_config = ConfigDict(extra="forbid")


class JsonBody(StrictModel):
    """A body of JSON, where a number is no text, 0 is no false, and 10.0 is 10."""

    model_config = ConfigDict(strict=True)

    @model_validator(mode="before")
    @classmethod
    def _read_whole_numbers(cls, body: object) -> object:
        if not isinstance(body, dict):
            return body
        return {
            name: [*map(_whole_number, value)] if isinstance(value, list) else _whole_number(value)
            for name, value in body.items()
        }


class SearchBody(JsonBody):
    """A question, and where to look; the filter's form is described in sql/README.md."""

    query: QueryText
    hint: QueryText | None = Field(None, description="Which documents are meant, in words.")
    k: ResultLimit = Field(10, description="How many results at most.")
    depth: int = Field(100, ge=100, le=1_000, description="Candidates of each channel.")
    mode: Mode = "hybrid"
    dense_share: Fraction | None = Field(
        None, description="The weight of meaning in mode hybrid, by default as measured."
    )
    datasets: NameList = Field([], description="By default all.")
    documents: DocumentNames = Field([], description="Ids, uris or the ends of uris.")
    uri_prefix: NameText | None = None
    filter: MetadataFilter | None = Field(None, description="On the documents' metadata.")

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"query": "What notice ends the master services agreement?", "k": 3}]
        }
    )


class QueryBody(SearchBody):
    """A question for the whole pipeline."""

    intent: IntentKind | None = Field(None, description="By default the question tells.")
    instructions: QueryText | None = Field(None, description="Its words are searched as well.")
    variants: int = Field(VARIANTS, ge=1, le=20, description="Ways of asking at most.")
    files: int = Field(SHOWN, ge=1, le=100, description="How many files.")
    rewrite: bool = Field(False, description="Search the question in other words, too.")
    fallbacks: Annotated[list[QueryText], Field(max_length=10)] = Field(
        [], description="Searched in turn while nothing answers."
    )
    reflect: bool = Field(False, description="Search again for what the evidence lacks.")
    rounds: int = Field(ROUNDS, ge=0, le=10, description="Of reflection, at most.")
    budget_ms: float = Field(
        BUDGET_MS, ge=0, le=600_000, description="Of models, rerankers and reflection, together."
    )
    min_coverage: Fraction = Field(ENOUGH, description="Of the question, that ends reflection.")
    min_grade: Fraction = Field(GOOD, description="Of an answer, by a model, that ends reflection.")
    llm_stages: Annotated[list[LlmStage], Field(max_length=5)] = Field(
        list(ASKED),
        description="What the server's language model does, if it has one.",
    )
    format: ContextFormat = Field("simple", description="How the evidence is written.")
    max_length: int = Field(MAX_LENGTH, ge=1, le=1_000_000, description="Of the evidence.")
    unit: Unit = Field("characters", description="What max_length counts.")
    answer: bool = Field(False, description="Write one, in the evidence's own words.")
    min_score: Annotated[dict[str, float], Field(max_length=10)] = Field(
        {}, description="The least of named scores."
    )
    neutral: NameList = Field([], description="Words that a reranker does not see.")

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

    dataset: NameText = "default"
    documents: Annotated[list[GivenDocument], Field(min_length=1, max_length=MAX_ADDED_DOCUMENTS)]

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
    def _check_metadata_depth(self) -> Self:
        for document in self.documents:
            check_depth(document.metadata)
            for chunk in document.chunks or ():
                check_depth(chunk.metadata)
        return self


class ScopeParams(StrictModel):
    """Which documents, as parameters of an address."""

    dataset: NameList = Field([], description="By default all; repeatable.", examples=[["default"]])
    uri_prefix: NameText | None = Field(None, examples=["hr/"])
    filter: str | None = Field(
        None,
        max_length=MAX_URL_QUERY_CHARS,
        description="JSON, on the documents' metadata.",
        examples=['{"year": 2026}'],
    )

    def options(self) -> dict[str, Any]:
        """Return them by the names of the Python options. Raises ConfigError."""
        filter = None if self.filter is None else _parse_filter(self.filter)
        return {"datasets": self.dataset, "uri_prefix": self.uri_prefix, "filter": filter}


def _parse_filter(text: str) -> dict[str, Any]:
    try:
        value = check_depth(json.loads(text))
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise ConfigError('filter is to be a JSON object, such as {"year": 2026}')
    return value


class ListParams(ScopeParams):
    """Which documents to list, and which part of the list."""

    limit: int = Field(100, ge=1, le=1_000)
    offset: int = Field(0, ge=0, lt=2**31)


class SimilarParams(ScopeParams):
    """Among which documents to look for similar ones."""

    k: ResultLimit = 10


class ExpandParams(StrictModel):
    """How much of the text around a chunk."""

    neighbours: int = Field(1, ge=0, le=100, description="Chunks on each side.")
    whole_section: bool = Field(False, description="All that stands under the same heading.")


class JobsParams(StrictModel):
    """How many, the latest first."""

    dataset: NameList = Field([], description="By default all; repeatable.", examples=[["default"]])
    limit: int = Field(20, ge=1, le=100)
