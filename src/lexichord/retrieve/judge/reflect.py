"""Does the evidence speak of all that was asked, and do its sources hold what an answer says?

Plain functions, with no loop: retrieve/pipeline.py searches again as `decide` says.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal

from lexichord.db import evidence
from lexichord.db.pool import Database
from lexichord.types import ChunkHit, QueryOptions
from lexichord.types.reflection import Budget, Coverage, Decision, Reflection, Rewrite, Round, Term

NOTHING_LEFT = "no other wording is left"
COVERED = 0.5  # of a sub-question's weight, in one passage; not tuned

WORD = re.compile(r"[^\W_]+")
CITATION = re.compile(r"\[\d{1,3}(?:, ?\d{1,3})*\]")
NUMBER = re.compile(r"(?<![\w.,])\d+(?:,\d{3})*(?:\.\d+)*(?![\d_])(?!,\d{3})")
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
DATES = tuple(
    re.compile(rf"(?<![\w-]){pattern}(?![\w-])", re.I)
    for pattern in (
        r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)",
        rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: day)?(?: of)? {MONTH},? (?P<year>\d{{4}})",
        rf"{MONTH} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year>\d{{4}})",
    )
)
SMALL = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14,
    "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19,
}  # fmt: skip
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
SPELLED = SMALL | {
    f"{ten}-{word}" if one else ten: 10 * number + one
    for number, ten in enumerate(TENS, 2)
    for word, one in SMALL.items()
    if one < 10
}
SPELLING = re.compile(
    rf"(?<![\w-])(?:{'|'.join(sorted(SPELLED, key=len, reverse=True))})(?![\w-])", re.I
)


async def cover(
    database: Database,
    question: str,
    hits: Sequence[ChunkHit],
    entities: Sequence[str] = (),
    sub_questions: Sequence[str] = (),
) -> Coverage:
    """Measure what the hits cover of a question, its entities and its sub-questions.

    The score is the mean of the parts that the question has: the idf-weighted share of its terms,
    the share of its entities, and of its sub-questions.
    """
    ids = [hit.chunk_id for hit in hits]
    terms = await evidence.question_coverage(database, question, ids)
    parts = [await evidence.question_coverage(database, part, ids) for part in sub_questions]
    missing = missing_entities(entities, hits)
    uncovered = [
        part for part, found in zip(sub_questions, parts, strict=True) if not is_covered(found)
    ]
    shares = [_share(entities, missing), _share(sub_questions, uncovered)]
    known = [share for share in (held_share(terms), *shares) if share is not None]
    return Coverage(
        score=sum(known) / len(known) if known and hits else 0.0,
        missing_terms=tuple(word for term in terms if not term.chunks for word in term.words),
        missing_entities=tuple(missing),
        uncovered_sub_questions=tuple(uncovered),
    )


def held_share(terms: Sequence[Term], chunks: Sequence[int] | None = None) -> float | None:
    """Give the idf-weighted share of terms that any chunk (of `chunks`) holds; None of none."""
    whole = sum(term.idf for term in terms)
    held = sum(
        term.idf
        for term in terms
        if (term.chunks if chunks is None else set(chunks).intersection(term.chunks))
    )
    return held / whole if whole else None


def is_covered(terms: Sequence[Term]) -> bool:
    """Tell whether one passage alone speaks of a question."""
    passages = {chunk for term in terms for chunk in term.chunks}
    return any((held_share(terms, [passage]) or 0) >= COVERED for passage in passages)


def missing_entities(entities: Sequence[str], hits: Sequence[ChunkHit]) -> list[str]:
    """Give the entities whose words no hit has, as a phrase, in its title, heading or content."""
    texts = [f" {_plain(part)} " for hit in hits for part in (hit.title, hit.heading, hit.content)]
    return [
        entity for entity in entities if not any(f" {_plain(entity)} " in text for text in texts)
    ]


def unsupported(answer: str, sources: Sequence[str]) -> tuple[str, ...]:
    """Give the numbers and dates of an answer, as written there, that no source holds.

    Numbers up to 99 may be spelled out, dates be written in another order. Citation marks such as
    [1] are no numbers, and an answer's "one" need not be. A date counts as a whole: its year alone
    does not support it.
    """
    facts = [fact for fact in _facts(CITATION.sub(" ", answer)) if fact[1].lower() != "one"]
    held = {value for source in sources for value, _ in _facts(source)}
    return tuple(dict.fromkeys(text for value, text in facts if value not in held))


def decide(
    covered: Coverage,
    budget: Budget,
    rewrites: Sequence[Rewrite] = (),
    tried: Sequence[str] = (),
    expected_ms: float = 0.0,
    enough: float = QueryOptions.min_coverage,
) -> Decision:
    """Give the next query of `rewrites` that was not tried, or stop and say why.

    `expected_ms` is what a round takes: none is begun that the budget has no room for. `enough`
    is the coverage, 0 to 1, that needs no further round.
    """
    if covered.score >= enough and not covered.uncovered_sub_questions:
        return Decision(None, f"the evidence covers {covered.score:.0%}")
    if budget.rounds < 1:
        return Decision(None, "no rounds are left")
    if budget.milliseconds <= 0 or budget.milliseconds < expected_ms:
        return Decision(None, f"{max(0, budget.milliseconds):.0f} ms are left, too few for a round")
    done = {text.casefold() for text in tried}
    for part in covered.uncovered_sub_questions:
        if part.casefold() not in done:
            return Decision(part, "a sub-question without evidence, asked alone")
    for each in rewrites:
        if each.kind != "none" and each.text.casefold() not in done:
            return Decision(each.text, f"{each.kind}: {each.reason}")
    return Decision(None, NOTHING_LEFT)


def record(reflection: Reflection, round_: Round, covered: Coverage | None = None) -> Reflection:
    """Add a round; one with an error leaves the coverage as it was, and is no pass."""
    errors = (*reflection.errors, round_.error) if round_.error else reflection.errors
    return replace(
        reflection,
        rounds=(*reflection.rounds, round_),
        coverage=reflection.coverage if round_.error or covered is None else covered,
        errors=errors,
    )


def is_passed(
    reflection: Reflection,
    enough: float = QueryOptions.min_coverage,
    good: float = QueryOptions.min_grade,
) -> bool:
    """Tell whether coverage and grades are enough, nothing is unsupported and nothing failed."""
    covered = reflection.coverage
    complete = covered is not None and covered.score >= enough
    graded = all(grade.score >= good for grade in reflection.grades)
    return complete and graded and not reflection.unsupported and not reflection.errors


def _share(asked: Sequence[str], missing: Sequence[str]) -> float | None:
    return 1 - len(missing) / len(asked) if asked else None


def _plain(text: str) -> str:
    return " ".join(WORD.findall(text.casefold()))


def _facts(text: str) -> list[tuple[object, str]]:
    """The values of a text with the way they are written; what is part of a date is no number."""
    facts: list[tuple[object, str]] = []
    for pattern in DATES:
        for match in pattern.finditer(text):
            if value := _date(match):
                facts.append((value, match[0]))
                text = text[: match.start()] + "_" * len(match[0]) + text[match.end() :]
    facts += [(_number(match[0]), match[0]) for match in NUMBER.finditer(text)]
    spelled = SPELLING.finditer(text)
    return facts + [(Decimal(SPELLED[match[0].lower()]), match[0]) for match in spelled]


def _date(match: re.Match[str]) -> date | None:
    month = match["month"].lower()
    number = int(month) if month.isdecimal() else MONTHS.index(month[:3]) + 1
    try:
        return date(int(match["year"]), number, int(match["day"]))
    except ValueError:
        return None


def _number(written: str) -> object:
    """A value: 3.50 is 3.5, 1,000 is 1000; section numbers such as 5.2.1 stay as text."""
    plain = written.replace(",", "")
    return plain if plain.count(".") > 1 else Decimal(plain).normalize()
