"""Fusion of the two channels: scales of short lists and dense weights, side by side by kind.

python scripts/bench_fusion.py --data DIR [KIND ...]

Both channels' candidates are asked of SQL once and fused here, so that the old scale and other
weights stand beside the present ones. Each set is stored once in the benchmarks' cache folder.
"""

import argparse
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, pstdev

import psycopg
from psycopg import Connection

from bench_data import ENGINES, cache_folder, opened
from bench_kinds import KINDS, Kind, Question
from lexichord import SyncLexichord
from lexichord.evaluate.metrics import find_gains, find_ideal, ndcg, recall
from lexichord.providers.embed.local import LocalEmbedder
from lexichord.retrieve.search import HINT_FILE_BOOST

DEPTH, K = 100, 10
WEIGHTS = (0.25, 0.35, 0.4, 0.45, 0.5, 0.65)
SEED, MOST_QUESTIONS, ONE_WORD_QUESTIONS = 20261122, 300, 45
FREQUENCIES = {"1 chunk": (1, 1), "2 chunks": (2, 2), "5 to 8 chunks": (5, 8)}
CARD_WEIGHT = 0.9  # of sql/discover_files.sql; the .1 of the chunks are left out here
NAMES_OF = "policy, pinned"  # in its questions no policy is named
WORDS_OF = ("code", "contracts, named", "documentation")
# Choosing looks at these kinds, scoring at all others.
CHOSEN_ON = ("code", "contracts, named", "XQuAD en")

type Scores = Mapping[int, float]
type Scale = Callable[[Scores, int], Sequence[float]]
type Row = Sequence[float]


@dataclass(frozen=True)
class Candidates:
    """What both channels propose, by chunk id, and how many chunks are in scope.

    `own` are the scores of boosted files' chunks in both channels.
    """

    dense: Scores
    keyword: Scores
    chunks: int
    own: tuple[Scores, Scores] = ({}, {})


@dataclass(frozen=True)
class Asked:
    """A question's candidates; `names` are what chunks count as, and `relevant` which of these."""

    candidates: Candidates
    names: Mapping[int, int]
    relevant: frozenset[int]


def ask(lexichord: SyncLexichord, kind: Kind, data: Path) -> list[Asked]:
    """Ask both channels for the candidates of a kind's questions, of a sample if they are many."""
    questions = list(kind.questions(data))
    if len(questions) > MOST_QUESTIONS:
        questions = random.Random(SEED).sample(questions, MOST_QUESTIONS)
    texts = [question.text for question in questions]
    vectors = LocalEmbedder(cache_folder()).embed(texts, "query").tolist()
    with psycopg.connect(lexichord.core.database.dsn, autocommit=True) as connection:
        places = Places(connection)
        return [
            Asked(
                candidates(connection, question.text, vector, places.scope(question)),
                places.names(question),
                places.relevant(question),
            )
            for question, vector in zip(questions, vectors, strict=True)
        ]


class Places:
    """Where the chunks of a database stand."""

    def __init__(self, connection: Connection) -> None:
        self.documents: dict[str, int] = {}
        self.chunks: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
        rows = connection.execute(
            "select d.uri, d.id, c.id, c.char_start, c.char_end "
            "from lexichord_data.chunk c join lexichord_data.document d on d.id = c.document_id"
        )
        for uri, document, *chunk in rows:
            self.documents[uri] = document
            self.chunks[document].append((chunk[0], chunk[1], chunk[2]))
        self.owner = {chunk[0]: document for document, own in self.chunks.items() for chunk in own}

    def scope(self, question: Question) -> list[int] | None:
        return None if question.file is None else [self.documents[question.file]]

    def names(self, question: Question) -> Mapping[int, int]:
        """Return the document that each chunk counts as, where whole files are gold."""
        return {} if question.gold[0][2] else self.owner

    def relevant(self, question: Question) -> frozenset[int]:
        if not question.gold[0][2]:
            return frozenset(self.documents[file] for file, _, _ in question.gold)
        return frozenset(
            chunk
            for file, start, end in question.gold
            for chunk, chunk_start, chunk_end in self.chunks[self.documents[file]]
            if chunk_start < end and start < chunk_end
        )


def candidates(
    connection: Connection, text: str, vector: Sequence[float], scope: list[int] | None
) -> Candidates:
    legs: list[Scores] = [
        dict(connection.execute(statement.encode(), (asked, DEPTH, scope)).fetchall())
        for statement, asked in (
            ("select chunk_id, score from lexichord.dense_candidates(%s, %s, %s)", str(vector)),
            ("select chunk_id, score from lexichord.keyword_candidates(%s, %s, %s)", text),
        )
    ]
    row = connection.execute(
        "select count(*) from lexichord_data.chunk where %s::bigint[] is null "
        "or document_id = any(%s)",
        (scope, scope),
    ).fetchone()
    assert row is not None
    return Candidates(legs[0], legs[1], row[0])


