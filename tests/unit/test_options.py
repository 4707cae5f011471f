"""The options of searches and queries: one model, and the Python signatures that repeat it."""

import inspect
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Any, get_args, get_type_hints

import pytest

from lexichord.client.lexichord import Lexichord
from lexichord.client.sync import SyncLexichord
from lexichord.errors import ConfigError
from lexichord.serve.access import ScopedClient
from lexichord.types import LlmStage, QueryOptions, SearchOptions
from lexichord.types.options import describe

# What each method takes beside the options of its model.
OTHERS: dict[str, tuple[type[SearchOptions], set[str]]] = {
    "search": (SearchOptions, {"query", "hint"}),
    "files": (SearchOptions, {"query", "hint"}),
    "keywords": (SearchOptions, {"query", "sets", "budget_ms"}),
    "similar": (SearchOptions, {"document"}),
    "list": (SearchOptions, {"limit", "offset"}),
    "count": (SearchOptions, set()),
    "query": (QueryOptions, {"query"}),
    "explain": (QueryOptions, {"query"}),
}
METHODS = [
    pytest.param(getattr(kind, name), *OTHERS[name], id=f"{kind.__name__}.{name}")
    for kind in (Lexichord, SyncLexichord, ScopedClient)
    for name in OTHERS
    if hasattr(kind, name)
]


@pytest.mark.parametrize(("method", "model", "others"), METHODS)
def test_a_signature_shows_the_options_of_the_model(
    method: Callable[..., Any], model: type[SearchOptions], others: set[str]
) -> None:
    shown = inspect.signature(method).parameters
    hints = get_type_hints(method)
    options = [name for name in shown if name not in others | {"self"}]
    assert options == [*describe(model)]
    for name, option in describe(model).items():
        assert shown[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert shown[name].default == option.default, name
        assert hints[name] == option.type, name


def test_a_parameter_that_is_no_option_of_its_method_has_the_default_of_the_model() -> None:
    for name in ("search", "files"):
        assert inspect.signature(getattr(Lexichord, name)).parameters["hint"].default is None
    keywords = inspect.signature(Lexichord.keywords).parameters
    assert keywords["budget_ms"].default == QueryOptions.budget_ms


def test_every_option_is_described() -> None:
    described = describe(QueryOptions)
    assert [*described][: len(describe(SearchOptions))] == [*describe(SearchOptions)]
    assert all(each.option.text.endswith(".") for each in described.values())
    assert described["llm_stages"].is_list
    assert described["intent"].choices[0] == "clause_lookup"
    assert described["k"].option.bounds() == {"ge": 1}
    assert described["k"].option.bounds(served=True) == {"ge": 1, "le": 1_000}
    assert described["depth"].option.bounds() == {"ge": 100, "le": 10_000}
    assert described["fallbacks"].option.bounds(served=True) == {"max_length": 10}
    assert set(QueryOptions.llm_stages) < set(get_args(LlmStage))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"colour": "red", "kk": 3}, "there is no option colour, kk"),
        ({"k": 0}, "k must be at least 1, not 0"),
        ({"k": "ten"}, "k must be a number, not 'ten'"),
        ({"depth": 99}, "depth must be between 100 and 10000, not 99"),
        ({"dense_share": 1.5}, "dense_share must be between 0 and 1, not 1.5"),
        ({"min_grade": float("nan")}, "min_grade must be between 0 and 1, not nan"),
        ({"rounds": -1}, "rounds must be at least 0, not -1"),
        ({"mode": "fuzzy"}, "there is no mode 'fuzzy': hybrid, dense, keyword"),
        ({"unit": None}, "there is no unit None: characters, tokens"),
        ({"datasets": "nda"}, r"datasets takes a list: write datasets=\['nda'\]"),
        ({"min_score": {"price": 1}}, "there is no score price: dense, keyword"),
    ],
)
def test_what_cannot_be_meant_is_an_error(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=f"^{message}"):
        QueryOptions.read(options)


def test_what_may_be_left_open_may_be_none() -> None:
    options = QueryOptions(intent=None, dense_share=None, filter=None, hint=None, llm=None)
    assert options == QueryOptions()
    assert QueryOptions.select({"self": 1, **vars(options), "k": 3}).k == 3


def test_options_do_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        QueryOptions().k = 3  # type: ignore[misc]
