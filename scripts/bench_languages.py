"""Search in other languages: nDCG@10 of a set's paragraphs, by both channels and by words alone.

python scripts/bench_languages.py --data DIR LANGUAGE ...

LANGUAGE is one of XQuAD's. Each is stored once, under all defaults, in the benchmarks' cache
folder.
"""

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from bench_data import opened
from bench_kinds import KINDS, Question
from lexichord import SyncLexichord
from lexichord.types.options import Mode

K = 10
MODES: Sequence[Mode] = ("hybrid", "keyword", "dense")


def gain(lexichord: SyncLexichord, question: Question, mode: Mode) -> float:
    """Return nDCG@10 of a question with one right paragraph."""
    gold = [(uri, start) for uri, start, _ in question.gold]
    hits = lexichord.search(question.text, k=K, mode=mode).hits
    places = [rank for rank, hit in enumerate(hits, 1) if (hit.uri, hit.start) in gold]
    return 1 / math.log2(1 + places[0]) if places else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("languages", nargs="+", metavar="LANGUAGE")
    arguments = parser.parse_args()
    print("nDCG@10   " + "".join(f"{mode:>9}" for mode in MODES))
    for language in arguments.languages:
        kind = KINDS[f"XQuAD {language}"]
        questions = list(kind.questions(arguments.data))
        with opened(f"languages-{language}", "plain", None) as lexichord:
            kind.fill(lexichord, arguments.data)
            figures = (
                100 * fmean(gain(lexichord, question, mode) for question in questions)
                for mode in MODES
            )
            print(f"XQuAD {language}  " + "".join(f"{figure:9.1f}" for figure in figures))


if __name__ == "__main__":
    main()
