"""The pages: ask, the answer with its evidence, a document opened at a quote, the key's form.

A question stands in the address, GET /?q=…, as on any page that searches: it can be gone back to,
kept and sent to others. It is then in the browser's history, and in the logs of a proxy that keeps
addresses; this server logs none, and no other site is told. What must not be in an address goes by
POST /v1/query.

A page that waits for its answer is sent the question's stages as they finish. Beside the pages are
tables to take away, judgments, names while typing, and the operations of the HTTP API.
"""

import asyncio
import re
from collections.abc import (
    AsyncGenerator,
    Callable,
    Coroutine,
    Hashable,
    Iterable,
    Mapping,
    Sequence,
)
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import replace
from importlib.resources import files
from time import monotonic, perf_counter
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse
from fastapi.routing import APIRoute
from fastapi.staticfiles import StaticFiles
from starlette.datastructures import QueryParams

from lexichord.errors import (
    AccessError,
    ConfigError,
    DatabaseError,
    KeyExpiredError,
    NotFoundError,
    TooManyRequestsError,
)
from lexichord.serve.access import ScopedClient
from lexichord.serve.errors import public_error
from lexichord.serve.http.jobs import EventStream, event_bytes, next_event
from lexichord.serve.limits import (
    FOUND_SECONDS,
    MAX_FACETED_DOCUMENTS,
    MAX_FOUND,
    MAX_LISTED_DOCUMENTS,
    MAX_MARKED_PLACES,
    MAX_PINNED_DOCUMENTS,
    MAX_SUGGESTED_TITLES,
    MAX_SUGGESTIONS,
    MIN_COMPLETED_CHARS,
    own_deadline,
)
from lexichord.serve.page import (
    CONTENT_SECURITY_POLICY,
    PAGE_HEADERS,
    dataset_names,
    delete_key_cookie,
    error_page,
    key_page,
    local_address,
    own_form,
    page,
    page_caller,
    sentence,
    set_key_cookie,
)
from lexichord.serve.page.document import MarkedPlaces, read_places, show_document, show_original
from lexichord.serve.page.form import (
    FacetView,
    SearchForm,
    chips,
    find_facets,
    query_options,
    read_form,
    scope_options,
)
from lexichord.serve.page.language import say
from lexichord.serve.page.questions import heading_name, searches
from lexichord.serve.page.results import (
    RowPicker,
    comparison_csv,
    comparison_markdown,
    show_picker,
    show_results,
)
from lexichord.types import Comparison, Rights, ShownDocument
from lexichord.types import Response as QueryResponse
from lexichord.types.base import document_name
from lexichord.types.response import DraftEvent, EvidenceEvent, FilesEvent, QueryEvent
from lexichord.types.state import IngestRun
from lexichord.work import in_thread

PAGE_METHODS = ["GET", "HEAD"]
# What is stored is drawn for up to seconds: not in the threads in which questions are embedded.
PAGE_THREADS = ThreadPoolExecutor(2, "lexichord-page")

SHOWN_DOCUMENTS = 3  # that are named of those found

COMPLETED_WORDS = 6  # at the end of what is typed, that a name may complete
MIN_TYPED_CHARS = 2
BYTE_ORDER_MARK = "\ufeff"  # by which spreadsheets read UTF-8

# Swagger UI as it was released; of the package only its files are used.
swagger_files = StaticFiles(directory=str(files("fastapi_swagger") / "resources"))
# The icons stand in its style sheet. It styles elements by script, not by attributes in the text.
SWAGGER_POLICY = CONTENT_SECURITY_POLICY.replace("img-src 'self'", "img-src 'self' data:")


class PageRoute(APIRoute):
    """A route whose errors are pages, too."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers a request."""
        handle = super().get_route_handler()

        async def handle_page(request: Request) -> Response:
            seconds = request.app.state.policy.settings.request_timeout
            try:
                async with asyncio.timeout(own_deadline(seconds)):
                    return await handle(request)
            except Exception as error:
                reason = sentence(error) if isinstance(error, KeyExpiredError) else ""
                return error_page(request, public_error(error), reason)

        return handle_page


router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.api_route("/", methods=PAGE_METHODS)
async def ask(request: Request) -> Response:
    """Show what is in the database, or what was found."""
    form, scoped = read_form(request.query_params), await page_caller(request)
    if not form.q:
        return await _start(request, form, scoped)
    return await _results(request, form, scoped)


async def _results(request: Request, form: SearchForm, scoped: ScopedClient) -> Response:
    datasets = await scoped.datasets()
    counts = _documents(datasets) <= MAX_FACETED_DOCUMENTS or "facets" in request.query_params
    (response, seconds), facets = await asyncio.gather(
        _query(request, form, scoped), _facets(scoped, form, counts)
    )
    view = await in_thread(show_results, response, int(form.k), threads=PAGE_THREADS)
    return page(
        request,
        "results.html",
        form=form,
        view=view,
        seconds=seconds,
        facets=facets,
        count_address="" if counts else f"{form.address()}&facets=1",
        chips=chips(form, await _named_titles(scoped, form.document)),
        picker=await _picker(scoped, form, response),
        judgment=scoped.judgment_id(response) if scoped.rights.writes else "",
        about={} if form.document else await _named_titles(scoped, response.intent.documents),
        datasets=dataset_names(form, [row["dataset"] for row in datasets]),
    )


