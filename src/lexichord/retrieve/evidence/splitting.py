"""A passage's sentences: where each begins and ends, and the heading line above it.

The boundaries are sentencex's, but those that tear a sentence: it knows many abbreviations of the
language it is told, yet not those of the others that a text uses, and takes a dot inside a path or
a name for an end. Of code a comment's sentences, and each statement.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

import sentencex  # type: ignore[import-untyped]

from lexichord.display.plain_text import CODE, CODE_SPAN, TAG
from lexichord.retrieve.cache import cached_by_tenant
from lexichord.retrieve.understand import tell_language

# Its initials and titles are everybody's ("M. Dupont"), so they count beside the text's own.
COMMON_LANGUAGE = "en"
# What no sentence ends with, in English and in German. "etc." and "usw." may well end one.
ABBREVIATION = re.compile(
    r"(?<![\w.])(?:e\. ?g|i\. ?e|eg|cf|viz|vs|resp|approx|incl|excl|esp|ca|pp|nos|figs|eqs|vols"
    r"|z\. ?B|d\. ?h|u\. ?a|u\. ?U|i\. ?d\. ?R|i\. ?S\. ?d|i\. ?V\. ?m|o\. ?g|bzw|bspw|ggfs?|evtl"
    r"|inkl|exkl|einschl|ausschl|zzgl|abzgl|vgl|sog|insbes|insb)\.\s*\Z",
    re.I,
)
# What is short for something only where its number follows: "No. 5", but "She said no."
NUMBERED = re.compile(
    r"(?<![\w.])(?:nos?|nrn?|figs?|abb|tab|eqs?|sec|sect|secs|ch|chap|kap|vols?|bd|arts?|abs|ziff"
    r"|par|paras?|cls?|refs?|app|anh|anl|anm|rn|rz|pp?|ss?|ed|ver|v|gem|lt|tel|ext|room"
    r"|(?<!\d )(?:max|min|mind))\.\s*\Z",
    re.I,
)
NUMBER = re.compile(r"\s*[\[(]?(?:§|\d|(?:[IVXLCDM]{2,}|[VX])\b|[A-Z]{1,3}-?\d)")
# What stands right behind a dot in "../basics", "setup.py", "v2.1.10", "asyncio.Queue"; and
# behind the sign of an image.
GOES_ON = re.compile(r"[0-9A-Za-z\u00c0-\u04ff]|[_./\\](?=\S)|(?<=!)\[")
LAST_WORD = re.compile(r"([^\W\d_]+)\.\s*\Z")
INLINE_CODE = re.compile(CODE_SPAN)
MAX_WORD_CHARS = 60
# Of a text that lost its blanks between sentences not all is one: no name stands that far behind.
MAX_GLUED_CHARS = 400


def sentence_boundaries(text: str, language: str = COMMON_LANGUAGE) -> Iterator[int]:
    """Yield where a sentence of `text` ends and another follows."""
    start = 0
    boundaries = _outside_code(text, _told_boundaries(text, language))
    for at, end in pairwise([*boundaries, len(text)]):
        # A quotation mark or a closing bracket alone belongs to what it closes.
        is_said = any(map(str.isalnum, text[at:end]))
        before = text[max(start, at - MAX_WORD_CHARS) : at]
        if is_said and not (is_cut(before, text[at:end]) or _is_glued(text, start, at)):
            yield at
            start = at


def _told_boundaries(text: str, language: str) -> list[int]:
    """Return the boundaries that both languages see; one without rules has the general ones."""
    common = _boundaries(text, COMMON_LANGUAGE)
    if language == COMMON_LANGUAGE:
        return common
    own = frozenset(_boundaries(text, language))
    return [at for at in common if at in own or _counts(text, at, language)]


def _outside_code(text: str, boundaries: Iterable[int]) -> Iterator[int]:
    """Yield the boundaries that stand in no `code`."""
    spans = [match.span() for match in INLINE_CODE.finditer(text)]
    for at in boundaries:
        before = bisect_left(spans, (at, 0))
        if not before or at >= spans[before - 1][1]:
            yield at


def _counts(text: str, at: int, language: str) -> bool:
    """Return whether a boundary before a number is one: German sees ordinals in all figures."""
    word = LAST_WORD.search(text, max(0, at - MAX_WORD_CHARS), at)
    return text[at].isdigit() and not (word and _is_short(word[1], language))


@lru_cache(maxsize=10_000)
def _is_short(word: str, language: str) -> bool:
    """Return whether a word with a full stop is an abbreviation of a language."""
    return not _boundaries(f"A {word}. A", language)


def _boundaries(text: str, language: str) -> list[int]:
    boundaries = sentencex.get_sentence_boundaries(language, text)
    return [boundary["start_index"] for boundary in boundaries if boundary["start_index"]]


def is_cut(before: str, after: str) -> bool:
    """Return whether a sentence was cut behind an abbreviation."""
    if ABBREVIATION.search(before):
        return True
    return bool(NUMBERED.search(before) and NUMBER.match(after))


def _is_glued(text: str, start: int, at: int) -> bool:
    """Return whether no blank follows a full stop, as in paths, names and numbers."""
    return (
        text[at - 1] in ".!?"
        and at - start <= MAX_GLUED_CHARS
        and GOES_ON.match(text, at) is not None
    )


MAX_HEADING_WORDS = 10
SMALL_WORD_CHARS = 4  # a word that may stay small in a title
MIN_SET_IN = 2  # blanks by which a definition is set in more than its term
MIN_WRAPPED_CHARS = 60  # characters from which on a line without an end may go on in the next

ITEM_NUMBER = re.compile(r"\s*(?:[^\w\s]+\s*)?(?:\d+(?:\.\d+)*|[IVXLC]+|\w)[.)]")
BULLET = r"\s*[-*•–+]\s"
LIST_ITEM = re.compile(rf"{BULLET}|{ITEM_NUMBER.pattern}")
# What nothing ends with but a line that goes on: a comma, an article, a preposition.
OPEN_END = re.compile(
    r"(?:,|\b(?:an?|the|of|or|and|to|in|on|at|by|for|with|from|as|that|which|und|oder|der|die|das|den"
    r"|dem|von|y|o|de|del|la|el|los|las|et|ou|le|les|des))[ \t]*\Z",
    re.I,
)
SENTENCE_END = re.compile(r"[.;:!?|][\"'”’)*]*\s*\Z")
# Behind a full stop: "**Never.** Use the other.", "[It is secret (hidden).] Rent is due."
CLOSING_EMPHASIS = re.compile(r"[*_\]]+(?=\s)")
SECTION_NUMBER = re.compile(
    r"(?:(?:article|section|part|§)\s*)?(?:\d+(?:\.\d+)*|[IVXLC]+)[.)]?\s+[-–]?\s*", re.I
)
NOT_A_HEADING = re.compile(r"[\d:|_]|[.;!?,][\"'”’)*]*\Z")  # what a heading does not hold
# What German writes of a date: "24. November", whose dot ends no sentence.
ORDINAL_DAY = re.compile(r"(?<![\w.,])[0-3]?\d\.\s*\Z")
GERMAN_MONTH = re.compile(
    r"(?:Jan(?:uar|\.)|Jänner|Feb(?:ruar|\.)|März|Apr(?:il|\.)|Mai|Jun[i.]|Jul[i.]|Aug(?:ust|\.)"
    r"|Sep(?:tember|t?\.)|Okt(?:ober|\.)|Nov(?:ember|\.)|Dez(?:ember|\.))(?!\w)"
)
TEXT_LINE = re.compile(r"[^\n]*(?:\n|\Z)")
FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[ \t]*(?P<language>\S?)[^\n]*", re.M)
# What stands behind the fence that closes code.
BEHIND_CODE = re.compile(r"\n[ \t]*\n|\s*\Z")
# What is not said: pictures, the label above the text of a note, a fence without code, tags alone,
# and what stands above and below a manual page: "GNU sed 4.9    January 2023    SED(1)".
UNSAID = re.compile(
    r"(?:\[?!\[[^\[\]]*\]\([^()\n]*\)(?:\]\([^()\n]*\))?\s*)+"
    r"|(?:attention|caution|check|danger|error|hint|important|info|note|see also|tip|warning):"
    rf"|[`~]{{3,}}[^\n]*(?:\n[`~\s]*)?|(?:{TAG}\s*)+"
    r"|(?=[^\n]{,200}\Z)\S[^\n]*? {3,}\S[^\n]*? {3,}[\w.+-]+\(\d\w{,3}\)",
    re.I,
)
MAX_CODE_CHARS = 1500  # of a block of code that is one sentence; of a longer one each line is one

# A comment's sign with white space behind it, in whatever language: Python's "*args" is none.
COMMENT_SIGN = re.compile(r"^[ \t]*(?:/\*+|\*/|\*|//+!?|#+!?|--+|;+|%+)(?=[ \t]|$)", re.M)
LONG_QUOTE = re.compile(r"\"{3}|'{3}")  # around Python's texts of several lines
IMPORT = re.compile(r"\s*(?:import|from\s+\S+\s+import|package|use|using|#\s*include|require)\b")
MAX_STATEMENT_CHARS = 500

type CodeKind = Literal["comment", "statement", "blank"]


class SentenceSpan(NamedTuple):
    """A stretch from `start` to `end` of the text given, and the heading line above it, or ""."""

    start: int
    end: int
    heading: str


@cached_by_tenant(1_000)  # passages
def split_sentences(text: str) -> tuple[SentenceSpan, ...]:
    """Return the sentences of `text` in order, without the white space around them.

    A list item, a table row and a paragraph end a sentence, a block of code is one; a line that is
    a heading is none, nor is a picture, nor one without a letter or a figure.
    """
    spans: list[SentenceSpan] = []
    heading, language = "", tell_language(text) or COMMON_LANGUAGE
    for start, end in _parts(text):
        part = text[start:end]
        if is_code(part):
            spans.append(SentenceSpan(*_trim(text, start, end), heading))
        elif _is_heading(part, _stands_alone(text, start, end)):
            heading = part.strip(" \n#*").removesuffix(".")
        else:
            sentences = _in_block(part, language)
            spans += [SentenceSpan(start + a, start + b, heading) for a, b in sentences]
    return tuple(span for span in spans if _is_said(text[span.start : span.end]))


def _is_said(sentence: str) -> bool:
    return any(map(str.isalnum, sentence)) and not UNSAID.fullmatch(sentence)


@cached_by_tenant(1_000)  # passages
def split_code(text: str) -> tuple[SentenceSpan, ...]:
    """Return what code says: the sentences of its comments, and each statement, imports aside.

    A dot in an expression ends no sentence, and a "#" makes no heading.
    """
    spans: list[tuple[int, int]] = []
    for kind, start, end in _code_runs(text):
        if kind == "comment":
            spans += _comment_sentences(text, start, end)
        elif kind == "statement" and not IMPORT.match(text, start):
            spans.append(_trim(text, start, end))
    return tuple(SentenceSpan(a, b, "") for a, b in spans if any(map(str.isalnum, text[a:b])))


def without_comment_signs(text: str) -> str:
    """Return a comment's words, without the signs that make it one."""
    return " ".join(LONG_QUOTE.sub("", COMMENT_SIGN.sub("", text)).split())


