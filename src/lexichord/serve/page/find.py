"""What helps to find beside the pages: tables to take away, judgments, names while typing."""

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse
from starlette.datastructures import QueryParams

from lexichord.errors import ConfigError, NotFoundError
from lexichord.serve.access import ScopedClient
from lexichord.serve.limits import (
    MAX_LISTED_DOCUMENTS,
    MAX_SUGGESTED_TITLES,
    MAX_SUGGESTIONS,
    MIN_COMPLETED_CHARS,
)
from lexichord.serve.page.form import query_options, read_form, scope_options
from lexichord.serve.page.language import say
from lexichord.serve.page.questions import heading_name
from lexichord.serve.page.render import PAGE_HEADERS, own_form, page, page_caller
from lexichord.serve.page.results import comparison_csv, comparison_markdown
from lexichord.serve.page.routes import PAGE_METHODS, PageRoute
from lexichord.types import Comparison

COMPLETED_WORDS = 6  # at the end of what is typed, that a name may complete
MIN_TYPED_CHARS = 2
BYTE_ORDER_MARK = "\ufeff"  # by which spreadsheets read UTF-8

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.api_route("/comparison.csv", methods=PAGE_METHODS)
async def as_csv(request: Request) -> Response:
    """Return the table of a comparison for a spreadsheet."""
    _, table = await _compare(request)
    return _file(f"{BYTE_ORDER_MARK}{comparison_csv(table)}", "comparison.csv", "text/csv")


@router.api_route("/comparison.md", methods=PAGE_METHODS)
async def as_markdown(request: Request) -> Response:
    """Return the table of a comparison as Markdown."""
    question, table = await _compare(request)
    return _file(comparison_markdown(question, table), "comparison.md", "text/markdown")


async def _compare(request: Request) -> tuple[str, Comparison]:
    """Return a question and its table. Raises NotFoundError where it compares nothing."""
    form, caller = read_form(request.query_params), await page_caller(request)
    response = await caller.query(form.q, **query_options(form))
    if response.comparison is None:
        raise NotFoundError(say("error.no_comparison"))
    return form.q, response.comparison


def _file(text: str, name: str, media_type: str) -> Response:
    """Return a text as a file to keep."""
    disposition = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text, headers=PAGE_HEADERS | disposition, media_type=media_type)


@router.post("/judge")
async def judge(request: Request) -> Response:
    """Keep that an answer is right, or wrong."""
    caller, form = await page_caller(request), await own_form(request)
    right = {"right": True, "wrong": False}.get(form.get("judgment", ""))
    if right is None:
        raise ConfigError(say("error.no_judgment"))
    await caller.judge(form.get("query", ""), right)
    asked = read_form(QueryParams(form.get("asked", "")))
    kept = {"judgment": form["judgment"]}
    return RedirectResponse(f"{asked.address('/judged')}&{urlencode(kept)}", 303, PAGE_HEADERS)


@router.api_route("/judged", methods=PAGE_METHODS)
async def judged(request: Request) -> Response:
    """Thank for a judgment."""
    await page_caller(request)
    asked = read_form(request.query_params)
    right = request.query_params.get("judgment") == "right"
    return page(request, "judged.html", right=right, form=asked)


@router.api_route("/suggest", methods=PAGE_METHODS)
async def suggest(request: Request) -> Response:
    """Return what is typed, completed by titles, headings, phrases and words in scope."""
    form, caller = read_form(request.query_params), await page_caller(request)
    scope = scope_options(form)
    titles = completions(form.q, await _titles(caller, form.q, scope))[:MAX_SUGGESTED_TITLES]
    found = [*titles, *completions(form.q, await _words(caller, form.q, scope))]
    return JSONResponse([*dict.fromkeys(found)][:MAX_SUGGESTIONS], headers=PAGE_HEADERS)


async def _titles(caller: ScopedClient, typed: str, scope: Mapping[str, Any]) -> list[str]:
    """Return the titles in scope; none where there are too many to read while somebody types."""
    few = await caller.count(**scope) <= MAX_LISTED_DOCUMENTS
    rows = await caller.list(**scope) if few and typed else []
    return sorted(row.title for row in rows)


async def _words(caller: ScopedClient, typed: str, scope: Mapping[str, Any]) -> list[str]:
    """Return what documents in scope have that begins as the last word does."""
    last = re.search(r"[^\W_]*$", typed)
    if last is None or len(last[0]) < MIN_COMPLETED_CHARS:
        return []
    return [heading_name(each) for each in await caller.complete(last[0], **scope)]


def completions(typed: str, names: Iterable[str]) -> list[str]:
    """Return a text with its last words completed to names, those first that hold most of them."""
    names = [" ".join(name.split()) for name in names]
    starts = [word.start() for word in re.finditer(r"\S+", typed)][-COMPLETED_WORDS:]
    ends = [(start, typed[start:].casefold()) for start in starts]
    found: dict[str, str] = {}
    for start, end in ends:
        for name in names:
            if len(end) >= MIN_TYPED_CHARS and f" {end}" in f" {name.casefold()}":
                found.setdefault(name.casefold(), f"{typed[:start]}{name}")
    return [text for text in found.values() if text != typed][:MAX_SUGGESTIONS]
