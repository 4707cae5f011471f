"""What the SQL functions compute, once more and in Python."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean, pstdev
from types import MappingProxyType

from tests.sql import oracle
from tests.sql.corpus import Connection, call

type Scores = Mapping[int, float]

STOP_WORDS = {"", "a", "of", "the"}
NONE: Scores = MappingProxyType({})


def z_scores(
    scores: Scores, candidates: set[int], own: Scores = NONE, length: int = 0
) -> dict[int, float]:
    """Put scores on the scale of their list; who is missing has its own score, or the lowest.

    A list that is shorter than `length` goes on with zeros.
    """
    scale = [*scores.values(), *[0.0] * (length - len(scores))]
    if not scale:
        return dict.fromkeys(candidates, 0.0)
    mean, spread, lowest = fmean(scale), pstdev(scale), min(scale)
    return {
        each: (scores.get(each, own.get(each, lowest)) - mean) / spread if spread else 0.0
        for each in candidates
    }


def fuse(
    dense: Scores,
    keyword: Scores,
    weights: Sequence[float],
    own: tuple[Scores, Scores] = (NONE, NONE),
    lengths: tuple[int, int] = (0, 0),
) -> dict[int, float]:
    """Fuse two lists by z-score; `own` are the scores of more candidates."""
    candidates = {*dense, *keyword, *own[0], *own[1]}
    scales = (
        z_scores(dense, candidates, own[0], lengths[0]),
        z_scores(keyword, candidates, own[1], lengths[1]),
    )
    return {
        each: sum(weight * scale[each] for weight, scale in zip(weights, scales, strict=True))
        for each in candidates
    }


def fuse_ranks(dense: Scores, keyword: Scores, weights: Sequence[float]) -> dict[int, float]:
    """Fuse two lists, best first, by Reciprocal Rank Fusion."""
    fused: Counter[int] = Counter()
    for scores, weight in zip((dense, keyword), weights, strict=True):
        for rank, each in enumerate(scores, start=1):
            fused[each] += weight / (60 + rank)  # type: ignore[assignment]
    return dict(fused)


def bm25(
    texts: Mapping[int, str],
    query: str,
    k1: float,
    b: float,
    power: int = 1,
    average_length: float | None = None,
) -> dict[int, float]:
    """Score texts of words that no analyzer changes; without a length, by the mean one."""
    bags = {each: Counter(text.split()) for each, text in texts.items()}
    average = average_length or fmean(bag.total() for bag in bags.values())
    scores: dict[int, float] = {}
    for word in query.split():
        frequency = sum(word in bag for bag in bags.values())
        idf = math.log(1 + (len(bags) - frequency + 0.5) / (frequency + 0.5))
        for each, bag in bags.items():
            if word in bag:
                length = k1 * (1 - b + b * bag.total() / average)
                part = idf**power * bag[word] * (k1 + 1) / (bag[word] + length)
                scores[each] = scores.get(each, 0) + part
    return scores


def card(uri: str, title: str, text: str) -> str:
    """Give the card of a document whose words no analyzer changes."""
    name = uri.rpartition("/")[2]
    said = f"{title} {title} {name} {text[:1500]}".lower()
    words = re.split(r"\W+", said)
    words += re.findall(r"\b([a-z]{4,})\d{1,2}\b", said)  # as of a footnote's number
    words += [token.replace(".", "") for token in re.findall(r"\S*\d\S*", name) if "." in token]
    return " ".join(word for word in words if word not in STOP_WORDS)


def check_statistics_of_datasets(connection: Connection) -> None:
    chunks = connection.execute("select dataset_id, content from lexichord_data.chunk").fetchall()
    documents = connection.execute(
        "select dataset_id, count(*), sum(card_length) from lexichord_data.document group by 1"
    ).fetchall()
    bags: dict[int, list[Counter[str]]] = {dataset: [] for dataset, _, _ in documents}
    for dataset, content in chunks:
        bags[dataset].append(Counter(content.split()))
    counts = connection.execute(
        "select dataset_id, sum(chunk_count), sum(token_count), sum(document_count), "
        "sum(card_token_count) from (select * from lexichord_data.dataset_count union all "
        "select * from lexichord_data.dataset_change) as c "
        "group by 1 having sum(document_count) > 0"
    ).fetchall()
    assert sorted(counts) == sorted(
        (dataset, len(bags[dataset]), sum(bag.total() for bag in bags[dataset]), number, length)
        for dataset, number, length in documents
    )
    frequencies = connection.execute(
        "select c.dataset_id, t.lexeme, sum(c.df) from (select * from lexichord_data.term_count "
        "union all select * from lexichord_data.term_change) as c "
        "join lexichord_data.term t on t.id = c.term_id group by 1, 2 having sum(c.df) <> 0"
    ).fetchall()
    assert {(dataset, lexeme): df for dataset, lexeme, df in frequencies} == Counter(
        (dataset, lexeme) for dataset, own in bags.items() for bag in own for lexeme in bag
    )


def check_statistics(connection: Connection) -> None:
    """Recount everything from the stored texts, by other means than count_faults."""
    assert {row["amount"] for row in call(connection, "count_faults")} == {0}
    chunks = connection.execute("select content from lexichord_data.chunk").fetchall()
    bags = [Counter(content.split()) for (content,) in chunks]
    rows = connection.execute("select uri, title, text from lexichord_data.document").fetchall()
    cards = [Counter(oracle.card(*row).split()) for row in rows]
    corpus = connection.execute(
        "select chunk_count, token_count, document_count, card_token_count "
        "from lexichord_data.corpus_statistics"
    ).fetchall()
    tokens, card_tokens = (sum(bag.total() for bag in some) for some in (bags, cards))
    assert corpus == [(len(bags), tokens, len(cards), card_tokens)]
    terms = connection.execute(
        "select lexeme, df from lexichord_data.term_statistics where df <> 0"
    )
    assert dict(terms.fetchall()) == Counter(word for bag in bags for word in bag)
    check_statistics_of_datasets(connection)
    card_terms = connection.execute(
        "select lexeme, sum(tf)::int from lexichord_data.card_term group by 1"
    )
    assert dict(card_terms.fetchall()) == sum(cards, Counter())
