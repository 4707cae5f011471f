"""Questions made of a document's title and headings, and examples for the start page."""

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Hashable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import chain, islice, zip_longest
from typing import Any, NamedTuple

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from lexichord.errors import LexichordError, NotFoundError
from lexichord.retrieve.understand import LANGUAGES, load_cues, named_words
from lexichord.serve.access import ScopedClient
from lexichord.serve.limits import (
    EXAMPLE_DOCUMENTS,
    MAX_EXAMPLE_CANDIDATES,
    MAX_EXAMPLES_OF_DOCUMENT,
    MAX_KEPT_EXAMPLES,
    MAX_LISTED_DOCUMENTS,
    SHOWN_EXAMPLES,
)
from lexichord.serve.page import PAGE_HEADERS, page_caller
from lexichord.serve.page.form import SearchForm
from lexichord.types import Response as QueryResponse
from lexichord.types import Rights, ShownDocument
from lexichord.work import in_thread

LEAST_NAME_CHARS, MAX_NAME_CHARS, MAX_NAME_WORDS = 5, 60, 6  # "Help", "Misc" ask for nothing
QUESTION_WORDS = 4
LEAST_OCCURRENCES = 2  # of a name in its document: once it stands above the text, once in it

NUMBER = re.compile(
    r"^\s*(?:(?:article|section|clause|chapter|part|schedule|annex)\b)?[^\w]*"
    r"(?:(?:\d[\d.]*|[ivxlc]+|[a-z])[.):]+\s*|\d[\d.]*\s+)*",
    re.IGNORECASE,
)
# A question with which a paragraph of a plain text begins, as headings do that are not told apart.
OWN_QUESTION = re.compile(
    r"^[^\w\n¿]{0,3}(?:\d{1,2}[.)]\s+)?((?:[^\W\d_a-z]|¿)[^.?!:;|<>\n]{8,70}\?)(?=\s)", re.MULTILINE
)
INNER_CAPITAL = re.compile(r"(?<=[a-z])[A-Z]")
HEADING_JOINT = re.compile(r" [›–] ")
MARKUP = re.compile(r"[`*\u200b]|\[(?=[^\]]*\]\()|\]\([^)]*\)")
WORD = re.compile(r"[^\W\d_]+(?:[-’'][^\W\d_]+)*")
# "Create an instance", not "About the data": what a page of instructions tells to do.
INSTRUCTION = re.compile(
    r"(?!(?:about|after|all|and|as|at|before|behind|both|by|for|from|in|into|is|are|not|of|on|or|"
    r"over|to|under|with|without|what|which|who|when|where|why|how)\b)(?!\w+ing\b)"
    r"[a-z]+ (?:the|an?|your|it) \w",
    re.IGNORECASE,
)


class Wording(NamedTuple):
    """How a language asks what a title is, one or several, and what is said of a heading."""

    one: str
    several: str
    said: str
    said_by: str