def _code_runs(text: str) -> Iterator[tuple[CodeKind, int, int]]:
    """Return comments of several lines, and statements with the lines that their brackets span."""
    run: tuple[CodeKind, int, int] | None = None
    for kind, start, end in _code_lines(text):
        if run is not None and kind == run[0] and _belongs(text, run, end):
            run = (kind, run[1], end)
            continue
        if run is not None:
            yield run
        run = (kind, start, end)
    if run is not None:
        yield run


def _belongs(text: str, run: tuple[CodeKind, int, int], end: int) -> bool:
    kind, start, last = run
    if kind == "comment" or end - start > MAX_STATEMENT_CHARS:
        return kind == "comment"
    said = text[start:last]
    return sum(map(said.count, "([")) > sum(map(said.count, ")]"))


def _code_lines(text: str) -> Iterator[tuple[CodeKind, int, int]]:
    quoted: CodeKind | None = None
    for line in TEXT_LINE.finditer(text):
        said = line[0].strip()
        kind: CodeKind = "comment" if COMMENT_SIGN.match(line[0]) else "statement"
        if LONG_QUOTE.match(said) and quoted is None:
            kind = "comment"
        yield (quoted or (kind if said else "blank")), *line.span()
        if len(LONG_QUOTE.findall(said)) % 2:
            quoted = kind if quoted is None else None


