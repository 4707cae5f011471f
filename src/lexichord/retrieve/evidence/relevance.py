"""Quotes and their sentences: what each says of a question, by scores comparable between documents.

Every quote is checked against the stored text before it is shown.
"""

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import sentencex  # type: ignore[import-untyped]
from numpy.typing import NDArray

from lexichord.db import evidence
from lexichord.db.pool import Database
from lexichord.retrieve.kept import kept
from lexichord.types.evidence import Quote


async def check_quotes(
    database: Database, quotes: Sequence[Quote]
) -> tuple[tuple[Quote, ...], tuple[str, ...]]:
    """Part the quotes that are the stored text at their span from those that are not.

    Gives the good ones in their order, and a line a bad one. One call for all.
    """
    spans = [(quote.document_id, quote.start, quote.end) for quote in quotes]
    stored = await evidence.read_spans(database, spans)
    pairs = list(zip(quotes, stored, strict=True))
    good = tuple(quote for quote, text in pairs if quote.text and quote.text == text)
    bad = tuple(_complaint(quote) for quote, text in pairs if not quote.text or quote.text != text)
    return good, bad


def sub_quote(quote: Quote, start: int, end: int, score: float) -> Quote:
    """Quote a stretch of a quote; the offsets count within it."""
    text = quote.text[start:end]
    first = quote.start + start
    return replace(quote, text=text, start=first, end=first + len(text), score=score)


def in_document_order(quotes: Iterable[Quote]) -> list[Quote]:
    """Sort quotes by place; documents stay in the order in which they first come."""
    listed = list(quotes)
    order = {name: n for n, name in enumerate(dict.fromkeys(q.document_id for q in listed))}
    return sorted(listed, key=lambda quote: (order[quote.document_id], quote.start))


def _complaint(quote: Quote) -> str:
    place = f"{quote.uri}, characters {quote.start} to {quote.end}"
    return f"not quoted: {place} of the stored text are not what {quote.chunk_id} says"


SENTENCE_LANGUAGE = (
    "en"  # of the abbreviations; sentencex falls back to general rules for what it lacks
)
MAX_HEADING_WORDS = 10
SMALL_WORD_CHARS = 4  # a word that may stay small in a title
MIN_WRAPPED_CHARS = 60  # characters from which on a line without an end may go on in the next

ITEM_NUMBER = re.compile(r"\s*[^\w\s]*\s*(?:\d+(?:\.\d+)*|[IVXLC]+|\w)[.)]")
LIST_ITEM = re.compile(rf"\s*[-*•–+]\s|{ITEM_NUMBER.pattern}")
SENTENCE_END = re.compile(r"[.;:!?|][\"'”’)*]*\s*\Z")
CLOSING_EMPHASIS = re.compile(r"[*_]+(?=\s)")  # behind a full stop: "**Never.** Use the other."
SECTION_NUMBER = re.compile(
    r"(?:(?:article|section|part|§)\s*)?(?:\d+(?:\.\d+)*|[IVXLC]+)[.)]?\s+[-–]?\s*", re.I
)
NOT_A_HEADING = re.compile(r"[\d:|_]|[.;!?,][\"'”’)*]*\Z")  # what a heading does not hold
# A sentence that says nothing without the one before it, in English, German, French and Spanish.
LEANING_SENTENCE = re.compile(
    r"(?:It|Its|He|His|She|Her|They|Their|These|Those|This|Both|In (?:that|this) case|Es|Er"
    r"|Dies(?:e[rs]?)?|Il|Elle|Ils|Elles"
    r"|Cela|Ces|Est[aeo]s?)\b"
)
# What German writes of a date: "24. November", whose dot ends no sentence.
ORDINAL_DAY = re.compile(r"(?<![\w.,])[0-3]?\d\.\s*\Z")
GERMAN_MONTH = re.compile(
    r"(?:Jan(?:uar|\.)|Jänner|Feb(?:ruar|\.)|März|Apr(?:il|\.)|Mai|Jun[i.]|Jul[i.]|Aug(?:ust|\.)"
    r"|Sep(?:tember|t?\.)|Okt(?:ober|\.)|Nov(?:ember|\.)|Dez(?:ember|\.))(?!\w)"
)
MAX_LEANING_CHARS = 400  # of such a sentence and the one before it
TEXT_LINE = re.compile(r"[^\n]*(?:\n|\Z)")
CODE_BLOCK = re.compile(
    r"^[ \t]*(?P<fence>`{3,}|~{3,})[^\n]*$(?:.*?^[ \t]*(?P=fence)[ \t]*$|.*)", re.M | re.S
)
MAX_CODE_CHARS = 1500  # of a block of code that is one sentence; of a longer one each line is one


class SentenceSpan(NamedTuple):
    """A stretch from `start` to `end` of the text given, and the heading line above it, or ""."""

    start: int
    end: int
    heading: str


