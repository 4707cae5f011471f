"""Score a checkpoint on what was kept back from training: where answers begin, and if any is there.

PYTHONPATH=scripts python -m train_reader.score --checkpoint FILE --start FOLDER --data DIR
    [--layers 6] [--sets NAME ...] [--pages FOLDER ...] [--limit 300] [--seed 1]

A line for each set: windows read, the share of answered ones whose sentence was found, and the
AUROC of "an answer is here" between answered windows and near ones that do not answer. Of a set
that training left out wholly, all documents are read; of SCORED, those kept back.
"""

import argparse
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer

from train_reader.examples import (
    SCORED,
    Example,
    Window,
    documentation,
    is_kept_back,
    read_set,
    training_windows,
    with_negatives,
)
from train_reader.network import Reader, read_checkpoint
from train_reader.train import batches, tensors

SENTENCE_END = re.compile(r"[.!?]\s|\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--start", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--layers", type=int, default=6)
    own = sorted(name for name in SCORED if name.endswith(".en"))
    parser.add_argument("--sets", nargs="*", default=own)
    parser.add_argument("--pages", type=Path, nargs="*", default=[])
    parser.add_argument("--limit", type=int, default=300, help="questions of a set")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    tokenizer = Tokenizer.from_file(str(arguments.start / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    reader = read_checkpoint(arguments.checkpoint, arguments.layers)
    for name, examples in _sets(arguments):
        generator = random.Random(arguments.seed)
        every = list(_read(reader.eval(), tokenizer, examples, generator))
        right = [found for holds, found, _ in every if holds]
        lacking = [likely for holds, _, likely in every if not holds]
        area = auroc([likely for holds, _, likely in every if holds], lacking)
        share = sum(right) / max(len(right), 1)
        print(f"{name}: {len(every)} windows, sentence {share:.3f}, AUROC {area:.3f}", flush=True)


def _sets(arguments: argparse.Namespace) -> Iterator[tuple[str, list[Example]]]:
    generator = random.Random(arguments.seed)
    read = {name: read_set(arguments.data / f"{name}.jsonl.gz") for name in arguments.sets}
    if arguments.pages:
        read["documentation"] = [one for each in arguments.pages for one in documentation(each)]
    for name, every in read.items():
        kept = [one for one in every if name not in SCORED or is_kept_back(one)]
        answered = [one for one in kept if one.answers]
        generator.shuffle(answered)
        answered = answered[: arguments.limit]
        yield name, [*answered, *with_negatives(answered, every, generator)]


def _read(
    reader: Reader, tokenizer: Tokenizer, examples: Sequence[Example], generator: random.Random
) -> Iterator[tuple[bool, bool, float]]:
    """Yield of each window: does it hold an answer, is its sentence the one found, and "here"."""
    pairs = [
        (window, example.passage)
        for example in examples
        for window in training_windows(tokenizer, example, generator)
    ]
    texts = {id(window): passage for window, passage in pairs}
    for batch in batches([window for window, _ in pairs], generator):
        ids, mask, types, readable, _, _ = tensors(batch)
        readable[:, 0] = 0
        with torch.no_grad():
            starts, _, here = reader(ids, mask, types)
        for row, window in enumerate(batch):
            best = int(starts[row].masked_fill(readable[row] == 0, -1e4).argmax())
            yield bool(window.spans), _is_right(window, best, texts[id(window)]), float(here[row])


def _is_right(window: Window, token: int, passage: str) -> bool:
    """Return whether a token stands in a sentence that an answer overlaps."""
    start = window.offsets[token - window.passage][0]
    ends = [0, *(found.end() for found in SENTENCE_END.finditer(passage)), len(passage)]
    first = max(end for end in ends if end <= start)
    last = min((end for end in ends if end > start), default=len(passage))
    answers = [
        (window.offsets[a - window.passage][0], window.offsets[b - window.passage][1])
        for a, b in window.spans
    ]
    return any(a < last and first < b for a, b in answers)


def auroc(above: Sequence[float], below: Sequence[float]) -> float:
    """Return how often one is above one of the others; a tie counts half."""
    won = sum((a > b) + (a == b) / 2 for a in above for b in below)
    return won / max(len(above) * len(below), 1)


if __name__ == "__main__":
    main()