def _comment_sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Return the sentences of a comment, whose lines' ends are white space but an empty line's."""
    comment = text[start:end]
    for sign in (COMMENT_SIGN, LONG_QUOTE):
        comment = sign.sub(lambda match: " " * len(match[0]), comment)
    for at, end in _paragraphs(comment):
        for first, last in _in_block(comment[at:end].replace("\n", " ")):
            yield start + at + first, start + at + last


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Return the lines that stand together, between empty ones."""
    start: int | None = None
    for line in TEXT_LINE.finditer(text):
        if line[0].strip():
            start = line.start() if start is None else start
        elif start is not None:
            yield start, line.start()
            start = None
    if start is not None:
        yield start, len(text)


def is_code(text: str) -> bool:
    """Return whether a text begins a block of code that is short enough to be read as one."""
    return len(text) <= MAX_CODE_CHARS and bool(CODE.match(text))


def _parts(text: str) -> Iterator[tuple[int, int]]:
    """Return blocks of code, and what stands between them parted into lines."""
    place = _end_of_opened_code(text)
    yield from _blocks(text, 0, place)
    for code in CODE.finditer(text, place):
        if code.end() - code.start() <= MAX_CODE_CHARS:
            yield from _blocks(text, place, code.start())
            yield code.span()
            place = code.end()
    yield from _blocks(text, place, len(text))