@kept(1_000)  # passages
def split_sentences(text: str) -> tuple[SentenceSpan, ...]:
    """Return the sentences of `text` in order, without the white space around them.

    A list item, a table row and a paragraph end a sentence, a block of code is one; a line that is
    a heading is none, nor is one without a letter or a figure.
    """
    spans: list[SentenceSpan] = []
    heading = ""
    for start, end in _parts(text):
        part = text[start:end]
        if is_code(part):
            spans.append(SentenceSpan(*_trim(text, start, end), heading))
        elif _is_heading(part, _stands_alone(text, start, end)):
            heading = part.strip(" \n#*").removesuffix(".")
        else:
            spans += [SentenceSpan(start + a, start + b, heading) for a, b in _in_block(part)]
    return tuple(span for span in spans if any(map(str.isalnum, text[span.start : span.end])))


def is_code(text: str) -> bool:
    """Return whether a text begins a block of code that is short enough to be read as one."""
    return len(text) <= MAX_CODE_CHARS and bool(CODE_BLOCK.match(text))


def _parts(text: str) -> Iterator[tuple[int, int]]:
    """Return blocks of code, and what stands between them parted into lines."""
    place = 0
    for code in CODE_BLOCK.finditer(text):
        if code.end() - code.start() <= MAX_CODE_CHARS:
            yield from _blocks(text, place, code.start())
            yield code.span()
            place = code.end()
    yield from _blocks(text, place, len(text))


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Return whether an empty line, or nothing, stands before lines and after them."""
    after = text[end : end + 1] in ("", "\n")
    return after and (start == 0 or text.endswith("\n\n", 0, start))


def _blocks(text: str, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Return lines, those together that one sentence runs through."""
    start = end = first
    for line in TEXT_LINE.finditer(text, first, last):
        if end > start and not _goes_on(text[start:end], line.group()):
            yield start, end
            start = end
        end = line.end()
    if end > start:
        yield start, end


def _goes_on(block: str, line: str) -> bool:
    last = block.rstrip("\n").rpartition("\n")[2]
    if not line.strip() or not last.strip():
        return False
    if LIST_ITEM.match(line):
        return False
    is_open = not SENTENCE_END.search(last) or _parts_a_date(last, line)
    is_wrapped = line.lstrip()[0].islower() or len(last) >= MIN_WRAPPED_CHARS
    # An item's further lines are set in, whatever they begin with.
    is_set_in = line.startswith("  ") and bool(LIST_ITEM.match(block))
    return is_open and (is_wrapped or is_set_in)


def _is_heading(block: str, alone: bool) -> bool:
    """Return whether a line is a heading: by its sign, or short, open, numbered or in capitals.

    One with a number and capitals that stands alone may end in a full stop: "8. Termination."
    """
    line = block.strip()
    if line.startswith("#"):
        return True
    number = SECTION_NUMBER.match(line)
    name = line[number.end() :] if number else line
    is_closed = bool(number) and alone and name.endswith(".")
    name = name.removesuffix(".") if is_closed else name
    words = name.split()
    if (
        not words
        or len(words) > MAX_HEADING_WORDS
        or NOT_A_HEADING.search(name)
        or not name[0].isupper()
    ):
        return False
    in_capitals = all(word[0].isupper() for word in words if len(word) > SMALL_WORD_CHARS)
    return in_capitals or (bool(number) and not is_closed)


def _in_block(block: str) -> Iterator[tuple[int, int]]:
    """Return the sentences of a paragraph, wrongly parted ones joined."""
    start = end = 0
    for border in sentencex.get_sentence_boundaries(SENTENCE_LANGUAGE, block):
        piece = block[border["start_index"] : border["end_index"]]
        is_open = not SENTENCE_END.search(block[start:end]) or _opens(block[start:end])
        if not is_open and not _continues(piece) and not _parts_a_date(block[start:end], piece):
            closing = CLOSING_EMPHASIS.match(piece)
            border_at = border["start_index"] + (closing.end() if closing else 0)
            yield _trim(block, start, border_at)
            start = border_at
        end = border["end_index"]
    if block[start:end].strip():
        yield _trim(block, start, end)


def _opens(piece: str) -> bool:
    """Return whether this is a number or a numbered run-in heading, not a sentence of its own."""
    number = ITEM_NUMBER.match(piece)
    if number is None:
        return False
    words = piece[number.end() :].split()
    is_title = len(words) <= MAX_HEADING_WORDS and all(
        w[0].isupper() for w in words if len(w) >= SMALL_WORD_CHARS
    )
    return len(words) <= 2 or is_title


def _continues(piece: str) -> bool:
    """Return whether a sentence cannot begin so: it would be with a small letter."""
    return piece.lstrip()[:1].islower() or not any(map(str.isalnum, piece))


def _parts_a_date(before: str, piece: str) -> bool:
    """Return whether a sentence was cut between a day and its month."""
    return bool(ORDINAL_DAY.search(before) and GERMAN_MONTH.match(piece.lstrip()))


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    return start, start + len(piece.strip())


