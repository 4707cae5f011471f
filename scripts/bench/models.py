"""Embedding models beside onnxruntime alone and fastembed, for bench/embed.py.

onnxruntime alone runs the same graph on as many threads over texts that are tokenized and filled
before, in whichever of three sizes of batch and of two ways to wait is best.
"""

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import batched
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from lexichord.providers import Embedder, EmbedKind
from lexichord.providers.embed.folder import FolderEmbedder, FolderModel, StaticModel
from lexichord.providers.embed.local import LocalEmbedder
from lexichord.providers.onnx_folder import TokenIds, pad_rows, tokenize
from lexichord.providers.registry import find_embedder
from lexichord.settings import load_settings

ROUNDS, QUESTIONS = 5, 21
BATCHES = (1, 8, 32)
QUESTION = "Who pays for the late delivery of {} boxes?"
CORES = os.cpu_count() or 1
OURS, BARE, FASTEMBED = "lexichord", "onnxruntime", "fastembed"
HEADER = (
    "space",
    *(f"{name}, texts/s" for name in (OURS, BARE, FASTEMBED)),
    *(f"of {name}" for name in (BARE, FASTEMBED)),
    *(f"a question by {name}, ms" for name in (OURS, BARE, FASTEMBED)),
)

type Way = Callable[[], object]


class Spent(NamedTuple):
    """Seconds by the clock and of the processor, all threads together."""

    clock: float
    processor: float


class Loaded(NamedTuple):
    """A model with a graph, as others than lexichord can run it."""

    tokenizer: Tokenizer
    graph: Path
    prompts: Mapping[str, str]
    pad: int
    pooling: str

    def prompted(self, texts: Sequence[str], kind: EmbedKind) -> list[str]:
        return [self.prompts.get(kind, "") + text for text in texts]


def compare(spaces: Sequence[str], pieces: Sequence[str]) -> None:
    """Print a table of the spaces: by the clock, and by processor time as if nothing else ran."""
    for row in (HEADER, ["---"] * len(HEADER)):
        print(f"| {' | '.join(row)} |")
    for space in spaces:
        embedder, reasons = find_embedder(load_settings(embedding=space), space)
        if not isinstance(embedder, FolderEmbedder | LocalEmbedder):
            raise SystemExit("; ".join(reasons))
        print(f"| {space} | {' | '.join(cells(embedder, pieces))} |", flush=True)
    print(f"{len(pieces)} texts, load {os.getloadavg()[0]:.1f} on {CORES} cores")


def cells(embedder: FolderEmbedder | LocalEmbedder, pieces: Sequence[str]) -> Iterator[str]:
    loaded = load(embedder)
    with all_ways(embedder, loaded, pieces, "document") as ways:
        best = best_ways(race(ways, ROUNDS))
    yield from (speeds(best.get(name), len(pieces)) for name in (OURS, BARE, FASTEMBED))
    yield from (ratio(best.get(name), best[OURS]) for name in (BARE, FASTEMBED))
    with all_ways(embedder, loaded, [QUESTION.format(7)], "query") as ways:
        best = best_ways(race(ways, QUESTIONS))
    yield from (milliseconds(best.get(name)) for name in (OURS, BARE, FASTEMBED))


def load(embedder: FolderEmbedder | LocalEmbedder) -> Loaded | None:
    """Return the model as others run it; None for a static one, which they do not."""
    model = embedder.load()
    if isinstance(model, StaticModel):
        return None
    runner = model.graph.session if isinstance(model, FolderModel) else model.session
    is_pooled = len(runner.get_outputs()[0].shape) == 2
    pooling = "CLS" if getattr(model, "takes_first", False) else "MEAN"
    return Loaded(
        model.tokenizer,
        Path(runner._model_path),
        getattr(model, "prompts", {}),
        getattr(model, "pad", 0),
        "DISABLED" if is_pooled else pooling,
    )


@contextmanager
def all_ways(
    embedder: Embedder, loaded: Loaded | None, texts: Sequence[str], kind: EmbedKind
) -> Iterator[dict[str, Way]]:
    """Yield each way to embed the texts, by the name of who does it and how."""
    ways: dict[str, Way] = {OURS: partial(embedder.embed, texts, kind)}
    with TemporaryDirectory() as scratch:
        if loaded:
            ways |= bare_ways(loaded, loaded.prompted(texts, kind))
        if loaded and find_spec("fastembed"):
            ways[FASTEMBED] = fastembed_way(loaded, loaded.prompted(texts, kind), Path(scratch))
        yield ways