def by_own_list(scores: Scores, _: int) -> Sequence[float]:
    """Return the scores that the old scale was made of: those of the list alone."""
    return list(scores.values())


def with_zeros(scores: Scores, chunks: int) -> Sequence[float]:
    """Return those of the present one, as sql/fuse_candidates.sql: short lists go on with zeros."""
    return [*scores.values(), *[0.0] * (min(DEPTH, chunks) - len(scores))]


SCALES: dict[str, Scale] = {"own list": by_own_list, "with zeros": with_zeros}


def fuse(
    asked: Candidates, scale: Scale, dense_weight: float, boost: Scores | None = None
) -> list[int]:
    """Return the candidates' ids, best first; `boost` is added to the scores of some."""
    dense = {**asked.own[0], **asked.dense}
    keyword = {**asked.own[1], **asked.keyword}
    fused = {chunk: (boost or {}).get(chunk, 0.0) for chunk in (*dense, *keyword)}
    for weight, scores, listed in (
        (dense_weight, dense, by_own_list(asked.dense, asked.chunks)),
        (1 - dense_weight, keyword, scale(asked.keyword, asked.chunks)),
    ):
        for chunk, points in on_scale(scores, listed, fused).items():
            fused[chunk] += weight * points
    return sorted(fused, key=lambda chunk: (-fused[chunk], chunk))


def on_scale(scores: Scores, listed: Sequence[float], members: Iterable[int]) -> dict[int, float]:
    """Return the z-scores of members on the scale of a list; who has none counts as its lowest."""
    spread = pstdev(listed) if listed else 0
    if not spread:
        return dict.fromkeys(members, 0.0)
    middle, lowest = fmean(listed), min(listed)
    return {each: (scores.get(each, lowest) - middle) / spread for each in members}


def score(asked: Asked, scale: Scale, dense_weight: float) -> Row:
    """Return recall and nDCG at 10, and whether the first hit is relevant."""
    ranking = fuse(asked.candidates, scale, dense_weight)
    names = list(dict.fromkeys(asked.names.get(chunk, chunk) for chunk in ranking))[:K]
    grades = dict.fromkeys(asked.relevant, 1)
    gains, ideal = find_gains(names, grades), find_ideal(grades)
    return recall(gains, len(ideal), K), ndcg(gains, ideal, K), gains[0]


def report(kinds: Mapping[str, list[Asked]]) -> None:
    """Print each kind by scale and weight, then the means of the kinds chosen on and left out."""
    print("recall@10 nDCG@10 first hit, in %, by dense weight")
    print(f"  {'':28}", *(f"{weight:^17.2f}" for weight in WEIGHTS))
    rows: dict[tuple[str, str], list[Row]] = {}
    for kind, questions in kinds.items():
        for name, scale in SCALES.items():
            rows[kind, name] = [
                [fmean(column) for column in zip(*scored, strict=True)]
                for weight in WEIGHTS
                for scored in [[score(asked, scale, weight) for asked in questions]]
            ]
            _print_row(f"{kind}, {name}", rows[kind, name])
    for title, chosen in (("chosen on", True), ("left out", False)):
        for name in SCALES:
            group = [
                row for (k, n), row in rows.items() if n == name and (k in CHOSEN_ON) == chosen
            ]
            means = [
                [fmean(column) for column in zip(*cell, strict=True)]
                for cell in zip(*group, strict=True)
            ]
            if group:
                _print_row(f"mean {title}, {name}", means)


def _print_row(name: str, cells: Sequence[Row]) -> None:
    shown = (" ".join(f"{100 * value:5.1f}" for value in cell) for cell in cells)
    print(f"  {name:28}", "  ".join(shown))


