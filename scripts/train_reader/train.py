"""Train the reader: spans and "not here" over many kinds of text.

PYTHONPATH=scripts python -m train_reader.train --data DIR --start FOLDER --into FOLDER [--layers 6]
    [--without SET ...] [--pages FOLDER ...] [--from CHECKPOINT] [--limit N] [--rate 1e-4]
    [--languages en ...] [--keep-words] [--manuals N] [--teachers CHECKPOINT:LAYERS ...]

DIR holds sets as JSON lines, FOLDER a MiniLM with model.safetensors and tokenizer.json. An
interrupted run goes on from its last checkpoint when it is called again. With teachers it learns
what they say together, their mean, beside what is right. torch is needed only here.
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
from torch.nn.functional import binary_cross_entropy_with_logits, kl_div

from train_reader.examples import Window, mixed, training_windows
from train_reader.manuals import manuals
from train_reader.network import Reader, load_encoder, read_checkpoint

BATCH_TOKENS = 6144  # of a step, padding counted
POOL = 2048  # windows among which lengths are matched
WARMUP = 0.06  # of all steps
SAVE_SECONDS = 300
UNKNOWN_TO_TEACHERS = {"manuals"}  # they were trained without them


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


def loss_of(reader: Reader, teachers: list[Reader], batch: list[Window]) -> Tensor:
    """Return the mean loss: any of the answers' starts and ends, and whether one is here.

    With teachers half of it is how far the reader is from their mean.
    """
    ids, mask, types, readable, starts, ends = tensors(batch)
    with torch.autocast("cpu", torch.bfloat16):
        said = _logits(reader, readable, ids, mask, types)
    total = torch.zeros(len(batch))
    for logits, right in zip(said, (starts, ends), strict=False):
        chosen = logits.masked_fill(right == 0, -1e4)
        total = total + (logits.logsumexp(1) - chosen.logsumexp(1)) / 2
    answered = (starts[:, 0] == 0).float()
    total = total + binary_cross_entropy_with_logits(said[2], answered, reduction="none") / 2
    if not teachers:
        return total.mean()
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        each = [_logits(teacher, readable, ids, mask, types) for teacher in teachers]
    taught = [torch.stack(parts).mean(0) for parts in zip(*each, strict=True)]
    known = torch.tensor([float(window.source not in UNKNOWN_TO_TEACHERS) for window in batch])
    return ((1 - known / 2) * total + known * _distance(said, taught) / 2).mean()


def _logits(reader: Reader, readable: Tensor, *inputs: Tensor) -> list[Tensor]:
    """Return the logits of start, end, and "here", those of what no answer may be far below."""
    start, end, here = (part.float() for part in reader(*inputs))
    return [*(part.masked_fill(readable == 0, -1e4) for part in (start, end)), here]


def _distance(said: list[Tensor], taught: list[Tensor]) -> Tensor:
    """Return of each window how far what a reader says is from what it was taught."""
    apart = [
        kl_div(a.log_softmax(1), b.log_softmax(1), reduction="none", log_target=True).sum(1) / 2
        for a, b in zip(said[:2], taught[:2], strict=True)
    ]
    likely = taught[2].sigmoid()
    entropy = binary_cross_entropy_with_logits(taught[2], likely, reduction="none")
    here = binary_cross_entropy_with_logits(said[2], likely, reduction="none") - entropy
    return apart[0] + apart[1] + here / 2


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
    teachers = [read_checkpoint(file, layers).eval() for file, layers in arguments.teachers]
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
        loss = loss_of(reader, teachers, steps[step])
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
    examples = mixed(arguments.data, **wanted)
    made = list(manuals(arguments.manuals, generator))
    if arguments.limit:
        examples = examples[: arguments.limit]
    examples += made
    generator.shuffle(examples)
    for example in examples:
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


def teacher(text: str) -> tuple[Path, int]:
    file, _, layers = text.rpartition(":")
    return Path(file), int(layers)


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
    parser.add_argument("--manuals", type=int, default=0, help="examples made by manuals.py")
    parser.add_argument("--teachers", type=teacher, nargs="*", default=[])
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
