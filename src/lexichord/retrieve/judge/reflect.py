"""Measure what the evidence covers of a question, and what of an answer its sources hold.

Decides what to search next; `rounds` does it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from lexichord.db import evidence
from lexichord.db.pool import Database
from lexichord.retrieve.numbers import SPELLED_NUMBER, find_dates, parse_number, signed_values
from lexichord.retrieve.understand.cues import WORD
from lexichord.types import ChunkHit, QueryOptions
from lexichord.types.response import Budget, Coverage, Decision, Reflection, Rewrite, Round, Term

NO_WORDING_LEFT = "no other wording is left"
MIN_SUB_QUESTION_COVERAGE = 0.5  # of a sub-question's weight, in one passage; not tuned

CITATION_MARK = re.compile(r"\[\d{1,3}(?:, ?\d{1,3})*\]")
DIGIT_NUMBER = re.compile(r"(?<![\w.,])\d+(?:,\d{3})*(?:\.\d+)*(?![\d_])(?!,\d{3})")


async def measure_coverage(
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
        part
        for part, part_terms in zip(sub_questions, parts, strict=True)
        if not is_covered(part_terms)
    ]
    shares = [_share(entities, missing), _share(sub_questions, uncovered)]
    known = [share for share in (held_share(terms), *shares) if share is not None]
    return Coverage(
        score=sum(known) / len(known) if known and hits else 0.0,
        missing_terms=tuple(word for term in terms if not term.chunks for word in term.words),
        missing_entities=tuple(missing),
        uncovered_sub_questions=tuple(uncovered),
    )


def cover_by_reading(covered: Coverage, answered: Mapping[str, bool]) -> Coverage:
    """Return coverage as a reader tells it: the share of what is asked that it finds answered.

    `answered` says it of each sub-question, or of the question alone.
    """
    missing = tuple(question for question, is_answered in answered.items() if not is_answered)
    return replace(
        covered,
        score=1 - len(missing) / len(answered),
        uncovered_sub_questions=missing if len(answered) > 1 else (),
    )


def held_share(terms: Sequence[Term], chunks: Sequence[str] | None = None) -> float | None:
    """Return the idf-weighted share of terms that any chunk (of `chunks`) holds; None of none."""
    whole = sum(term.idf for term in terms)
    held = sum(
        term.idf
        for term in terms
        if (term.chunks if chunks is None else set(chunks).intersection(term.chunks))
    )
    return held / whole if whole else None


def is_covered(terms: Sequence[Term]) -> bool:
    """Return whether one passage alone speaks of a question."""
    passages = {chunk for term in terms for chunk in term.chunks}
    return any(
        (held_share(terms, [passage]) or 0) >= MIN_SUB_QUESTION_COVERAGE for passage in passages
    )


def missing_entities(entities: Sequence[str], hits: Sequence[ChunkHit]) -> list[str]:
    """Return the entities whose words no hit has, as a phrase, in its title, heading or content."""
    texts = [f" {_plain(part)} " for hit in hits for part in (hit.title, hit.heading, hit.content)]
    return [
        entity for entity in entities if not any(f" {_plain(entity)} " in text for text in texts)
    ]


def find_unsupported(answer: str, sources: Sequence[str]) -> tuple[str, ...]:
    """Return the numbers and dates of an answer, as written there, that no source holds.

    Numbers may be spelled out, dates be written in another order. Citation marks such as [1] are no
    numbers, and an answer's "one" need not be. A date counts as a whole: its year alone does not
    support it.
    """
    facts = [fact for fact in _facts(CITATION_MARK.sub(" ", answer)) if fact[1].lower() != "one"]
    stated = {value for source in sources for value in _stated_values(source)}
    return tuple(dict.fromkeys(text for value, text in facts if value not in stated))


def decide_next_query(
    covered: Coverage,
    budget: Budget,
    rewrites: Sequence[Rewrite] = (),
    tried: Sequence[str] = (),
    expected_ms: float = 0.0,
    min_coverage: float = QueryOptions.min_coverage,
) -> Decision:
    """Return the next query of `rewrites` that was not tried, or stop and say why.

    `expected_ms` is what a round takes: none is begun that the budget has no room for. A
    `min_coverage`, 0 to 1, needs no further round.
    """
    if covered.score >= min_coverage and not covered.uncovered_sub_questions:
        return Decision(None, f"the evidence covers {covered.score:.0%}")
    if budget.rounds < 1:
        return Decision(None, "no rounds are left")
    if budget.milliseconds <= 0 or budget.milliseconds < expected_ms:
        return Decision(None, f"{max(0, budget.milliseconds):.0f} ms are left, too few for a round")
    searched = {text.casefold() for text in tried}
    for part in covered.uncovered_sub_questions:
        if part.casefold() not in searched:
            return Decision(part, "a sub-question without evidence, asked alone")
    for rewrite in rewrites:
        if rewrite.kind != "none" and rewrite.text.casefold() not in searched:
            return Decision(rewrite.text, f"{rewrite.kind}: {rewrite.reason}")
    return Decision(None, NO_WORDING_LEFT)


def add_round(reflection: Reflection, round_: Round, covered: Coverage | None = None) -> Reflection:
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
    min_coverage: float = QueryOptions.min_coverage,
    min_grade: float = QueryOptions.min_grade,
) -> bool:
    """Return whether coverage and grades are enough, nothing is unsupported and nothing failed."""
    covered = reflection.coverage
    complete = covered is not None and covered.score >= min_coverage
    graded = all(grade.score >= min_grade for grade in reflection.grades)
    return complete and graded and not reflection.unsupported and not reflection.errors


def _share(parts: Sequence[str], missing: Sequence[str]) -> float | None:
    return 1 - len(missing) / len(parts) if parts else None


def _plain(text: str) -> str:
    return " ".join(WORD.findall(text.casefold()))


def _facts(text: str) -> list[tuple[object, str]]:
    """Return the values of a text with the way they are written, each part of it once."""
    facts: list[tuple[object, str]] = []
    text = _without_dates(text, facts)
    spelled = [match[0] for match in SPELLED_NUMBER.finditer(text)]
    text = SPELLED_NUMBER.sub(_blank, text)
    facts += [(_number(match[0]), match[0]) for match in DIGIT_NUMBER.finditer(text)]
    return facts + [(parse_number(words).normalize(), words) for words in spelled]


def _stated_values(source: str) -> Iterator[object]:
    """Yield the values that a source states; of "5 million" and "$5m" also the digits alone."""
    facts: list[tuple[object, str]] = []
    text = _without_dates(source, facts)
    yield from (value for value, _ in facts)
    yield from (_number(match[0]) for match in DIGIT_NUMBER.finditer(text))
    yield from (parse_number(match[0]).normalize() for match in SPELLED_NUMBER.finditer(text))
    yield from (value.normalize() for value in signed_values(text))


def _without_dates(text: str, facts: list[tuple[object, str]]) -> str:
    """Move the dates of a text to the facts: what is part of a date is no number."""
    rest = text
    for value, match in find_dates(text):
        facts.append((value, match[0]))
        rest = rest[: match.start()] + _blank(match) + rest[match.end() :]
    return rest


def _blank(match: re.Match[str]) -> str:
    return "_" * len(match[0])


def _number(written: str) -> object:
    """Return a value: 3.50 is 3.5, 1,000 is 1000; section numbers such as 5.2.1 stay as text."""
    plain = written.replace(",", "")
    return plain if plain.count(".") > 1 else Decimal(plain).normalize()
