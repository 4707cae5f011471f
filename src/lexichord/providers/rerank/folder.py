"""Any reranker in ONNX from a folder: `local/FOLDER`, asked on this machine.

A folder as sentence-transformers, PyLate and Hugging Face's optimum write it: model.onnx (or
onnx/model.onnx) and tokenizer.json. Where a file beside them says that the model is in ColBERT's
form it is late interaction, else a cross-encoder.
"""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from lexichord.providers.on_demand import OnDemand
from lexichord.providers.onnx_folder import opening
from lexichord.providers.rerank.cross_encoder import CrossEncoder
from lexichord.providers.rerank.late_interaction import LateInteraction
from lexichord.providers.rerank.scorer import Scorer, Scores
from lexichord.providers.rerank.token_form import TokenForm, find_token_form
from lexichord.types import Ranked
from lexichord.work import in_thread

LATE_TEXTS = 50  # of late interaction; those that a question shares with an earlier one are kept


class FolderReranker:
    """Scores with the model of a folder on this machine's cores; several queries may share one.

    The model is loaded at the first question. Its scores are at most 1.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._model = OnDemand(self._load)

    @property
    def least_texts(self) -> int:
        """How many texts it is to choose among at least: more where it keeps what it has read."""
        try:
            return LATE_TEXTS if self._form else 0
        except (OSError, ValueError):  # said when it is asked
            return 0

    async def rerank(self, query: str, texts: Sequence[str], top_n: int) -> list[Ranked]:
        """Return the `top_n` best of `texts`, each by as many tokens as the model reads.

        Stops after the batch that it is at if it is cancelled. Raises ProviderError.
        """
        scores = await in_thread(self._score, query, texts)
        order = np.argsort(-scores, kind="stable")[:top_n]
        return [Ranked(int(index), float(scores[index])) for index in order]

    def _score(self, query: str, texts: Sequence[str]) -> Scores:
        scores = np.zeros(len(texts))
        for numbers, batch in self._model.get().score(query, texts):
            scores[list(numbers)] = batch
        return scores

    @cached_property
    def _form(self) -> TokenForm | None:
        """What the folder says of ColBERT's form; read once, for each query asks."""
        return find_token_form(self._folder)

    def _load(self) -> Scorer:
        with opening(self._folder, "reranker"):
            if self._form is None:
                return CrossEncoder.open(self._folder)
            return LateInteraction.open(self._folder, self._form)
