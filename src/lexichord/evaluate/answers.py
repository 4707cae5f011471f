"""What a written answer says, against what a right one says, by strings.

A model's grades are another thing: `providers.llm.prompts`.

| metric | 1 if |
|---|---|
| `hit_document` | the first hit is of a relevant document |
| `first_sentence` | the first sentence holds what a right one does, from a relevant document |
| `answer_holds` | the answer holds such a string or a quote |
| `not_wrong@0.7` | it abstains, is right, or has a confidence below .7 |

Of a list `answer_holds` is the share of the quotes, of a comparison that of the cells. A right
answer's first sentence is right, or where that is not judged, all of it. To a question that
nothing answers, none is right. What a strategy that writes no answer would say is not judged.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from statistics import fmean

from lexichord.display.plain_text import plain_text
from lexichord.types.evaluation import ExpectedAnswer, Outcome
from lexichord.types.evidence import NEAREST_MARK, NEAREST_TO_IT, ContextSource, Quote

MARKS = re.compile(r"[*`]+")  # of Markdown, around words
CITATION = re.compile(r"\s*\[(\d+)\]")
TABLE_HEAD = re.compile(r"\|.*\n\| ---.*\n?")
MARK = re.escape(NEAREST_MARK)
NEAREST = re.compile(rf"\A.*{re.escape(NEAREST_TO_IT)}\n\n(?s:.*?){MARK}((?s:.+?)){MARK}")
CODE = re.compile(r"\s*(```.*?\n\s*```)\s*\n", re.S)
LIST_TYPE = "list"  # of questions that want all of a sort
MAX_FIRST_CHARS = 400  # of an answer's first sentence that are judged


@lru_cache(maxsize=4096)
def fold(text: str) -> str:
    """Return a text in lower case, without markup, white space as single blanks."""
    return " ".join(MARKS.sub("", plain_text(text)).casefold().split())


def holds(text: str, part: str) -> bool:
    """Return whether a text holds a part, by whole words and numbers, however it is set."""
    wanted = fold(part)
    start = r"(?<![a-z0-9])" if wanted[:1].isalnum() else ""
    end = r"(?![a-z0-9])" if wanted[-1:].isalnum() else ""
    return bool(re.search(f"{start}{re.escape(wanted)}{end}", fold(text)))


def first_sentence(answer: str) -> str:
    """Return the first sentence of an answer, up to its citation.

    A list's file names and a table's head are none; of a passage that is shown without a claim it
    is the sentence that is marked; a block of code is one.
    """
    if nearest := NEAREST.search(answer):
        return nearest[1][:MAX_FIRST_CHARS]
    if code := CODE.match(answer):
        return code[1][:MAX_FIRST_CHARS]
    first = CITATION.split(_first_line(answer), maxsplit=1)[0]
    return first.removeprefix("- ")[:MAX_FIRST_CHARS]


def _first_line(answer: str) -> str:
    lines = TABLE_HEAD.sub("", answer, count=1).splitlines()
    return next((line for line in lines if line.strip() and not line.endswith(":")), "")


def first_source(
    answer: str, sources: Sequence[ContextSource], quotes: Iterable[Quote]
) -> str | None:
    """Return the uri of what the first sentence cites, or else quotes; None if that is unknown."""
    cited = CITATION.search(_first_line(answer))
    if cited and 1 <= int(cited[1]) <= len(sources):
        return sources[int(cited[1]) - 1].uri
    sentence = fold(first_sentence(answer).partition(" (")[0])
    return next((quote.uri for quote in quotes if sentence and sentence in fold(quote.text)), None)


HIGH_CONFIDENCE = 0.7
HIT_DOCUMENT, FIRST_SENTENCE, ANSWER_HOLDS = "hit_document", "first_sentence", "answer_holds"
NOT_WRONG = f"not_wrong@{HIGH_CONFIDENCE}"


def score_answer(
    expected: ExpectedAnswer, grades: Mapping[str, int], outcome: Outcome
) -> dict[str, float | None]:
    """Return one answer's scores; `grades` are of documents, none if nothing answers."""
    first_uri = next((passage.uri for passage in outcome.passages), "")
    is_written = outcome.confidence is not None or outcome.error is not None
    first = _score_first(expected, grades, outcome) if is_written else None
    whole = _score_whole(expected, outcome) if is_written else None
    scores = {FIRST_SENTENCE: first, ANSWER_HOLDS: whole}
    is_sure = not outcome.abstained and (outcome.confidence or 0) >= HIGH_CONFIDENCE
    return {
        HIT_DOCUMENT: float(grades.get(first_uri, 0) > 0) if grades else None,
        **scores,
        NOT_WRONG: float(not is_sure or bool(is_right(scores))) if is_written else None,
    }


def is_right(scores: Mapping[str, float | None]) -> bool | None:
    """Return whether an answer is right by its scores; None where that is not judged."""
    first, whole = scores.get(FIRST_SENTENCE), scores.get(ANSWER_HOLDS)
    judged = whole if first is None else first
    return None if judged is None else judged == 1


def _score_first(
    expected: ExpectedAnswer, grades: Mapping[str, int], outcome: Outcome
) -> float | None:
    if not expected.first:
        return None
    if outcome.source is not None and grades.get(outcome.source, 0) <= 0:
        return 0.0
    sentence = first_sentence(outcome.written)
    return float(any(holds(sentence, part) for part in expected.first))


def _score_whole(expected: ExpectedAnswer, outcome: Outcome) -> float | None:
    answer = CITATION.sub("", outcome.written)
    if values := [(cell.file, cell.value) for cell in expected.cells if cell.value]:
        rows = outcome.rows or {file: answer for file, _ in values}
        return fmean(holds(rows.get(file, ""), value) for file, value in values)
    if expected.type == LIST_TYPE and expected.quotes:
        return fmean(holds(answer, quote) for quote in expected.quotes)
    parts = [*expected.quotes, *expected.first]
    return float(any(holds(answer, part) for part in parts)) if parts else None
