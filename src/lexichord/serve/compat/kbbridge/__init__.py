"""kbbridge's six tools and four prompts, under their names and with their parameters.

Here: where a tool looks, and the shapes that it returns. Spans count characters, the end is out.
Names that kbbridge has mean here what they mean there; the others are lexichord's.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field

from lexichord.errors import ConfigError, NotFoundError, some_names
from lexichord.retrieve.confidence import MIN_CONFIDENCE
from lexichord.serve.access import ScopedClient
from lexichord.serve.limits import MAX_FILTER_VALUES, MAX_NAMED_DOCUMENTS
from lexichord.serve.mcp import UNPUBLISHED, SourceLink, ToolOutput
from lexichord.types import ChunkHit, FileHit, Json, StoredDocument
from lexichord.types.base import document_name

# The least of each level; below that of medium nothing is answered.
HIGH_CONFIDENCE, MEDIUM_CONFIDENCE = 0.7, MIN_CONFIDENCE

PREVIEW_CHARS = 200  # of a document's best passage

ConfidenceLevel = Literal["high", "medium", "low"]
RawScores = Annotated[dict[str, Any], Field(json_schema_extra=UNPUBLISHED)]
UNPUBLISHED_FIELD = Field(None, json_schema_extra=UNPUBLISHED)

DATASET_INFO_EXAMPLE = '[{"id": "contracts", "source_path": ""}]'


class PassageItem(BaseModel):
    """A stretch of a document, verbatim. Scores: higher is better."""

    content: str
    document_name: Annotated[str, Field(description="What names it in other calls.")]
    dataset: str
    document_id: str
    chunk_id: str
    uri: str
    title: str
    heading: str
    start: int
    end: int
    page: int | None
    score: float
    scores: RawScores
    ranks: Annotated[dict[str, int | None], Field(json_schema_extra=UNPUBLISHED)]
    context: str | None = UNPUBLISHED_FIELD


class FileItem(BaseModel):
    """A document that was found, with its score."""

    document_name: str
    dataset: str
    document_id: str
    uri: str
    title: str
    score: float
    scores: RawScores
    hits: int


class ListedFile(BaseModel):
    """A document in a list; `characters` is the length of its text."""

    document_name: str
    dataset: str
    document_id: str
    uri: str
    title: str
    characters: int
    chunks: int


class SourceItem(BaseModel):
    """A document that passages are from, with the score of its best."""

    title: str
    score: float
    document_id: str
    dataset: str


class RetrievedDocument(SourceItem):
    """The same with the beginning of that passage; the whole stands in `result`."""

    content: str


class RetrieverOutput(ToolOutput):
    """What `retriever` returns: the passages, and their documents, best first."""

    result: list[PassageItem] = Field(default=[])
    documents: list[RetrievedDocument] = Field(default=[], json_schema_extra=UNPUBLISHED)
    mode: Literal["hybrid", "dense", "keyword"] = "hybrid"
    reranked: bool = Field(default=False, json_schema_extra=UNPUBLISHED)

    def links(self) -> list[SourceLink]:
        """Return the passages."""
        return [SourceLink(f"chunk://{hit.chunk_id}", hit.document_name) for hit in self.result]


RelevantField = Annotated[list[str], Field(description="Names of the documents that are meant.")]


class FileDiscoverOutput(ToolOutput):
    """What `file_discover` returns: the files' names, best first, and all about them."""

    success: bool = Field(default=True, json_schema_extra=UNPUBLISHED)
    distinct_files: list[str] = Field(default=[])
    total_files: int = 0
    relevant_files: RelevantField = Field(default=[])
    files: list[FileItem] = Field(default=[])
    reranked: bool = Field(default=False, json_schema_extra=UNPUBLISHED)

    def links(self) -> list[SourceLink]:
        """Return the documents."""
        return _file_links(self.files)


class FileListerOutput(ToolOutput):
    """What `file_lister` returns: a page of `total_files`; the next starts at `next_offset`."""

    files: list[str] = Field(default=[])
    documents: list[ListedFile] = Field(default=[])
    total_files: int = 0
    next_offset: int | None = None


