"""What a query costs beside a search, by stage: processor time of the client and of the server.

python scripts/data/everyday.py DATA FOLDER
python scripts/bench/stages.py FOLDER [--kinds samples ndas …] [--every N] [--save FILE]
    [--against FILE]

Asks the questions of the kinds of all their documents, which are ingested at the first run: each by
`search`, by `query` with an answer as the first of its process, again, and without the reader.
Processor time is counted, for a busy machine stretches the clock: the client's by its process, the
server's by the scheduler's account of its processes (Linux, the embedded server). `--save` keeps
what was answered; `--against` compares answers with what was saved: hits and texts are to be the
same.
"""

import argparse
import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any, NamedTuple
from unittest.mock import patch

import psycopg

from common import cache_folder, opened
from lexichord import SyncLexichord
from lexichord.retrieve.cache import QueryCache
from lexichord.retrieve.trace import Trace
from lexichord.types import Json, Response

KINDS = ("samples", "fastapi", "encyclopedia-en", "ndas", "mail", "sheets", "encyclopedia-de")
SAME_CONFIDENCE = 1e-6


class Spent(NamedTuple):
    """Milliseconds: processor time of the client and of the server, and by the clock."""

    client: float
    server: float
    clock: float

    @property
    def processor(self) -> float:
        return self.client + self.server


class Meter:
    """Reads what the client and the server have spent since each began."""

    def __init__(self, dsn: str) -> None:
        with psycopg.connect(dsn) as connection:
            row = connection.execute("show data_directory").fetchone()
        assert row is not None
        self._postmaster = int(Path(row[0], "postmaster.pid").read_text().split("\n")[0])
        self._gone: dict[int, float] = {}

    def read(self) -> Spent:
        return Spent(process_time() * 1e3, self._server(), perf_counter() * 1e3)

    def _server(self) -> float:
        """Add up the server's processes; those that ended count with what they had last."""
        children = Path(f"/proc/{self._postmaster}/task/{self._postmaster}/children")
        for process in map(int, children.read_text().split()):
            try:
                nanoseconds = Path(f"/proc/{process}/schedstat").read_text().split()[0]
            except OSError:
                continue
            self._gone[process] = int(nanoseconds) / 1e6
        return sum(self._gone.values())

    def between(self, before: Spent) -> Spent:
        return Spent(*(after - one for after, one in zip(self.read(), before, strict=True)))


@contextmanager
def by_stage(meter: Meter) -> Iterator[list[tuple[str, Spent]]]:
    """Collect what each stage of the queries in the block spends."""
    spent: list[tuple[str, Spent]] = []
    stage = Trace.stage

    @contextmanager
    def metered(self: Trace, name: str, **inputs: object) -> Iterator[Any]:
        before = meter.read()
        with stage(self, name, **inputs) as outcome:
            yield outcome
        spent.append((name, meter.between(before)))

    with patch.object(Trace, "stage", metered):
        yield spent


def answer_of(response: Response) -> Json:
    """Return what a response says, for comparison."""
    return {
        "hits": [hit.chunk_id for hit in response.hits],
        "files": [file.document_id for file in response.files],
        "kind": response.intent.kind,
        "quotes": [[quote.chunk_id, quote.start, quote.end] for quote in response.quotes],
        "answer": response.answer,
        "confidence": response.confidence,
        "answer_confidence": response.answer_confidence,
        "abstained": response.abstained,
    }


def differences(before: Json, after: Json) -> list[str]:
    """Return the names of what is not the same."""
    return [name for name, value in before.items() if not _same(value, after[name])]


