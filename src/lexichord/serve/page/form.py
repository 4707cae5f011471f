"""The form that asks: its fields, the options they are, and the addresses that it makes."""

import re
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from lexichord.errors import ConfigError
from lexichord.serve.limits import MAX_PAGE_HITS, MAX_PAGE_QUERY_CHARS, MAX_PINNED_DOCUMENTS
from lexichord.serve.page.language import say
from lexichord.types import Json, QueryOptions

# The fields that narrow by what documents say of themselves, each with the key of a filter.
FILTER_KEYS = {
    "kind": "media_type",
    "year": "created",
    "language": "language",
    "author": "author",
}


@dataclass(frozen=True, slots=True)
class SearchForm:
    """The fields of the form, as texts; `answer`, `rewrite` and `reflect` are 1 or 0."""

    q: str = ""
    dataset: str = ""
    folder: str = ""
    document: tuple[str, ...] = ()
    kind: str = ""
    year: str = ""
    language: str = ""
    author: str = ""
    hint: str = ""
    intent: str = ""
    mode: str = QueryOptions.mode
    k: str = str(QueryOptions.k)
    answer: str = "1"
    rewrite: str = "0"
    reflect: str = "0"

    @property
    def is_plain(self) -> bool:
        """Whether nothing was set but the question and what chips show."""
        return all(self._is_usual(name) for name in ("hint", "intent", *_USUAL))

    def pairs(self, **changes: object) -> list[tuple[str, str]]:
        """Return the fields that are not as usual, some changed, each value with its name."""
        form = replace(self, **changes)  # type: ignore[arg-type]  # by name, as texts
        names = [each.name for each in fields(form) if not form._is_usual(each.name)]
        values = [(name, getattr(form, name)) for name in names]
        return [
            (name, one)
            for name, value in values
            for one in ([value] if isinstance(value, str) else value)
        ]

    def address(self, path: str = "/", **changes: object) -> str:
        """Return the address of a page for these fields, some of them changed."""
        return f"{path}?{urlencode(self.pairs(**changes))}"

    def _is_usual(self, name: str) -> bool:
        return bool(getattr(self, name) == getattr(SearchForm(), name))


_USUAL = ("mode", "k", "answer", "rewrite", "reflect")


def read_form(params: QueryParams) -> SearchForm:
    """Read the fields; one that is empty counts as not sent."""
    names = [each.name for each in fields(SearchForm) if each.name != "document"]
    texts = {name: params.get(name, "").strip() for name in names}
    documents = tuple(dict.fromkeys(filter(None, map(str.strip, params.getlist("document")))))
    set_texts: dict[str, Any] = {name: text for name, text in texts.items() if text}
    return SearchForm(**set_texts, document=documents)


def scope_options(form: SearchForm) -> dict[str, Any]:
    """Return where to look, as the application takes it. Raises ConfigError."""
    if len(form.document) > MAX_PINNED_DOCUMENTS:
        raise ConfigError(say("error.too_many_documents", count=MAX_PINNED_DOCUMENTS))
    scope = {
        "uri_prefix": form.folder,
        "datasets": [form.dataset] * bool(form.dataset),
        "documents": list(form.document),
        "filter": _filter(form),
    }
    return {name: value for name, value in scope.items() if value}


def _filter(form: SearchForm) -> Json | None:
    if form.year and not re.fullmatch(r"\d{4}", form.year, re.ASCII):
        raise ConfigError(say("error.year"))
    conditions = [_condition(field, getattr(form, field)) for field in FILTER_KEYS]
    kept = [condition for condition in conditions if condition is not None]
    return {"and": kept} if kept else None


def _condition(field: str, value: str) -> Json | None:
    """Return what holds of a document with this value, or with a list that has it."""
    key = FILTER_KEYS[field]
    if not value:
        return None
    if field == "year":
        return {"key": key, "op": "start with", "value": value}
    return {"or": [{key: value}, {key: [value]}]}


def query_options(form: SearchForm) -> dict[str, Any]:
    """Return the options as the application takes them. Raises ConfigError."""
    if len(form.q) > MAX_PAGE_QUERY_CHARS:
        raise ConfigError(
            say("error.question_length", count=MAX_PAGE_QUERY_CHARS, characters=len(form.q))
        )
    if not (form.k.isascii() and form.k.isdigit() and 1 <= int(form.k[:9]) <= MAX_PAGE_HITS):
        raise ConfigError(say("error.hits", most=MAX_PAGE_HITS))
    fields_set: dict[str, Any] = {
        "hint": form.hint,
        "intent": form.intent,
        "rewrite": form.rewrite == "1",
        "reflect": form.reflect == "1",
    }
    options = {name: value for name, value in fields_set.items() if value} | scope_options(form)
    return options | {"mode": form.mode, "k": int(form.k), "answer": form.answer == "1"}