class FacetItem(BaseModel):
    """A value of a metadata key, and how many documents have it."""

    value: Any
    documents: int


class FileCountOutput(ToolOutput):
    """What `file_count` returns; `files` are the first names, `facets` are asked for with `by`."""

    has_files: bool = False
    file_count: int = 0
    files: list[str] = Field(default=[])
    facets: list[FacetItem] | None = None


class KeywordOutput(ToolOutput):
    """What `keyword_generator` returns."""

    keyword_sets: list[list[str]] = Field(default=[])


class AnswerSource(BaseModel):
    """A passage that an answer rests on: [number] in the answer."""

    number: int
    source: Annotated[str, Field(description="dataset/document › section")]
    relevance: Annotated[
        float | None, Field(description="The probability, 0 to 1, that it holds an answer.")
    ]
    document_id: str
    chunk_id: str
    uri: str
    start: int
    end: int
    page: int | None


class StructuredAnswer(BaseModel):
    """An answer's sources, quotes and, for a comparison, its table."""

    sources: list[AnswerSource] = Field(default=[])
    quotes: list[dict[str, Any]] = []  # the best, with their spans; all if verbose
    total_quotes: Annotated[int, Field(json_schema_extra=UNPUBLISHED)] = 0
    comparison: dict[str, Any] | None = None
    unverified: Annotated[
        list[str], Field(description="What a model said that no source holds.")
    ] = []


class DiscoveryEvaluation(BaseModel):
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
    candidates: list[PassageItem]


class AssistantOutput(ToolOutput):
    """What `assistant` returns; the last seven are there with `verbose`, or where time ran out."""

    answer: Annotated[str, Field(description="In the documents' words, or citing them as [1].")] = (
        ""
    )
    structured_answer: StructuredAnswer = StructuredAnswer()
    sources: list[SourceItem] = Field(
        json_schema_extra=UNPUBLISHED,
        default=[],
        description="Their documents; score: the probability that one holds an answer.",
    )
    total_sources: int = Field(default=0, json_schema_extra=UNPUBLISHED)
    confidence: ConfidenceLevel = "low"
    confidence_score: Annotated[
        float, Field(description="The probability that the evidence holds an answer.")
    ] = 0.0
    abstained: Annotated[
        bool,
        Field(description="The evidence is too little to answer by."),
    ] = False
    claimed: Annotated[
        bool, Field(description="False: the answer is none, or only what is nearest.")
    ] = False
    intent: str | None = UNPUBLISHED_FIELD
    relevant_files: RelevantField = Field(default=[])
    files: list[FileItem] = Field(default=[])
    reflection: dict[str, Any] | None = UNPUBLISHED_FIELD
    file_discovery_evaluation: DiscoveryEvaluation | None = UNPUBLISHED_FIELD
    query: str | None = UNPUBLISHED_FIELD
    refined_query: str | None = UNPUBLISHED_FIELD
    dataset_results: list[DatasetResult] | None = UNPUBLISHED_FIELD
    total_candidates: int | None = UNPUBLISHED_FIELD
    text_summary: str | None = UNPUBLISHED_FIELD
    debug_info: list[dict[str, Any]] | None = UNPUBLISHED_FIELD
    profiling: dict[str, float] | None = UNPUBLISHED_FIELD  # milliseconds by stage

    def links(self) -> list[SourceLink]:
        """Return the passages that are cited, or else the files."""
        cited = self.structured_answer.sources
        links = [SourceLink(f"chunk://{source.chunk_id}", source.source) for source in cited]
        return links or _file_links(self.files)


def _file_links(files: Sequence[FileItem]) -> list[SourceLink]:
    return [SourceLink(f"document://{file.document_id}", file.document_name) for file in files]


def short_names(uris: Iterable[str]) -> dict[str, str]:
    """Return the name of each uri for other calls: as much of its end as no other ends with."""
    ends = {uri: _ends(uri) for uri in uris}
    counts = Counter(end for each in ends.values() for end in each)
    return {uri: next((end for end in each if counts[end] == 1), uri) for uri, each in ends.items()}