# By the language that an ingest told of a document; of others only headings that ask are taken.
WORDINGS: Mapping[str, Wording] = {
    "en": Wording(
        "What is {0}?", "What are {0}?", "What is said about {0}?", "What does {1} say about {0}?"
    ),
    "de": Wording(
        "Was ist {0}?", "Was sind {0}?", "Was wird über {0} gesagt?", "Was sagt {1} über {0}?"
    ),
    "fr": Wording("Qu’est-ce que {0} ?", "", "Que dit-on sur {0} ?", "Que dit {1} sur {0} ?"),
    "es": Wording(
        "¿Qué es {0}?", "¿Qué son {0}?", "¿Qué se dice sobre {0}?", "¿Qué dice {1} sobre {0}?"
    ),
    "zh": Wording("什么是{0}？", "什么是{0}？", "关于{0}说了什么？", "{1}关于{0}说了什么？"),
}
HOW = "How do I {0}?"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question, the document that it is made of, and of which of its headings, "" for none."""

    question: str
    document_id: str
    heading: str = ""


def candidates(document: ShownDocument) -> Iterator[Candidate]:
    """Yield questions of a document: those that it asks itself, its title, its headings."""
    stored, text = document.document, document.text
    named = list(dict.fromkeys(_names(document)))
    for name in named:
        if _is_question(name):
            yield Candidate(name, stored.document_id, name)
    language = str(stored.metadata.get("language", ""))
    if language not in WORDINGS:
        return
    # "Would you like to help?" is said to the reader.
    asks = re.compile(named_words(language)["question"], re.IGNORECASE)
    for asked in dict.fromkeys(OWN_QUESTION.findall(text)):
        if _is_question(asked) and asks.match(asked) and asked not in named:
            yield Candidate(asked, stored.document_id)
    yield from _about(document, WORDINGS[language], named)


def _about(document: ShownDocument, wording: Wording, named: Sequence[str]) -> Iterator[Candidate]:
    """Yield what is asked about a document's title and headings in its language."""
    number, text = document.document.document_id, document.text
    title = _written(document.document.title, text)
    subject = _with_article(title, wording, text)
    if title and _count(title, text) > LEAST_OCCURRENCES:
        yield Candidate(_what_is(wording, subject), number)
    spoken = [name for name in named if _count(name, text) >= LEAST_OCCURRENCES]
    for name in sorted(spoken, key=lambda name: -_count(name, text)):
        if wording is WORDINGS["en"] and INSTRUCTION.match(name):
            yield Candidate(HOW.format(name[:1].lower() + name[1:]), number, name)
        elif (written := _written(name, text)) and _says_enough(written):
            is_apart = title and title.casefold() not in written.casefold()
            question = wording.said_by if is_apart else wording.said
            yield Candidate(question.format(written, subject), number, name)


def plain_heading(heading: str) -> str:
    """Return a heading without the marks of its format."""
    return MARKUP.sub("", heading)


def heading_name(heading: str) -> str:
    """Return a heading without its number and marks."""
    return NUMBER.sub("", plain_heading(heading)).strip(" .:;,…")


def _names(document: ShownDocument) -> Iterator[str]:
    """Yield the headings without their numbers and marks."""
    for chunk in document.chunks:
        for part in HEADING_JOINT.split(chunk.heading):
            name = heading_name(part)
            if name and len(name) <= MAX_NAME_CHARS:
                yield name


def _is_question(name: str) -> bool:
    """Return whether a heading is a whole question: "Why?" needs its document around it."""
    return name.endswith("？") or (name.endswith("?") and len(name.split()) >= QUESTION_WORDS)


def _says_enough(name: str) -> bool:
    """Return whether a heading tells what it is about: "Example" and "Other" do not."""
    return len(name.split()) > 1 or not name.isascii()


def _what_is(wording: Wording, title: str) -> str:
    is_several = title.endswith("s") and not title.endswith(("ss", "is", "us")) and wording.several
    return (wording.several if is_several else wording.one).format(title)


def _with_article(title: str, wording: Wording, text: str) -> str:
    """Return an English title with the article that its text gives it."""
    if wording is not WORDINGS["en"] or not title:
        return title
    if 2 * _count(f"the {title}", text) > _count(title, text):
        return f"the {title}"
    article = "an" if title[0] in "aeiou" else "a"
    is_one = title.islower() and _count(f" {article} {title} ", text) >= LEAST_OCCURRENCES
    return f"{article} {title}" if is_one else title


def _count(name: str, text: str) -> int:
    return text.casefold().count(name.casefold())


def _written(name: str, text: str) -> str:
    """Return a name as its text writes it most often; "" where it is none, or not in the text."""
    words = name.split()
    if not 0 < len(words) <= MAX_NAME_WORDS or len(name) > MAX_NAME_CHARS:
        return ""
    if any(not WORD.fullmatch(word) for word in words) or (
        len(name) < LEAST_NAME_CHARS and name.isascii()
    ):
        return ""
    if _is_common(words[0]) or _is_common(words[-1]):
        return ""  # "Both parties shall", "Information which"
    forms = Counter(re.findall(re.escape(name), text, re.IGNORECASE))
    if forms[name] >= LEAST_OCCURRENCES and INNER_CAPITAL.search(name) and not name.isupper():
        return name  # "WebSockets", whatever code writes
    form = max(forms, key=lambda form: (forms[form], form.islower()), default="")
    return form.lower() if form.isupper() and len(words) > 1 else form


def _is_common(word: str) -> bool:
    return any(word.casefold() in load_cues(language).common for language in LANGUAGES)


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
    each = await in_thread(
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
