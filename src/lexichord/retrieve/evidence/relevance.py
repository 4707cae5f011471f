"""Quotes and their sentences: what each says of a question, by scores comparable between documents.

Every quote is checked against the stored text before it is shown.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexichord.db import search
from lexichord.db.pool import Database
from lexichord.retrieve.evidence.splitting import (
    SentenceSpan,
    split_code,
    split_sentences,
    without_comment_signs,
)
from lexichord.types.base import is_code_file
from lexichord.types.evidence import Align, Quote, as_it_is
from lexichord.work import in_thread


async def check_quotes(
    database: Database, quotes: Sequence[Quote]
) -> tuple[tuple[Quote, ...], tuple[str, ...]]:
    """Part the quotes that are the stored text at their span from those that are not.

    Gives the good ones in their order, and a line a bad one. One call for all.
    """
    spans = [quote.place for quote in quotes]
    stored = await search.read_spans(database, spans)
    pairs = list(zip(quotes, stored, strict=True))
    good = tuple(quote for quote, text in pairs if quote.text and quote.text == text)
    bad = tuple(_complaint(quote) for quote, text in pairs if not quote.text or quote.text != text)
    return good, bad


def sub_quote(quote: Quote, start: int, end: int, score: float) -> Quote:
    """Quote a stretch of a quote; the offsets count within it."""
    text = quote.text[start:end]
    first = quote.start + start
    return replace(quote, text=text, start=first, end=first + len(text), score=score)


def document_order(quotes: Iterable[Quote]) -> dict[str, int]:
    """Return the numbers of documents, by id, in the order in which their quotes first come."""
    return {name: n for n, name in enumerate(dict.fromkeys(one.document_id for one in quotes))}


def in_document_order(quotes: Sequence[Quote]) -> list[Quote]:
    """Sort quotes by place; documents stay in the order in which they first come."""
    order = document_order(quotes)
    return sorted(quotes, key=lambda quote: (order[quote.document_id], quote.start))


def _complaint(quote: Quote) -> str:
    place = f"{quote.uri}, characters {quote.start} to {quote.end}"
    return f"not quoted: {place} of the stored text are not what {quote.chunk_id} says"


# A sentence that says nothing without the one before it, in English, German, French and Spanish.
LEANING_SENTENCE = re.compile(
    r"(?:It|Its|He|His|She|Her|They|Their|These|Those|This|Both|In (?:that|this) case|Es|Er"
    r"|Dies(?:e[rs]?)?|Il|Elle|Ils|Elles"
    r"|Cela|Ces|Est[aeo]s?)\b"
)
# What stands below a table's head and below no other row. A chunk may begin within a table.
RULE_BELOW = re.compile(r"\s*\|(?:\s*:?-+:?\s*\|)+[ \t]*(?:\n|\Z)")
MAX_LEANING_CHARS = 400  # of such a sentence and the one before it

type EmbedSentences = Callable[[Sequence[str]], NDArray[np.float32]]
type Matrix = NDArray[np.float32]
type QuestionVectors = Sequence[Sequence[float]]


class Meaning(NamedTuple):
    """What judges by meaning: the vectors of questions, in a space, and what makes those of texts.

    `align` gives cosines of the space as those that the constants were fitted on.
    """

    vectors: QuestionVectors
    space: str | None
    embed: EmbedSentences
    align: Align = as_it_is


# Chosen on half A of samples/comparisons.jsonl, as all constants of the comparison.
# What a lexeme counts that only the heading above has: .5, .75 and 1 gave 95.2, 95.2 and 92.9 on
# half A with vectors, 85.7, 85.7 and 78.6 with words alone.
HEADING_WEIGHT = 0.75
COVERAGE_WEIGHT = (
    0.15  # what full coverage of a question's words adds to the cosine of sentence and question
)

# A coverage from which on a sentence is found, however far it is in meaning: a short clause among
# long ones often is. Anything above .5 gives the same on half A.
FULL_COVERAGE = 0.9


class QuotedSentence(NamedTuple):
    """A sentence, the number of the question that it may answer, the heading it stands under.

    `before` is what it leans on, as "It is due on Monday." does on the sentence before it, and a
    table's row on its head; "" if on nothing. A head (`is_head`) says nothing of its own.
    """

    question: int
    quote: Quote
    heading: str
    before: str = ""
    is_head: bool = False

    @property
    def is_row(self) -> bool:
        """Whether it is a table's row."""
        return self.quote.text.startswith("|")

    @property
    def headed(self) -> str:
        """Return the sentence with its heading before it, as it is embedded."""
        row = f"{self.before} " if self.is_row else ""
        text = self.quote.text
        said = without_comment_signs(text) if is_code_file(self.quote.uri) else text
        return f"{self.heading}: {row}{said}".removeprefix(": ")


class ScoredSentence(NamedTuple):
    """A sentence with two scores: `rank` orders those of a question, `score` is absolute."""

    sentence: QuotedSentence
    rank: float
    score: float


