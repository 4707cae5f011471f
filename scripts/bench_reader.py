"""What a reader makes of questions whose answers' places are known, by kind.

python scripts/bench_reader.py --data DIR --reader FOLDER [--questions N] [KIND ...]

KIND is encyclopaedia, policies or contracts; each is stored once, under all defaults, in the
benchmarks' cache folder. The first sentence of the first five hits is right where it holds half of
an answer's place, or half of it lies there; without a reader it is the answer's of `query`. AUROC
is of the best passage's score, against the same hits without the answer's passages (near) and
against another kind's question (foreign).
"""

import argparse
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from time import perf_counter

import numpy as np

from bench_data import opened
from bench_kinds import KINDS, contracts, policies_placed, xquad_placed
from bench_kinds import Question as Asked
from lexichord import SyncLexichord
from lexichord.providers.read.folder import FolderReader
from lexichord.retrieve.evidence.reading import passage_of
from lexichord.retrieve.evidence.relevance import sentences_of
from lexichord.types import ChunkHit
from lexichord.types.evidence import Quote
from lexichord.types.reading import Passage

READ = 5  # hits
FOUND = 12  # of which enough are left where the answer's are taken away
SETS: dict[str, tuple[str, Callable[[Path], Iterator[Asked]]]] = {
    "encyclopaedia": ("XQuAD en", xquad_placed),
    "policies": ("policy, pinned", policies_placed),
    "contracts": ("contracts, named", contracts),
}


@dataclass
class Tally:
    first: list[bool]
    without: list[bool]
    refused: list[bool]
    here: list[float]
    near: list[float]
    foreign: list[float]
    seconds: list[float]


def is_right(quote: Quote, asked: Asked) -> bool:
    shared = (
        (min(end, quote.end) - max(start, quote.start), end - start)
        for uri, start, end in asked.gold
        if uri == quote.uri
    )
    return any(part > 0 and part >= min(size, quote.end - quote.start) / 2 for part, size in shared)


def holds(hit: ChunkHit, asked: Asked) -> bool:
    return any(
        uri == hit.uri and start < hit.end and hit.start < end for uri, start, end in asked.gold
    )


def read(reader: FolderReader, text: str, hits: Sequence[ChunkHit]) -> list[tuple[float, Quote]]:
    """Return the sentences of hits, best first, with their scores."""
    quotes = [Quote.of(hit) for hit in hits]
    sentences = [[one.quote for one in sentences_of(quote)] for quote in quotes]
    passages = [passage_of(*pair) for pair in zip(quotes, sentences, strict=True)]
    scored = [
        (made.here * said.share, quote)
        for made, inside in zip(reader.read(text, passages), sentences, strict=True)
        for said, quote in zip(made.sentences, inside, strict=True)
    ]
    return sorted(scored, key=lambda pair: -pair[0])


def best_passage(reader: FolderReader, text: str, hits: Sequence[ChunkHit]) -> float:
    passages = [Passage(hit.title, hit.content, ()) for hit in hits]
    return max((made.here for made in reader.read(text, passages)), default=0.0)


def answered(lexichord: SyncLexichord, asked: Asked) -> tuple[bool, bool]:
    """Return whether an answer's first sentence is right without a reader, and whether refused."""
    documents = None if asked.file is None else [asked.file]
    response = lexichord.query(asked.text, documents=documents, answer=True)
    said = " ".join(response.answer.split())
    sentences = (one.quote for quote in response.quotes for one in sentences_of(quote))
    spoken = [(said.find(" ".join(one.text.split())), one) for one in sentences]
    first = min(((place, -len(one.text), one) for place, one in spoken if place >= 0), default=None)
    return first is not None and is_right(first[2], asked), response.abstained


def measure(
    lexichord: SyncLexichord,
    reader: FolderReader,
    questions: Sequence[Asked],
    others: Sequence[str],
) -> Tally:
    tally = Tally([], [], [], [], [], [], [])
    for asked, other in zip(questions, others, strict=False):
        documents = None if asked.file is None else [asked.file]
        hits = lexichord.search(asked.text, k=FOUND, documents=documents).hits
        text = asked.text.rpartition("; ")[2]  # without the clause that names the document
        started = perf_counter()
        sentences = read(reader, text, hits[:READ])
        tally.seconds.append(perf_counter() - started)
        tally.first.append(bool(sentences) and is_right(sentences[0][1], asked))
        right, refused = answered(lexichord, asked)
        tally.without.append(right)
        tally.refused.append(refused)
        tally.here.append(best_passage(reader, text, hits[:READ]))
        rest = [hit for hit in hits if not holds(hit, asked)][:READ]
        tally.near.append(best_passage(reader, text, rest))
        tally.foreign.append(best_passage(reader, other, hits[:READ]))
    return tally


def auroc(higher: Sequence[float], lower: Sequence[float]) -> float:
    one, other = np.array(higher)[:, None], np.array(lower)[None]
    return float(((one > other) + 0.5 * (one == other)).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--reader", type=Path, required=True)
    parser.add_argument("--questions", type=int, default=150)
    parser.add_argument("kinds", nargs="*", default=[*SETS], metavar="KIND")
    arguments = parser.parse_args()
    reader = FolderReader(arguments.reader)
    asked = {name: list(find(arguments.data)) for name, (_, find) in SETS.items()}
    for questions in asked.values():
        random.Random(7).shuffle(questions)
    for name in arguments.kinds:
        kind = KINDS[SETS[name][0]]
        foreign = asked["policies" if name == "encyclopaedia" else "encyclopaedia"]
        with opened(kind.database, "plain", None) as lexichord:
            kind.fill(lexichord, arguments.data)
            chosen = asked[name][: arguments.questions]
            tally = measure(lexichord, reader, chosen, [one.text for one in foreign])
        print(
            f"{name:14} {len(tally.first):4} questions: first sentence {fmean(tally.first):.3f}, "
            f"without {fmean(tally.without):.3f}, refused without {fmean(tally.refused):.3f}, "
            f"AUROC near {auroc(tally.here, tally.near):.3f}, foreign "
            f"{auroc(tally.here, tally.foreign):.3f}, {1000 * median(tally.seconds):.0f} ms",
            flush=True,
        )


if __name__ == "__main__":
    main()
