"""Each route gives what the Python call of its name gives, field by field."""

import json
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from lexichord import SyncLexichord
from lexichord.serve.http import bodies, reply, reply_long
from lexichord.types import (
    Cell,
    Comparison,
    Intent,
    QueryOptions,
    Response,
    SearchOptions,
    ShownDocument,
    StoredChunk,
    StoredDocument,
)
from lexichord.types.query_options import describe
from tests.alike import differences

QUESTION = "What notice ends the master services agreement?"


def plain(shape: Any) -> Any:
    """Give what JSON makes of it."""
    return json.loads(json.dumps(shape))


def post(client: httpx.Client, path: str, **body: Any) -> dict[str, Any]:
    answer = client.post(path, json=body)
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


def get(client: httpx.Client, path: str, **parameters: Any) -> dict[str, Any]:
    answer = client.get(path, params=parameters)
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


@pytest.mark.parametrize(
    "options",
    [
        {"answer": True},
        {"intent": "comparison", "k": 5},
        {"reflect": True, "format": "qa", "max_length": 900},
        {"intent": "list_all"},
    ],
)
def test_a_query_gives_what_the_python_call_gives(
    client: httpx.Client, samples: SyncLexichord, options: Any
) -> None:
    question = "Compare liability and governing law of the software licence and the lease"
    response = post(client, "/v1/query", query=question, **options)
    expected = samples.query(question, **options).to_dict()
    assert differences(response, expected) == []
    assert response["timings_ms"].keys() == expected["timings_ms"].keys()


def test_documents_and_chunks_are_shown_as_they_are_stored(
    client: httpx.Client, samples: SyncLexichord
) -> None:
    stored = samples.list()
    listed = get(client, "/v1/documents", limit=1000)
    assert listed["documents"] == plain([each.to_dict() for each in stored])
    assert (listed["total"], listed["limit"], listed["offset"]) == (len(stored), 1000, 0)
    one = stored[3].document_id
    shown = samples.show(one)
    assert get(client, f"/v1/documents/{one}") == plain(shown.to_dict())
    alike = samples.similar(one, k=3)
    assert get(client, f"/v1/documents/{one}/similar", k=3) == plain(alike.to_dict())
    chunk = shown.chunks[1].chunk_id
    around = samples.expand(chunk, neighbours=0, whole_section=True)
    path = f"/v1/chunks/{chunk}"
    assert get(client, path, neighbours=0, whole_section=True) == plain(around.to_dict())


@pytest.mark.parametrize("path", ["/v1/search", "/v1/files:discover", "/v1/query"])
@pytest.mark.parametrize("name", ["datasets", "documents"])
def test_an_empty_list_is_refused_and_null_is_all(
    client: httpx.Client, path: str, name: str
) -> None:
    refused = client.post(path, json={"query": QUESTION, name: []})
    assert refused.status_code == 400
    message = refused.json()["error"]["message"]
    assert message == f"{name} is an empty list: name one at least, or leave it out for all"
    kind = "files" if path.endswith("discover") else "hits"
    everything = post(client, path, query=QUESTION, k=1)[kind]
    assert post(client, path, **{"query": QUESTION, "k": 1, name: None})[kind] == everything


def test_a_list_comes_in_parts_that_make_the_whole(client: httpx.Client) -> None:
    whole = get(client, "/v1/documents", limit=1000)["documents"]
    offsets = range(0, len(whole) + 4, 4)
    parts = [get(client, "/v1/documents", limit=4, offset=each)["documents"] for each in offsets]
    assert [document for part in parts for document in part] == whole
    assert parts[-1] == []


def test_a_list_is_narrowed_by_prefix_and_dataset(
    client: httpx.Client, samples: SyncLexichord
) -> None:
    one = samples.list()[0]
    page = get(client, "/v1/documents", uri_prefix=one.uri, dataset=one.dataset)
    assert [row["uri"] for row in page["documents"]] == [one.uri]
    unknown = client.get("/v1/documents", params={"dataset": "other"})
    assert unknown.status_code == 404
    message = unknown.json()["error"]["message"]
    assert message == "there is no dataset 'other': take one of 'agreements', 'policies'"
    for text in ('{"no": 1}', "{no", "5", "null", "[1]"):
        assert client.get("/v1/documents", params={"filter": text}).status_code == 400, text


