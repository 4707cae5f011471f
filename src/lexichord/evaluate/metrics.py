"""Metrics of outcomes: one value a question and metric, from 0 to 1, higher is better.

| metric | measures | judged by |
|---|---|---|
| `pass@k` | share of the golden chunks among the first k | chunks, else spans |
| `recall@k`, `precision@k`, `mrr` | the ranking | chunks, else spans, else documents |
| `ndcg@k`, `map` | the ranking | chunks, else documents, unless there are spans |
| `char_recall@k`, `char_precision@k` | characters of the first k passages, each once | spans |
| `evidence@B` | share of the gold characters in the first B characters shown | spans |
| `document@k` | 1 if one of the first k documents is relevant | documents |
| `entity_…` | the answer, see `entities` | entities |
| `hit_document`, `first_sentence` and so on | the answer, see below | expected answers |
| `ann_recall@k` | the vector index alone, see `strategies.measure_index` | the vectors |
| `abstain` | 1 if it abstained exactly where there is no answer | whether there is one |

Pass@k is that of VectorChord's and Anthropic's articles on contextual retrieval. Chunks are not
known by number once files are cut anew, so spans can stand for them: a span counts as found where
passages hold half of it together, and a passage as relevant if it holds a gold character. How many
chunks would have been relevant is unknown then, so there is no nDCG and no MAP. Documents rank as
the outcome's files, then as its passages, each document once.

What a written answer says is compared with what a right one says, by strings; a model's grades are
another thing: `providers.llm.prompts`.

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
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import log2
from statistics import fmean

from lexichord.display.plain_text import plain_text
from lexichord.errors import ConfigError
from lexichord.evaluate.entities import score_entities
from lexichord.types.evaluation import EvalQuery, ExpectedAnswer, Outcome, RankedPassage
from lexichord.types.evidence import NEAREST_MARK, NEAREST_TO_IT, ContextSource, Quote

type FileSpan = tuple[str, int, int]
type CoveredChars = Mapping[str, Sequence[tuple[int, int]]]


def merge_spans(spans: Iterable[FileSpan]) -> CoveredChars:
    """Merge overlapping spans, so that each character is counted once."""
    by_file: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for file, start, end in sorted(spans):
        merged = by_file[file]
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif start < end:
            merged.append((start, end))
    return by_file


def count_chars(covered: CoveredChars) -> int:
    """Count the characters."""
    return sum(end - start for spans in covered.values() for start, end in spans)


def count_shared_chars(one: CoveredChars, other: CoveredChars) -> int:
    """Count the characters that both cover."""
    return sum(
        max(0, min(end, other_end) - max(start, other_start))
        for file in one.keys() & other.keys()
        for start, end in one[file]
        for other_start, other_end in other[file]
    )


def truncate_spans(spans: Iterable[FileSpan], max_chars: int) -> Iterator[FileSpan]:
    """Yield the first `max_chars` characters of spans in their order; repeated ones count again.

    The last span is cut.
    """
    for file, start, end in spans:
        if max_chars <= 0:
            return
        yield file, start, min(end, start + max_chars)
        max_chars -= max(0, end - start)


def find_gains[T: Hashable](ranking: Iterable[T], grades: Mapping[T, int]) -> list[int]:
    """Return the gain of each rank: the grade of its item, 0 where the item stood before."""
    remaining = dict(grades)
    return [max(0, remaining.pop(item, 0)) for item in ranking]


def find_ideal[T: Hashable](grades: Mapping[T, int]) -> list[int]:
    """Return the gains of the ideal ranking: all that is relevant, and nothing else."""
    return sorted((grade for grade in grades.values() if grade > 0), reverse=True)


def recall(gains: Sequence[int], relevant: int, k: int) -> float:
    """Return the share of the `relevant` items that is among the first k."""
    return _count(gains[:k]) / relevant


def precision(gains: Sequence[int], k: int) -> float:
    """Return the relevant share of the first k; divided by k even if fewer were found."""
    return _count(gains[:k]) / k


def reciprocal_rank(gains: Sequence[int]) -> float:
    """Return 1 / rank of the first relevant item, 0 without one; its mean is the MRR."""
    return next((1 / rank for rank, gain in enumerate(gains, 1) if gain), 0.0)


def average_precision(gains: Sequence[int], relevant: int) -> float:
    """Return the mean, over the relevant items, of the precision at their ranks; 0 if not found.

    Its mean over queries is the MAP.
    """
    ranks = [rank for rank, gain in enumerate(gains, 1) if gain]
    return sum(number / rank for number, rank in enumerate(ranks, 1)) / relevant


def ndcg(gains: Sequence[int], ideal: Sequence[int], k: int) -> float:
    """Return the discounted cumulative gain at k over that of the ideal ranking.

    Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", 2002, with the
    discount 1 / log2(rank + 1).
    """
    return _dcg(gains[:k]) / _dcg(ideal[:k])


def _count(gains: Sequence[int]) -> int:
    return sum(gain > 0 for gain in gains)


def _dcg(gains: Sequence[int]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))


EVIDENCE_BUDGETS_CHARS = (1000, 2000, 4000)  # characters, the B of evidence@B
MIN_SPAN_COVERAGE = 0.5  # share of a span's characters for it to count as found

type QueryScores = Mapping[str, float | None]


def compute_metrics(
    queries: Sequence[EvalQuery], outcomes: Sequence[Outcome], ks: Sequence[int]
) -> dict[str, list[float | None]]:
    """Return, for each metric, a value for each query, in the order of `queries`.

    `outcomes` are in the same order. A value is None where the query has no judgment of that kind;
    it is 0 where it has one and the outcome is an error. `ks` are ranks, from 1. Raises ConfigError
    if the outcomes are not those of the queries.
    """
    _check(queries, outcomes, ks)
    rows = [_score(query, out, ks) for query, out in zip(queries, outcomes, strict=True)]
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def mean_of_judged(values: Sequence[float | None]) -> float | None:
    """Return the mean of the values that are not None; None if there are none."""
    judged = [value for value in values if value is not None]
    return fmean(judged) if judged else None


def rank_documents(outcome: Outcome) -> list[str]:
    """Return the uris of an outcome: its files, then those of its passages, each once."""
    return list(dict.fromkeys([*outcome.files, *(passage.uri for passage in outcome.passages)]))


def find_group(query: EvalQuery) -> str:
    """Return the document that a question is about; without one, a group of its own.

    Questions about the same document are not independent.
    """
    return next(iter(grade_documents(query)), f"question {query.id}")


def grade_documents(query: EvalQuery) -> dict[str, int]:
    """Return the grades of documents; without any, 1 for each that holds gold."""
    if query.grades:
        return dict(query.grades)
    spans, chunks = (span.file for span in query.spans), (uri for uri, _ in query.chunks)
    return dict.fromkeys([*query.files, *spans, *chunks], 1)


def _check(queries: Sequence[EvalQuery], outcomes: Sequence[Outcome], ks: Sequence[int]) -> None:
    query_ids, outcome_ids = [query.id for query in queries], [out.query_id for out in outcomes]
    if query_ids != outcome_ids:
        odd = sorted({*query_ids} ^ {*outcome_ids})[:3] or "their order"
        raise ConfigError(
            f"{len(outcomes)} outcomes do not fit {len(queries)} questions ({odd}): give one each"
        )
    if not ks or min(ks) < 1:
        raise ConfigError(f"k counts ranks from 1: {', '.join(map(str, ks)) or 'none given'}")


def _score(query: EvalQuery, outcome: Outcome, ks: Sequence[int]) -> QueryScores:
    answer = score_answer(query.expected, grade_documents(query), outcome) if query.expected else {}
    scores = {
        **_score_ranking(query, outcome, ks),
        **_score_characters(query, outcome, ks),
        **_score_documents(query, outcome, ks),
        **score_entities(query, outcome.answer, outcome.entities),
        "abstain": float(outcome.abstained != query.answerable),
        **answer,
    }
    if outcome.error is None:
        return scores
    return {name: None if score is None else 0.0 for name, score in scores.items()}


def _score_ranking(query: EvalQuery, outcome: Outcome, ks: Sequence[int]) -> QueryScores:
    """Score the ranking by the finest unit that is judged."""
    if query.chunks:
        chunks = [(passage.uri, passage.number) for passage in outcome.passages]
        ranked = _score_ranks(chunks, dict.fromkeys(query.chunks, 1), ks)
        return {**{f"pass@{k}": ranked[f"recall@{k}"] for k in ks}, **ranked}
    if query.spans:
        return _score_spans(query, outcome, ks)
    ranked = _score_ranks(rank_documents(outcome), grade_documents(query), ks)
    return {**{f"pass@{k}": None for k in ks}, **ranked}


def _score_ranks[T: (str, tuple[str, int])](
    ranking: Sequence[T], grades: Mapping[T, int], ks: Sequence[int]
) -> QueryScores:
    gains, ideal = find_gains(ranking, grades), find_ideal(grades)
    scores: dict[str, float | None] = {}
    for k in ks:
        scores[f"recall@{k}"] = recall(gains, len(ideal), k) if ideal else None
        scores[f"precision@{k}"] = precision(gains, k) if ideal else None
        scores[f"ndcg@{k}"] = ndcg(gains, ideal, k) if ideal else None
    scores["mrr"] = reciprocal_rank(gains) if ideal else None
    scores["map"] = average_precision(gains, len(ideal)) if ideal else None
    return scores


def _score_spans(query: EvalQuery, outcome: Outcome, ks: Sequence[int]) -> QueryScores:
    spans = [merge_spans([(span.file, span.start, span.end)]) for span in query.spans]
    gold = merge_spans((span.file, span.start, span.end) for span in query.spans)
    passages = _passage_spans(outcome.passages)
    gains = [int(count_shared_chars(gold, merge_spans([place])) > 0) for place in passages]
    scores: dict[str, float | None] = {}
    for k in ks:
        covered = merge_spans(passages[:k])
        is_found = [
            0 < MIN_SPAN_COVERAGE * count_chars(span) <= count_shared_chars(span, covered)
            for span in spans
        ]
        scores[f"pass@{k}"] = scores[f"recall@{k}"] = fmean(is_found)
        scores[f"precision@{k}"] = precision(gains, k)
        scores[f"ndcg@{k}"] = None
    return {**scores, "mrr": reciprocal_rank(gains), "map": None}


def _score_characters(query: EvalQuery, outcome: Outcome, ks: Sequence[int]) -> QueryScores:
    gold = merge_spans((span.file, span.start, span.end) for span in query.spans)
    gold_chars, passages = count_chars(gold), _passage_spans(outcome.passages)
    scores: dict[str, float | None] = {}
    for k in ks:
        covered = merge_spans(passages[:k])
        shared, shown = count_shared_chars(gold, covered), count_chars(covered)
        scores[f"char_recall@{k}"] = shared / gold_chars if gold_chars else None
        scores[f"char_precision@{k}"] = (shared / shown if shown else 0.0) if gold_chars else None
    for max_chars in EVIDENCE_BUDGETS_CHARS:
        shared = count_shared_chars(gold, merge_spans(truncate_spans(passages, max_chars)))
        scores[f"evidence@{max_chars}"] = shared / gold_chars if gold_chars else None
    return scores


def _score_documents(query: EvalQuery, outcome: Outcome, ks: Sequence[int]) -> QueryScores:
    grades, ranking = grade_documents(query), rank_documents(outcome)
    gains = find_gains(ranking, grades)
    judged = any(find_ideal(grades))
    return {f"document@{k}": float(any(gains[:k])) if judged else None for k in sorted({1, *ks})}


def _passage_spans(passages: Sequence[RankedPassage]) -> list[FileSpan]:
    return [(passage.uri, passage.start, passage.end) for passage in passages]


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
