"""Example questions of the start page: those that what is stored answers well.

They are found in the background, so that no page waits for them, and kept until the datasets' sizes
or the documents that they are of change. Each is asked as any question is: what is not answered
with confidence, or elsewhere than by the section that it was made of, is not shown.
"""

import asyncio
from collections.abc import AsyncIterator, Hashable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import chain, islice, zip_longest
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from lexichord.errors import LexichordError, NotFoundError
from lexichord.serve.access import ScopedClient
from lexichord.serve.limits import (
    EXAMPLE_DOCUMENTS,
    MAX_EXAMPLE_CANDIDATES,
    MAX_EXAMPLES_OF_DOCUMENT,
    MAX_KEPT_EXAMPLES,
    MAX_LISTED_DOCUMENTS,
    SHOWN_EXAMPLES,
)
from lexichord.serve.page.form import SearchForm
from lexichord.serve.page.questions import Candidate, candidates, plain_heading
from lexichord.serve.page.render import PAGE_HEADERS, page_caller
from lexichord.types import Response as QueryResponse
from lexichord.types import Rights

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Examples:
    """Questions, and what they were found in: the datasets' sizes, when their documents changed."""

    questions: tuple[str, ...]
    sizes: Hashable
    documents: Mapping[str, object]


@dataclass(slots=True)
class ExampleSearches:
    """Examples by who may see what, and the searches for them, one at a time."""

    _kept: dict[Rights, Examples] = field(default_factory=dict)  # oldest first
    _searches: dict[Rights, asyncio.Task[None]] = field(default_factory=dict)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def find(
        self, caller: ScopedClient, datasets: Sequence[Mapping[str, Any]]
    ) -> Sequence[str] | None:
        """Return the questions for a caller who sees these datasets, None while they are sought."""
        sizes = tuple(tuple(row.values()) for row in datasets)
        kept = self._kept.get(caller.rights)
        if kept is not None and kept.sizes == sizes and await _are_there(caller, kept):
            return kept.questions
        if caller.rights not in self._searches:
            search = asyncio.create_task(self._search(caller, sizes))
            self._searches[caller.rights] = search
            search.add_done_callback(lambda _: self._searches.pop(caller.rights, None))
        return None

    async def end(self) -> None:
        """End the searches that are under way."""
        searches = [*self._searches.values()]
        for search in searches:
            search.cancel()
        await asyncio.gather(*searches, return_exceptions=True)

    async def _search(self, caller: ScopedClient, sizes: Hashable) -> None:
        async with self._turn:
            try:
                found = await find_examples(caller.unnoted(), sizes)
            except LexichordError:
                found = Examples((), sizes, {})  # a page says what is wrong when it is asked
        self._kept.pop(caller.rights, None)
        while len(self._kept) >= MAX_KEPT_EXAMPLES:
            del self._kept[next(iter(self._kept))]
        self._kept[caller.rights] = found


async def _are_there(caller: ScopedClient, kept: Examples) -> bool:
    """Return whether a caller sees the documents of examples still, unchanged."""
    if not kept.documents:
        return True
    try:
        rows = await caller.unnoted().list(documents=[*kept.documents])
    except NotFoundError:
        return False
    return {row.document_id: row.updated_at for row in rows} == kept.documents


async def find_examples(caller: ScopedClient, sizes: Hashable) -> Examples:
    """Return questions that a caller's documents answer well, the surest first, one of each."""
    found: list[tuple[float, str, str]] = []
    for candidate in await _candidates(caller):
        response = await caller.query(candidate.question, answer=True)
        if answers_well(response, candidate):
            sure = response.answer_confidence or response.confidence
            found.append((sure, response.quotes[0].document_id, candidate.question))
    best: dict[str, str] = {}
    for _, document, question in sorted(found, key=lambda one: -one[0]):
        best.setdefault(document, question)
    shown = dict(islice(best.items(), SHOWN_EXAMPLES))
    rows = await caller.list(documents=[*shown]) if shown else []
    changed = {row.document_id: row.updated_at for row in rows}
    return Examples(tuple(dict.fromkeys(shown.values())), sizes, changed)


async def _candidates(caller: ScopedClient) -> list[Candidate]:
    """Return candidates of documents from all over what a caller sees, in turn."""
    listed = await caller.list(limit=MAX_LISTED_DOCUMENTS)
    sample = listed[:: 1 + len(listed) // EXAMPLE_DOCUMENTS]
    shown = [await caller.show(one.document_id) for one in sample]
    each = await asyncio.to_thread(
        lambda: [[*islice(candidates(one), MAX_EXAMPLES_OF_DOCUMENT)] for one in shown]
    )
    turns = filter(None, chain.from_iterable(zip_longest(*each)))
    once = {one.question.casefold(): one for one in turns}
    return [*islice(once.values(), MAX_EXAMPLE_CANDIDATES)]


def answers_well(response: QueryResponse, candidate: Candidate) -> bool:
    """Return whether a response claims an answer, from the section that its question is made of.

    Lists, summaries and comparisons are not judged by confidence, so that they are none.
    """
    if not response.claimed or response.abstained or not response.quotes:
        return False
    if response.intent.kind in ("list_all", "summary", "comparison"):
        return False
    lines = filter(None, response.answer.casefold().splitlines())
    if all(candidate.question.casefold() in line for line in lines):
        return False  # a heading that asks was taken for its answer
    best = response.quotes[0]
    if candidate.heading:  # which other documents may have, too
        return candidate.heading.casefold() in plain_heading(best.heading).casefold()
    return best.document_id == candidate.document_id


@router.api_route("/examples", methods=["GET", "HEAD"])
async def examples(request: Request) -> Response:
    """Return the questions of the start page, each with its address; null while they are sought."""
    caller = await page_caller(request)
    found = await searches(request).find(caller, await caller.datasets())
    shown = None if found is None else [[one, SearchForm(q=one).address()] for one in found]
    return JSONResponse(shown, headers=PAGE_HEADERS)


def searches(request: Request) -> ExampleSearches:
    """Return the server's searches for examples."""
    kept: ExampleSearches = request.app.state.examples
    return kept


@asynccontextmanager
async def ended_searches(kept: ExampleSearches) -> AsyncIterator[None]:
    """End the searches at the end of a with statement."""
    try:
        yield
    finally:
        await kept.end()