async def _picker(
    scoped: ScopedClient, form: SearchForm, response: QueryResponse
) -> RowPicker | None:
    """Return what a comparison's rows are chosen by; all documents where these are few."""
    if response.comparison is None:
        return None
    scope = scope_options(replace(form, document=()))
    stored = await scoped.list(limit=MAX_PINNED_DOCUMENTS + 1, **scope)
    return show_picker(response, form, stored if len(stored) <= MAX_PINNED_DOCUMENTS else ())


async def _query(
    request: Request, form: SearchForm, scoped: ScopedClient
) -> tuple[QueryResponse, float]:
    """Return a response, and the seconds that it took."""
    found: FoundResponses = request.app.state.found
    if kept := found.take((scoped.rights, form)):
        return kept
    started = perf_counter()
    response = await scoped.query(form.q, **query_options(form))
    return response, perf_counter() - started


async def _facets(scoped: ScopedClient, form: SearchForm, counts: bool) -> list[FacetView]:
    return await find_facets(scoped, form) if counts else []


async def _named_titles(scoped: ScopedClient, documents: Sequence[str]) -> dict[str, str]:
    """Return the titles of those documents that are named by their ids."""
    rows = await scoped.list(documents=documents) if documents else []
    return {row.document_id: document_name(row) for row in rows}


def _documents(datasets: Iterable[Mapping[str, Any]]) -> int:
    return sum(row["documents"] for row in datasets)


@router.api_route("/document/{document}", methods=PAGE_METHODS)
async def document(request: Request, document: str) -> Response:
    """Show a document opened at a quote, the characters from `start` to `end`, or its `part`.

    Each `also` is the place of one more quote, start-end, each `answer` that of a sentence.
    """
    stored = await (await page_caller(request)).show(document)
    wanted = request.query_params.get("part", "")
    marked = _marked(request, stored)
    view = await in_thread(show_document, stored, marked, wanted, threads=PAGE_THREADS)
    return page(request, "document.html", document=stored.document, view=view)


@router.api_route("/document/{document}/original", methods=PAGE_METHODS)
async def original(request: Request, document: str) -> Response:
    """Show the pages of a PDF, opened at a quote as its text is, or from `page` on."""
    caller = await page_caller(request)
    stored, wanted = await caller.show(document), request.query_params.get("page", "")
    view = await show_original(caller, stored, _marked(request, stored), wanted)
    return page(request, "original.html", view.status, document=stored.document, view=view)


@router.api_route("/document/{document}/pages/{number}.png", methods=PAGE_METHODS)
async def picture(request: Request, document: str, number: str) -> Response:
    """Return a page of a PDF as a picture."""
    caller = await page_caller(request)
    if not re.fullmatch(r"[1-9]\d{0,4}", number, re.ASCII):
        raise NotFoundError(say("error.no_page"))
    image = await caller.page_image(document, int(number))
    return Response(image, media_type="image/png", headers=PAGE_HEADERS)


@router.api_route("/login", methods=PAGE_METHODS)
async def no_login() -> Response:
    """Lead back whom a failed attempt left here."""
    return RedirectResponse("/", 303, PAGE_HEADERS)


@router.post("/login")
async def login(request: Request) -> Response:
    """Take a key, and go on to where it was asked for."""
    form = await own_form(request)
    key, back = form.get("key", "").strip(), local_address(form.get("back", ""))
    try:
        await request.app.state.policy.authorize(f"Bearer {key}")
    except TooManyRequestsError:
        raise
    except AccessError as error:
        return key_page(request, back, sentence(error) if key else say("login.paste_first"))
    response = RedirectResponse(back, 303, PAGE_HEADERS)
    set_key_cookie(response, request, key)
    return response


@router.post("/logout")
async def logout(request: Request) -> Response:
    """Forget the key."""
    await own_form(request)
    response = RedirectResponse("/", 303, PAGE_HEADERS)
    delete_key_cookie(response)
    return response


def _marked(request: Request, stored: ShownDocument) -> MarkedPlaces:
    """Read what the address says is to be marked in a document."""
    params = request.query_params
    place = f"{params.get('start', '')}-{params.get('end', '')}"
    others, answer = (params.getlist(name)[:MAX_MARKED_PLACES] for name in ("also", "answer"))
    return read_places(stored.text, place, others, answer)


async def _start(request: Request, form: SearchForm, scoped: ScopedClient) -> Response:
    datasets = await scoped.datasets()
    count = _documents(datasets)
    documents = await scoped.list() if 0 < count <= MAX_LISTED_DOCUMENTS else []
    return page(
        request,
        "start.html",
        form=form,
        chips=chips(form, await _named_titles(scoped, form.document)),
        rows=datasets,
        documents=documents,
        run=await _latest_run(scoped),
        examples=await searches(request).find(scoped, datasets) if count else (),
        datasets=dataset_names(form, [row["dataset"] for row in datasets]),
    )


