"""The retriever and the vector store for LlamaIndex, alone, in a query engine, under an index."""

from collections.abc import Iterator

import pytest
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import ResponseMode
from llama_index.core.schema import MetadataMode, NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
)

from lexichord import Lexichord, SyncLexichord
from lexichord.errors import ConfigError
from lexichord.llama_index import LexichordRetriever, LexichordVectorStore

QUESTION = "How long do the confidentiality obligations survive under the clinical study agreement?"
DOCUMENTS = [
    {"uri": "old", "metadata": {"year": 2019}, "chunks": [{"content": "The zebra was striped."}]},
    {"uri": "new", "metadata": {"year": 2024}, "chunks": [{"content": "The zebra is striped."}]},
]


@pytest.mark.client("LlamaIndex", "answer")
def test_an_engine_answers_by_what_is_stored(samples: SyncLexichord) -> None:
    """A model repeats its prompt."""
    retriever = LexichordRetriever(samples, k=2)
    compact = ResponseMode.COMPACT
    engine = RetrieverQueryEngine.from_args(retriever, llm=MockLLM(), response_mode=compact)
    answer = engine.query(QUESTION)
    assert "ten (10) years" in str(answer)
    assert len(answer.source_nodes) == 2


def test_a_model_is_shown_title_and_metadata_but_no_numbers(plain: SyncLexichord) -> None:
    plain.ingest(documents=DOCUMENTS)
    (node,) = LexichordRetriever(plain, filter={"year": 2024}).retrieve("zebra")
    shown = node.node.get_content(MetadataMode.LLM)
    assert "year: 2024" in shown
    assert "title: new" in shown
    assert not any(name in shown for name in ("score", "rank", "chunk_id", "start"))


def node(id: str, text: str, of: str, **metadata: object) -> TextNode:
    source = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=of)}
    return TextNode(id_=id, text=text, metadata=metadata, relationships=source)


NODES = [
    node("a", "The zebra is striped.", "animals", year=2019, tags=["big", "striped"]),
    node("b", "A zebra eats grass.", "animals", year=2024, tags=["big"]),
    node("c", "Refunds are paid within thirty days.", "terms", year=2024),
]


@pytest.fixture
def store(embedding: SyncLexichord) -> Iterator[LexichordVectorStore]:
    store = LexichordVectorStore(embedding, dataset="nodes")
    assert store.add(NODES) == ["a", "b", "c"]
    yield store
    store.clear()


def found(store: LexichordVectorStore, text: str, k: int = 3, **query: object) -> list[str]:
    result = store.query(VectorStoreQuery(query_str=text, similarity_top_k=k, **query))  # type: ignore[arg-type]
    assert [each.node_id for each in result.nodes or []] == result.ids
    assert result.similarities == sorted(result.similarities or [], reverse=True)
    return result.ids or []


@pytest.mark.client("LlamaIndex", "search", "store")
def test_a_node_comes_back_as_it_was(store: LexichordVectorStore) -> None:
    assert store.get_nodes(["c", "a", "z"]) == [NODES[0], NODES[2]]
    result = store.query(VectorStoreQuery(query_str="when are refunds paid", similarity_top_k=1))
    assert result.nodes == [NODES[2]]


@pytest.mark.client("LlamaIndex", "k")
def test_k_and_modes(store: LexichordVectorStore) -> None:
    assert len(found(store, "zebra", k=2)) == 2
    assert found(store, "refunds", mode=VectorStoreQueryMode.TEXT_SEARCH) == ["c"]
    assert len(found(store, "refunds", mode=VectorStoreQueryMode.HYBRID)) == 3
    with pytest.raises(ConfigError, match="svm"):
        found(store, "refunds", mode=VectorStoreQueryMode.SVM)
    with pytest.raises(ConfigError, match="query_str"):
        store.query(VectorStoreQuery(query_embedding=[0.1]))


