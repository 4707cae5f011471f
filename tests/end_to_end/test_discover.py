"""Files, looked at a second time by a reranker."""

from collections.abc import Sequence

from lexichord import SyncLexichord
from lexichord.errors import ProviderError
from lexichord.retrieve.discover import discover
from lexichord.types import FileHit, Question

QUERY = "Which agreement provides for escrow of source code?"


class SharedWords:
    """Counts the query's words in a text."""

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        words = {*query.lower().rstrip("?").split()}
        return [len(words.intersection(text.lower().split())) for text in texts]


class Away:
    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        raise ProviderError("the reranker is away: try later")


def test_a_reranker_orders_the_files(samples: SyncLexichord) -> None:
    files = samples.run(discover(samples.core.database, Question(QUERY), [], 2, SharedWords()))
    assert len(files) == 2
    assert files[0].uri.endswith("software-licence-pelnor-claims-engine.txt")
    for file in files:
        assert file.scores["rerank"] == file.score >= 1
        assert {"card", "chunks", "fused"} < set(file.scores)
    assert files[0].score >= files[1].score


def test_a_reranker_that_fails_leaves_the_order_and_says_so(samples: SyncLexichord) -> None:
    degraded: list[str] = []
    database, question = samples.core.database, Question(QUERY)
    files = samples.run(discover(database, question, degraded, 2, Away()))
    assert degraded == ["files are not reranked: the reranker is away: try later"]
    plain: list[FileHit] = samples.run(discover(database, question, [], 2))
    assert files == plain