def test_datasets_and_jobs_are_those_of_the_database(
    client: httpx.Client, samples: SyncLexichord
) -> None:
    listed = {row["dataset"]: row["documents"] for row in get(client, "/v1/datasets")["datasets"]}
    jobs = get(client, "/v1/jobs")["jobs"]
    assert {job["dataset"]: job["inserted"] for job in jobs} == listed
    assert sum(listed.values()) == samples.count()
    assert jobs[0]["state"] == "finished"
    assert get(client, f"/v1/jobs/{jobs[0]['job_id']}") == jobs[0]
    assert "source" not in jobs[0]  # where files are on the server concerns nobody


def test_the_plain_search_has_the_shape_that_plain_programs_expect(
    client: httpx.Client, samples: SyncLexichord
) -> None:
    result = get(client, "/search", query=QUESTION, top_k=3)
    assert set(result) == {"query", "results", "total", "search_time_ms"}
    assert (result["query"], result["total"]) == (QUESTION, 3)
    assert result["search_time_ms"] > 0
    described = [
        {"id": hit.chunk_id, "title": hit.title, "description": hit.content[:500]}
        for hit in samples.search(QUESTION, k=3).hits
    ]
    scores = [each.pop("score") for each in result["results"]]
    assert (result["results"], scores) == (described, sorted(scores, reverse=True))
    assert len(get(client, "/search", query=QUESTION)["results"]) == 10


def test_the_plain_answer_has_the_shape_that_plain_programs_expect(
    client: httpx.Client, samples: SyncLexichord
) -> None:
    reply = post(client, "/ask", question=QUESTION, top_k=4)
    expected = samples.query(QUESTION, k=4, answer=True)
    assert set(reply) == {"question", "answer", "sources", "context_used", "confidence"}
    assert (reply["question"], reply["answer"]) == (QUESTION, expected.answer)
    assert reply["confidence"] == expected.confidence
    assert reply["context_used"] == len(reply["sources"]) == len(expected.sources)
    for source, known in zip(reply["sources"], expected.sources, strict=True):
        assert set(source) == {"id", "title", "dataset_id", "score"}
        assert source["id"] == known.chunk_id
        assert source["title"] in known.citation


def test_what_nothing_answers_is_said_in_words(client: httpx.Client) -> None:
    reply = post(client, "/ask", question="Which zebra crossed the Danube on a unicycle?")
    assert reply["answer"] == "Nothing relevant was found for your question."


def test_what_answers_hold_is_what_the_openapi_document_says() -> None:
    def fields(record: type) -> set[str]:
        return set(record.__dataclass_fields__)  # type: ignore[attr-defined]

    assert set(bodies.ResponseShape.model_fields) == fields(Response)
    assert set(bodies.IntentShape.model_fields) == fields(Intent)
    assert set(bodies.ComparisonShape.model_fields) == fields(Comparison)
    assert set(bodies.CellShape.model_fields) == fields(Cell) | {"found"}
    document = (fields(ShownDocument) - {"document"}) | fields(StoredDocument)
    assert set(bodies.DocumentShape.model_fields) == document


def test_requests_have_the_options_of_the_python_calls_but_no_model() -> None:
    shared = {*describe(SearchOptions)}
    assert set(bodies.SearchBody.model_fields) == shared | {"query", "hint"}
    taken = {*describe(QueryOptions)}
    assert set(bodies.QueryBody.model_fields) == taken | {"query", "stream"}
    assert {"llm", "llm_base_url"}.isdisjoint(bodies.QueryBody.model_fields)


def test_a_document_may_be_named_by_the_end_of_its_uri(client: httpx.Client) -> None:
    (row,) = get(client, "/v1/documents", limit=1)["documents"]
    for name in (row["uri"], row["uri"].rpartition("/")[2], row["document_id"]):
        assert get(client, f"/v1/documents/{name}")["document_id"] == row["document_id"]
    boxes = client.get(f"/v1/documents/{row['document_id']}/boxes", params={"mark": "x"})
    message = "mark is START-END in the document's text, such as 120-310"
    assert (boxes.status_code, boxes.json()["error"]["message"]) == (400, message)


async def test_a_long_answer_is_the_same_written_in_pieces() -> None:
    chunk = StoredChunk(
        *("chunk_a", 0, "Rent\ud800", 0, 4, None, 'a "b"\n\u2028', "", "", {"n": 1.5}, True)
    )
    row = StoredDocument(
        *("doc_a", "zoo", "a.md", "Ä\ud800", "text/plain", 4, 2, {"tags": ["x"]}, datetime.now(UTC))
    )
    for chunks in ([], [chunk, chunk]):
        shown = ShownDocument(row, "text ü", chunks)
        assert (await reply_long(shown)).body == reply(shown).body
