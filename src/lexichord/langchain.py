"""A retriever for LangChain."""

import asyncio
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field

from lexichord.client.lexichord import Lexichord
from lexichord.client.passages import ScoredPassage, find_passages, passage_options
from lexichord.client.sync import SyncLexichord
from lexichord.errors import ConfigError
from lexichord.types import Json, QueryOptions, Response


class LexichordRetriever(BaseRetriever):
    """The passages that `Lexichord.query` finds, best first, each a LangChain document.

    `search_kwargs` are options of `query`, such as k, datasets, filter, hint; those given to
    `invoke` go before them. The metadata are the document's, with the passage's place, its `score`
    (the probability, 0 to 1, that it holds an answer) and the raw `scores` and `ranks`.
    A `SyncLexichord` serves `invoke` and `ainvoke`, inside a running event loop and outside; a
    `Lexichord` serves `ainvoke`, on the loop that it was opened on.
    """

    lexichord: Lexichord | SyncLexichord
    search_kwargs: dict[str, Any] = Field(default_factory=dict)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **options: object
    ) -> list[Document]:
        if isinstance(self.lexichord, Lexichord):
            raise ConfigError("a Lexichord serves ainvoke only: give a SyncLexichord for invoke")
        k, chosen = self._chosen(options)
        response = self.lexichord.query(query, **chosen)
        return self.lexichord.run(_documents(self.lexichord.core, response, k))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **options: object
    ) -> list[Document]:
        if isinstance(self.lexichord, SyncLexichord):
            managed = run_manager.get_sync()
            return await asyncio.to_thread(
                self._get_relevant_documents, query, run_manager=managed, **options
            )
        k, chosen = self._chosen(options)
        response = await self.lexichord.query(query, **chosen)
        return await _documents(self.lexichord, response, k)

    def _chosen(self, options: dict[str, object]) -> tuple[int, Json]:
        chosen = {**self.search_kwargs, **options}
        return QueryOptions.read(chosen).k, passage_options(chosen)


async def _documents(core: Lexichord, response: Response, k: int) -> list[Document]:
    return [_document(each) for each in await find_passages(core.database, response, k)]


def _document(passage: ScoredPassage) -> Document:
    hit = passage.hit
    return Document(page_content=hit.content, metadata=passage.describe(), id=hit.chunk_id)
