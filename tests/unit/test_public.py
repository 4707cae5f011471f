"""What users meet: every public name is described and typed, every result can be JSON."""

import inspect
import json
from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any, get_args, get_origin, get_type_hints, is_typeddict

import pytest

import lexichord
from lexichord import types
from lexichord.client.lexichord import Lexichord
from lexichord.client.sync import SyncLexichord
from lexichord.types.evaluation import Evaluation
from tests.builders import EVALUATED, HIT, RESPONSE, RESULTS, RUN, STATUS

FOR_BUILDERS = (
    "find_embedder",
    "resolve",
    "scope",
    "worker",
)  # who changes the application, not uses it
NO_JSON = (types.Original,)  # a file's bytes
RECORDS = [
    each
    for name in types.__all__
    if inspect.isclass(each := getattr(types, name)) and each.__module__.startswith("lexichord")
]


def methods(kind: type) -> list[tuple[str, Callable[..., Any]]]:
    functions = inspect.getmembers(kind, inspect.isfunction)
    return [(name, each) for name, each in functions if not name.startswith("_")]


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
    parameters = [name for name in inspect.signature(method).parameters if name != "self"]
    assert set(parameters) - {"app"} <= set(hints)
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
    types = [what_is_in(get_type_hints(method)["return"]) for _, method in named]
    assert set().union(*types) == {*map(type, RESULTS), *NO_JSON}


@pytest.mark.parametrize("record", RESULTS, ids=lambda record: type(record).__name__)
def test_every_result_can_be_written_as_json(record: Any) -> None:
    shape = record.to_dict()
    assert json.loads(json.dumps(shape, allow_nan=False)).keys() == shape.keys()


def test_a_shape_holds_every_field() -> None:
    for record in (*RESULTS[:2], RESPONSE):
        assert json.loads(json.dumps(record.to_dict())) == record.to_dict()
    shape = RESPONSE.to_dict()
    assert [*shape] == [*RESPONSE.__dataclass_fields__]
    assert [[*each.to_dict()] for each in RESULTS[:2]] == [
        *(["query", "hits", "degraded"], ["query", "files", "degraded"])
    ]
    assert shape["intent"]["documents"] == ["doc_2"]
    assert shape["comparison"]["cells"][0]["found"] is True
    assert shape["reflection"]["grades"] == [{"name": "g", "score": 1, "reason": ""}]
    assert types.Status(**STATUS).to_dict()["runs"][0]["started_at"] == "2026-11-21T12:00:00+00:00"


def test_an_ingest_is_a_job_to_those_who_ask_over_a_network() -> None:
    run, job = RUN.to_dict(), RUN.to_job()
    assert [*job] == [
        *("job_id", "dataset", "state", "total", "done", "inserted", "replaced", "skipped"),
        *("failed", "deleted", "failures", "unread", "in_progress"),
        *("started_at", "seen_at", "finished_at"),
    ]
    assert job.pop("job_id") == run.pop("run_id")
    assert {**job, "source": "folder"} == run


def test_what_is_printed_is_short() -> None:
    for record in (types.SearchResult("q" * 500, [HIT] * 50, []), RESPONSE):
        assert len(repr(record)) < 200
    assert repr(RESPONSE) == "<Response to 'q': 1 file, 1 hit, 1 quote, confidence 0.00>"
    assert str(types.SearchResult("q", [], ["by words"])) == "degraded: by words\nnothing found"
    assert str(HIT) == "0.5  Lease › Rent  a/lease.md:10-14"


def test_an_evaluation_as_a_table() -> None:
    evaluation = Evaluation((EVALUATED,), failures=("keyword: gate failed",))
    assert evaluation.means == {"keyword": {"pass@5": 1.0}}
    assert evaluation.runs[0].milliseconds == {"p50": 2.0, "p95": 2.0}
    assert str(evaluation).splitlines()[:4] == [
        "keyword: gate failed",
        "|  | keyword |",
        "| --- | --- |",
        "| pass@5 | 1.0000 |",
    ]
    assert str(Evaluation(())) == "|  |\n| --- |\n| failed |\n| run |"
