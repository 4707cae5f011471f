"""Cross-encoders: question and text read together, one number a pair."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from lexichord.errors import ProviderError
from lexichord.providers.onnx_folder import (
    USUAL_MAX_TOKENS,
    Graph,
    batches_by_length,
    clean,
    open_folder,
    open_tokenizer,
    pad_rows,
    pad_token,
    read_settings,
)
from lexichord.providers.rerank.scorer import MAX_RERANK_TOKENS, RERANK_BATCH_TEXTS, Scores
from lexichord.providers.rerank.token_form import FORM_FILES

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer


@dataclass(frozen=True, slots=True)
class CrossEncoder:
    """A loaded model; its scores are between 0 and 1."""

    tokenizer: "Tokenizer"
    graph: Graph

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open the model of a folder. Raises ProviderError, ImportError, OSError, ValueError."""
        tokenizer = open_tokenizer(folder)
        tokenizer.enable_truncation(_max_tokens(folder, tokenizer))
        return cls(tokenizer, open_folder(folder))

    def score(self, query: str, texts: Sequence[str]) -> Iterator[tuple[Sequence[int], Scores]]:
        """Yield the scores of texts by length. Raises ProviderError if the model gives no such."""
        question, *passages = clean((query, *texts))
        pairs = self.tokenizer.encode_batch([(question, passage) for passage in passages])
        for numbers in batches_by_length([len(pair.ids) for pair in pairs], RERANK_BATCH_TEXTS):
            yield numbers, self._run([pairs[number] for number in numbers])

    def _run(self, pairs: "Sequence[Encoding]") -> Scores:
        ids, mask = pad_rows([pair.ids for pair in pairs], pad_token(self.tokenizer))
        types, _ = pad_rows([pair.type_ids for pair in pairs], 0)
        output = self.graph.run(ids, mask, types).astype(np.float64)
        if output.size != len(pairs):
            raise ProviderError(
                f"the model in '{self.graph.folder}' gives {output.size // len(pairs)} numbers a "
                "pair of texts, not one, and no file there says that it is in ColBERT's form "
                f"({', '.join(FORM_FILES)}): take a model that was made for ranking"
            )
        return 1 / (1 + np.exp(-output.reshape(-1)))


def _max_tokens(folder: Path, tokenizer: "Tokenizer") -> int:
    """Return how many tokens of a pair the model reads, as far as we let it."""
    cut = (tokenizer.truncation or {}).get("max_length")
    own = read_settings(folder / "tokenizer_config.json").get("model_max_length")
    return int(min(cut or USUAL_MAX_TOKENS, own or USUAL_MAX_TOKENS, MAX_RERANK_TOKENS))