type EmbedSentences = Callable[[Sequence[str]], NDArray[np.float32]]
type Matrix = NDArray[np.float32]
type QuestionVectors = Sequence[Sequence[float]]

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
    table's row on its first one; "" if on nothing.
    """

    question: int
    quote: Quote
    heading: str
    before: str = ""

    @property
    def headed(self) -> str:
        """Return the sentence with its heading before it, as it is embedded."""
        row = f"{self.before} " if self.quote.text.startswith("|") else ""
        return f"{self.heading}: {row}{self.quote.text}".removeprefix(": ")


class ScoredSentence(NamedTuple):
    """A sentence with two scores: `rank` orders those of a question, `score` is absolute."""

    sentence: QuotedSentence
    rank: float
    score: float


def sentences_of(quote: Quote, question: int = 0) -> list[QuotedSentence]:
    """Return a passage's sentences; where no heading line stands above, the passage's names it."""
    own = quote.heading.rpartition(" › ")[2]
    spans = split_sentences(quote.text)
    sentences: list[QuotedSentence] = []
    head = ""
    for previous, one in zip([None, *spans], spans, strict=False):
        part = sub_quote(quote, one.start, one.end, quote.score)
        before = ""
        if part.text.startswith("|"):
            before = head
            head = head or part.text
        else:
            head = ""
            if previous is not None and leans(quote.text, previous, one):
                before = quote.text[previous.start : previous.end]
        sentences.append(QuotedSentence(question, part, one.heading or own, before))
    return sentences


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
    vectors: QuestionVectors | None = None,
    embed: EmbedSentences | None = None,
    near: Sequence[bool] | None = None,
) -> list[ScoredSentence]:
    """Score each sentence for its question, by words and, where there are vectors, by meaning.

    `vectors` are the questions', `embed` makes those of sentences; without either, both scores are
    the coverage of the question's words, 0 to 1. With them `score` is the cosine of sentence and
    question + WORDS × coverage, at least the coverage if that is ALL; `rank` is the sum of both.
    A sentence without a word of the question is embedded only if it is `near`; None means all.
    """
    texts = [sentence.quote.text for sentence in sentences]
    headings = [sentence.heading for sentence in sentences]
    terms = iter(await weigh_texts(database, [*questions, *texts, *headings]))
    question_terms = [next(terms) for _ in questions]
    sentence_terms = [next(terms) for _ in sentences]
    places = zip(sentences, sentence_terms, terms, strict=True)
    covered = [coverage(question_terms[one.question], words, above) for one, words, above in places]
    likely = [words > 0 or near is None or near[n] for n, words in enumerate(covered)]
    cosines = await _cosines(sentences, vectors, embed, likely)
    if cosines is None:
        return [ScoredSentence(*pair, pair[1]) for pair in zip(sentences, covered, strict=True)]
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
    sentences: Sequence[QuotedSentence],
    vectors: QuestionVectors | None,
    embed: EmbedSentences | None,
    likely: Sequence[bool],
) -> list[float] | None:
    """Compare each sentence, its heading before it, with its question; None without vectors.

    Those that are not `likely` count 0.
    """
    if vectors is None or embed is None:
        return None
    texts = [one.headed for one in sentences]
    embedded = dict.fromkeys(text for text, wanted in zip(texts, likely, strict=True) if wanted)
    rows = dict(zip(embedded, await embed_all(embed, list(embedded)), strict=True))
    return [
        float(rows[text] @ vectors[one.question]) if wanted else 0.0
        for one, text, wanted in zip(sentences, texts, likely, strict=True)
    ]


def coverage(
    question: Mapping[str, float], text: Iterable[str], heading: Iterable[str] = ()
) -> float:
    """Return the share of the question's idf whose lexemes the text holds, 0 to 1.

    `question` maps lexemes to idf. Those of `heading`, if not in the text, count HEADING.
    """
    total = sum(question.values())
    own, above = set(text), set(heading)
    held = sum(weight for lexeme, weight in question.items() if lexeme in own)
    held += HEADING_WEIGHT * sum(question[name] for name in question.keys() & (above - own))
    return held / total if total else 0.0


async def weigh_texts(database: Database, texts: Sequence[str]) -> list[dict[str, float]]:
    """Return each text's lexemes with their idf, under the database's analyzer; one call."""
    known: dict[str, dict[str, float]] = {text: {} for text in texts}
    distinct = list(known.values())
    for term in await evidence.weigh_terms(database, list(known)):
        for number in term.texts:
            distinct[number][term.lexeme] = term.idf
    return [known[text] for text in texts]


async def embed_all(embed: EmbedSentences, texts: Sequence[str]) -> Matrix:
    """Return the unit vectors of texts, of shape (texts, dimension), from a thread."""
    if not texts:
        return np.zeros((0, 0), np.float32)
    return await asyncio.to_thread(embed, texts)


def word_cosine(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Return the cosine of two texts as vectors of idf, 0 to 1."""
    shared = sum(weight * other[name] for name, weight in one.items() if name in other)
    norm = sum(w * w for w in one.values()) * sum(w * w for w in other.values())
    return float(shared / norm**0.5) if norm else 0.0