def _same(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= SAME_CONFIDENCE
    return one == other


type ByStage = dict[str, list[Spent]]


def measure(
    lexichord: SyncLexichord, unread: SyncLexichord, texts: Sequence[str]
) -> tuple[ByStage, dict[str, ByStage], dict[str, Json]]:
    """Ask all; return what each way of asking spent, its stages, and what was answered."""
    meter = Meter(lexichord.core.database.dsn)
    whole: ByStage = defaultdict(list)
    stages: dict[str, ByStage] = defaultdict(lambda: defaultdict(list))
    answers: dict[str, Json] = {}
    ask = partial(lexichord.query, answer=True)
    ways: dict[str, Callable[[str], object]] = {
        "search": lexichord.search,
        "query": ask,
        "query again": ask,
        "query without the reader": partial(unread.query, answer=True),
    }
    for way in ways.values():
        way("Which words warm this up?")
    for text in texts:
        for name, way in ways.items():
            if name != "query again":
                lexichord.core.cache, unread.core.cache = QueryCache(), QueryCache()
            with by_stage(meter) as steps:
                before = meter.read()
                result = way(text)
                whole[name].append(meter.between(before))
            for stage, one in _summed(steps).items():
                stages[name][stage].append(one)
            if name == "query" and isinstance(result, Response):
                answers[text] = answer_of(result)
    return whole, stages, answers


def _summed(steps: Sequence[tuple[str, Spent]]) -> dict[str, Spent]:
    """Add up what a stage that ran several times spent."""
    summed: dict[str, Spent] = defaultdict(lambda: Spent(0, 0, 0))
    for stage, one in steps:
        summed[stage] = Spent(*map(sum, zip(summed[stage], one, strict=True)))
    return summed


def report(whole: ByStage, stages: dict[str, ByStage], load: float) -> None:
    """Print medians: processor time by client and server, the clock, and ratios to a search."""
    print(f"load {load:.1f} to {os.getloadavg()[0]:.1f}\n")
    print("| p50, ms | client | server | both | p95 | ratio | clock | ratio |")
    print("|---" * 8 + "|")
    base = whole["search"]
    for name, spent in whole.items():
        ratio = median(
            one.processor / other.processor for one, other in zip(spent, base, strict=True)
        )
        clock = median(one.clock / other.clock for one, other in zip(spent, base, strict=True))
        print(f"| **{name}** {_row(spent, ratio, clock)}")
        for stage, parts in stages[name].items():
            share = f"{stage} ({len(parts)})" if len(parts) < len(spent) else stage
            print(f"| … {share} {_row(parts)}")


def _row(spent: Sequence[Spent], ratio: float | None = None, clock: float | None = None) -> str:
    ordered = sorted(one.processor for one in spent)
    cells = [
        f"{median(one.client for one in spent):.1f}",
        f"{median(one.server for one in spent):.1f}",
        f"{median(ordered):.1f}",
        f"{ordered[int(0.95 * (len(ordered) - 1))]:.1f}",
        "" if ratio is None else f"{ratio:.2f}",
        f"{median(one.clock for one in spent):.1f}",
        "" if clock is None else f"{clock:.2f}",
    ]
    return "| " + " | ".join(cells) + " |"


def compare(saved: dict[str, Json], answers: dict[str, Json]) -> None:
    """Print how many answers are the same as those that were saved, and what differs."""
    shared = [text for text in answers if text in saved]
    found = {text: differences(saved[text], answers[text]) for text in shared}
    different = {text: names for text, names in found.items() if names}
    print(f"\n{len(shared)} answers compared, {len(shared) - len(different)} the same")
    for text, names in different.items():
        confidences = f"{saved[text]['confidence']:.6f} {answers[text]['confidence']:.6f}"
        print(f"- {text}: {', '.join(names)} ({confidences})")


def questions_of(folder: Path, kinds: Sequence[str], every: int) -> list[str]:
    """Return the distinct questions of the kinds, every N-th of each."""
    asked: dict[str, list[str]] = defaultdict(list)
    for name in ("chosen", "held-back"):
        for line in (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            question = json.loads(line)
            if (kind := question["kind"].removesuffix("-spans")) in kinds:
                asked[kind].append(question["query"])
    return list(dict.fromkeys(text for texts in asked.values() for text in texts[::every]))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="what scripts/data/everyday.py laid out")
    parser.add_argument("--kinds", nargs="+", default=KINDS)
    parser.add_argument("--every", type=int, default=1, help="ask every N-th question of a kind")
    parser.add_argument("--save", type=Path, help="keep the answers in this file")
    parser.add_argument("--against", type=Path, help="compare with the answers in this file")
    options = parser.parse_args()
    with (
        opened("stages", "plain", None) as lexichord,
        SyncLexichord(home=cache_folder() / "stages", reader="none") as unread,
    ):
        lexichord.ingest([options.folder / kind for kind in options.kinds])
        status = lexichord.status()
        texts = questions_of(options.folder, options.kinds, options.every)
        print(f"{status.documents} documents, {status.chunks} chunks, {len(texts)} questions")
        load = os.getloadavg()[0]
        whole, stages, answers = measure(lexichord, unread, texts)
    report(whole, stages, load)
    if options.save:
        options.save.write_text(json.dumps(answers, ensure_ascii=False), encoding="utf-8")
    if options.against:
        compare(json.loads(options.against.read_text(encoding="utf-8")), answers)


if __name__ == "__main__":
    main()
