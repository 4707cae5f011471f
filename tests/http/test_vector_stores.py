"""OpenAI's search of a vector store, through OpenAI's own client over a socket."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
from openai.types import VectorStoreSearchResponse

from tests.end_to_end.llm_replies import KEY, replying
from tests.http.served import Served, serve
from tests.providers.chat_servers import chat_server

QUESTION = "How long do the confidentiality obligations survive under the clinical study agreement?"
RENT = "When is the rent of Saltpan House due?"
NOWHERE = "Which enzyme unwinds the double helix before it is copied?"
DEPOSIT = "When is the deposit repaid?"
LEASES = {"lease-2019", "lease-2024"}
ALL = {*LEASES, "nda-2021", "plain"}


@pytest.fixture(scope="module")
def client(library: Served) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(
        api_key=library.keys["all"], base_url=f"{library.url}/v1", max_retries=0
    ) as client:
        yield client


def search(client: openai.OpenAI, store: str, **arguments: Any) -> list[VectorStoreSearchResponse]:
    page = client.vector_stores.search(store, **arguments)
    assert page.object == "vector_store.search_results.page"
    assert not page.has_next_page()
    return list(page)


def test_results_have_all_that_the_client_reads(client: openai.OpenAI, library: Served) -> None:
    results = search(client, "agreements", query=QUESTION)
    assert len(results) == 10
    ids = {row.document_id: row.uri for row in library.lexichord.list(datasets=["agreements"])}
    for result in results:
        VectorStoreSearchResponse.model_validate(result.model_dump())
        assert ids[result.file_id].endswith(f"/{result.filename}")
        assert 0 <= result.score <= 1
        assert [content.type for content in result.content] == ["text"]
    assert [r.score for r in results] == sorted((r.score for r in results), reverse=True)
    assert "ten (10) years" in results[0].content[0].text


@pytest.mark.client("OpenAI, Python", "async")
async def test_the_asynchronous_client_finds_the_same(
    client: openai.OpenAI, library: Served
) -> None:
    base = f"{library.url}/v1"
    async with openai.AsyncOpenAI(api_key=library.keys["all"], base_url=base) as other:
        results = [each async for each in other.vector_stores.search("agreements", query=QUESTION)]
    assert results == search(client, "agreements", query=QUESTION)


def test_several_queries_are_one_ranking(client: openai.OpenAI) -> None:
    alike = "How long does confidentiality last for the visiting researcher?"
    one, two = (search(client, "agreements", query=text) for text in (QUESTION, alike))
    best: dict[str, float] = {}
    for each in [*one, *two]:
        text = each.content[0].text
        best[text] = max(each.score, best.get(text, 0))
    assert len(best) < len(one) + len(two)  # some are found by both
    both = search(client, "agreements", query=[QUESTION, alike])
    assert [each.score for each in both] == sorted(best.values(), reverse=True)[:10]
    assert all(best[each.content[0].text] == each.score for each in both)
    assert search(client, "agreements", query=[QUESTION, QUESTION]) == one


def test_what_was_searched_is_told(client: openai.OpenAI) -> None:
    page = client.vector_stores.search("agreements", query=[QUESTION, RENT])
    assert page.model_dump()["search_query"] == [QUESTION, RENT]
    page = client.vector_stores.search("agreements", query=RENT, rewrite_query=True)
    assert page.model_dump()["search_query"] == [RENT]  # there is no model


def test_a_models_words_are_searched_as_well_and_told(library: Served, home: Path) -> None:
    wording = {"kind": "expansion", "text": "annual rent", "confidence": 1, "reason": "it is"}
    with chat_server(replying(rewrite=wording)) as model:
        told: dict[str, Any] = {"llm": "openai/any", "llm_base_url": model.url, "llm_api_key": KEY}
        with (
            serve(library.dsn, home=home, **told) as served,
            openai.OpenAI(
                api_key=library.keys["all"], base_url=f"{served.url}/v1", max_retries=0
            ) as client,
        ):
            page = client.vector_stores.search("agreements", query=RENT, rewrite_query=True)
    assert page.model_dump()["search_query"] == [RENT, "annual rent"]


@pytest.mark.client("OpenAI, Python", "k")
def test_the_number_of_results_and_their_least_score_are_heeded(client: openai.OpenAI) -> None:
    everything = search(client, "agreements", query=QUESTION, max_num_results=50)
    assert search(client, "agreements", query=QUESTION, max_num_results=1) == everything[:1]
    least = {"score_threshold": 0.1, "ranker": "auto"}
    sure = search(client, "agreements", query=QUESTION, max_num_results=50, ranking_options=least)
    assert sure == [each for each in everything if each.score >= 0.1]
    assert 1 <= len(sure) < len(everything)
    assert search(client, "agreements", query=NOWHERE, ranking_options=least) == []


LATE_LEASE = [
    {"type": "eq", "key": "kind", "value": "lease"},
    {"type": "gt", "key": "year", "value": 2020},
]
NESTED = {
    "type": "or",
    "filters": [
        {"type": "eq", "key": "kind", "value": "nda"},
        {"type": "and", "filters": LATE_LEASE},
    ],
}


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"type": "eq", "key": "kind", "value": "lease"}, LEASES),
        ({"type": "ne", "key": "kind", "value": "lease"}, {"nda-2021", "plain"}),
        ({"type": "gt", "key": "year", "value": 2019}, {"lease-2024", "nda-2021"}),
        ({"type": "gte", "key": "year", "value": 2019.0}, {*LEASES, "nda-2021"}),
        ({"type": "lt", "key": "year", "value": 2021}, {"lease-2019"}),
        ({"type": "lte", "key": "year", "value": 2021}, {"lease-2019", "nda-2021"}),
        ({"type": "eq", "key": "open", "value": True}, {"lease-2019"}),
        ({"type": "in", "key": "year", "value": [2019, 2021]}, {"lease-2019", "nda-2021"}),
        ({"type": "nin", "key": "kind", "value": ["nda"]}, {*LEASES, "plain"}),
        (NESTED, {"nda-2021", "lease-2024"}),
    ],
)
def test_filters_are_those_of_openai(
    client: openai.OpenAI, filters: dict[str, Any], expected: set[str]
) -> None:
    results = search(client, "library", query=DEPOSIT, filters=filters)
    assert {result.filename for result in results} == expected


def test_a_key_that_no_document_has_is_an_error_with_the_nearest(client: openai.OpenAI) -> None:
    unknown = {"type": "ne", "key": "yaer", "value": 2019}
    with pytest.raises(openai.BadRequestError, match=r"take one of \\*'year\\*', "):
        search(client, "library", query=DEPOSIT, filters=unknown)


def built_in(name: str) -> dict[str, str]:
    """What filters know of each document of the library."""
    places = {"dataset": "library", "uri": name, "title": "", "folder": ""}
    return {**places, "media_type": "text/plain", "language": "en"}


def test_attributes_are_metadata_that_openai_can_hold(client: openai.OpenAI) -> None:
    results = {each.filename: each for each in search(client, "library", query=DEPOSIT)}
    assert results["plain"].attributes == built_in("plain")
    assert results["nda-2021"].attributes == {
        **{"kind": "nda", "year": 2021, "signed": "2021-01-15"},
        **built_in("nda-2021"),
    }
    assert results["lease-2019"].attributes is not None
    assert results["lease-2019"].attributes["open"] is True
    assert "tags" not in results["lease-2019"].attributes


def test_a_store_that_is_empty_or_none_has_no_results(client: openai.OpenAI) -> None:
    assert search(client, "empty", query=QUESTION) == []
    with pytest.raises(openai.NotFoundError) as caught:
        client.vector_stores.search("nothing", query=QUESTION)
    assert caught.value.type == "not_found_error"
    assert isinstance(caught.value.body, dict)
    assert set(caught.value.body) == {"message", "type", "code", "param"}


def test_a_key_opens_its_own_stores_only(library: Served) -> None:
    base = f"{library.url}/v1"
    stranger = openai.OpenAI(api_key="lx_wrong", base_url=base, max_retries=0)
    with stranger, pytest.raises(openai.AuthenticationError):
        stranger.vector_stores.search("library", query=DEPOSIT)
    with openai.OpenAI(api_key=library.keys["narrow"], base_url=base, max_retries=0) as narrow:
        assert len(search(narrow, "library", query=DEPOSIT)) == 4
        for store in ("agreements", "nothing"):
            with pytest.raises(openai.PermissionDeniedError):
                narrow.vector_stores.search(store, query=DEPOSIT)


@pytest.mark.parametrize(
    "wrong",
    [
        {"query": ""},
        {"query": " "},
        {"query": []},
        {"query": ["x"] * 11},
        {"query": "x" * 10_001},
        {"query": "\0"},
        {"query": "x", "max_num_results": 0},
        {"query": "x", "max_num_results": 51},
        {"query": "x", "ranking_options": {"score_threshold": 2}},
        {"query": "x", "filters": {"type": "like", "key": "kind", "value": "x"}},
        {"query": "x", "filters": {"type": "in", "key": "kind", "value": "x"}},
        {"query": "x", "filters": {"type": "eq", "key": "kind"}},
        {"query": "x", "filters": {"type": "or", "filters": "x"}},
    ],
)
def test_what_cannot_be_meant_is_refused(client: openai.OpenAI, wrong: dict[str, Any]) -> None:
    with pytest.raises((openai.BadRequestError, openai.UnprocessableEntityError)) as caught:
        client.vector_stores.search("library", **wrong)
    assert caught.value.type == "invalid_request_error"


@pytest.mark.parametrize("depth", [9, 100, 5000])
def test_filters_in_one_another_are_read_up_to_a_depth(
    client: openai.OpenAI, library: Served, depth: int
) -> None:
    nested = '{"type":"eq","key":"kind","value":"nda"}'
    for _ in range(depth):
        nested = f'{{"type":"and","filters":[{nested}]}}'
    answer = library.by("all").post(
        "/v1/vector_stores/library/search",
        headers={"content-type": "application/json"},
        content=f'{{"query":"{DEPOSIT}","filters":{nested}}}',
    )
    assert answer.status_code in (400, 422)
    assert answer.json()["error"]["type"] == "invalid_request_error"