def sentences_of(quote: Quote, question: int = 0) -> list[QuotedSentence]:
    """Return a passage's sentences; where no heading line stands above, the passage's names it."""
    own = quote.heading.rpartition(" › ")[2]
    split = split_code if is_code_file(quote.uri) else split_sentences
    spans = _without_names(quote, own, split(quote.text))
    sentences: list[QuotedSentence] = []
    head = ""
    for previous, one in zip([None, *spans], spans, strict=False):
        part = sub_quote(quote, one.start, one.end, quote.score)
        before, is_head = "", False
        if part.text.startswith("|"):
            is_head = not head and bool(RULE_BELOW.match(quote.text, one.end))
            before, head = head, part.text if is_head else head
        else:
            head = ""
            if previous is not None and leans(quote.text, previous, one):
                before = quote.text[previous.start : previous.end]
        sentences.append(QuotedSentence(question, part, one.heading or own, before, is_head))
    return sentences


def _without_names(
    quote: Quote, heading: str, spans: Sequence[SentenceSpan]
) -> Sequence[SentenceSpan]:
    """Leave out the lines that are the document's title or the heading: no mark tells in all kinds.

    What ends as a sentence does may have become the title of a text without one.
    """
    names = {name.casefold() for name in (quote.title, heading) if name and name[-1] not in ".!?:"}
    kept = [one for one in spans if quote.text[one.start : one.end].casefold() not in names]
    return kept or spans


def leans(text: str, previous: SentenceSpan, one: SentenceSpan) -> bool:
    """Return whether a sentence needs the one before it in its paragraph, both being short."""
    near = not text[previous.end : one.start].strip(" ")
    return (
        near
        and one.end - previous.start <= MAX_LEANING_CHARS
        and bool(LEANING_SENTENCE.match(text, one.start, one.end))
    )


async def score_sentences(
    database: Database,
    questions: Sequence[str],
    sentences: Sequence[QuotedSentence],
    meaning: Meaning | None,
    near: Sequence[bool] | None = None,
) -> list[ScoredSentence]:
    """Score each sentence for its question, by words and, where there are vectors, by meaning.

    Without them both scores are the coverage of the question's words, 0 to 1. With them `rank` is
    the sum of coverage and the cosine of sentence and question, `score` weighs the coverage, and is
    at least that if it is full. A sentence without a word of the question is embedded only if it is
    `near`; None means all.
    """
    texts = [sentence.quote.text for sentence in sentences]
    headings = [sentence.heading for sentence in sentences]
    everything = [*questions, *texts, *headings]
    terms = iter(await weigh_texts(database, everything, sought=len(questions)))
    question_terms = [next(terms) for _ in questions]
    sentence_terms = [next(terms) for _ in sentences]
    places = zip(sentences, sentence_terms, terms, strict=True)
    covered = [coverage(question_terms[one.question], words, above) for one, words, above in places]
    if meaning is None:
        return [ScoredSentence(*pair, pair[1]) for pair in zip(sentences, covered, strict=True)]
    likely = [words > 0 or near is None or near[n] for n, words in enumerate(covered)]
    cosines = map(meaning.align, await _cosines(sentences, meaning, likely))
    scored = zip(sentences, covered, cosines, strict=True)
    return [
        ScoredSentence(
            one,
            words + cosine,
            max(cosine + COVERAGE_WEIGHT * words, words if words >= FULL_COVERAGE else 0.0),
        )
        for one, words, cosine in scored
    ]


async def _cosines(
    sentences: Sequence[QuotedSentence], meaning: Meaning, likely: Sequence[bool]
) -> list[float]:
    """Compare each `likely` sentence, its heading before it, with its question; others count 0."""
    texts = [one.headed for one in sentences]
    embedded = dict.fromkeys(
        text for text, is_likely in zip(texts, likely, strict=True) if is_likely
    )
    rows = dict(zip(embedded, await embed_all(meaning.embed, list(embedded)), strict=True))
    return [
        float(rows[text] @ meaning.vectors[one.question]) if is_likely else 0.0
        for one, text, is_likely in zip(sentences, texts, likely, strict=True)
    ]


def coverage(
    question: Mapping[str, float], text: Iterable[str], heading: Iterable[str] = ()
) -> float:
    """Return the share of the question's idf whose lexemes the text holds, 0 to 1.

    `question` maps lexemes to idf. Those of `heading`, if not in the text, count less.
    """
    total = sum(question.values())
    own, above = set(text), set(heading)
    held = sum(weight for lexeme, weight in question.items() if lexeme in own)
    held += HEADING_WEIGHT * sum(question[name] for name in question.keys() & (above - own))
    return held / total if total else 0.0


async def weigh_texts(
    database: Database, texts: Sequence[str], sought: int | None = None
) -> list[dict[str, float]]:
    """Return each text's lexemes with their idf, under the database's analyzer; one call.

    Where only what the first texts hold is `sought`, those of so many.
    """
    known: dict[str, dict[str, float]] = {text: {} for text in texts}
    distinct = list(known.values())
    for term in await search.weigh_terms(database, list(known), sought):
        for number in term.texts:
            distinct[number][term.lexeme] = term.idf
    return [known[text] for text in texts]


async def embed_all(embed: EmbedSentences, texts: Sequence[str]) -> Matrix:
    """Return the unit vectors of texts, of shape (texts, dimension), from a thread."""
    if not texts:
        return np.zeros((0, 0), np.float32)
    return await in_thread(embed, texts)


def word_cosine(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Return the cosine of two texts as vectors of idf, 0 to 1."""
    shared = sum(weight * other[name] for name, weight in one.items() if name in other)
    norm = sum(w * w for w in one.values()) * sum(w * w for w in other.values())
    return float(shared / norm**0.5) if norm else 0.0
