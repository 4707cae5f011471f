"""The form that asks, its fields and addresses; what narrows a search."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from itertools import groupby, takewhile
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

from babel import Locale, UnknownLocaleError
from starlette.datastructures import QueryParams

from lexichord.errors import ConfigError
from lexichord.ingest import load
from lexichord.serve.access import ScopedClient
from lexichord.serve.limits import (
    MAX_FACET_VALUES,
    MAX_PAGE_HITS,
    MAX_PAGE_QUERY_CHARS,
    MAX_PINNED_DOCUMENTS,
    SHOWN_FACET_VALUES,
)
from lexichord.serve.page.language import say, spoken
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


# What people call files of a type: keys of texts.
KIND_NAMES = MappingProxyType(
    {
        load.PDF_TYPE: "kinds.pdf",
        load.DOCX_TYPE: "kinds.word",
        load.PPTX_TYPE: "kinds.powerpoint",
        load.XLSX_TYPE: "kinds.excel",
        load.XLS_TYPE: "kinds.excel_97",
        load.ODS_TYPE: "kinds.opendocument_sheet",
        load.ODT_TYPE: "kinds.opendocument_text",
        load.ODP_TYPE: "kinds.opendocument_slides",
        load.HTML_TYPE: "kinds.html",
        load.MARKDOWN_TYPE: "kinds.markdown",
        load.CSV_TYPE: "kinds.csv",
        load.TSV_TYPE: "kinds.tsv",
        load.NOTEBOOK_TYPE: "kinds.notebook",
        load.EPUB_TYPE: "kinds.epub",
        load.EML_TYPE: "kinds.mail",
        load.MSG_TYPE: "kinds.outlook",
        load.RTF_TYPE: "kinds.rtf",
        load.RST_TYPE: "kinds.rst",
        load.ORG_TYPE: "kinds.org",
        load.ASCIIDOC_TYPE: "kinds.asciidoc",
        load.TEX_TYPE: "kinds.tex",
        load.NDJSON_TYPE: "kinds.json_lines",
        load.XML_TYPE: "kinds.xml",
        load.TEXT_TYPE: "kinds.text",
    }
)
CODE_PREFIX = "text/x-"
# The facets, in the order in which they are shown: a field of the form, and the key of its title.
TITLES = MappingProxyType(
    {
        "dataset": "facets.dataset",
        "kind": "facets.kind",
        "folder": "facets.folder",
        "year": "facets.year",
        "language": "facets.language",
        "author": "facets.author",
    }
)
KEYS = MappingProxyType({"dataset": "dataset", "folder": "folder", **FILTER_KEYS})


@dataclass(frozen=True, slots=True)
class FacetValue:
    """A value, how many documents in scope have it, and the address that narrows to them."""

    text: str
    documents: int
    address: str


@dataclass(frozen=True, slots=True)
class FacetView:
    """What documents can be told apart by, its commonest values first; `more` are folded."""

    title: str
    values: list[FacetValue]
    more: list[FacetValue]


@dataclass(frozen=True, slots=True)
class Chip:
    """What a search is narrowed to, the field's value, and the address without it."""

    title: str
    text: str
    field: str
    value: str
    address: str


async def find_facets(caller: ScopedClient, form: SearchForm) -> list[FacetView]:
    """Return the facets by which the documents in scope can be narrowed further.

    None where single documents are chosen.
    """
    if form.document:
        return []
    total = await caller.count(**scope_options(form))
    views = [await _find(caller, form, field, total) for field in TITLES]
    return [view for view in views if view.values]


async def _find(caller: ScopedClient, form: SearchForm, field: str, total: int) -> FacetView:
    counts = await _count(caller, form, field)
    if field == "folder":
        counts = _subfolders(counts)
    elif field == "year":
        counts = _years(counts)
    values = [
        FacetValue(_in_words(field, value), documents, form.address(**{field: value}))
        for value, documents in counts.most_common(MAX_FACET_VALUES)
        if 0 < documents < total  # what all have narrows nothing
    ]
    return FacetView(say(TITLES[field]), values[:SHOWN_FACET_VALUES], values[SHOWN_FACET_VALUES:])


async def _count(caller: ScopedClient, form: SearchForm, field: str) -> Counter[str]:
    """Count the documents in scope by a facet's values that are texts."""
    try:
        found = await caller.count_by(KEYS[field], **scope_options(form))
    except ConfigError:  # no document in scope has the key
        return Counter()
    return Counter(
        {
            facet.value: facet.documents
            for facet in found
            if isinstance(facet.value, str) and facet.value
        }
    )


def _years(days: Mapping[str, int]) -> Counter[str]:
    """Count by the years that dates begin with."""
    years = Counter[str]()
    for day, documents in days.items():
        if day[:4].isdecimal() and day[:4].isascii() and len(day) >= 4:
            years[day[:4]] += documents
    return years


def _subfolders(folders: Mapping[str, int]) -> Counter[str]:
    """Count by the folders in the one that holds all, each as deep as all that is below it is."""
    paths = {tuple(folder.split("/")): documents for folder, documents in folders.items()}
    depth = len(_common(paths))
    below = sorted(path for path in paths if len(path) > depth)
    counts = Counter[str]()
    for _, group in groupby(below, lambda path: path[depth]):
        inside = list(group)
        counts["/".join([*_common(inside), ""])] = sum(paths[path] for path in inside)
    return counts


def _common(paths: Iterable[tuple[str, ...]]) -> list[str]:
    """Return the folders that paths begin with alike."""
    levels = takewhile(lambda names: len(set(names)) == 1, zip(*paths, strict=False))
    return [names[0] for names in levels]


def _in_words(field: str, value: str) -> str:
    if field == "kind":
        return kind_in_words(value)
    if field == "language":
        return _language_name(value)
    if field == "author":
        return _without_address(value)
    return f"{value.rstrip('/').rpartition('/')[2]}/" if field == "folder" else value


def _without_address(author: str) -> str:
    """Return the name of an author whom a mail gives with the address: "Ann Lee" <ann@…>."""
    name, _, address = author.partition("<")
    return (name.strip(' "') if "@" in address else "") or author


def _language_name(tag: str) -> str:
    """Return what a language is called that documents name, as "en" or "en-US"."""
    try:
        return Locale.parse(tag, sep="-").get_display_name(spoken().locale) or tag
    except (UnknownLocaleError, ValueError):
        return tag


def kind_in_words(media_type: str) -> str:
    """Return what people call files of a media type."""
    if media_type.startswith(CODE_PREFIX):
        language = media_type.removeprefix(CODE_PREFIX).capitalize()
        return say("facets.code", language=language)
    if name := KIND_NAMES.get(media_type):
        return say(name)
    return media_type.rpartition("/")[2].upper()


def chips(form: SearchForm, titles: Mapping[str, str] | None = None) -> list[Chip]:
    """Return what a search is narrowed to; documents by their titles, as far as these are known."""
    chosen = [(field, str(getattr(form, field))) for field in TITLES]
    shown = [
        Chip(say(TITLES[field]), _in_words(field, value), field, value, form.address(**{field: ""}))
        for field, value in chosen
        if value
    ]
    return shown + [
        Chip(
            say("facets.about"),
            (titles or {}).get(name, name),
            "document",
            name,
            form.address(document=tuple(one for one in form.document if one != name)),
        )
        for name in form.document
    ]
