"""What users meet: every public name is described and typed, every result can be JSON."""

import inspect
import json
from collections.abc import Callable
from dataclasses import is_dataclass
from datetime import UTC, datetime
from typing import Any, get_args, get_origin, get_type_hints, is_typeddict

import pytest

import lexichord
from lexichord import types
from lexichord.client.copy import Copied
from lexichord.client.lexichord import Lexichord
from lexichord.client.sync import SyncLexichord
from lexichord.ingest.llm_context.backfill import Contextualized
from lexichord.ingest.reembed import Reembedded
from lexichord.ingest.report import Report, Written
from lexichord.types.evaluation import (
    Change,
    Difference,
    EvalQuery,
    Evaluation,
    Outcome,
    Passage,
    Run,
    Span,
)
from lexichord.types.generation import Usage
from lexichord.types.reflection import Coverage, Grade, Reflection, Round
from tests.unit.test_types import FILE, HIT

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
DOCUMENT = types.StoredDocument(1, "d", "a.md", "A", "text/markdown", 4, 1, {"year": 2024}, NOW)
CHUNK = types.StoredChunk(1, 0, "Rent", 0, 4, None, "text", "A", "", {}, True)
QUOTE = types.Quote.of(HIT)
CELL = types.Cell(2, "rent", (QUOTE,), ("EUR 5",), 0.9)
RESPONSE = types.Response(
    "q",
    types.Intent("comparison", "rent", documents=(2,), entities=("Lease",)),
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
    trace=[{"stage": "search", "given": {"variants": ("original",)}, "ms": 1.5}],
)
RUN = types.IngestRun(
    *(1, "d", "folder", "finished", NOW, NOW, None, 1, 1), *(1, 0, 0, 0, 0), {"a": "no text"}
)
CHANGE = types.SpaceChange(1, "filling", "a/b/4", "c/d/4", "c/d/4", 9, 3, 6, None, NOW, NOW, None)
STATUS: dict[str, Any] = {
    "engine": "pgvector",
    "text_config": "english",
    "space": "a/b/4",
    "migration": 11,
    "datasets": 1,
    "documents": 1,
    "chunks": 1,
    "chunks_without_vector": 0,
    "keyword_index_is_stale": False,
    "bytes": 2**20,
    "embedder": None,
    "by_dataset": [types.StoredDataset("d", 1, 1)],
    "runs": [RUN],
    "reembed": CHANGE,
    "degraded": ["no embedder"],
}
KEY = types.ApiKey(1, "ci", ("d",), False, NOW, None)
EVALUATED = Run(
    *(None, "small", "keyword", {"milliseconds": "without embedding"}, (5,)),
    queries=(EvalQuery("1", "where?", spans=(Span("a.md", 0, 4),)),),
    outcomes=(Outcome("1", (Passage("a.md", 0, 4, 0, 1.0),), milliseconds=2.0),),
    metrics={"pass@5": (1.0,), "map": (None,)},
    qps={4: 100.0},
    started_at=NOW,
)
# One of each record that a method gives.
GIVEN = (
    types.SearchResult("q", [HIT], ["by words only"]),
    types.FilesResult("q", [FILE], []),
    types.KeywordSets("q", [["a", "b"]], []),
    RESPONSE,
    types.Explanation(RESPONSE),
    types.Documents([DOCUMENT]),
    types.ShownDocument(DOCUMENT, "text", [CHUNK]),
    types.Excerpt(1, 2, "a.md", "A", "Rent", 0, 4, "text"),
    types.StoredDataset("d", 1, 1),
    types.Status(**STATUS),
    types.Health(
        **STATUS,
        server=[types.Version("postgres", "17.9")],
        indexes=[types.IndexUse("chunk_bm25", True, "Index Scan")],
        faults=[types.Fault("wrong corpus counts", 0)],
        problems=[types.Problem("stale", "reindex")],
    ),
    types.IndexUse("chunk_hnsw", False, None),
    types.Exported("ns", 1, 2, []),
    types.Rights(("d",), False, 1),
    KEY,
    types.NewApiKey(KEY, "lx_secret"),
    Report(1, failed={"a": "no text"}, usage=Usage(1, 2, 3, None), llm=Written("m")),
    Copied("d", 1, copied=2),
    Reembedded("a/b/4", comparison={"overlap": 0.5}),
    Contextualized(True, Written("m", failed={"a": "refused"})),
    Evaluation((EVALUATED,), (Change(1, 2, "keyword", "mrr", Difference(0.1, 0, 0.2, True)),)),
)