def report_words(lexichord: SyncLexichord) -> None:
    """Print how often a question of one word finds a chunk with it first, and among ten."""
    embedder = LocalEmbedder(cache_folder())
    with psycopg.connect(lexichord.core.database.dsn, autocommit=True) as connection:
        weight = default_dense_weight(connection)
        for name, (least, most) in FREQUENCIES.items():
            words = _words(connection, least, most)
            asked = list(zip(words, embedder.embed(words, "query").tolist(), strict=True))
            found = [candidates(connection, word, vector, None) for word, vector in asked]
            rankings = {
                label: [fuse(each, scale, weight) for each in found]
                for label, scale in SCALES.items()
            }
            rankings["hybrid_search"] = [_search(connection, *each) for each in asked]
            for label, ranked in rankings.items():
                ten = [
                    [chunk in each.keyword for chunk in chunks[:K]]
                    for each, chunks in zip(found, ranked, strict=True)
                ]
                first, among = fmean(each[0] for each in ten), fmean(any(each) for each in ten)
                print(f"    {name:14} {label:14} {first:5.0%} first, {among:5.0%} among ten")


def _words(connection: Connection, least: int, most: int) -> list[str]:
    """Return some of the words that so many chunks hold and that the analyzer leaves alone."""
    rows = connection.execute(
        "select lexeme from lexichord_data.term where df between %s and %s "
        "and lexeme ~ '^[a-z]{4,}$' "
        "and lexichord.lexemes(lexeme) = (quote_literal(lexeme) || ':1')::tsvector "
        "order by md5(lexeme) limit %s",
        (least, most, ONE_WORD_QUESTIONS),
    )
    return [word for (word,) in rows]


def _search(connection: Connection, word: str, vector: Sequence[float]) -> list[int]:
    statement = "select chunk_id from lexichord.hybrid_search(%s, %s)"
    return [chunk for (chunk,) in connection.execute(statement, (word, str(vector)))]


def report_names(lexichord: SyncLexichord, kind: Kind, data: Path) -> None:
    """Print what a file's name given apart is worth: the boost of the three best files by card."""
    questions = random.Random(SEED).sample(list(kind.questions(data)), MOST_QUESTIONS)
    texts = [question.text for question in questions]
    vectors = LocalEmbedder(cache_folder()).embed(texts, "query").tolist()
    found: dict[str, list[Row]] = defaultdict(list)
    with psycopg.connect(lexichord.core.database.dsn, autocommit=True) as connection:
        places = Places(connection)
        for question, vector in zip(questions, vectors, strict=True):
            cards, asked = _by_name(connection, question, vector)
            for label, scale in SCALES.items():
                points = on_scale(cards, scale(cards, len(places.documents)), list(cards)[:3])
                boost = {
                    chunk: HINT_FILE_BOOST * CARD_WEIGHT * max(points.get(file, 0), 0)
                    for chunk, file in places.owner.items()
                }
                ranking = fuse(asked, scale, default_dense_weight(connection), boost)
                gains = find_gains(ranking[:K], dict.fromkeys(places.relevant(question), 1))
                is_right = places.owner[ranking[0]] == places.documents[question.gold[0][0]]
                found[label].append((is_right, recall(gains, len(places.relevant(question)), K)))
    for label, rows in found.items():
        first, recalled = (fmean(column) for column in zip(*rows, strict=True))
        print(
            f"    name apart, {label}: first hit in its file {first:.0%}, recall@10 {recalled:.1%}"
        )


def _by_name(
    connection: Connection, question: Question, vector: Sequence[float]
) -> tuple[Scores, Candidates]:
    statement = "select document_id, score from lexichord.card_candidates(%s, %s)"
    cards: Scores = dict(connection.execute(statement, (question.gold[0][0], DEPTH)).fetchall())
    asked = candidates(connection, question.text, vector, None)
    own = candidates(connection, question.text, vector, list(cards)[:3])
    return cards, replace(asked, own=(own.dense, own.keyword))


def default_dense_weight(connection: Connection) -> float:
    """Return the present default."""
    row = connection.execute("select (lexichord.default_weights())[1]").fetchone()
    assert row is not None
    return float(row[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the public sets")
    parser.add_argument("kinds", nargs="*", default=list(KINDS), help=", ".join(KINDS))
    parser.add_argument("--engine", choices=ENGINES, default=ENGINES[0])
    parser.add_argument("--server", help="a server's DSN; by default the embedded one")
    arguments = parser.parse_args()
    data = arguments.data.resolve()
    asked = {}
    for name in arguments.kinds:
        kind = KINDS[name]
        with opened(kind.database, arguments.engine, arguments.server) as lexichord:
            if not lexichord.status().documents:
                kind.fill(lexichord, data)
            asked[name] = ask(lexichord, kind, data)
            status = lexichord.status()
            print(f"{name}: {status.chunks} chunks, {len(asked[name])} questions")
            if name in WORDS_OF:
                report_words(lexichord)
            if name == NAMES_OF:
                report_names(lexichord, kind, data)
    report(asked)


if __name__ == "__main__":
    main()
