"""The passages that evidence is compared with are those of a search, grouped by document."""

import pytest

from lexichord.types import Json
from tests.sql.corpus import SPACE, Connection, Row, call

BY_WORDS: Json = {"query": "w0 w3 w7"}
BY_BOTH: Json = {**BY_WORDS, "query_vector": "[1,0.5,0,0]", "query_space": SPACE}


def grouped(rows: list[Row], documents: int, passages: int) -> list[tuple[int, str, float | None]]:
    """Group hits by document, in the order in which documents are first found."""
    by_document: dict[int, list[Row]] = {}
    for hit in rows:
        by_document.setdefault(hit["document_id"], []).append(hit)
    kept = [hit for own in list(by_document.values())[:documents] for hit in own[:passages]]
    return [(hit["document_id"], hit["content"], hit["dense_score"]) for hit in kept]


@pytest.mark.parametrize("arguments", [BY_WORDS, BY_BOTH, {**BY_BOTH, "datasets": ["north"]}])
@pytest.mark.parametrize(("documents", "passages"), [(10, 2), (3, 1), (100, 100)])
def test_are_the_best_of_the_best_documents_of_a_search(
    library: Connection, arguments: Json, documents: int, passages: int
) -> None:
    hits = call(library, "hybrid_search", **arguments, k=100)
    most = {"most_documents": documents, "most_passages": passages}
    rows = call(library, "rival_passages", **arguments, **most)
    actual = [(row["document_id"], row["content"], row["dense_score"]) for row in rows]
    assert actual == grouped(hits, documents, passages)
    assert (
        len({document for document, _, _ in actual}) == min(documents, len(actual)) or passages > 1
    )
    assert len(actual) > 2


def test_k_is_how_many_chunks_are_looked_at(library: Connection) -> None:
    best, *_ = call(library, "hybrid_search", **BY_BOTH, k=1)
    (row,) = call(library, "rival_passages", **BY_BOTH, k=1)
    assert (row["document_id"], row["content"]) == (best["document_id"], best["content"])