def _end_of_opened_code(text: str) -> int:
    """Return where code ends that began before the text, which was cut inside; 0 without any."""
    fences = [*FENCE.finditer(text)]
    if not fences or fences[0]["language"]:
        return 0
    at, end = fences[0].span()
    is_closing = not text.endswith("\n\n", 0, at) and BEHIND_CODE.match(text, end)
    is_unpaired = len(fences) % 2 or fences[1]["language"]
    return end if is_closing and is_unpaired else 0


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
    if not line.strip() or not last.strip() or FENCE.match(last) or FENCE.match(line):
        return False
    if is_cut(last, line) and not re.match(BULLET, line):
        return True
    if LIST_ITEM.match(line):
        return False
    is_half = len(last) >= MIN_WRAPPED_CHARS and last.endswith(";") and line.lstrip()[0].islower()
    is_open = not SENTENCE_END.search(last) or is_half or _parts_a_date(last, line)
    is_wrapped = (
        line.lstrip()[0].islower() or len(last) >= MIN_WRAPPED_CHARS or OPEN_END.search(last)
    )
    # An item's further lines are set in, whatever they begin with.
    is_set_in = line.startswith("  ") and bool(LIST_ITEM.match(block))
    return is_open and bool(is_wrapped or is_set_in or _defines(block, line))


def _defines(block: str, line: str) -> bool:
    """Return whether a line defines the term in the line above, below which it is set in.

    So manual pages, what programs say of their options and reStructuredText define: the term alone
    says nothing, and what is said of it does not name it.
    """
    term = block.strip("\n")
    is_deeper = indent(line) - indent(term) >= MIN_SET_IN
    is_short = "\n" not in term and len(term.split()) <= MAX_HEADING_WORDS
    return is_deeper and is_short and not _is_heading(term, False)


def indent(line: str) -> int:
    """Return how many blanks a line begins with."""
    return len(line) - len(line.lstrip(" "))


def _is_heading(block: str, alone: bool) -> bool:
    """Return whether a line is a heading: by its sign, or short, open, numbered or in capitals.

    One with a number and capitals that stands alone may end in a full stop: "8. Termination." The
    sign before a long sentence makes an item, as wikis write it.
    """
    line = block.strip()
    if line.startswith("#"):
        return not line.endswith(".") or len(line.split()) <= MAX_HEADING_WORDS
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


def _in_block(block: str, language: str = COMMON_LANGUAGE) -> Iterator[tuple[int, int]]:
    """Return the sentences of a paragraph, wrongly parted ones joined."""
    start = 0
    for at in sentence_boundaries(block, language):
        before, piece = block[start:at], block[at:]
        is_open = not SENTENCE_END.search(before) or _opens(before)
        if not is_open and not _continues(piece) and not _parts_a_date(before, piece):
            closing = CLOSING_EMPHASIS.match(piece)
            boundary = at + (closing.end() if closing else 0)
            yield _trim(block, start, boundary)
            start = boundary
    if block[start:].strip():
        yield _trim(block, start, len(block))


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
    said = CLOSING_EMPHASIS.sub("", piece, count=1) if CLOSING_EMPHASIS.match(piece) else piece
    return said.lstrip()[:1].islower() or not any(map(str.isalnum, piece))


def _parts_a_date(before: str, piece: str) -> bool:
    """Return whether a sentence was cut between a day and its month."""
    return bool(ORDINAL_DAY.search(before) and GERMAN_MONTH.match(piece.lstrip()))


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    return start, start + len(piece.strip())
