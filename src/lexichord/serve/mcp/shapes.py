"""What tools give: the shapes behind their output schemas. Spans count characters, the end is out.

Names that kbbridge has mean here what they mean there; the others are lexichord's.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from lexichord.types import ChunkHit, FileHit, StoredDocument

HIGH, MEDIUM = 0.7, 0.36  # least confidence; below the second nothing is answered

Level = Literal["high", "medium", "low"]
Degraded = Annotated[list[str], Field(description="What could not be done as asked, and why.")]
Ignored = Annotated[
    dict[str, str], Field(description="Parameters and headers that have no effect here, and why.")
]


@dataclass(frozen=True, slots=True)
class Link:
    """A source that a client can read as a resource."""

    uri: str
    name: str


class Told(BaseModel):
    """What every result says of itself."""

    status: Annotated[
        Literal["ok", "timeout"], Field(description="timeout: time ran out, this is what there is.")
    ] = "ok"
    message: str | None = None
    timeout_seconds: float | None = None
    suggestions: list[str] = []
    degraded: Degraded = []
    ignored: Ignored = {}

    def links(self) -> list[Link]:
        """Give the sources, best first."""
        return []


class Passage(BaseModel):
    """A stretch of a document, verbatim. Scores: higher is better."""

    content: str
    document_name: Annotated[str, Field(description="What names it in other calls.")]
    dataset: str
    document_id: int
    chunk_id: int
    uri: str
    title: str
    heading: str
    start: int
    end: int
    page: int | None
    score: float
    scores: dict[str, Any]
    ranks: dict[str, int | None]
    context: str | None = None


class File(BaseModel):
    """A document that was found, with its score."""

    document_name: str
    dataset: str
    document_id: int
    uri: str
    title: str
    score: float
    scores: dict[str, Any]
    hits: int


class Listed(BaseModel):
    """A document in a list; `characters` is the length of its text."""

    document_name: str
    dataset: str
    document_id: int
    uri: str
    title: str
    characters: int
    chunks: int


class Retrieved(Told):
    """What `retriever` gives."""

    result: list[Passage] = []
    mode: Literal["hybrid", "dense", "keyword"] = "hybrid"
    reranked: bool = False

    def links(self) -> list[Link]:
        """Give the passages."""
        return [Link(f"chunk://{hit.chunk_id}", hit.document_name) for hit in self.result]


class Discovered(Told):
    """What `file_discover` gives: the files' names, best first, and all about them."""

    success: bool = True
    distinct_files: list[str] = []
    total_files: int = 0
    files: list[File] = []
    reranked: bool = False

    def links(self) -> list[Link]:
        """Give the documents."""
        return [Link(f"document://{file.document_id}", file.document_name) for file in self.files]


class Files(Told):
    """What `file_lister` gives: a page of `total_files`; the next starts at `next_offset`."""

    files: list[str] = []
    documents: list[Listed] = []
    total_files: int = 0
    next_offset: int | None = None


class Counted(Told):
    """What `file_count` gives; `files` are the first names."""

    has_files: bool = False
    file_count: int = 0
    files: list[str] = []


class Keywords(Told):
    """What `keyword_generator` gives."""

    keyword_sets: list[list[str]] = []


class Source(BaseModel):
    """A passage that an answer rests on: [number] in the answer."""

    number: int
    source: Annotated[str, Field(description="dataset/document › section")]
    relevance: Annotated[
        float | None, Field(description="The probability, 0 to 1, that it holds an answer.")
    ]
    document_id: int
    chunk_id: int
    uri: str
    start: int
    end: int
    page: int | None


class Structured(BaseModel):
    """An answer's sources, quotes and, for a comparison, its table."""

    sources: list[Source] = []
    quotes: Annotated[
        list[dict[str, Any]], Field(description="The best, with their spans; all if verbose.")
    ] = []
    total_quotes: int = 0
    comparison: dict[str, Any] | None = None
    unverified: Annotated[
        list[str], Field(description="What a model said that no source holds; not in the answer.")
    ] = []


class Evaluation(BaseModel):
    """How likely the evidence in and around the files found holds an answer, 0 to 1."""

    score: float
    threshold: float
    passed: bool
    should_expand_search: bool


class DatasetResult(BaseModel):
    """What one dataset gave; there is one search, not two, so `naive_result` is always null."""

    dataset_id: str
    source_path: str
    naive_result: None = None
    advanced_result: str
    candidates: list[Passage]


class Answered(Told):
    """What `assistant` gives; the last seven are there with `verbose`, or where time ran out."""

    answer: Annotated[str, Field(description="In the documents' words, or citing them as [1].")] = (
        ""
    )
    structured_answer: Structured = Structured()
    total_sources: int = 0
    confidence: Level = "low"
    confidence_score: Annotated[
        float, Field(description="Probability, 0 to 1, that the evidence holds an answer.")
    ] = 0.0
    abstained: Annotated[
        bool, Field(description="The evidence is too little to answer by: the answer is empty.")
    ] = False
    intent: str | None = None
    files: list[File] = []
    reflection: dict[str, Any] | None = None
    file_discovery_evaluation: Evaluation | None = None
    query: str | None = None
    refined_query: str | None = None
    dataset_results: list[DatasetResult] | None = None
    total_candidates: int | None = None
    text_summary: str | None = None
    debug_info: list[dict[str, Any]] | None = None
    profiling: Annotated[dict[str, float] | None, Field(description="Milliseconds by stage.")] = (
        None
    )

    def links(self) -> list[Link]:
        """Give the passages that are cited, or else the files."""
        cited = self.structured_answer.sources
        files = [Link(f"document://{file.document_id}", file.document_name) for file in self.files]
        return [Link(f"chunk://{each.chunk_id}", each.source) for each in cited] or files


def names(uris: Iterable[str]) -> dict[str, str]:
    """Give each uri its name for other calls: its last part, or itself if two share that."""
    all_uris = list(dict.fromkeys(uris))
    ends = [PurePosixPath(uri).name or uri for uri in all_uris]
    return {
        uri: end if ends.count(end) == 1 else uri for uri, end in zip(all_uris, ends, strict=True)
    }


def passages(hits: Sequence[ChunkHit], verbose: bool = False) -> list[Passage]:
    """Give hits as they are shown; `verbose` adds what was indexed beside their text."""
    named = names(hit.uri for hit in hits)
    return [
        Passage(
            document_name=named[hit.uri],
            **{**hit.to_dict(), "context": hit.context if verbose else None},
        )
        for hit in hits
    ]


def files(found: Sequence[FileHit]) -> list[File]:
    """Give files as they are shown."""
    named = names(file.uri for file in found)
    return [File(document_name=named[file.uri], **file.to_dict()) for file in found]


def listed(rows: Sequence[StoredDocument], among: Sequence[StoredDocument]) -> list[Listed]:
    """Give documents as they are shown, by names that tell them from those `among` them."""
    named = names(row.uri for row in among)
    return [Listed(document_name=named[row.uri], **row.to_dict()) for row in rows]


def level(confidence: float) -> Level:
    """Give a confidence as kbbridge does, in one word."""
    return "high" if confidence >= HIGH else "medium" if confidence >= MEDIUM else "low"
