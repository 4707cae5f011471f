"""Models in ONNX from a folder: what an embedder and a reranker of `local/FOLDER` share.

A folder as Hugging Face's libraries write it: model.onnx (or onnx/model.onnx) and tokenizer.json.
"""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import batched
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from lexichord.errors import ConfigError, ProviderError
from lexichord.work import check_wanted

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

TOKENIZER_FILE = "tokenizer.json"
GRAPH_FILES = ("model.onnx", "onnx/model.onnx")
STATIC_FILE = "model.safetensors"  # of an embedder without a graph, see embed/folder.py
USUAL_MAX_TOKENS = 512  # of models that do not say how many they read
PAD_TOKENS = ("[PAD]", "<pad>")
# Tokens of filler that one more text may cost its batch: a run of its own costs about as much.
# Processor time of 17 sentences 69 ms, in batches that were always full 91; of 128 chunks 2.31 and
# 2.44 s. With 8, 32 and 64 in its place the sentences took 72, 76 and 82 ms.
MAX_FILLER = 16
# Tokens of a batch, filler with them, that the processor's caches hold: of chunks of 160 tokens,
# 400 and 640 of a batch took e5-small-v2 755 and 776 ms of processor time, 803 without a bound; in
# 8 bits 400 and 700 took 609 and 623, 687 without. A longer text is a batch by itself.
MAX_BATCH_TOKENS = 512
VNNI = frozenset({"avx512_vnni", "avx_vnni"})  # as Linux names them
TOKENIZED_TEXTS = 64  # texts tokenized at once: an encoding is far larger than its ids

TokenIds = NDArray[np.int64]
TokenMask = NDArray[np.bool_]

# By their files as they stand: whoever opens one that is open shares its memory and its threads.
SESSIONS: "WeakValueDictionary[frozenset[tuple[Path, int, int]], InferenceSession]" = (
    WeakValueDictionary()
)


@dataclass(frozen=True, slots=True)
class Graph:
    """The loaded graph of a folder."""

    folder: Path
    session: "InferenceSession"

    def run(
        self,
        ids: TokenIds,
        mask: TokenMask,
        types: TokenIds | None = None,
        output: str | None = None,
    ) -> NDArray[Any]:
        """Return an output of a batch, the first unless one is named. Raises ProviderError.

        The graph is given what it takes of them; without `types` all tokens are of type 0.
        """
        wanted = output or self.session.get_outputs()[0].name
        return self.run_all(ids, mask, types, [wanted])[wanted]

    def run_all(
        self,
        ids: TokenIds,
        mask: TokenMask,
        types: TokenIds | None = None,
        outputs: Sequence[str] = (),
    ) -> dict[str, NDArray[Any]]:
        """Return outputs of a batch by name, all unless some are named. Raises ProviderError."""
        given = {
            "input_ids": ids,
            "attention_mask": mask.astype(np.int64),
            "token_type_ids": np.zeros_like(ids) if types is None else types,
        }
        names = [each.name for each in self.session.get_inputs()]
        wanted = {name: given[name] for name in names if name in given}
        outputs = outputs or [each.name for each in self.session.get_outputs()]
        try:
            arrays = self.session.run(outputs, wanted)
        except Exception as error:  # onnxruntime's errors have no narrower base
            reason = str(error).partition("\n")[0]
            raise ProviderError(f"the model in '{self.folder}' cannot be run: {reason}") from error
        return dict(zip(outputs, map(np.asarray, arrays), strict=True))


def find_folder(model: str, home: Path, model_dir: Path | None = None, *others: str) -> Path | None:
    """Return a model's folder: `model_dir`, a path or home/models/MODEL; None where there is none.

    `others` are files that do in place of a graph. Raises ConfigError if `model_dir` is given and
    does not hold a model.
    """
    if model_dir is not None:
        if not holds_model(model_dir, others):
            raise ConfigError(
                f"'{model_dir}' holds no model: it needs {GRAPH_FILES[0]} and {TOKENIZER_FILE}"
            )
        return model_dir
    folder = home / "models" / model  # an absolute path stays itself
    return folder if holds_model(folder, others) else None


def package_folders(name: str) -> list[Path]:
    """Return where an installed package's files are, without running its code."""
    spec = find_spec(name)
    return [Path(location) for location in (spec and spec.submodule_search_locations) or ()]


def missing_files(folder: Path, others: Sequence[str] = ()) -> list[str]:
    """Return what a folder lacks: a graph, or one of `others` in its place, and a tokenizer."""
    needed = ((*GRAPH_FILES, *others), (TOKENIZER_FILE,))
    return [names[0] for names in needed if not any((folder / name).is_file() for name in names)]


def holds_model(folder: Path, others: Sequence[str] = ()) -> bool:
    """Return whether a folder has a tokenizer with a graph, or one of `others` in its place."""
    return not missing_files(folder, others)


def graph_file(folder: Path) -> Path:
    """Return the graph of a folder. Raises ProviderError where there is none."""
    graph = next((folder / name for name in GRAPH_FILES if (folder / name).is_file()), None)
    if graph is None:
        raise ProviderError(f"'{folder}' holds no {GRAPH_FILES[0]}: put it there again")
    return graph


@contextmanager
def opening(folder: Path, kind: str) -> Iterator[None]:
    """Raise ProviderError for an embedder or reranker that cannot be opened in the block."""
    try:
        yield
    except ImportError as error:
        raise ProviderError(
            f"the local {kind} cannot start ({error}): pip install 'lexichord[local]'"
        ) from error
    except (OSError, ValueError) as error:
        raise ProviderError(f"the model in '{folder}' cannot be read: {error}") from error


