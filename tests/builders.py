"""One of each record, and small sets of documents and questions, for the tests to build on."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from lexichord import types
from lexichord.client.copy import Copied
from lexichord.ingest.llm_context.backfill import Contextualized
from lexichord.ingest.report import ContextReport, Report
from lexichord.ingest.vectors import Reembedded
from lexichord.types import ChunkHit, FileHit, Json
from lexichord.types.evaluation import (
    Calibrated,
    Change,
    Difference,
    EvalQuery,
    EvalSet,
    Evaluation,
    EvaluationRun,
    EvidenceSpan,
    Outcome,
    RankedPassage,
)
from lexichord.types.questions import Usage
from lexichord.types.response import (
    AnswerEvent,
    Coverage,
    DraftEvent,
    EvidenceEvent,
    FilesEvent,
    Grade,
    Reflection,
    Round,
)
from lexichord.types.state import FileProgress

HIT = ChunkHit(
    chunk_id="chunk_1",
    document_id="doc_2",
    dataset="default",
    uri="a/lease.md",
    title="Lease",
    heading="Rent",
    start=10,
    end=14,
    page=None,
    content="text",
    context="Lease › Rent",
    score=0.5,
    scores=types.HitScores(dense=0.9, keyword=None, fused=0.5),
    ranks={"dense": 1, "keyword": None},
)
FILE = FileHit("doc_2", "default", "a/lease.md", "Lease", 0.7, {"chunks": 0.6, "card": None}, 3)
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
DOCUMENT = types.StoredDocument(
    "doc_1", "d", "a.md", "A", "text/markdown", 4, 1, {"year": 2024}, NOW
)
CHUNK = types.StoredChunk("chunk_1", 0, "Rent", 0, 4, None, "text", "A", "", {}, True)
QUOTE = types.Quote.of(HIT)
CELL = types.Cell("doc_2", "rent", (QUOTE,), ("EUR 5",), 0.9)
RESPONSE = types.Response(
    "q",
    types.Intent("comparison", "rent", documents=("doc_2",), entities=("Lease",)),
    files=[FILE],
    hits=[HIT],
    context="[1] text",
    sources=[types.ContextSource.of(1, QUOTE)],
    quotes=(QUOTE,),
    comparison=types.Comparison(("rent",), (FILE,), (CELL,)),
    reflection=Reflection(
        Coverage(0.5, ("rent",)), "no rounds", (Round("q", "r", 1.0),), grades=(Grade("g", 1, ""),)
    ),
    timings_ms={"search": 1.5},
    trace=[types.Step("search", {"variants": ("original",)}, ms=1.5)],
)
RUN = types.IngestRun(
    *(1, "d", "folder", "finished", NOW, NOW, None, 1, 1),
    *(1, 0, 0, 0, 0),
    {"a": "no text"},
    {".png": 2},
    {"b": FileProgress(9, 3)},
)
CHANGE = types.SpaceChange(
    1, "filling", "a/b/4", "c/d/4", "c/d/4", 9, 3, 6, None, NOW, NOW, None, False
)
STATUS: dict[str, Any] = {
    "engine": "plain",
    "text_config": "english",
    "space": "a/b/4",
    "migration": 11,
    "datasets": 1,
    "documents": 1,
    "chunks": 1,
    "chunks_without_vector": 0,
    "outdated_documents": 0,
    "bytes": 2**20,
    "embedder": None,
    "confidence": "by words: there is no embedder",
    "by_dataset": [types.StoredDataset("d", 1, 1)],
    "runs": [RUN],
    "reembed": CHANGE,
    "degraded": ["no embedder"],
}
KEY = types.ApiKey(1, "ci", ("d",), True, False, False, 60, NOW, NOW, None, NOW, None, True)
EVALUATED = EvaluationRun(
    *(None, "small", "keyword", {"milliseconds": "without embedding"}, (5,)),
    queries=(EvalQuery("1", "where?", spans=(EvidenceSpan("a.md", 0, 4),)),),
    outcomes=(Outcome("1", (RankedPassage("a.md", 0, 4, 0, 1.0),), milliseconds=2.0),),
    metrics={"pass@5": (1.0,), "map": (None,)},
    qps={4: 100.0},
    started_at=NOW,
)


# One of each record that a method gives.
RESULTS = (
    types.SearchResult("q", [HIT], ["by words only"]),
    types.FilesResult("q", [FILE], []),
    types.KeywordSets("q", [["a", "b"]], []),
    RESPONSE,
    FilesEvent(RESPONSE.intent, [FILE]),
    EvidenceEvent(0.5, False, "context", RESPONSE.sources, RESPONSE.quotes),
    DraftEvent(0, "It is"),
    AnswerEvent.of(RESPONSE),
    types.Explanation(RESPONSE),
    types.Documents([DOCUMENT]),
    types.ShownDocument(DOCUMENT, "text", [CHUNK]),
    types.PageBox(1, 0.1, 0.2, 0.3, 0.4),
    types.PageSize(1, 595.3, 841.9),
    types.Excerpt("chunk_1", "doc_2", "a.md", "A", "Rent", 0, 4, "text"),
    types.StoredDataset("d", 1, 1),
    types.Facet("text/plain", 2),
    Calibrated("a/b/4", 30, 20, 0.9, 0.05, 0.8),
    types.Status(**STATUS),
    types.Health(
        **STATUS,
        server=[types.Version("postgres", "17.9")],
        extension_faults=[
            types.ExtensionFault("vector", "0.8.2", "misses", "0.8.3", "warn", "install it")
        ],
        indexes=[types.IndexUse("keyword_bm25", True, "Index Scan")],
        faults=[types.Fault("wrong corpus counts", 0)],
        advice=[types.Problem("jit is on: with off it is faster", "alter system set jit = off;")],
        problems=[types.Problem("index chunk_hnsw is missing", "build it")],
    ),
    types.IndexUse("chunk_hnsw", False, None),
    types.IndexedTable("public.a", "a", 1, 2, False, NOW, 0, None),
    types.Exported("ns", 1, 2, []),
    types.JudgedSet("leave", 12, 340),
    types.TrainingTriplet("who pays", "The tenant pays.", "The landlord insures."),
    types.Rights(("d",), False, 1),
    KEY,
    types.NewApiKey(KEY, "lx_secret"),
    types.Tenant("acme", ("d",), (), 1, NOW),
    types.ApiCall(NOW, 1, "ci", "search", ("d",), 200, None),
    Report(1, failed={"a": "no text"}, usage=Usage(1, 2, 3, None), llm=ContextReport("m")),
    Copied("d", 1, copied=2),
    Reembedded("a/b/4", comparison={"overlap": 0.5}),
    Contextualized(True, ContextReport("m", failed={"a": "refused"})),
    Evaluation((EVALUATED,), (Change(1, 2, "keyword", "mrr", Difference(0.1, 0, 0.2, True)),)),
)


def scored_hit(chunk_id: str, dense: float | None) -> ChunkHit:
    return ChunkHit(
        chunk_id=chunk_id,
        document_id="doc_1",
        dataset="d",
        uri="u",
        title="t",
        heading="h",
        start=0,
        end=1,
        page=None,
        content="c",
        context="",
        score=1.0,
        scores=types.HitScores(dense, keyword=1.0, fused=1.0),
        ranks={},
    )


WORDS = ["ember", "lagoon", "quartz", "thistle", "walrus", "zephyr", "bramble", "cobalt"]


def word_text(word: str) -> str:
    return f"All about the {word} stands here, and the {word} is told of nowhere else.\n"


def word_uri(word: str) -> str:
    return f"texts/{word}.txt"


def word_query(word: str, **more: object) -> EvalQuery:
    gold = EvidenceSpan(word_uri(word), 0, len(word_text(word)) - 1)
    return EvalQuery(f"q-{word}", f"where is the {word}?", spans=(gold,), **more)  # type: ignore[arg-type]


def small_set(
    queries: Sequence[EvalQuery] | None = None, documents: Sequence[Json] | None = None
) -> EvalSet:
    word_documents = [{"uri": word_uri(word), "text": word_text(word)} for word in WORDS]
    word_queries = [word_query(word) for word in WORDS] if queries is None else queries
    return EvalSet("small", word_documents if documents is None else documents, tuple(word_queries))