def bare_ways(loaded: Loaded, texts: Sequence[str]) -> dict[str, Way]:
    rows = sorted(tokenize(loaded.tokenizer, texts), key=len)
    sizes = {min(most, len(rows)) for most in BATCHES}
    runners = [session(loaded.graph, spins) for spins in (True, False)]
    return {
        f"{BARE} {most} {number}": partial(run, runner, fed(rows, most, loaded.pad))
        for number, runner in enumerate(runners)
        for most in sizes
    }


def session(graph: Path, spins: bool) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = CORES
    options.add_session_config_entry("session.intra_op.allow_spinning", str(int(spins)))
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def fed(rows: Sequence[TokenIds], most: int, pad: int) -> list[dict[str, TokenIds]]:
    batches = (pad_rows(batch, pad) for batch in batched(rows, most))
    return [
        {
            "input_ids": ids,
            "attention_mask": mask.astype(np.int64),
            "token_type_ids": np.zeros_like(ids),
        }
        for ids, mask in batches
    ]


def run(runner: onnxruntime.InferenceSession, inputs: Sequence[Mapping[str, Any]]) -> None:
    wanted = [each.name for each in runner.get_inputs()]
    for each in inputs:
        runner.run(None, {name: each[name] for name in wanted})


def fastembed_way(loaded: Loaded, texts: Sequence[str], scratch: Path) -> Way:
    """Return fastembed over the graph, with the files that it wants beside it."""
    fastembed = import_module("fastembed")
    description = import_module("fastembed.common.model_description")
    for file in loaded.graph.parent.glob(f"{loaded.graph.stem}.*"):
        (scratch / file.name).symlink_to(file.resolve())
    loaded.tokenizer.save(str(scratch / "tokenizer.json"))
    padding = {
        "model_max_length": (loaded.tokenizer.truncation or {})["max_length"],
        "pad_token": loaded.tokenizer.id_to_token(loaded.pad),
    }
    (scratch / "tokenizer_config.json").write_text(json.dumps(padding))
    fastembed.TextEmbedding.add_custom_model(
        str(scratch),
        pooling=description.PoolingType[loaded.pooling],
        normalization=True,
        sources=description.ModelSource(hf=str(scratch)),
        dim=1,  # which it does not look at
        model_file=loaded.graph.name,
    )
    model = fastembed.TextEmbedding(str(scratch), specific_model_path=str(scratch), threads=CORES)
    return lambda: list(model.embed(texts))


def race(ways: Mapping[str, Way], rounds: int) -> dict[str, list[Spent]]:
    times: dict[str, list[Spent]] = {name: [] for name in ways}
    for turn in range(rounds):
        # Who goes first alternates, so that a drifting machine favours neither.
        for name in list(ways)[:: 1 if turn % 2 else -1]:
            times[name].append(spent(ways[name]))
    return times


def spent(way: Way) -> Spent:
    clock, processor = time.perf_counter(), time.process_time()
    way()
    return Spent(time.perf_counter() - clock, time.process_time() - processor)


def best_ways(times: Mapping[str, list[Spent]]) -> dict[str, Spent]:
    """Return everyone's medians in the best of their ways, by the clock and by the processor."""
    best: dict[str, Spent] = {}
    for way, rounds in times.items():
        name = way.partition(" ")[0]
        medians = Spent(*map(median, zip(*rounds, strict=True)))
        best[name] = Spent(*map(min, zip(medians, best.get(name, medians), strict=True)))
    return best


def speeds(each: Spent | None, texts: int) -> str:
    if each is None:
        return "–"
    return f"{texts / each.clock:.1f} ({texts * CORES / each.processor:.1f})"


def ratio(other: Spent | None, ours: Spent) -> str:
    if other is None:
        return "–"
    return f"{other.clock / ours.clock:.2f} ({other.processor / ours.processor:.2f})"


def milliseconds(each: Spent | None) -> str:
    return "–" if each is None else f"{1000 * each.clock:.1f} ({1000 * each.processor:.1f})"
