"""A retriever for DSPy."""

from typing import Any

import dspy

from lexichord.client.lexichord import Lexichord
from lexichord.client.passages import Client, arun, query_passages, run
from lexichord.types import Json


class LexichordRetriever(dspy.Module):
    """The passages that `Lexichord.query` finds, best first, as a `dspy.Prediction`.

    The options are those of `query`, such as k, datasets, filter, hint; those of a call go before
    them. `passages` are the texts, `metadata` where each stands and how it was found, with its
    `score`, the probability, 0 to 1, that it holds an answer. A `SyncLexichord` serves calls and
    `acall`, a `Lexichord` `acall`.
    """

    def __init__(self, lexichord: Client, k: int = 3, **options: Any) -> None:
        super().__init__()
        self.lexichord, self.k, self.options = lexichord, k, options

    def forward(self, query: str, k: int | None = None, **options: Any) -> dspy.Prediction:
        """Return the passages for a query."""
        return run(self.lexichord, lambda core: self._retrieve(core, query, k, options))

    async def aforward(self, query: str, k: int | None = None, **options: Any) -> dspy.Prediction:
        """Return the passages for a query."""
        return await arun(self.lexichord, lambda core: self._retrieve(core, query, k, options))

    async def _retrieve(
        self, core: Lexichord, query: str, k: int | None, options: Json
    ) -> dspy.Prediction:
        chosen = {**self.options, "k": self.k if k is None else k, **options}
        found = await query_passages(core, query, chosen)
        return dspy.Prediction(
            passages=[each.hit.content for each in found],
            metadata=[each.describe() for each in found],
        )
