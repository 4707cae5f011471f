"""The options of searches and queries: one model, and the Python signatures that repeat it."""

import inspect
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any, Unpack, get_args, get_type_hints

import numpy as np
import pytest

from lexichord.cli.options import QUERY_OPTIONS
from lexichord.client.lexichord import Lexichord
from lexichord.client.sync import SyncLexichord
from lexichord.errors import ConfigError
from lexichord.serve.access import ScopedClient
from lexichord.serve.compat.kbbridge.assistant import assistant
from lexichord.serve.http.bodies import QueryBody, ReflectBody
from lexichord.types import LlmStage, QueryOptions, ReflectOptions, ScopeOptions, SearchOptions
from lexichord.types.query_options import (
    QueryArguments,
    ScopeArguments,
    SearchArguments,
    describe,
    several,
)

# What each method takes beside the options of its model.
OTHERS: dict[str, tuple[type[ScopeOptions], object]] = {
    "search": (SearchOptions, SearchArguments),
    "files": (SearchOptions, SearchArguments),
    "keywords": (SearchOptions, SearchArguments),
    "similar": (ScopeOptions, ScopeArguments),
    "list": (ScopeOptions, ScopeArguments),
    "count": (ScopeOptions, ScopeArguments),
    "query": (QueryOptions, QueryArguments),
    "stream": (QueryOptions, QueryArguments),
}
METHODS = [
    pytest.param(getattr(kind, name), *OTHERS[name], id=f"{kind.__name__}.{name}")
    for kind in (Lexichord, SyncLexichord, ScopedClient)
    for name in OTHERS
    if hasattr(kind, name)
]


@pytest.mark.parametrize(("method", "model", "arguments"), METHODS)
def test_a_method_takes_the_options_of_the_model(
    method: Callable[..., Any], model: type[ScopeOptions], arguments: type
) -> None:
    assert get_type_hints(method)["options"] == Unpack[arguments]
    types = {name: each.type for name, each in describe(model).items()}
    assert get_type_hints(arguments) == types


def test_all_surfaces_take_the_same_options_of_a_query() -> None:
    model = describe(QueryOptions)
    assert len(model) <= 18
    body, flags = QueryBody.model_fields, QUERY_OPTIONS.cli_options
    assert set(body) == {*model, "query", "stream"}
    assert set(flags) == set(model)
    for name, each in model.items():
        sent = list(each.default) if each.is_list and each.default is not None else each.default
        assert body[name].default == sent, name
        assert body[name].description == each.option.text, name
        kind, default = get_args(flags[name][0])[0], flags[name][1]
        assert default == (None if each.is_list else each.default), name
        assert each.is_list or name in ("filter", "reflect") or kind == each.type, name
    reflect = describe(ReflectOptions)
    assert {n: f.default for n, f in ReflectBody.model_fields.items()} == {
        n: each.default for n, each in reflect.items()
    }


def test_what_a_tool_of_mcp_shares_with_a_query_has_its_defaults_and_bounds() -> None:
    taken = inspect.signature(assistant).parameters
    assert taken["max_reflection_iterations"].default == ReflectOptions.rounds
    names = {"query_rewriting": "rewrite", "reflection": "reflect"}
    for theirs, name in names.items():
        assert bool(taken[f"enable_{theirs}"].default) == getattr(QueryOptions, name)
    assert taken["risk"].default is QueryOptions.risk


