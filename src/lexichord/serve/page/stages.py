"""The stages of a question as they finish, for the page that waits for its answer."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from time import perf_counter

from fastapi import APIRouter, Request, Response

from lexichord.errors import ConfigError
from lexichord.serve.errors import public_error
from lexichord.serve.http.jobs import EventStream, event_bytes, next_event
from lexichord.serve.limits import own_deadline
from lexichord.serve.page.form import SearchForm, query_options, read_form
from lexichord.serve.page.found import FoundResponses
from lexichord.serve.page.language import say
from lexichord.serve.page.render import PAGE_HEADERS, page_caller
from lexichord.serve.page.routes import PageRoute
from lexichord.types import Response as QueryResponse
from lexichord.types import Rights
from lexichord.types.base import document_name
from lexichord.types.response import DraftEvent, EvidenceEvent, FilesEvent, QueryEvent

SHOWN_DOCUMENTS = 3  # that are named of those found

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/stages")
async def show_stages(request: Request) -> Response:
    """Ask the question of a form; send a line a stage, then that its page can be loaded."""
    form, scoped = read_form(request.query_params), await page_caller(request)
    if not form.q:
        raise ConfigError(say("error.no_question"))
    events = scoped.stream(form.q, **query_options(form))
    stream = EventStream(_written(request, events, form, scoped.rights))
    stream.headers.update(PAGE_HEADERS)
    return stream


async def _written(
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