@pytest.mark.client("LlamaIndex", "filters")
@pytest.mark.parametrize(
    ("operator", "key", "value", "ids"),
    [
        (FilterOperator.EQ, "year", 2024, "bc"),
        (FilterOperator.NE, "year", 2024, "a"),
        (FilterOperator.GT, "year", 2019, "bc"),
        (FilterOperator.LTE, "year", 2019, "a"),
        (FilterOperator.IN, "year", [2019, 2020], "a"),
        (FilterOperator.NIN, "year", [2019], "bc"),
        (FilterOperator.CONTAINS, "tags", "striped", "a"),
        (FilterOperator.ANY, "tags", ["striped", "big"], "ab"),
        (FilterOperator.ALL, "tags", ["striped", "big"], "a"),
        (FilterOperator.IS_EMPTY, "tags", None, "c"),
    ],
)
def test_filters(
    store: LexichordVectorStore, operator: FilterOperator, key: str, value: object, ids: str
) -> None:
    filter = MetadataFilter(key=key, value=value, operator=operator)  # type: ignore[arg-type]
    filters = MetadataFilters(filters=[filter])
    assert sorted(found(store, "zebra", filters=filters)) == [*ids]
    assert [each.node_id for each in store.get_nodes(filters=filters)] == [*ids]


def test_filters_join_and_ids_narrow(store: LexichordVectorStore) -> None:
    year, tag = (
        MetadataFilter(key="year", value=2019),
        MetadataFilter(key="tags", value="big", operator=FilterOperator.CONTAINS),
    )
    either = MetadataFilters(filters=[year, tag], condition=FilterCondition.OR)
    both = MetadataFilters(filters=[either, MetadataFilter(key="year", value=2024)])
    assert found(store, "zebra", filters=both) == ["b"]
    assert found(store, "zebra", node_ids=["c"]) == ["c"]
    assert sorted(found(store, "zebra", doc_ids=["animals"])) == ["a", "b"]
    negated = MetadataFilters(filters=[year], condition=FilterCondition.NOT)
    with pytest.raises(ConfigError, match="not"):
        found(store, "zebra", filters=negated)


@pytest.mark.client("LlamaIndex", "delete")
def test_nodes_are_deleted_by_document_by_id_and_by_filter(store: LexichordVectorStore) -> None:
    store.delete("animals")
    assert store.get_nodes() == [NODES[2]]
    store.delete("nothing")
    store.add(NODES)
    store.delete_nodes(["b", "z"])
    store.delete_nodes(filters=MetadataFilters(filters=[MetadataFilter(key="year", value=2019)]))
    assert store.get_nodes() == [NODES[2]]
    with pytest.raises(ConfigError, match="clear"):
        store.delete_nodes()
    store.clear()
    assert store.get_nodes() == []
    assert found(store, "zebra", filters=MetadataFilters(filters=[])) == []


def test_under_an_index(store: LexichordVectorStore) -> None:
    storage = StorageContext.from_defaults(vector_store=store)
    embedder = MockEmbedding(embed_dim=2)  # an index wants one; the database embeds
    made = VectorStoreIndex(NODES, storage_context=storage, embed_model=embedder)
    (best, _) = made.as_retriever(similarity_top_k=2).retrieve("when are refunds paid")
    assert best.node.get_content() == NODES[2].text
    made.delete_ref_doc("animals")
    assert store.get_nodes() == [NODES[2]]


@pytest.mark.client("LlamaIndex", "async")
async def test_the_asynchronous_application_serves_the_asynchronous_methods(
    embedding: SyncLexichord,
) -> None:
    async with Lexichord(embedding.core.settings) as core:
        store = LexichordVectorStore(core, dataset="own")
        await store.async_add(NODES)
        query = VectorStoreQuery(query_str="when are refunds paid", similarity_top_k=1)
        assert (await store.aquery(query)).ids == ["c"]
        await store.adelete("terms")
        assert await store.aget_nodes() == NODES[:2]
        await store.adelete_nodes(["a"])
        await store.aclear()
        assert await store.aget_nodes() == []
        with pytest.raises(ConfigError, match="asynchronous"):
            store.query(query)
