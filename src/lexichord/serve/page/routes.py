"""The pages: ask, the answer with its evidence, a document opened at a quote, the key's form.

A question stands in the address, GET /?q=…, as on any page that searches: it can be gone back to,
kept and sent to others. It is then in the browser's history, and in the logs of a proxy that keeps
addresses; this server logs none, and no other site is told. What must not be in an address goes by
POST /v1/query.
"""

import asyncio
import re
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from fastapi.routing import APIRoute

from lexichord.errors import (
    AccessError,
    DatabaseError,
    KeyExpiredError,
    NotFoundError,
    TooManyRequestsError,
)
from lexichord.serve.access import ScopedClient
from lexichord.serve.errors import public_error
from lexichord.serve.limits import (
    MAX_FACETED_DOCUMENTS,
    MAX_LISTED_DOCUMENTS,
    MAX_MARKED_PLACES,
    MAX_PINNED_DOCUMENTS,
    own_deadline,
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
from lexichord.serve.page.found import FoundResponses
from lexichord.serve.page.language import say
from lexichord.serve.page.questions import searches
from lexichord.serve.page.render import (
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
from lexichord.serve.page.results import RowPicker, show_picker, show_results
from lexichord.types import Response as QueryResponse
from lexichord.types import ShownDocument
from lexichord.types.base import document_name
from lexichord.types.state import IngestRun

PAGE_METHODS = ["GET", "HEAD"]


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
    return page(
        request,
        "results.html",
        form=form,
        view=show_results(response, int(form.k)),
        seconds=seconds,
        facets=facets,
        count_address="" if counts else f"{form.address()}&facets=1",
        chips=chips(form, await _titles(scoped, form.document)),
        picker=await _picker(scoped, form, response),
        judgment=scoped.judgment_id(response) if scoped.rights.writes else "",
        about={} if form.document else await _titles(scoped, response.intent.documents),
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


async def _titles(scoped: ScopedClient, documents: Sequence[str]) -> dict[str, str]:
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
    view = await asyncio.to_thread(show_document, stored, _marked(request, stored), wanted)
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
        chips=chips(form, await _titles(scoped, form.document)),
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
