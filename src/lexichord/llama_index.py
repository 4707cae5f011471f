"""A retriever for LlamaIndex."""

import asyncio
from typing import Any

from llama_index.core.callbacks import CallbackManager
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import (
    NodeRelationship,
    NodeWithScore,
    QueryBundle,
    RelatedNodeInfo,
    TextNode,
)

from lexichord.client.lexichord import Lexichord
from lexichord.client.passages import ScoredPassage, find_passages, passage_options
from lexichord.client.sync import SyncLexichord
from lexichord.errors import ConfigError
from lexichord.types import QueryOptions, Response

# What a language model is not shown of a node: it would spend tokens on numbers.
HIDDEN_METADATA_KEYS = [
    "dataset",
    "document_id",
    "chunk_id",
    "uri",
    "start",
    "end",
    "score",
    "scores",
    "ranks",
]


class LexichordRetriever(BaseRetriever):
    """The passages that `Lexichord.query` finds, best first, each a LlamaIndex node.

    The options are those of `query`, such as k, datasets, filter, hint. The score is the
    probability, 0 to 1, that the passage holds an answer; the metadata are the document's, with
    the passage's place and the raw `scores` and `ranks`.
    A `SyncLexichord` serves `retrieve` and `aretrieve`, inside a running event loop and outside; a
    `Lexichord` serves `aretrieve`, on the loop that it was opened on.
    """

    def __init__(
        self,
        lexichord: Lexichord | SyncLexichord,
        *,
        callback_manager: CallbackManager | None = None,
        **options: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(callback_manager=callback_manager)
        self._lexichord = lexichord
        self._k = QueryOptions.read(options).k
        self._options = passage_options(options)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if isinstance(self._lexichord, Lexichord):
            raise ConfigError("a Lexichord serves aretrieve only: give a SyncLexichord")
        response = self._lexichord.query(query_bundle.query_str, **self._options)
        return self._lexichord.run(self._nodes(self._lexichord.core, response))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if isinstance(self._lexichord, SyncLexichord):
            return await asyncio.to_thread(self._retrieve, query_bundle)
        response = await self._lexichord.query(query_bundle.query_str, **self._options)
        return await self._nodes(self._lexichord, response)

    async def _nodes(self, core: Lexichord, response: Response) -> list[NodeWithScore]:
        passages = await find_passages(core.database, response, self._k)
        return [NodeWithScore(node=_node(each), score=each.score) for each in passages]


def _node(passage: ScoredPassage) -> TextNode:
    hit = passage.hit
    return TextNode(
        id_=hit.chunk_id,
        text=hit.content,
        metadata=passage.describe(),
        excluded_llm_metadata_keys=HIDDEN_METADATA_KEYS,
        excluded_embed_metadata_keys=HIDDEN_METADATA_KEYS,
        start_char_idx=hit.start,
        end_char_idx=hit.end,
        relationships={
            NodeRelationship.SOURCE: RelatedNodeInfo(node_id=hit.document_id),
        },
    )
