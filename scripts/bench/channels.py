"""Each channel alone and both: nDCG@10, the share found first, and how long a search takes.

python scripts/bench/channels.py --data DIR [--modes MODE,…] [KIND ...]

MODE is hybrid, keyword or dense, hybrid@.35 with a share of meaning, or query for the pipeline.
LEXICHORD_EMBEDDING chooses the model, and LEXICHORD_BENCH_CACHE a folder for each. KIND is one of
kinds.py's, as "XQuAD de" or code; by default all. Each is stored once, under all defaults, in the
benchmarks' cache folder; what an earlier version stored there is indexed anew first. So two
checkouts with copies of one folder compare two versions on the same vectors.
"""

import argparse
import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean, median
from typing import cast

from common import opened
from kinds import KINDS, Question
from lexichord import SyncLexichord
from lexichord.types import ChunkHit, Response, SearchResult
from lexichord.types.query_options import Mode

K = 10
MODES = ("hybrid", "keyword", "dense")


def is_gold(hit: ChunkHit, question: Question) -> bool:
    """Return whether a hit holds a part of a right passage; one without characters is a file."""
    return any(
        hit.uri == uri and (start == end or (hit.start < end and start < hit.end))
        for uri, start, end in question.gold
    )


def measure(
    lexichord: SyncLexichord, questions: Sequence[Question], way: str
) -> tuple[float, float, float]:
    """Return nDCG@10 of the first right hit, the share of it at rank 1, and a search's median."""
    mode, _, share = way.partition("@")
    if mode == "query":
        find: Callable[..., SearchResult | Response] = partial(lexichord.query, k=K)
    else:
        dense_share = float(share) if share else None
        find = partial(lexichord.search, k=K, mode=cast("Mode", mode), dense_share=dense_share)
    gains, spent = [], []
    for question in questions:
        documents = None if question.file is None else [question.file]
        started = time.perf_counter()
        hits = find(question.text, documents=documents).hits
        spent.append(1000 * (time.perf_counter() - started))
        ranks = (rank for rank, hit in enumerate(hits, 1) if is_gold(hit, question))
        gains.append(1 / math.log2(1 + next(ranks, math.inf)))
    return 100 * fmean(gains), 100 * fmean(gain == 1 for gain in gains), median(spent)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("kinds", nargs="*", default=[*KINDS], metavar="KIND")
    arguments = parser.parse_args()
    for name in arguments.kinds:
        kind = KINDS[name]
        questions = list(kind.questions(arguments.data))
        with opened(kind.database, "plain", None) as lexichord:
            kind.fill(lexichord, arguments.data)
            if lexichord.status().outdated_documents:
                lexichord.reindex()
            for way in arguments.modes.split(","):
                gain, first, ms = measure(lexichord, questions, way)
                print(
                    f"{name:20} {way:10} {len(questions):5} questions: "
                    f"nDCG@10 {gain:.2f}, first {first:.2f}, {ms:.1f} ms",
                    flush=True,
                )


if __name__ == "__main__":
    main()
