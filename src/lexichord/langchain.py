"""A retriever and a vector store for LangChain."""

from collections.abc import Iterable, Sequence
from typing import Any, Self
from uuid import uuid4

import numpy as np
from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore
from langchain_core.vectorstores.utils import maximal_marginal_relevance
from pydantic import Field

from lexichord.client.lexichord import Lexichord
from lexichord.client.passages import (
    Client,
    FoundText,
    ScoredPassage,
    StoredText,
    TextDataset,
    arun,
    query_passages,
    run,
)
from lexichord.client.sync import SyncLexichord
from lexichord.errors import ConfigError
from lexichord.types import Json

type Found = list[tuple[Document, float]]

EMBEDS_ITSELF = (
    "the database embeds texts itself, in its own space: give None in place of Embeddings"
)


class LexichordRetriever(BaseRetriever):
    """The passages that `Lexichord.query` finds, best first, each a LangChain document.

    `search_kwargs` are options of `query`, such as datasets, filter, hint; `k` and those given to
    `invoke` go before them. The metadata are the document's, with the passage's place, its `score`
    (the probability, 0 to 1, that it holds an answer) and the raw `scores` and `ranks`.
    A `SyncLexichord` serves `invoke` and `ainvoke`, inside a running event loop and outside; a
    `Lexichord` serves `ainvoke`, on the loop that it was opened on.
    """

    lexichord: Lexichord | SyncLexichord
    k: int | None = None
    search_kwargs: dict[str, Any] = Field(default_factory=dict)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **options: object
    ) -> list[Document]:
        return run(self.lexichord, lambda core: self._retrieve(core, query, options))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **options: object
    ) -> list[Document]:
        return await arun(self.lexichord, lambda core: self._retrieve(core, query, options))

    async def _retrieve(self, core: Lexichord, query: str, options: Json) -> list[Document]:
        own = {} if self.k is None else {"k": self.k}
        chosen = {**self.search_kwargs, **own, **options}
        return [_passage(each) for each in await query_passages(core, query, chosen)]


def _passage(passage: ScoredPassage) -> Document:
    hit = passage.hit
    return Document(page_content=hit.content, metadata=passage.describe(), id=hit.chunk_id)


