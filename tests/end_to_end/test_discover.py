"""Files, looked at a second time by a reranker."""

from collections.abc import Sequence

from lexichord import SyncLexichord
from lexichord.retrieve.search.discover import discover, name_first
from lexichord.retrieve.trace import Trace
from lexichord.types import FileHit, Question, Ranked

QUERY = "Which agreement provides for escrow of source code?"


class SharedWords:
    """Counts the query's words in a text."""

    async def rerank(self, query: str, texts: Sequence[str], top_n: int) -> list[Ranked]:
        words = {*query.lower().rstrip("?").split()}
        shared = [len(words.intersection(text.lower().split())) for text in texts]
        return [Ranked(index, score) for index, score in enumerate(shared)]


def test_a_document_that_is_named_comes_before_what_its_name_finds(samples: SyncLexichord) -> None:
    database, question = samples.core.database, Question(QUERY)
    files = samples.run(discover(database, question, Trace(), 5))
    ids = [file.document_id for file in files]

    def put(named: Sequence[str], found: list[FileHit], limit: int = 5) -> list[FileHit]:
        return list(samples.run(name_first(database, question, found, named, limit)))

    first, *others = put([ids[4]], files)
    assert (first.document_id, first.score) == (ids[4], files[0].score)
    assert others == files[:4]
    both = [file.document_id for file in put([ids[2], ids[4]], files)]
    assert both == [ids[4], ids[2], ids[0], ids[1], ids[3]]
    assert [file.document_id for file in put([ids[4]], files[:1])] == [ids[4], ids[0]]
    assert len(put([ids[3], ids[4]], files, limit=1)) == 1
    assert put([ids[2]], files) == files
    assert put([ids[4]], []) == []


def test_a_reranked_file_is_preferred_by_the_score_that_boosts(samples: SyncLexichord) -> None:
    database, question = samples.core.database, Question(QUERY)
    files = samples.run(discover(database, question, Trace(), 5, SharedWords()))
    first, *_ = samples.run(name_first(database, question, files, [files[4].document_id], 5))
    assert first.scores["fused"] == max(file.scores["fused"] or 0 for file in files)
