"""Any cross-encoder in ONNX from a folder: `local/FOLDER`, asked on this machine.

A folder as sentence-transformers and Hugging Face's optimum write it: model.onnx (or
onnx/model.onnx) and tokenizer.json. The model gives one number a pair of texts.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import batched
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lexichord.errors import ProviderError
from lexichord.providers.onnx_folder import (
    USUAL_MAX_TOKENS,
    open_folder,
    open_tokenizer,
    pad_token,
    read_settings,
)
from lexichord.types import Ranked

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

RERANK_BATCH_PAIRS = 8  # a run: between two runs it can be stopped
MAX_PAIR_TOKENS = 512  # of question and text together: more than a chunk of ours has

Scores = NDArray[np.float64]


class FolderReranker:
    """Scores with the model of a folder on this machine's cores; several queries may share one.

    The model is loaded at the first question. The scores are between 0 and 1.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = Lock()
        self._model: CrossEncoder | None = None

    async def rerank(self, query: str, texts: Sequence[str], top_n: int) -> list[Ranked]:
        """Return the `top_n` best of `texts`, each by as many tokens as the model reads.

        Stops after the batch that it is at if it is cancelled. Raises ProviderError.
        """
        stopped = Event()
        try:
            scores = await asyncio.to_thread(self._score, query, texts, stopped)
        finally:
            stopped.set()
        order = np.argsort(-scores, kind="stable")[:top_n]
        return [Ranked(int(index), float(scores[index])) for index in order]

    def _score(self, query: str, texts: Sequence[str], stopped: Event) -> Scores:
        with self._lock:
            if self._model is None:
                self._model = _load(self._folder)
        scores = np.zeros(len(texts))
        for numbers, batch in self._model.batches(query, texts):
            if stopped.is_set():
                break
            scores[numbers] = self._model.run(batch)
        return scores


@dataclass(frozen=True, slots=True)
class CrossEncoder:
    """A loaded model."""

    folder: Path
    tokenizer: "Tokenizer"
    session: "InferenceSession"

    def batches(
        self, query: str, texts: Sequence[str]
    ) -> "Iterator[tuple[list[int], list[Encoding]]]":
        """Yield pairs of question and text by length, each with its place among the texts."""
        # The tokenizer refuses lone surrogates, which JSON and file names can bring in.
        clean = [text.encode(errors="replace").decode() for text in (query, *texts)]
        pairs = self.tokenizer.encode_batch([(clean[0], text) for text in clean[1:]])
        order = sorted(range(len(pairs)), key=lambda number: len(pairs[number].ids))
        for numbers in batched(order, RERANK_BATCH_PAIRS):
            yield list(numbers), [pairs[number] for number in numbers]

    def run(self, pairs: "Sequence[Encoding]") -> Scores:
        """Return each pair's score, 0 to 1. Raises ProviderError if the model gives no such."""
        lengths = np.array([len(pair.ids) for pair in pairs])
        mask = np.arange(lengths.max()) < lengths[:, np.newaxis]
        ids = np.full(mask.shape, pad_token(self.tokenizer), np.int64)
        ids[mask] = np.concatenate([pair.ids for pair in pairs])
        types = np.zeros_like(ids)
        types[mask] = np.concatenate([pair.type_ids for pair in pairs])
        given = {
            "input_ids": ids,
            "attention_mask": mask.astype(np.int64),
            "token_type_ids": types,
        }
        names = [each.name for each in self.session.get_inputs()]
        wanted = {name: given[name] for name in names if name in given}
        try:
            output = np.asarray(self.session.run(None, wanted)[0], np.float64)
        except Exception as error:  # onnxruntime's errors have no narrower base
            reason = str(error).partition("\n")[0]
            raise ProviderError(f"the model in '{self.folder}' cannot be run: {reason}") from error
        if output.size != len(pairs):
            raise ProviderError(
                f"the model in '{self.folder}' gives {output.size // len(pairs)} numbers a pair of "
                "texts, not one: take a cross-encoder that was made for ranking"
            )
        return 1 / (1 + np.exp(-output.reshape(-1)))


def _load(folder: Path) -> CrossEncoder:
    try:
        tokenizer = open_tokenizer(folder)
        tokenizer.enable_truncation(_max_tokens(folder, tokenizer))
        return CrossEncoder(folder, tokenizer, open_folder(folder))
    except ImportError as error:
        raise ProviderError(
            f"the local reranker cannot start ({error}): pip install 'lexichord[local]'"
        ) from error
    except (OSError, ValueError) as error:
        raise ProviderError(f"the model in '{folder}' cannot be read: {error}") from error


def _max_tokens(folder: Path, tokenizer: "Tokenizer") -> int:
    """Return how many tokens of a pair the model reads, as far as we let it."""
    cut = (tokenizer.truncation or {}).get("max_length")
    own = read_settings(folder / "tokenizer_config.json").get("model_max_length")
    return int(min(cut or USUAL_MAX_TOKENS, own or USUAL_MAX_TOKENS, MAX_PAIR_TOKENS))
