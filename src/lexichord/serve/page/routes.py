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

from lexichord.errors import AccessError, ConfigError, ForbiddenError
from lexichord.serve.access import Limited
from lexichord.serve.errors import public_error
from lexichord.serve.page.document import show_document
from lexichord.serve.page.render import (
    HEADERS,
    Form,
    comes_from_here,
    forget,
    keep,
    key_page,
    local,
    names_of,
    page,
    problem_page,
    query_options,
    read_form,
    visitor,
)
from lexichord.serve.page.results import show_results

LONGEST = 60  # characters of a title that makes a readable question


def examples(titles: Iterable[str]) -> list[str]:
    """Give some questions about one document and two; none where all are nameless."""
    names = list(dict.fromkeys(" ".join(title.split()) for title in titles))
    names = [name for name in names if 3 <= len(name) <= LONGEST]
    names.sort(key=lambda name: " " not in name)  # "Office Lease" says more than "init"
    if not names:
        return []
    if len(names) == 1:
        return [f"What is {names[0]} about?"]
    first, second, *_, last = [*names, names[-1]]
    return [f"What is {first} about?", f"Compare {first} and {second}", f"Summarise {last}"]


READ = ["GET", "HEAD"]
# Seconds before the server's deadline, after which no page could say any more that it is over: the
# SQL is cancelled meanwhile. Of a short deadline a quarter.
SPARE = 1.0
FEW = 500  # documents, of which the start page lists some; more take too long to read


class Page(APIRoute):
    """A route whose errors are pages, too."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Give what answers a request."""
        answer = super().get_route_handler()

        async def shown(request: Request) -> Response:
            deadline = request.app.state.door.core.settings.request_timeout
            try:
                async with asyncio.timeout(deadline - min(SPARE, deadline / 4)):
                    return await answer(request)
            except Exception as error:
                return problem_page(request, public_error(error))

        return shown


router = APIRouter(route_class=Page, include_in_schema=False)


@router.api_route("/", methods=READ)
async def ask(request: Request) -> Response:
    """Show what is in the database, or what was found."""
    form, reached = read_form(request.query_params), await visitor(request)
    if not form.q:
        return await _start(request, form, reached)
    started = perf_counter()
    found = await reached.query(form.q, **query_options(form))
    seconds = perf_counter() - started
    names = [row["dataset"] for row in await reached.datasets()]
    shown = show_results(found, int(form.k))
    return page(
        request,
        "results.html",
        form=form,
        shown=shown,
        seconds=seconds,
        datasets=names_of(form, names),
    )


@router.api_route("/document/{document}", methods=READ)
async def document(request: Request, document: str) -> Response:
    """Show a document whole, opened at a quote: the characters from `start` to `end`.

    Each `also` is the place of one more quote, start-end.
    """
    found = await (await visitor(request)).show(document)
    given = request.query_params
    place = f"{given.get('start', '')}-{given.get('end', '')}"
    shown = show_document(found, place, given.getlist("also"))
    return page(request, "document.html", document=found.document, shown=shown)


@router.api_route("/login", methods=READ)
async def no_login() -> Response:
    """Lead back whom a failed attempt left here."""
    return RedirectResponse("/", 303, HEADERS)


@router.post("/login")
async def login(request: Request) -> Response:
    """Take a key, and go on to where it was asked for."""
    form = await _own_form(request)
    key, back = form.get("key", "").strip(), local(form.get("back", ""))
    try:
        await request.app.state.door.enter(f"Bearer {key}")
    except AccessError:
        message = "This key is unknown or revoked." if key else "Paste a key first."
        return key_page(request, back, message)
    answer = RedirectResponse(back, 303, HEADERS)
    keep(answer, request, key)
    return answer


@router.post("/logout")
async def logout(request: Request) -> Response:
    """Forget the key."""
    await _own_form(request)
    answer = RedirectResponse("/", 303, HEADERS)
    forget(answer)
    return answer


async def _own_form(request: Request) -> dict[str, str]:
    """Read a form of ours. Raises ForbiddenError for another site's, ConfigError for none."""
    if not comes_from_here(request):
        raise ForbiddenError("this form was not sent by a page of this server")
    try:
        form = await request.form(max_files=0)
    except HTTPException as error:
        raise ConfigError("this form cannot be read") from error
    return {name: value for name, value in form.items() if isinstance(value, str)}


async def _start(request: Request, form: Form, reached: Limited) -> Response:
    datasets = await reached.datasets()
    count = sum(row["documents"] for row in datasets)
    documents = await reached.list() if 0 < count <= FEW else []
    return page(
        request,
        "start.html",
        form=form,
        rows=datasets,
        documents=documents,
        examples=examples([each.title for each in documents]),
        datasets=names_of(form, [row["dataset"] for row in datasets]),
    )