def _ends(uri: str) -> list[str]:
    """Return what a uri may be named by, the shortest first: its last parts, then all of it."""
    starts = [place + 1 for place, sign in enumerate(uri[:-1]) if sign == "/"]
    return [end for start in (*reversed(starts), 0) if (end := uri[start:])[:1] != "/"]


def passage_items(hits: Sequence[ChunkHit], verbose: bool = False) -> list[PassageItem]:
    """Return hits as they are shown; `verbose` adds what was indexed beside their text."""
    names = short_names(hit.uri for hit in hits)
    return [
        PassageItem(
            document_name=names[hit.uri],
            **{**hit.to_dict(), "context": hit.context if verbose else None},
        )
        for hit in hits
    ]


def retrieved_documents(hits: Sequence[ChunkHit]) -> list[RetrievedDocument]:
    """Return the documents of hits, best first, each by its best passage."""
    best: dict[str, ChunkHit] = {}
    for hit in hits:
        best.setdefault(hit.document_id, hit)
    return [
        RetrievedDocument(
            title=document_name(hit),
            score=hit.score,
            document_id=hit.document_id,
            dataset=hit.dataset,
            content=hit.content[:PREVIEW_CHARS],
        )
        for hit in best.values()
    ]


def file_items(hits: Sequence[FileHit]) -> list[FileItem]:
    """Return files as they are shown."""
    names = short_names(file.uri for file in hits)
    return [FileItem(document_name=names[file.uri], **file.to_dict()) for file in hits]


def relevant_names(files: Sequence[FileItem], relevant: Sequence[str]) -> list[str]:
    """Return the names of the files that are relevant, by their ids."""
    return [file.document_name for file in files if file.document_id in relevant]


def listed_files(
    rows: Sequence[StoredDocument], among: Sequence[StoredDocument]
) -> list[ListedFile]:
    """Return documents as they are shown, by names that tell them from those `among` them."""
    names = short_names(row.uri for row in among)
    return [ListedFile(document_name=names[row.uri], **row.to_dict()) for row in rows]


def confidence_level(confidence: float) -> ConfidenceLevel:
    """Return a confidence as kbbridge does, in one word."""
    return (
        "high"
        if confidence >= HIGH_CONFIDENCE
        else "medium"
        if confidence >= MEDIUM_CONFIDENCE
        else "low"
    )


def _read_text(value: object) -> object:
    """Read what agents send for a text that they leave out, or for an id."""
    return "" if value is None else str(value) if isinstance(value, int) else value


TextArgument = Annotated[str, BeforeValidator(_read_text)]
DatasetArgument = Annotated[TextArgument, Field(description="A dataset's name; by default all.")]
ResourceArgument = Annotated[
    # dataset_id by its newer name
    TextArgument,
    Field(json_schema_extra=UNPUBLISHED),
]
DocumentArgument = Annotated[
    TextArgument,
    Field(description="Only documents of this name, a part of one, id or uri."),
]
FolderArgument = Annotated[
    TextArgument,
    Field(description="Only this folder, such as contracts/2024."),
]
FilterArgument = Annotated[
    Json | None,
    Field(
        description='Only documents with this metadata or media_type, as {"author": "Ann"}.',
    ),
]


@dataclass(frozen=True, slots=True)
class Folder:
    """A dataset, "" means all in reach, and a path in it, "" means everywhere."""

    dataset: str
    path: str = ""


def one_folder(resource_id: str, dataset_id: str, path: str = "") -> Folder:
    """Return the folder of a tool that looks in one dataset. Raises ConfigError."""
    if resource_id and dataset_id and resource_id != dataset_id:
        raise ConfigError("dataset_id and resource_id name the same thing: leave one out")
    return Folder(resource_id or dataset_id, path)


