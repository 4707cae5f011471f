"""Filters of interfaces that ask several datasets one after the other, as Dify does."""

from collections.abc import Collection, Sequence
from typing import Any

from lexichord.client.passages import passage_options
from lexichord.errors import ConfigError, NotFoundError
from lexichord.serve.access import ScopedClient
from lexichord.types import Json, Response
from lexichord.types.questions import check_filter

type FilterValue = str | bool | int | float  # of a condition, as JSON has it

# Operators whose conditions hold for a document without the key.
NEGATIVE_OPERATORS = {"ne", "nin", "not contains", "empty"}
MATCH_ALL: Json = {"and": []}
MATCH_NONE: Json = {"or": []}


async def query(scoped: ScopedClient, text: str, **options: Any) -> Response:  # noqa: ANN401
    """Query for passages; a key that only other datasets know fails a condition, or fulfils it.

    One filter goes to several knowledge bases here, of which some may lack a key: to fail would
    fail them all. A key that no document in the caller's reach has is a mistake as everywhere.
    """
    settled = passage_options(options)
    if (filter := options.get("filter")) is not None:
        check_filter(filter, scoped.settings.max_conditions)
    try:
        return await scoped.query(text, **settled)
    except NotFoundError:
        raise
    except ConfigError:
        if filter is None:
            raise
        datasets = options.get("datasets")
        unknown = {key for key in _keys(filter) if not await _is_known(scoped, key, datasets)}
        elsewhere = [await _is_known(scoped, key, None) for key in unknown]
        if not unknown or not all(elsewhere):
            raise
        settled = {**settled, "filter": settle(filter, unknown)}
        return await scoped.query(text, **settled)


async def _is_known(scoped: ScopedClient, key: str, datasets: Sequence[str] | None) -> bool:
    """Return whether a document has a key, by a list of none of them."""
    filter: Json = {"and": [{"key": key, "op": "empty"}, MATCH_NONE]}
    try:
        await scoped.list(datasets=datasets, filter=filter)
    except ConfigError:
        return False
    return True


def settle(filter: Json, unknown: Collection[str]) -> Json:
    """Decide the conditions on keys that no document has; the others stay."""
    for form in ("and", "or"):
        if form in filter:
            return {form: [settle(part, unknown) for part in filter[form]]}
    if filter["key"] not in unknown:
        return filter
    return MATCH_ALL if filter["op"] in NEGATIVE_OPERATORS else MATCH_NONE


def _keys(filter: Json) -> set[str]:
    parts = [*filter.get("and", ()), *filter.get("or", ())]
    return {filter["key"]} if "key" in filter else {key for part in parts for key in _keys(part)}
