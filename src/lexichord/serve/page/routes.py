"""The pages: ask, the answer with its evidence, a document opened at a quote, the key's form.

A question stands in the address, GET /?q=…, as on any page that searches: it can be gone back to,
kept and sent to others. It is then in the browser's history, and in the logs of a proxy that keeps
addresses; this server logs none, and no other site is told. What must not be in an address goes by
POST /v1/query.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from time import perf_counter
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from lexichord.errors import (
    AccessError,
    ConfigError,
    DatabaseError,
    ForbiddenError,
    KeyExpiredError,
    TooManyRequestsError,
)
from lexichord.serve.access import ScopedClient
from lexichord.serve.errors import public_error
from lexichord.serve.limits import MAX_LISTED_DOCUMENTS, PAGE_MARGIN_SECONDS
from lexichord.serve.page.document import show_document
from lexichord.serve.page.render import (
    PAGE_HEADERS,
    SearchForm,
    comes_from_here,
    dataset_names,
    delete_key_cookie,
    error_page,
    key_page,
    local_address,
    page,
    page_caller,
    query_options,
    read_form,
    sentence,
    set_key_cookie,
)
from lexichord.serve.page.results import show_results
from lexichord.types.state import IngestRun

MAX_SHOWN_TITLE_CHARS = 60  # of a title that makes a readable question


def example_questions(titles: Iterable[str]) -> list[str]:
    """Return some questions about one document and two; none where all are nameless."""
    names = list(dict.fromkeys(" ".join(title.split()) for title in titles))
    names = [name for name in names if 3 <= len(name) <= MAX_SHOWN_TITLE_CHARS]
    names.sort(key=lambda name: " " not in name)  # "Office Lease" says more than "init"
    if not names:
        return []
    if len(names) == 1:
        return [f"What is {names[0]} about?"]
    first, second, *_, last = [*names, names[-1]]
    return [f"What is {first} about?", f"Compare {first} and {second}", f"Summarise {last}"]


PAGE_METHODS = ["GET", "HEAD"]


class PageRoute(APIRoute):
    """A route whose errors are pages, too."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers a request."""
        handle = super().get_route_handler()

        async def handle_page(request: Request) -> Response:
            deadline = request.app.state.policy.settings.request_timeout
            try:
                async with asyncio.timeout(deadline - min(PAGE_MARGIN_SECONDS, deadline / 4)):
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
    started = perf_counter()
    response = await scoped.query(form.q, **query_options(form))
    seconds = perf_counter() - started
    names = [row["dataset"] for row in await scoped.datasets()]
    view = show_results(response, int(form.k))
    return page(
        request,
        "results.html",
        form=form,
        view=view,
        seconds=seconds,
        datasets=dataset_names(form, names),
    )


@router.api_route("/document/{document}", methods=PAGE_METHODS)
async def document(request: Request, document: str) -> Response:
    """Show a document whole, opened at a quote: the characters from `start` to `end`.

    Each `also` is the place of one more quote, start-end.
    """
    stored = await (await page_caller(request)).show(document)
    params = request.query_params
    place = f"{params.get('start', '')}-{params.get('end', '')}"
    view = show_document(stored, place, params.getlist("also"))
    return page(request, "document.html", document=stored.document, view=view)


@router.api_route("/login", methods=PAGE_METHODS)
async def no_login() -> Response:
    """Lead back whom a failed attempt left here."""
    return RedirectResponse("/", 303, PAGE_HEADERS)


@router.post("/login")
async def login(request: Request) -> Response:
    """Take a key, and go on to where it was asked for."""
    form = await _own_form(request)
    key, back = form.get("key", "").strip(), local_address(form.get("back", ""))
    try:
        await request.app.state.policy.authorize(f"Bearer {key}")
    except TooManyRequestsError:
        raise
    except AccessError as error:
        return key_page(request, back, sentence(error) if key else "Paste a key first.")
    response = RedirectResponse(back, 303, PAGE_HEADERS)
    set_key_cookie(response, request, key)
    return response


@router.post("/logout")
async def logout(request: Request) -> Response:
    """Forget the key."""
    await _own_form(request)
    response = RedirectResponse("/", 303, PAGE_HEADERS)
    delete_key_cookie(response)
    return response


async def _own_form(request: Request) -> dict[str, str]:
    """Read a form of ours. Raises ForbiddenError for another site's, ConfigError for none."""
    if not comes_from_here(request):
        raise ForbiddenError("this form was not sent by a page of this server")
    try:
        form = await request.form(max_files=0)
    except HTTPException as error:
        raise ConfigError("this form cannot be read") from error
    return {name: value for name, value in form.items() if isinstance(value, str)}


async def _start(request: Request, form: SearchForm, scoped: ScopedClient) -> Response:
    datasets = await scoped.datasets()
    count = sum(row["documents"] for row in datasets)
    documents = await scoped.list() if 0 < count <= MAX_LISTED_DOCUMENTS else []
    return page(
        request,
        "start.html",
        form=form,
        rows=datasets,
        documents=documents,
        run=await _latest_run(scoped),
        examples=example_questions([document.title for document in documents]),
        datasets=dataset_names(form, [row["dataset"] for row in datasets]),
    )


async def _latest_run(scoped: ScopedClient) -> IngestRun | None:
    """Return the latest ingest; None where there is none, and for a role that may not see any."""
    try:
        return next(iter(await scoped.jobs(1)), None)
    except DatabaseError:
        return None
