"""Train the reader: spans and "not here" over many kinds of text.

PYTHONPATH=scripts python -m train_reader.train --data DIR --start FOLDER --into FOLDER [--layers 6]
    [--without SET ...] [--pages FOLDER ...] [--from CHECKPOINT] [--limit N] [--rate 1e-4]
    [--languages en ...] [--keep-words]

DIR holds sets as JSON lines, FOLDER a MiniLM with model.safetensors and tokenizer.json. An
interrupted run goes on from its last checkpoint when it is called again. torch is needed only
here.
"""

import argparse
import json
import math
import random
import time
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor

from train_reader.examples import Window, mixed, training_windows
from train_reader.network import Reader, load_encoder

BATCH_TOKENS = 6144  # of a step, padding counted
POOL = 2048  # windows among which lengths are matched
WARMUP = 0.06  # of all steps
SAVE_SECONDS = 300


def batches(pool: list[Window], generator: random.Random) -> list[list[Window]]:
    """Return batches of windows of like length, in any order."""
    pool = sorted(pool, key=lambda window: len(window.ids))
    found: list[list[Window]] = [[]]
    for window in pool:
        if _padded(window) * (len(found[-1]) + 1) > BATCH_TOKENS:
            found.append([])
        found[-1].append(window)
    generator.shuffle(found)
    return [batch for batch in found if batch]


def _padded(window: Window) -> int:
    return -(-len(window.ids) // 32) * 32  # shapes that repeat keep torch's memory small


def tensors(batch: list[Window]) -> tuple[Tensor, ...]:
    length = max(map(_padded, batch))
    ids = torch.zeros(len(batch), length, dtype=torch.long)
    mask, types, starts, ends = (torch.zeros_like(ids) for _ in range(4))
    readable = torch.zeros_like(ids)
    for row, window in enumerate(batch):
        size = len(window.ids)
        ids[row, :size] = torch.tensor(window.ids)
        mask[row, :size] = 1
        types[row, window.second : size] = 1
        readable[row, window.passage : size - 1] = 1
        readable[row, 0] = 1  # [CLS] stands for "not here"
        for start, end in window.spans or [(0, 0)]:
            starts[row, start] = 1
            ends[row, end] = 1
    return ids, mask, types, readable, starts, ends


def loss_of(reader: Reader, batch: list[Window]) -> Tensor:
    """Return the mean loss: any of the answers' starts and ends, and whether one is here."""
    ids, mask, types, readable, starts, ends = tensors(batch)
    with torch.autocast("cpu", torch.bfloat16):
        start, end, here = reader(ids, mask, types)
    total = torch.zeros(())
    for logits, right in ((start, starts), (end, ends)):
        logits = logits.float().masked_fill(readable == 0, -1e4)
        chosen = logits.masked_fill(right == 0, -1e4)
        total = total + (logits.logsumexp(1) - chosen.logsumexp(1)).mean() / 2
    answered = (starts[:, 0] == 0).float()
    return total + torch.nn.functional.binary_cross_entropy_with_logits(here.float(), answered) / 2


def optimizer_of(reader: Reader, rate: float) -> torch.optim.AdamW:
    learned = [p for p in reader.parameters() if p.requires_grad]
    plain = [p for p in learned if p.ndim < 2]
    matrices = [p for p in learned if p.ndim >= 2]
    return torch.optim.AdamW(
        [{"params": matrices, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0.0}],
        lr=rate,
    )


def train(arguments: argparse.Namespace) -> None:
    torch.manual_seed(arguments.seed)
    tokenizer = Tokenizer.from_file(str(arguments.start / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    reader = Reader(tokenizer.get_vocab_size(), arguments.layers)
    load_encoder(reader, arguments.start / "model.safetensors")
    if arguments.checkpoint:
        reader.load_state_dict(torch.load(arguments.checkpoint)["reader"])
    reader.words.requires_grad_(not arguments.keep_words)
    optimizer = optimizer_of(reader, arguments.rate)
    steps = plan(tokenizer, arguments)
    kept = arguments.into / "checkpoint.pt"
    first = 0
    if kept.exists():
        state: dict[str, Any] = torch.load(kept)
        reader.load_state_dict(state["reader"])
        optimizer.load_state_dict(state["optimizer"])
        first = state["step"]
    reader.train()
    saved = started = time.monotonic()
    mean, read = 0.0, 0
    for step in range(first, len(steps)):
        done = step / len(steps)
        scale = min(done / WARMUP, 1.0) * (1 - done) if done < 1 else 0.0
        for group in optimizer.param_groups:
            group["lr"] = arguments.rate * max(scale, 1 / len(steps))
        loss = loss_of(reader, steps[step])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
        optimizer.step()
        read += len(steps[step])
        mean = loss.item() if math.isclose(mean, 0.0) else 0.98 * mean + 0.02 * loss.item()
        if step % 20 == 0:
            speed = read / (time.monotonic() - started)
            print(f"{step}/{len(steps)} loss {mean:.3f}, {speed:.1f} windows/s", flush=True)
        if time.monotonic() - saved > SAVE_SECONDS or step + 1 == len(steps):
            saved = time.monotonic()
            save(kept, reader, optimizer, step + 1)


def plan(tokenizer: Tokenizer, arguments: argparse.Namespace) -> list[list[Window]]:
    """Return the batches of a pass, the same ones for the same seed."""
    generator = random.Random(arguments.seed)
    every: list[Window] = []
    wanted = {key: getattr(arguments, key) for key in ("without", "seed", "pages", "languages")}
    for example in mixed(arguments.data, **wanted):
        every += training_windows(tokenizer, example, generator)
        if arguments.limit and len(every) >= arguments.limit:
            break
    share = sum(bool(window.spans) for window in every) / len(every)
    print(f"{len(every)} windows, {share:.2f} of them with an answer", flush=True)
    found = []
    for first in range(0, len(every), POOL):
        found += batches(every[first : first + POOL], generator)
    return found


def save(file: Path, reader: Reader, optimizer: torch.optim.AdamW, step: int) -> None:
    part = file.with_suffix(".part")
    state = {"reader": reader.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
    torch.save(state, part)
    part.replace(file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--start", type=Path, required=True)
    parser.add_argument("--into", type=Path, required=True)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--without", nargs="*", default=[])
    parser.add_argument("--pages", type=Path, nargs="*", default=[], help="folders of Markdown")
    parser.add_argument("--languages", nargs="*", default=["en"], help='"all", or codes')
    parser.add_argument("--keep-words", action="store_true", help="as they are: many")
    parser.add_argument("--from", type=Path, dest="checkpoint")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    arguments.into.mkdir(parents=True, exist_ok=True)
    described = {key: str(value) for key, value in vars(arguments).items()}
    (arguments.into / "run.json").write_text(json.dumps(described, indent=1))
    train(arguments)


if __name__ == "__main__":
    main()