def open_folder(folder: Path, made: Path | bytes | None = None) -> Graph:
    """Open the graph of a folder, or one `made` of it. Raises ProviderError, ImportError."""
    graph = graph_file(folder) if made is None else made
    return Graph(folder, open_session(graph, f"the model in '{folder}'", "export it again"))


def open_session(graph: Path | bytes, name: str, remedy: str) -> "InferenceSession":
    """Open a graph in onnxruntime; one that is open already and unchanged is shared.

    Raises ProviderError with what to do, ImportError, OSError.
    """
    if isinstance(graph, bytes):
        return _new_session(graph, name, remedy)
    files = _as_they_stand(graph)
    if (session := SESSIONS.get(files)) is None:
        session = SESSIONS[files] = _new_session(graph, name, remedy)
    return session


def _as_they_stand(graph: Path) -> frozenset[tuple[Path, int, int]]:
    """Return a graph's file, and those that may hold its weights, each with its size and time."""
    files = [file for file in graph.resolve().parent.iterdir() if file.name.startswith(graph.stem)]
    stats = ((file, file.stat()) for file in files)
    return frozenset((file, stat.st_size, stat.st_mtime_ns) for file, stat in stats)


def _new_session(graph: Path | bytes, name: str, remedy: str) -> "InferenceSession":
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = os.cpu_count() or 1
    # Work in small blocks, so that no thread waits for one whose core is shared: 20 contracts took
    # 17.1 and 17.5 s to ingest with it, 21.2 and 18.4 without; the bare embedder 10 % less.
    options.add_session_config_entry("session.dynamic_block_base", "4")
    # Threads that spin while they wait take a core from the database: 16 sentences cost 75 ms of
    # processor time without, 151 with it, and on a busy machine 205 ms by the clock, not 508.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Models in 8 bits compute the same on all processors. Without VNNI sums of two products are
    # cut off at 16 bits otherwise, which moved the reader's scores by up to 1.5 (of -8 to 8); it
    # takes 5 to 14 % longer there. With VNNI it takes 2.3 times as long, and changes nothing.
    if not has_vnni():
        options.add_session_config_entry("session.x64quantprecision", "1")
    try:
        return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors have no narrower base
        raise ProviderError(
            f"onnxruntime cannot load {name} ({str(error).partition('\n')[0]}): "
            f"{remedy}, or pip install -U onnxruntime"
        ) from error


@cache
def has_vnni(told: Path = Path("/proc/cpuinfo")) -> bool:
    """Return whether the processor adds products of 8 bits in 32; False where no system tells."""
    try:
        return not VNNI.isdisjoint(told.read_text(encoding="utf-8").split())
    except OSError:
        return False


def open_tokenizer(folder: Path) -> "Tokenizer":
    """Open the tokenizer of a folder, which neither pads nor cuts. Raises ValueError."""
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(folder / TOKENIZER_FILE))
    except Exception as error:  # tokenizers' errors have no narrower base
        raise ValueError(f"{TOKENIZER_FILE}: {error}") from error
    tokenizer.no_padding()
    return tokenizer


def clean(texts: Iterable[str]) -> Iterator[str]:
    """Yield texts without the lone surrogates that JSON and file names can bring in.

    The tokenizer refuses them.
    """
    return (text.encode(errors="replace").decode() for text in texts)


def tokenize(
    tokenizer: "Tokenizer", texts: Iterable[str], *, marked: bool = True
) -> list[TokenIds]:
    """Return each text's token ids, cut where the tokenizer is told to.

    `marked`: with the tokens that the model puts around a text. Raises UnwantedError before texts
    that nobody waits for.
    """
    rows: list[TokenIds] = []
    for slab in batched(clean(texts), TOKENIZED_TEXTS):
        check_wanted()
        encoded = tokenizer.encode_batch_fast(slab, add_special_tokens=marked)
        rows += (np.array(encoding.ids, np.int64) for encoding in encoded)
    return rows


def batches_by_length(lengths: Sequence[int], most: int) -> Iterator[list[int]]:
    """Yield the numbers of texts, short ones first, in batches of up to `most` that are alike.

    Raises UnwantedError before one that nobody waits for.
    """
    batch: list[int] = []
    for number in sorted(range(len(lengths)), key=lengths.__getitem__):
        filler = len(batch) * (lengths[number] - lengths[batch[-1]]) if batch else 0
        tokens = (len(batch) + 1) * lengths[number]
        if batch and (len(batch) == most or filler > MAX_FILLER or tokens > MAX_BATCH_TOKENS):
            check_wanted()
            yield batch
            batch = []
        batch.append(number)
    if batch:
        check_wanted()
        yield batch


def pad_rows(
    rows: Sequence[Sequence[int] | TokenIds], filler: int, width: int = 0
) -> tuple[TokenIds, TokenMask]:
    """Return rows of ids as one array, and which of it are theirs.

    All are filled to the longest, or to the `width` where that is more.
    """
    lengths = np.array([len(row) for row in rows])
    mask = np.arange(max(lengths.max(), width)) < lengths[:, np.newaxis]
    ids = np.full(mask.shape, filler, np.int64)
    ids[mask] = np.concatenate(rows)
    return ids, mask


def pad_token(tokenizer: "Tokenizer") -> int:
    """Return the id of what fills a batch; 0 where the model names none."""
    ids = (tokenizer.token_to_id(name) for name in PAD_TOKENS)
    return next((pad for pad in ids if pad is not None), 0)


def read_settings(file: Path) -> dict[str, Any]:
    """Return what a JSON file beside a model says; nothing where there is none.

    Raises ValueError, with the file's name, and OSError.
    """
    if not file.is_file():
        return {}
    try:
        settings = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{file.name} is no JSON: {error}") from error
    if not isinstance(settings, dict):
        raise ValueError(f"{file.name} holds no names and values")
    return settings
