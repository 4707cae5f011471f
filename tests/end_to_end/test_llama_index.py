"""The LlamaIndex retriever, alone and in a query engine, inside a running loop and outside."""

from typing import Any

import pytest
from llama_index.core.llms import MockLLM
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import ResponseMode
from llama_index.core.schema import MetadataMode

from lexichord import SyncLexichord
from lexichord.errors import ConfigError
from lexichord.llama_index import LexichordRetriever

QUESTION = "How long do the confidentiality obligations survive under the clinical study agreement?"
NOWHERE = "Which enzyme unwinds the double helix before it is copied?"
DOCUMENTS = [
    {"uri": "old", "metadata": {"year": 2019}, "chunks": [{"content": "The zebra was striped."}]},
    {"uri": "new", "metadata": {"year": 2024}, "chunks": [{"content": "The zebra is striped."}]},
]


def engine(retriever: LexichordRetriever, least: float | None = None) -> RetrieverQueryEngine:
    """Retrieve, drop what scores too little, and have a model repeat its prompt."""
    cut: list[BaseNodePostprocessor] = (
        [] if least is None else [SimilarityPostprocessor(similarity_cutoff=least)]
    )
    return RetrieverQueryEngine.from_args(
        retriever, llm=MockLLM(), response_mode=ResponseMode.COMPACT, node_postprocessors=cut
    )


@pytest.mark.client("LlamaIndex", "answer")
def test_an_engine_answers_by_what_is_stored(samples: SyncLexichord) -> None:
    answer = engine(LexichordRetriever(samples, k=2)).query(QUESTION)
    assert "ten (10) years" in str(answer)
    assert len(answer.source_nodes) == 2


def test_the_score_can_be_held_against_a_cutoff(samples: SyncLexichord) -> None:
    retriever = LexichordRetriever(samples)
    assert 1 <= len(engine(retriever, 0.1).query(QUESTION).source_nodes) < 10
    assert len(engine(retriever).query(NOWHERE).source_nodes) == 10
    assert engine(retriever, 0.1).query(NOWHERE).source_nodes == []


def test_a_model_is_shown_title_and_metadata_but_no_numbers(plain: SyncLexichord) -> None:
    plain.ingest(documents=DOCUMENTS)
    (node,) = LexichordRetriever(plain, filter={"year": 2024}).retrieve("zebra")
    shown = node.node.get_content(MetadataMode.LLM)
    assert "year: 2024" in shown
    assert "title: new" in shown
    assert not any(name in shown for name in ("score", "rank", "chunk_id", "start"))


def test_options_are_those_of_query(plain: SyncLexichord) -> None:
    plain.ingest(documents=DOCUMENTS, dataset="zoo")
    assert len(LexichordRetriever(plain, datasets=["zoo"]).retrieve("zebra")) == 2
    assert len(LexichordRetriever(plain, mode="keyword", k=1).retrieve("zebra")) == 1
    with pytest.raises(ConfigError, match="k must"):
        LexichordRetriever(plain, k=0)
    wrongs: list[dict[str, Any]] = [
        {"similarity_top_k": 3},
        {"filter": {"colour": "red"}},
        {"datasets": "zoo"},
    ]
    for wrong in wrongs:
        with pytest.raises(ConfigError):
            LexichordRetriever(plain, **wrong).retrieve("zebra")
