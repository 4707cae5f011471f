"""A reader of other languages: first sentences, with it and without, by kind.

python scripts/bench/reader_languages.py --data DIR --reader FOLDER [--questions N]

DIR holds the public sets; LEXICHORD_EMBEDDER names the embedder, a multilingual one to be of use.
Each question is asked with the folder's reader and without any. A first sentence is right if it
holds an answer's text; of near misses, the same questions of documents that do not hold the answer,
the share that is refused.
"""

import argparse
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter

from common import opened
from kinds import KINDS, Question, kept_back, xquad_placed
from lexichord import SyncLexichord
from lexichord.evaluate.metrics import first_sentence, fold
from lexichord.providers.reader import FolderReader
from lexichord.types import Response


def questions(data: Path, most: int) -> Iterator[tuple[str, list[Question]]]:
    sets = {f"XQuAD {language}": xquad_placed(data, language) for language in ("de", "es", "zh")}
    for name, every in {**sets, "Wikipedia fr, kept back": kept_back(data, "piaf.fr")}.items():
        listed = list(every)
        random.Random(7).shuffle(listed)
        yield name, listed[:most]


def ask(lexichord: SyncLexichord, reader: FolderReader | None, asked: Sequence[Question]) -> str:
    """Ask each of all documents, and of all but its own; return what is to be told."""
    uris = {row.uri: str(row.document_id) for row in lexichord.list()}
    lexichord.core.reader = reader
    right, refused, missed, seconds = [], [], [], list[float]()
    for question in asked:
        uri, start, end = question.gold[0]
        text = lexichord.show(uri).text[start:end]
        began = perf_counter()
        response = lexichord.query(question.text, answer=True)
        seconds.append(perf_counter() - began)
        right.append(_is_right(response, text))
        refused.append(not response.claimed)
        others = [name for each, name in uris.items() if each != uri]
        missed.append(not lexichord.query(question.text, documents=others, answer=True).claimed)
    parts = [f"{sum(each) / len(each):.2f}" for each in (right, refused, missed)]
    return f"{' '.join(parts)}, {1000 * median(seconds):.0f} ms"


def _is_right(response: Response, text: str) -> bool:
    return fold(text) in fold(first_sentence(response.answer))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--reader", type=Path, required=True)
    parser.add_argument("--questions", type=int, default=60)
    arguments = parser.parse_args()
    print("first sentence right, refused, near misses refused, a question's time")
    for name, asked in questions(arguments.data, arguments.questions):
        kind = KINDS[name]
        with opened(f"{kind.database}-multilingual", "plain", None) as lexichord:
            kind.fill(lexichord, arguments.data)
            for reader in (None, FolderReader(arguments.reader)):
                told = ask(lexichord, reader, asked)
                print(f"{name:24} {'with' if reader else 'without'}: {told}", flush=True)


if __name__ == "__main__":
    main()
