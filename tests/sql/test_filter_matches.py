"""filter_matches and check_filter against the same rules written in Python."""

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from tests.sql.corpus import Connection, call, value

ALIASES = {
    "=": "eq",
    "is": "eq",
    "≠": "ne",
    "is not": "ne",
    ">": "gt",
    "≥": "gte",
    "<": "lt",
    "≤": "lte",
    "not in": "nin",
}
DATES = {
    "2026-01-31": datetime(2026, 1, 31, tzinfo=UTC),
    "2026-01-31T12:00:00Z": datetime(2026, 1, 31, 12, tzinfo=UTC),
    "2026-01-31T12:00:00+02:00": datetime(2026, 1, 31, 10, tzinfo=UTC),
    "0001-01-01": datetime(1, 1, 1, tzinfo=UTC),
    "9999-12-31T23:59:59.999999Z": datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
}
MISSING = object()

TEXTS = ["", "a", "ab", "b", "ba", "é", "Z", "1", "%", "'", "2026-13-01", *DATES]
NUMBERS = [0, 1, 1.0, -1, 2.5, 1e300, 10**30, -0.0, 0.1]
OTHERS = [None, True, False, [], {}, ["a"], ["ab", 1], [["a"]], [1.0], {"a": "ab"}, {"a": ["a"]}]
POOL = [*TEXTS, *NUMBERS, *OTHERS]
OPERATORS: dict[str, Sequence[Any]] = {
    "eq|ne": POOL,
    "in|nin": [[], *([each, "b"] for each in POOL)],
    "gt|gte|lt|lte": [*TEXTS, *NUMBERS],
    "contains|not contains|start with|end with": TEXTS,
    "before|after": sorted(DATES),
    "empty|not empty": [None],
}

texts = st.sampled_from(TEXTS)
numbers = st.sampled_from(NUMBERS)
scalars = st.none() | st.booleans() | numbers | texts
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=4,
)
keys = st.sampled_from("abc")
documents = st.dictionaries(keys, values)


def spellings(names: str) -> list[str]:
    """Give the operators with their aliases."""
    operators = names.split("|")
    return operators + [alias for alias, name in ALIASES.items() if name in operators]


conditions = st.one_of(
    *(
        st.fixed_dictionaries(
            {"key": keys, "op": st.sampled_from(spellings(names)), "value": st.sampled_from(pool)}
        )
        for names, pool in OPERATORS.items()
    )
)
filters = st.recursive(
    documents | conditions,
    lambda inner: (
        st.fixed_dictionaries({"and": st.lists(inner, max_size=3)})
        | st.fixed_dictionaries({"or": st.lists(inner, max_size=3)})
    ),
    max_leaves=5,
)


def same(had: Any, wanted: Any) -> bool:
    """JSON's equality: true is not 1, 1.0 is 1."""
    if is_number(had) and is_number(wanted):
        return exact(had) == exact(wanted)
    if type(had) is not type(wanted):
        return False
    if isinstance(had, list):
        return len(had) == len(wanted) and all(map(same, had, wanted))
    if isinstance(had, dict):
        return had.keys() == wanted.keys() and all(same(had[k], wanted[k]) for k in had)
    return bool(had == wanted)


def is_number(had: Any) -> bool:
    return isinstance(had, int | float) and not isinstance(had, bool)


def exact(number: float) -> Decimal:
    return Decimal(repr(number))


def holds(had: Any, wanted: Any) -> bool:
    """Postgres' containment, @>."""
    if isinstance(had, dict) and isinstance(wanted, dict):
        return all(k in had and holds(had[k], wanted[k]) for k in wanted)
    if isinstance(had, list) and isinstance(wanted, list):
        return all(any(holds(each, one) for each in had) for one in wanted)
    return same(had, wanted)


def matches(metadata: dict[str, Any], filter: dict[str, Any]) -> bool:
    if filter.keys() == {"and"}:
        return all(matches(metadata, part) for part in filter["and"])
    if filter.keys() == {"or"}:
        return any(matches(metadata, part) for part in filter["or"])
    if "op" not in filter:
        return holds(metadata, filter)
    operator = ALIASES.get(filter["op"], filter["op"])
    had, wanted = metadata.get(filter["key"], MISSING), filter.get("value")
    positive = {"ne": "eq", "nin": "in", "not contains": "contains", "not empty": "empty"}
    if operator in positive:
        return not is_so(had, positive[operator], wanted)
    return is_so(had, operator, wanted)


def is_so(had: Any, operator: str, wanted: Any) -> bool:
    match operator:
        case "empty":
            return had is MISSING or had is None or had in ("", [], {})
        case "eq":
            return same(had, wanted)
        case "in":
            return any(same(had, each) for each in wanted)
        case "contains" if isinstance(had, list):
            return any(same(each, wanted) for each in had)
        case "contains" | "start with" | "end with":
            return isinstance(had, str) and is_in(had, operator, wanted)
    return compares(had, operator, wanted)


def is_in(had: str, operator: str, wanted: str) -> bool:
    if operator == "contains":
        return wanted in had
    return had.startswith(wanted) if operator == "start with" else had.endswith(wanted)


