"""A retriever and a vector store for LlamaIndex."""

from collections.abc import Sequence
from typing import Any

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.callbacks import CallbackManager
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import (
    BaseNode,
    NodeRelationship,
    NodeWithScore,
    QueryBundle,
    RelatedNodeInfo,
    TextNode,
)
from llama_index.core.vector_stores.types import (
    BasePydanticVectorStore,
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
    VectorStoreQueryResult,
)
from llama_index.core.vector_stores.utils import metadata_dict_to_node, node_to_metadata_dict

from lexichord.client.lexichord import Lexichord
from lexichord.client.passages import (
    Client,
    ScoredPassage,
    StoredText,
    TextDataset,
    arun,
    find_passages,
    passage_options,
    run,
)
from lexichord.errors import ConfigError
from lexichord.types import Json, Mode, QueryOptions

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
        lexichord: Client,
        *,
        callback_manager: CallbackManager | None = None,
        **options: Any,
    ) -> None:
        super().__init__(callback_manager=callback_manager)
        self._lexichord = lexichord
        self._k = QueryOptions.read(options).k
        self._options = passage_options(options)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return run(self._lexichord, lambda core: self._nodes(core, query_bundle.query_str))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await arun(self._lexichord, lambda core: self._nodes(core, query_bundle.query_str))

    async def _nodes(self, core: Lexichord, query: str) -> list[NodeWithScore]:
        response = await core.query(query, **self._options)
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


MODES: dict[VectorStoreQueryMode, Mode] = {
    VectorStoreQueryMode.DEFAULT: "hybrid",
    VectorStoreQueryMode.HYBRID: "hybrid",
    VectorStoreQueryMode.SEMANTIC_HYBRID: "hybrid",
    VectorStoreQueryMode.TEXT_SEARCH: "keyword",
    VectorStoreQueryMode.SPARSE: "keyword",
}
OPERATORS = {
    FilterOperator.EQ: "eq",
    FilterOperator.NE: "ne",
    FilterOperator.GT: "gt",
    FilterOperator.GTE: "gte",
    FilterOperator.LT: "lt",
    FilterOperator.LTE: "lte",
    FilterOperator.IN: "in",
    FilterOperator.NIN: "nin",
    FilterOperator.CONTAINS: "contains",
    FilterOperator.TEXT_MATCH: "contains",
}


