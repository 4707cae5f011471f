"""What a reranker behind a real socket does to a query and to files, and what its failure does."""

import json
from dataclasses import replace

import pytest

from lexichord import SyncLexichord
from lexichord.types import FileHit, Response
from tests.end_to_end.processes import reopened, run_cli
from tests.http_server import Reply
from tests.providers.rerank_servers import (
    NAMES,
    SHAPES,
    RerankServer,
    Score,
    Shape,
    rerank_server,
)

QUERY = "Who pays the rent?"
K = 3

each_shape = pytest.mark.parametrize("shape", SHAPES)


def reranking(samples: SyncLexichord, server: RerankServer) -> SyncLexichord:
    """Return the sample corpus' application with the server's address in the settings."""
    reranker = NAMES[server.shape]
    return reopened(samples, reranker=reranker, reranker_base_url=server.url, reranker_api_key="k")


def prefer(text: str) -> Score:
    """Score 0.9 what holds a text, 0.1 all else."""
    return lambda _, candidate: 0.9 if text in candidate else 0.1


def without_times(response: Response) -> Response:
    return replace(response, degraded=[], timings_ms={}, trace=[])


@each_shape
def test_the_passage_that_it_prefers_comes_first(samples: SyncLexichord, shape: Shape) -> None:
    wanted = samples.query(QUERY, k=2 * K).hits[-1]
    assert wanted.chunk_id not in [hit.chunk_id for hit in samples.query(QUERY, k=K).hits]
    with (
        rerank_server(shape, prefer(wanted.content)) as server,
        reranking(samples, server) as lexichord,
    ):
        found = lexichord.query(QUERY, k=K)
    first = found.hits[0]
    assert (first.chunk_id, first.score, first.scores.rerank) == (wanted.chunk_id, 0.9, 0.9)
    assert first.scores.to_dict().keys() >= wanted.scores.to_dict().keys()
    assert [hit.score for hit in found.hits[1:]] == [0.1] * (K - 1)
    assert found.degraded == []
    _, chunks = server.requests
    assert len(chunks.texts) == 3 * K
    assert any(wanted.content in text for text in chunks.texts)


@each_shape
def test_the_file_that_it_prefers_comes_first(samples: SyncLexichord, shape: Shape) -> None:
    wanted = samples.files(QUERY, k=6).files[-1]
    with (
        rerank_server(shape, prefer(f"{wanted.title}\n")) as server,
        reranking(samples, server) as lexichord,
    ):
        alone = lexichord.files(QUERY, k=5)
        shown = lexichord.query(QUERY).files
    assert alone.degraded == []
    for files in (alone.files, shown):
        assert_first(files, wanted)


def assert_first(files: list[FileHit], wanted: FileHit) -> None:
    first = files[0]
    assert len(files) == 5
    assert (first.document_id, first.score, first.scores["rerank"]) == (
        wanted.document_id,
        0.9,
        0.9,
    )
    assert first.scores["fused"] == pytest.approx(wanted.score)


@each_shape
@pytest.mark.parametrize(
    "always",
    [
        Reply(500),
        Reply(401),
        Reply(429),
        Reply(body=b"no JSON"),
        Reply(body=b'{"results": [', manner="drop"),
    ],
)
def test_a_failure_changes_nothing_but_degraded(
    samples: SyncLexichord, shape: Shape, always: Reply
) -> None:
    with (
        rerank_server(shape, always=always) as server,
        reranking(samples, server) as lexichord,
    ):
        response, files = lexichord.query(QUERY, k=K), lexichord.files(QUERY, k=2)
    plain = samples.query(QUERY, k=K)
    assert without_times(response) == without_times(plain)
    assert [reason.partition(": ")[0] for reason in response.degraded] == [
        "files are not reranked",
        "chunks are not reranked",
    ]
    assert files.files == samples.files(QUERY, k=2).files
    assert files.degraded == response.degraded[:1]
    assert len(server.requests) == 3


def test_it_does_not_see_the_neutral_words(samples: SyncLexichord) -> None:
    with rerank_server("jina") as server, reranking(samples, server) as lexichord:
        lexichord.query("What is the definition of Business Day?", k=K)
        lexichord.query("Who pays the rent?", k=K)
    queries = [each.body["query"] for each in server.requests]
    assert queries[1] == "What is the of Business Day?"
    assert queries[3] == "Who pays the rent?"


def test_the_command_line_names_one(samples: SyncLexichord) -> None:
    settings = samples.core.settings
    wanted = samples.query(QUERY, k=2 * K).hits[-1]
    query = ("query", QUERY, "-k", str(K), "--json", "--reranker", "tei")
    with rerank_server("tei", prefer(wanted.content)) as server:
        address = {"LEXICHORD_RERANKER_BASE_URL": server.url}
        run = run_cli(settings.dsn, settings.home, *query, **address)
    assert json.loads(run.stdout)["hits"][0]["chunk_id"] == wanted.chunk_id