FOR_BUILDERS = ("find_embedder", "resolve", "scope")  # who changes the application, not uses it
RECORDS = [
    each
    for name in types.__all__
    if inspect.isclass(each := getattr(types, name)) and each.__module__.startswith("lexichord")
]


def methods(kind: type) -> list[tuple[str, Callable[..., Any]]]:
    found = inspect.getmembers(kind, inspect.isfunction)
    return [(name, each) for name, each in found if not name.startswith("_")]


APPLICATIONS = [
    pytest.param(kind, method, id=f"{kind.__name__}.{name}")
    for kind in (Lexichord, SyncLexichord)
    for name, method in methods(kind)
]


def what_is_in(hint: Any) -> set[type]:
    """The classes of ours that a return type is made of."""
    if inspect.isclass(hint) and get_origin(hint) is None:
        is_ours = hint.__module__.startswith("lexichord")
        return {hint} if is_ours else set()
    return set().union(*map(what_is_in, get_args(hint)))


def test_every_public_name_is_described() -> None:
    assert lexichord.__doc__
    assert all(getattr(lexichord, name).__doc__ for name in lexichord.__all__)


@pytest.mark.parametrize(("kind", "method"), APPLICATIONS)
def test_every_method_is_described_and_typed(kind: type, method: Callable[..., Any]) -> None:
    assert method.__doc__
    hints = get_type_hints(method)
    given = [name for name in inspect.signature(method).parameters if name != "self"]
    assert set(given) - {"app"} <= set(hints)
    assert "return" in hints


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_every_record_is_described(record: type) -> None:
    assert is_dataclass(record) or is_typeddict(record) or issubclass(record, list | types.Shaped)
    assert record.__doc__
    assert not record.__doc__.startswith(f"{record.__name__}(")  # what dataclasses write themselves
    members = inspect.getmembers(record, lambda each: isinstance(each, property))
    assert all(each.__doc__ for _, each in [*methods(record), *members])


def test_every_result_is_among_the_records_here() -> None:
    named = [(name, method) for name, method in methods(Lexichord) if name not in FOR_BUILDERS]
    found = [what_is_in(get_type_hints(method)["return"]) for _, method in named]
    assert set().union(*found) == {*map(type, GIVEN)}


@pytest.mark.parametrize("record", GIVEN, ids=lambda record: type(record).__name__)
def test_every_result_can_be_written_as_json(record: Any) -> None:
    shape = record.to_dict()
    assert json.loads(json.dumps(shape, allow_nan=False)).keys() == shape.keys()


def test_a_shape_holds_every_field() -> None:
    shape = RESPONSE.to_dict()
    assert [*shape] == [*RESPONSE.__dataclass_fields__]
    assert shape["intent"]["documents"] == [2]
    assert shape["comparison"]["cells"][0]["found"] is True
    assert shape["reflection"]["grades"] == [{"name": "g", "score": 1, "reason": ""}]
    assert types.Status(**STATUS).to_dict()["runs"][0]["started_at"] == "2026-11-21T12:00:00+00:00"


def test_an_ingest_is_a_job_to_those_who_ask_over_a_network() -> None:
    run, job = RUN.to_dict(), RUN.to_job()
    assert [*job] == [
        *("job_id", "dataset", "state", "total", "done", "inserted", "replaced", "skipped"),
        *("failed", "deleted", "failures", "started_at", "seen_at", "finished_at"),
    ]
    assert job.pop("job_id") == run.pop("run_id")
    assert {**job, "source": "folder"} == run


def test_what_is_printed_is_short() -> None:
    for record in (types.SearchResult("q" * 500, [HIT] * 50, []), RESPONSE):
        assert len(repr(record)) < 200
    assert repr(RESPONSE) == "<Response to 'q': 1 files, 1 hits, 1 quotes, confidence 0.00>"
    assert str(types.SearchResult("q", [], ["by words"])) == "degraded: by words\nnothing found"
    assert str(HIT) == "0.5  Lease › Rent  a/lease.md:10-14"


def test_an_evaluation_as_a_table() -> None:
    found = Evaluation((EVALUATED,), failures=("keyword: gate failed",))
    assert found.means == {"keyword": {"pass@5": 1.0}}
    assert found.runs[0].milliseconds == {"p50": 2.0, "p95": 2.0}
    assert str(found).splitlines()[:4] == [
        "keyword: gate failed",
        "|  | keyword |",
        "| --- | --- |",
        "| pass@5 | 1.0000 |",
    ]
    assert str(Evaluation(())) == "|  |\n| --- |\n| failed |\n| run |"