class LexichordVectorStore(BasePydanticVectorStore):
    """LlamaIndex' nodes in a dataset of their own, each whole, under its id.

    The database embeds them in its own space, and searches as `Lexichord.search` does: by meaning
    and words, or as the query's mode says. Similarities are `hit.score`. A `SyncLexichord` serves
    all methods, a `Lexichord` the asynchronous ones.
    """

    is_embedding_query: bool = False
    _lexichord: Client = PrivateAttr()
    _texts: TextDataset = PrivateAttr()

    def __init__(self, lexichord: Client, dataset: str = "llama_index") -> None:
        super().__init__(stores_text=True)
        self._lexichord, self._texts = lexichord, TextDataset(dataset)

    @property
    def client(self) -> Client:
        """The application."""
        return self._lexichord

    def add(self, nodes: Sequence[BaseNode], **_: object) -> list[str]:
        """Store nodes, in place of those of the same ids; return the ids."""
        run(self._lexichord, lambda core: self._texts.put(core, map(_stored, nodes)))
        return [node.node_id for node in nodes]

    async def async_add(self, nodes: Sequence[BaseNode], **_: object) -> list[str]:
        """Store nodes, in place of those of the same ids; return the ids."""
        await arun(self._lexichord, lambda core: self._texts.put(core, map(_stored, nodes)))
        return [node.node_id for node in nodes]

    def get_nodes(
        self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None
    ) -> list[BaseNode]:
        """Return the nodes of ids, or all, that pass the filters."""
        return run(self._lexichord, lambda core: self._nodes(core, node_ids, filters))

    async def aget_nodes(
        self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None
    ) -> list[BaseNode]:
        """Return the nodes of ids, or all, that pass the filters."""
        return await arun(self._lexichord, lambda core: self._nodes(core, node_ids, filters))

    def delete(self, ref_doc_id: str, **_: object) -> None:
        """Delete the nodes of a document of LlamaIndex'."""
        self.delete_nodes(filters=_of_document(ref_doc_id))

    async def adelete(self, ref_doc_id: str, **_: object) -> None:
        """Delete the nodes of a document of LlamaIndex'."""
        await self.adelete_nodes(filters=_of_document(ref_doc_id))

    def delete_nodes(
        self,
        node_ids: list[str] | None = None,
        filters: MetadataFilters | None = None,
        **_: object,
    ) -> None:
        """Delete the nodes of ids that pass the filters. Raises ConfigError without either."""
        run(self._lexichord, lambda core: self._delete(core, node_ids, filters))

    async def adelete_nodes(
        self,
        node_ids: list[str] | None = None,
        filters: MetadataFilters | None = None,
        **_: object,
    ) -> None:
        """Delete the nodes of ids that pass the filters. Raises ConfigError without either."""
        await arun(self._lexichord, lambda core: self._delete(core, node_ids, filters))

    def clear(self) -> None:
        """Delete all nodes."""
        run(self._lexichord, self._texts.delete)

    async def aclear(self) -> None:
        """Delete all nodes."""
        await arun(self._lexichord, self._texts.delete)

    def query(self, query: VectorStoreQuery, **options: Any) -> VectorStoreQueryResult:
        """Search; `options` are those of `Lexichord.search`."""
        return run(self._lexichord, lambda core: self._search(core, query, options))

    async def aquery(self, query: VectorStoreQuery, **options: Any) -> VectorStoreQueryResult:
        """Search; `options` are those of `Lexichord.search`."""
        return await arun(self._lexichord, lambda core: self._search(core, query, options))

    async def _search(
        self, core: Lexichord, query: VectorStoreQuery, options: Json
    ) -> VectorStoreQueryResult:
        if query.query_str is None:
            raise ConfigError("the database embeds questions itself: give query_str")
        if query.mode not in MODES:
            raise ConfigError(f"mode {query.mode.value}: take one of {', '.join(MODES)}")
        filter = search_filter(query.filters, query.node_ids, query.doc_ids)
        wanted = {"filter": filter, "mode": MODES[query.mode], **options}
        found = await self._texts.find(core, query.query_str, query.similarity_top_k, **wanted)
        return VectorStoreQueryResult(
            nodes=[_restored(each.stored) for each in found],
            similarities=[each.hit.score for each in found],
            ids=[each.stored.id for each in found],
        )

    async def _nodes(
        self, core: Lexichord, node_ids: list[str] | None, filters: MetadataFilters | None
    ) -> list[BaseNode]:
        texts = await self._texts.all(core, search_filter(filters, node_ids))
        return [_restored(text) for text in texts]

    async def _delete(
        self, core: Lexichord, node_ids: list[str] | None, filters: MetadataFilters | None
    ) -> None:
        filter = search_filter(filters, node_ids)
        if filter is None:
            raise ConfigError("delete_nodes needs node_ids or filters; clear deletes all")
        texts = await self._texts.all(core, filter)
        await self._texts.delete(core, [text.id for text in texts])


def _stored(node: BaseNode) -> StoredText:
    metadata = node_to_metadata_dict(node, remove_text=True)
    return StoredText(node.node_id, node.get_content(), metadata)


def _restored(text: StoredText) -> BaseNode:
    return metadata_dict_to_node(text.metadata, text.text)


def _of_document(ref_doc_id: str) -> MetadataFilters:
    return MetadataFilters(filters=[MetadataFilter(key="ref_doc_id", value=ref_doc_id)])


def search_filter(
    filters: MetadataFilters | None,
    node_ids: Sequence[str] | None = None,
    doc_ids: Sequence[str] | None = None,
) -> Json | None:
    """Return what `search` takes for filters of LlamaIndex', ids of nodes and of documents."""
    parts: list[Json] = [] if filters is None else [_condition(filters)]
    for key, ids in (("uri", node_ids), ("ref_doc_id", doc_ids)):
        if ids:  # an index gives an empty list for all
            parts.append({"key": key, "op": "in", "value": [*ids]})
    return {"and": parts} if parts else None


def _condition(filter: MetadataFilter | MetadataFilters) -> Json:
    if isinstance(filter, MetadataFilter):
        return _comparison(filter)
    if filter.condition == FilterCondition.NOT:
        raise ConfigError("filters: not is not known here; turn each condition round")
    parts = [_condition(part) for part in filter.filters]
    return {"or" if filter.condition == FilterCondition.OR else "and": parts}


def _comparison(filter: MetadataFilter) -> Json:
    key, operator, value = filter.key, filter.operator, filter.value
    if operator == FilterOperator.IS_EMPTY:
        return {"key": key, "op": "empty"}
    if operator in (FilterOperator.ANY, FilterOperator.ALL) and isinstance(value, list):
        parts = [{"key": key, "op": "contains", "value": each} for each in value]
        return {"or" if operator == FilterOperator.ANY else "and": parts}
    if operator not in OPERATORS:
        raise ConfigError(f"filters: {operator.value} is not known here")
    return {"key": key, "op": OPERATORS[operator], "value": value}