def compares(had: Any, operator: str, wanted: Any) -> bool:
    if operator in ("before", "after"):
        if not isinstance(had, str) or had not in DATES:
            return False
        had, wanted = DATES[had], DATES[wanted]
    elif is_number(had) and is_number(wanted):
        had, wanted = exact(had), exact(wanted)
    elif not (isinstance(had, str) and isinstance(wanted, str)):
        return False
    answers: dict[str, bool] = {
        "before": had < wanted,
        "lt": had < wanted,
        "lte": had <= wanted,
        "after": had > wanted,
        "gt": had > wanted,
        "gte": had >= wanted,
    }
    return answers[operator]


def test_every_operator_on_every_pair_of_values(library: Connection) -> None:
    """Some 15,000 conditions, also on keys that are missing."""
    had = [{}, *({"a": each} for each in POOL)]
    cases = [
        (metadata, {"key": "a", "op": operator, "value": wanted})
        for names, pool in OPERATORS.items()
        for operator in spellings(names)
        for wanted in pool
        for metadata in had
    ]
    matched = value(
        library,
        "select jsonb_agg(lexichord.filter_matches(c -> 0, c -> 1) order by place) "
        "from jsonb_array_elements(%s) with ordinality as c (c, place)",
        Jsonb(cases),
    )
    expected = [matches(metadata, filter) for metadata, filter in cases]
    assert [case for case, a, b in zip(cases, matched, expected, strict=True) if a is not b] == []
    assert 0.05 < sum(expected) / len(expected) < 0.95


@settings(max_examples=120)
@given(metadata=documents, filter=filters)
def test_matches_as_the_rules_say(
    library: Connection, metadata: dict[str, Any], filter: dict[str, Any]
) -> None:
    given_filter = [Jsonb(metadata), Jsonb(filter)]
    matched = value(library, "select lexichord.filter_matches(%s, %s)", *given_filter)
    assert matched is matches(metadata, filter)


@settings(max_examples=50)
@given(filter=filters)
def test_a_filter_by_the_rules_is_accepted(library: Connection, filter: dict[str, Any]) -> None:
    """The library's one document has the keys a, b, c."""
    call(library, "scope_documents", filter=filter)


@pytest.mark.parametrize("metadata", ["infinity", "-infinity", "294276-12-31", "4713-01-01 BC"])
def test_dates_at_the_end_of_time_compare(library: Connection, metadata: str) -> None:
    for wanted in ("infinity", "2026-01-31", "4713-01-01 BC"):
        either = [
            call(
                library,
                "filter_matches",
                metadata={"at": metadata},
                filter={"key": "at", "op": operator, "value": wanted},
            )[0]["filter_matches"]
            for operator in ("before", "after")
        ]
        assert sum(either) == (metadata != wanted)


@pytest.mark.parametrize(
    ("filter", "message"),
    [
        ({"nobody": 1}, 'no document in scope has the key "nobody"'),
        ({"key": "nobody", "op": "empty"}, 'no document in scope has the key "nobody"'),
        ({"and": [{"a": 1}, {"or": [{"nobody": 1}]}]}, 'the key "nobody"'),
        ({"and": [], "or": []}, 'the key "(and|or)"'),
        ({"key": "a", "op": "like", "value": "x"}, "unknown operator 'like'"),
        ({"key": "a", "op": "EQ", "value": "x"}, "unknown operator 'EQ'"),
        ({"key": "a", "op": None, "value": "x"}, "unknown operator null"),
        (
            {"a": {"$gt": 2000}},
            r'\$gt" on key "a" is an operator of another language\n'
            r'HINT:  Write {"key": "a", "op": "gt", "value": 2000}\. Operators: eq ne',
        ),
        ({"and": [{"a": {"$regexp": "x"}}]}, r'Write {"key": "a", "op": …, "value": "x"}'),
        ({"nobody": {"a": 1, "$in": []}}, r'Write {"key": "nobody", "op": "in", "value": \[\]}'),
        ({"and": [1]}, "1 is no filter"),
        ({"or": [{"a": 1}, None]}, "null is no filter"),
        ({"key": "a", "op": "eq"}, "needs a value"),
        ({"key": "a", "op": "ne"}, "needs a value"),
        ({"key": "a", "op": "in", "value": "x"}, "needs a value of type array"),
        ({"key": "a", "op": "nin", "value": {}}, "needs a value of type array"),
        ({"key": "a", "op": "in"}, "needs a value of type array"),
        ({"key": "a", "op": "gt", "value": True}, "needs a value of type string"),
        ({"key": "a", "op": "≤", "value": None}, "needs a value of type string"),
        ({"key": "a", "op": "gte"}, "needs a value of type string"),
        ({"key": "a", "op": "contains", "value": 1}, "needs a value of type string"),
        ({"key": "a", "op": "start with"}, "needs a value of type string"),
        ({"key": "a", "op": "before", "value": 2026}, "needs a value of type string"),
        ({"key": "a", "op": "after", "value": "soon"}, '"soon" is no date'),
        ({"key": "a", "op": "before", "value": "2026-02-30"}, '"2026-02-30" is no date'),
    ],
)
def test_what_would_match_nothing_is_refused(
    library: Connection, filter: dict[str, Any], message: str
) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue, match=message):
        call(library, "scope_documents", filter=filter)


@pytest.mark.parametrize("filter", ["null", "1", '"a"', "[]", '[{"a": 1}]'])
def test_only_an_object_is_a_filter(library: Connection, filter: str) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="is no filter"):
        call(library, "scope_documents", filter=filter)


def test_a_key_must_be_in_scope_not_just_somewhere(library: Connection) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="no document in scope"):
        call(library, "scope_documents", datasets=["north"], filter={"a": 1})