def test_every_option_is_described() -> None:
    described = describe(QueryOptions)
    assert [*described][: len(describe(ScopeOptions))] == [*describe(ScopeOptions)]
    assert all(each.option.text.endswith(".") for each in described.values())
    assert described["llm_stages"].is_list
    assert described["intent"].choices[0] == "clause_lookup"
    assert described["k"].option.bounds() == {"ge": 1}
    assert described["k"].option.bounds(served=True) == {"ge": 1, "le": 1_000}
    assert describe(SearchOptions)["depth"].option.bounds() == {"ge": 100, "le": 10_000}
    assert described["fallbacks"].option.bounds(served=True) == {"max_length": 10}
    assert set(QueryOptions.llm_stages) < set(get_args(LlmStage))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"colour": "red", "kk": 3}, "there is no option colour, kk: did you mean k?"),
        ({"dataset": "x"}, r"there is no option dataset: did you mean datasets\?"),
        ({"zzzz": "x"}, "there is no option zzzz$"),
        ({"k": 0}, "k must be at least 1, not 0"),
        ({"depth": 99}, "depth must be between 100 and 10000, not 99"),
        ({"dense_share": 1.5}, "dense_share must be between 0 and 1, not 1.5"),
        ({"mode": "fuzzy"}, "there is no mode 'fuzzy': hybrid, dense, keyword"),
        ({"datasets": b"nda"}, "datasets takes a list, not b'nda'"),
        ({"k": 2.5}, "k must be a whole number, not 2.5"),
        ({"k": True}, "k must be a number, not True"),
        ({"k": 40_000}, "k must be between 1 and 10000, not 40000"),
        (
            {"k": 101, "depth": 100},
            r"k \(101\) is more than the 100 candidates of a channel",
        ),
        ({"reflect": {"round": 1}}, "there is no option round"),
        ({"reflect": {"rounds": -1}}, "rounds must be at least 0, not -1"),
        ({"reflect": 3}, "reflect takes True, False or when to end, not 3"),
        ({"k": 2**31, "depth": 10_000}, "k must be at most 2147483647, not 2147483648"),
        ({"dense_share": False}, "dense_share must be a number, not False"),
        ({"budget_ms": float("nan")}, "budget_ms must be at least 0, not nan"),
        ({"rewrite": "foo"}, "rewrite must be True or False, not 'foo'"),
        ({"answer": 1}, "answer must be True or False, not 1"),
        ({"hint": 3}, "hint must be a text, not 3"),
        ({"hint": ""}, "the hint is empty: leave it out"),
        ({"datasets": [1]}, "datasets takes a list of texts, not 1 in it"),
        ({"datasets": []}, "datasets is an empty list: name one at least, or leave it out for all"),
        ({"fallbacks": ["a", ""]}, "the fallback is empty: leave it out"),
        ({"fallbacks": {"a": 1}}, r"fallbacks takes a list, not \{'a': 1\}"),
        ({"filter": "year"}, "filter must be an object as JSON has it, not 'year'"),
        ({"filter": {"day": date(2024, 1, 1)}}, "filter cannot be written as JSON: Object of type"),
        ({"filter": {"year": float("nan")}}, "filter cannot be written as JSON: Out of range"),
    ],
)
def test_what_cannot_be_meant_is_an_error(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=f"^{message}"):
        (SearchOptions if {"depth", "dense_share"} & options.keys() else QueryOptions).read(options)


def test_what_may_be_left_open_may_be_none() -> None:
    options = QueryOptions(intent=None, filter=None, hint=None, risk=None)
    assert options == QueryOptions()


def test_numbers_and_lists_of_other_libraries_are_taken() -> None:
    options = QueryOptions(
        k=np.int64(3),  # type: ignore[arg-type]
        datasets=np.array(["a"]),  # type: ignore[arg-type]
        documents=(name for name in ("nda.txt", "doc_7")),  # type: ignore[arg-type]
        risk=1,
    )
    assert (options.k, type(options.k)) == (3, int)
    assert (options.datasets, options.documents) == (("a",), ("nda.txt", "doc_7"))
    assert options.risk == 1.0


async def test_an_option_of_other_methods_is_refused_by_name() -> None:
    closed = Lexichord(embedding="none")
    with pytest.raises(ConfigError, match="list does not take depth, k: leave it out"):
        await closed.list(k=3, depth=100)  # type: ignore[call-arg]
    with pytest.raises(ConfigError, match="count does not take mode: leave it out"):
        await closed.count(mode="dense")  # type: ignore[call-arg]
    with pytest.raises(ConfigError, match="there is no option kk"):
        await closed.list(kk=3)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda closed: closed.query(3), "the query must be a text, not 3"),
        (lambda closed: closed.search(""), "the query is empty"),
        (lambda closed: closed.search("a", hint=3), "the hint must be a text, not 3"),
        (lambda closed: closed.keywords("a", sets=2.5), "sets must be a whole number, not 2.5"),
        (lambda closed: closed.similar(1, k=2**31), "k must be at most 2147483647"),
        (lambda closed: closed.list(offset=-1), "offset must be at least 0, not -1"),
    ],
)
async def test_what_cannot_be_asked_is_an_error_before_the_database_is(
    ask: Callable[[Any], Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=f"^{message}"):
        await ask(Lexichord(embedding="none"))


def test_a_single_text_is_a_list_of_one() -> None:
    read = QueryOptions(datasets="nda", documents="a.md", fallbacks="overview")
    assert (read.datasets, read.documents, read.fallbacks) == (("nda",), ("a.md",), ("overview",))
    path, texts = Path("a.md"), iter(["a"])
    assert [[*several(each)] for each in ("abc", path, {"a": 1}, ["a", "b"], texts)] == [
        *(["abc"], [path], [{"a": 1}], ["a", "b"], ["a"])
    ]
    with pytest.raises(ConfigError, match="bytes are neither"):
        several(b"abc")