async def _latest_run(scoped: ScopedClient) -> IngestRun | None:
    """Return the latest ingest; None where there is none, and for a role that may not see any."""
    try:
        return next(iter(await scoped.jobs(1)), None)
    except DatabaseError:
        return None


class FoundResponses:
    """Responses by who asked for what, each for a moment, and given out once.

    Where another process answers, or the moment is over, the question is asked again.
    """

    def __init__(self) -> None:
        self._kept = dict[Hashable, tuple[float, QueryResponse, float]]()  # oldest first

    def keep(self, asked: Hashable, response: QueryResponse, seconds: float) -> None:
        """Keep a response and the seconds that it took."""
        self._kept.pop(asked, None)
        while len(self._kept) >= MAX_FOUND:
            del self._kept[next(iter(self._kept))]
        self._kept[asked] = (monotonic() + FOUND_SECONDS, response, seconds)

    def take(self, asked: Hashable) -> tuple[QueryResponse, float] | None:
        """Return a response and the seconds that it took, None where there is none now."""
        until, response, seconds = self._kept.pop(asked, (0.0, None, 0.0))
        return (response, seconds) if response is not None and monotonic() < until else None


@router.get("/stages")
async def show_stages(request: Request) -> Response:
    """Ask the question of a form; send a line a stage, then that its page can be loaded."""
    form, scoped = read_form(request.query_params), await page_caller(request)
    if not form.q:
        raise ConfigError(say("error.no_question"))
    events = scoped.stream(form.q, **query_options(form))
    stream = EventStream(_written_stages(request, events, form, scoped.rights))
    stream.headers.update(PAGE_HEADERS)
    return stream


async def _written_stages(
    request: Request, events: AsyncGenerator[QueryEvent], form: SearchForm, rights: Rights
) -> AsyncGenerator[bytes]:
    """Write events; an error is the last, and the page that is loaded then says it in full."""
    found: FoundResponses = request.app.state.found
    started, told = perf_counter(), ""
    deadline = own_deadline(request.app.state.policy.settings.request_timeout)
    ends_at = asyncio.get_running_loop().time() + deadline
    async with aclosing(events):
        try:
            while (event := await next_event(events, ends_at)) is not None:
                if isinstance(event, QueryResponse):
                    found.keep((rights, form), event, perf_counter() - started)
                    yield event_bytes("found", {})
                elif (line := stage_line(event)) != told:
                    yield event_bytes("stage", {"line": (told := line)})
        except Exception as error:
            yield event_bytes("failed", public_error(error).to_dict())


def stage_line(event: QueryEvent) -> str:
    """Return in words what has been done."""
    match event:
        case FilesEvent(files=files):
            names = [document_name(file) for file in files[:SHOWN_DOCUMENTS]]
            more = ", …" if len(files) > len(names) else ""
            shown = f"{', '.join(names)}{more}"
            return say("stages.documents", names=shown) if names else say("stages.no_document")
        case EvidenceEvent(abstained=abstained, quotes=quotes):
            key = "stages.evidence_unsure" if abstained else "stages.evidence"
            return say(key, count=len(quotes))
        case DraftEvent():
            return say("stages.draft")
        case _:
            return say("stages.checked")


@router.api_route("/comparison.csv", methods=PAGE_METHODS)
async def as_csv(request: Request) -> Response:
    """Return the table of a comparison for a spreadsheet."""
    _, table = await _compare(request)
    return _file_to_keep(f"{BYTE_ORDER_MARK}{comparison_csv(table)}", "comparison.csv", "text/csv")


@router.api_route("/comparison.md", methods=PAGE_METHODS)
async def as_markdown(request: Request) -> Response:
    """Return the table of a comparison as Markdown."""
    question, table = await _compare(request)
    return _file_to_keep(comparison_markdown(question, table), "comparison.md", "text/markdown")


async def _compare(request: Request) -> tuple[str, Comparison]:
    """Return a question and its table. Raises NotFoundError where it compares nothing."""
    form, caller = read_form(request.query_params), await page_caller(request)
    response = await caller.query(form.q, **query_options(form))
    if response.comparison is None:
        raise NotFoundError(say("error.no_comparison"))
    return form.q, response.comparison


def _file_to_keep(text: str, name: str, media_type: str) -> Response:
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
    titles = completions(form.q, await _listed_titles(caller, form.q, scope))[:MAX_SUGGESTED_TITLES]
    found = [*titles, *completions(form.q, await _words(caller, form.q, scope))]
    return JSONResponse([*dict.fromkeys(found)][:MAX_SUGGESTIONS], headers=PAGE_HEADERS)


async def _listed_titles(caller: ScopedClient, typed: str, scope: Mapping[str, Any]) -> list[str]:
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


@router.api_route("/docs", methods=["GET", "HEAD"])
async def show_api(request: Request) -> Response:
    """Show the operations."""
    response = page(request, "api.html")
    response.headers["content-security-policy"] = SWAGGER_POLICY
    return response