class LexichordVectorStore(VectorStore):
    """LangChain's documents in a dataset of their own, each whole, under its id.

    The database embeds them in its own space. Searches are those of `Lexichord.search`, whose
    options, such as filter, mode, hint, each method takes; their scores are `hit.score`, relevance
    scores the cosine. A `SyncLexichord` serves all methods, a `Lexichord` the asynchronous ones.
    """

    def __init__(self, lexichord: Client, dataset: str = "langchain") -> None:
        self.lexichord, self._texts = lexichord, TextDataset(dataset)

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        **_: object,
    ) -> list[str]:
        """Store texts, in place of those of the same ids; return the ids."""
        given = _stored(texts, metadatas, ids)
        run(self.lexichord, lambda core: self._texts.put(core, given))
        return [text.id for text in given]

    async def aadd_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        **_: object,
    ) -> list[str]:
        """Store texts, in place of those of the same ids; return the ids."""
        given = _stored(texts, metadatas, ids)
        await arun(self.lexichord, lambda core: self._texts.put(core, given))
        return [text.id for text in given]

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return the documents of ids, without those that are not there."""
        found = run(self.lexichord, lambda core: self._texts.get(core, ids))
        return [_document(text) for text in found]

    async def aget_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return the documents of ids, without those that are not there."""
        found = await arun(self.lexichord, lambda core: self._texts.get(core, ids))
        return [_document(text) for text in found]

    def delete(self, ids: list[str] | None = None, **_: object) -> bool:
        """Delete the documents of ids, by default all; ids that are not there are no error."""
        run(self.lexichord, lambda core: self._texts.delete(core, ids))
        return True

    async def adelete(self, ids: list[str] | None = None, **_: object) -> bool:
        """Delete the documents of ids, by default all; ids that are not there are no error."""
        await arun(self.lexichord, lambda core: self._texts.delete(core, ids))
        return True

    def similarity_search(self, query: str, k: int = 4, **options: Any) -> list[Document]:
        """Return the k documents that fit a query best."""
        return _alone(self.similarity_search_with_score(query, k, **options))

    async def asimilarity_search(self, query: str, k: int = 4, **options: Any) -> list[Document]:
        """Return the k documents that fit a query best."""
        return _alone(await self.asimilarity_search_with_score(query, k, **options))

    def similarity_search_with_score(self, query: str, k: int = 4, **options: Any) -> Found:
        """Return the same with their scores, by which they are ordered."""
        return run(self.lexichord, lambda core: self._scored(core, query, k, options))

    async def asimilarity_search_with_score(self, query: str, k: int = 4, **options: Any) -> Found:
        """Return the same with their scores, by which they are ordered."""
        return await arun(self.lexichord, lambda core: self._scored(core, query, k, options))

    def max_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **options: Any
    ) -> list[Document]:
        """Return k of the first `fetch_k` documents that fit the query and differ."""
        numbers = (k, fetch_k, lambda_mult)
        return run(self.lexichord, lambda core: self._diverse(core, query, *numbers, options))

    async def amax_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **options: Any
    ) -> list[Document]:
        """Return k of the first `fetch_k` documents that fit the query and differ."""
        numbers = (k, fetch_k, lambda_mult)
        return await arun(
            self.lexichord, lambda core: self._diverse(core, query, *numbers, options)
        )

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings | None,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **options: Any,
    ) -> Self:
        """Return a store with texts; `options` are those of the class."""
        store = cls._opened(embedding, options)
        store.add_texts(texts, metadatas, ids=ids)
        return store

    @classmethod
    async def afrom_texts(
        cls,
        texts: list[str],
        embedding: Embeddings | None,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **options: Any,
    ) -> Self:
        """Return a store with texts; `options` are those of the class."""
        store = cls._opened(embedding, options)
        await store.aadd_texts(texts, metadatas, ids=ids)
        return store

    @classmethod
    def _opened(cls, embedding: Embeddings | None, options: Json) -> Self:
        if embedding is not None:
            raise ConfigError(EMBEDS_ITSELF)
        return cls(**options)

    def _similarity_search_with_relevance_scores(
        self, query: str, k: int = 4, **options: Any
    ) -> Found:
        return run(self.lexichord, lambda core: self._relevant(core, query, k, options))

    async def _asimilarity_search_with_relevance_scores(
        self, query: str, k: int = 4, **options: Any
    ) -> Found:
        return await arun(self.lexichord, lambda core: self._relevant(core, query, k, options))

    async def _scored(self, core: Lexichord, query: str, k: int, options: Json) -> Found:
        found = await self._texts.find(core, query, k, **options)
        return [(_document(each.stored), each.hit.score) for each in found]

    async def _relevant(self, core: Lexichord, query: str, k: int, options: Json) -> Found:
        """Search by meaning alone, where each document has a cosine."""
        found = await self._texts.find(core, query, k, **{**options, "mode": "dense"})
        return [(_document(each.stored), max(0.0, _cosine(each))) for each in found]

    async def _diverse(
        self,
        core: Lexichord,
        query: str,
        k: int,
        fetch_k: int,
        lambda_mult: float,
        options: Json,
    ) -> list[Document]:
        found = await self._texts.find(core, query, max(k, fetch_k), **options)
        if not found:
            return []
        (asked,) = await core.embed([query], "query")
        vectors = await core.embed([each.stored.text for each in found])
        chosen = maximal_marginal_relevance(np.array(asked), [*vectors], lambda_mult, k)
        return [_document(found[place].stored) for place in chosen]


def _cosine(found: FoundText) -> float:
    return found.hit.scores.dense or 0.0


def _stored(
    texts: Iterable[str],
    metadatas: Sequence[dict[str, Any]] | None,
    ids: Sequence[str | None] | None,
) -> list[StoredText]:
    """Put texts, metadata and ids together; what has no id gets one. Raises ConfigError."""
    all_texts = [*texts]
    metadatas = [{} for _ in all_texts] if metadatas is None else metadatas
    ids = [None for _ in all_texts] if ids is None else ids
    if not len(all_texts) == len(metadatas) == len(ids):
        raise ConfigError("give as many metadatas, and ids, as there are texts, or none")
    return [
        StoredText(id or str(uuid4()), text, metadata or {})
        for text, metadata, id in zip(all_texts, metadatas, ids, strict=True)
    ]


def _document(text: StoredText) -> Document:
    return Document(page_content=text.text, metadata=text.metadata, id=text.id)


def _alone(found: Found) -> list[Document]:
    return [document for document, _ in found]