def read_folders(info: str | Sequence[object] | None, resource_id: str) -> list[Folder]:
    """Read dataset_info, JSON or what it would be, or else resource_id. Raises ConfigError."""
    if info is None or info == "":
        return [Folder(resource_id)]
    if resource_id:
        raise ConfigError("dataset_info and resource_id name the same thing: leave one out")
    try:
        items = json.loads(info) if isinstance(info, str) else info
    except (ValueError, RecursionError):
        items = None
    parsed = [_folder(item) for item in items] if isinstance(items, list | tuple) else []
    folders = [folder for folder in parsed if folder is not None]
    if len(folders) > MAX_FILTER_VALUES:  # each is looked up by itself
        raise ConfigError(f"dataset_info names at most {MAX_FILTER_VALUES} folders")
    if not folders or len(folders) < len(parsed):
        raise ConfigError(
            f"dataset_info is a JSON list of datasets with their folders: {DATASET_INFO_EXAMPLE}"
        )
    return folders


def _folder(item: object) -> Folder | None:
    members = item if isinstance(item, dict) else {}
    dataset, path = members.get("id"), members.get("source_path") or ""
    return Folder(dataset, path) if isinstance(dataset, str) and isinstance(path, str) else None


async def scope_options(
    scoped: ScopedClient,
    folders: Sequence[Folder],
    document: str = "",
    filter: Json | None = None,
) -> dict[str, Any]:
    """Return the options of a search that looks in these folders, or in one document there.

    A folder is what documents' uris begin with, or one or more whole folder names inside them:
    "2024" and "contracts/2024" both mean /home/ann/contracts/2024/nda.txt. Raises ConfigError,
    NotFoundError.
    """
    options: dict[str, Any] = {} if filter is None else {"filter": filter}
    if all(folder.dataset for folder in folders):
        options["datasets"] = list(dict.fromkeys(folder.dataset for folder in folders))
    if not document and not any(folder.path for folder in folders):
        return options
    documents = [await documents_in(scoped, folder) for folder in folders]
    for folder, rows in zip(folders, documents, strict=True):
        if folder.path and not rows:
            raise NotFoundError(
                f"no document lies in '{folder.path}': file_lister shows the documents' names"
            )
    rows = [row for some in documents for row in some]
    prefixes = {uri_prefix(row.uri, folders[0].path) for row in rows}
    if document:
        options["documents"] = _ids(named_documents(rows, document))
    elif len(folders) == len(prefixes) == 1:
        options["uri_prefix"] = prefixes.pop()
    else:
        options["documents"] = _ids(rows)
    return options


def named_documents(rows: Sequence[StoredDocument], name: str) -> list[StoredDocument]:
    """Return the documents that a name means. Raises NotFoundError.

    It is an id, a uri or the end of one, or else, as in kbbridge, a part of files' names.
    """
    end = f"/{name.lstrip('/')}"
    part = name.casefold()
    documents = (
        [row for row in rows if name in (row.uri, row.document_id)]
        or [row for row in rows if row.uri.endswith(end)]
        or [row for row in rows if part in row.uri.rpartition("/")[2].casefold()]
    )
    if not documents:
        names = some_names({row.uri.rpartition("/")[2] for row in rows}, [name])
        raise NotFoundError(f"there is no document '{name}' here: take one of {names or 'none'}")
    return documents


async def documents_in(
    scoped: ScopedClient, folder: Folder, filter: Json | None = None
) -> list[StoredDocument]:
    """List the documents of a folder, none if it has none. Raises NotFoundError for a dataset."""
    datasets = [folder.dataset] if folder.dataset else None
    rows = await scoped.list(datasets=datasets, filter=filter)
    return [row for row in rows if not folder.path or uri_prefix(row.uri, folder.path)]


def uri_prefix(uri: str, path: str) -> str:
    """Return the part of a uri that ends with a folder, "" if it does not lie in it.

    What a uri begins with counts as well, for uris that are names given by the user.
    """
    inner = path.strip("/")
    for whole in (f"{path.rstrip('/')}/", f"{inner}/"):
        if uri.startswith(whole):
            return whole
    before, within, _ = uri.partition(f"/{inner}/")
    if within and inner:
        return f"{before}{within}"
    return path if uri.startswith(path) else ""


def _ids(rows: Sequence[StoredDocument]) -> list[str]:
    ids = list(dict.fromkeys(row.document_id for row in rows))
    if len(ids) > MAX_NAMED_DOCUMENTS:
        raise ConfigError(f"that means {len(ids)} documents: name one folder, or fewer documents")
    return ids
