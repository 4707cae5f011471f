"""Versions of the protocol, what is asked of users, resources, and addresses that open."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
from mcp_types import ElicitResult, TextResourceContents
from mcp_types.version import LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION

from tests.http.served import serve
from tests.mcp.conftest import Keys
from tests.mcp.serving import Place, Served, call, inside, over_http, over_stdio, refused

VERSIONS = {"legacy": LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION: LATEST_MODERN_VERSION}
QUESTION = "how long are customer support logs kept"


class User:
    """Who is asked for a dataset, and how they answer."""

    def __init__(self, action: str, choice: str = "") -> None:
        self.result = ElicitResult(
            action=action,  # type: ignore[arg-type]
            content={"dataset": choice} if choice else None,
        )
        self.seen = list[Any]()

    async def __call__(self, context: Any, params: Any) -> ElicitResult:
        self.seen.append(params)
        return self.result


@pytest.mark.parametrize("mode", VERSIONS)
@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_the_last_two_versions_of_the_protocol(
    place: Place, server: Served, transport: str, mode: str
) -> None:
    user = User("accept", "policies")
    connecting = (
        over_stdio(place, mode, user) if transport == "stdio" else over_http(server.url, mode, user)
    )
    async with connecting as client:
        assert client.protocol_version == VERSIONS[mode]
        assert "12 months" in (await call(client, "assistant", query=QUESTION))["answer"]
        text = (await client.read_resource("datasets://all")).contents[0]
        assert isinstance(text, TextResourceContents)
        assert "policies" in text.text
        counted = await call(client, "file_count", dataset_id="policies")
        assert user.seen == []
        if (transport, mode) == ("http", "legacy"):  # without sessions nobody can be asked
            error = await refused(client, "file_count", dataset_id="E")
            assert error["details"].endswith("take one of 'agreements', 'policies'")
            assert user.seen == []
            return
        assert await call(client, "file_count", dataset_id="E") == counted  # both have an e
        (asked,) = user.seen
        choice = asked.requested_schema["properties"]["dataset"]
        assert choice["enum"] == ["agreements", "policies"]


@pytest.mark.parametrize("user", [None, User("decline"), User("cancel"), User("accept", "hidden")])
async def test_where_nothing_is_chosen_the_error_names_what_fits(
    place: Place, server: Served, user: User | None
) -> None:
    async with over_http(server.url, LATEST_MODERN_VERSION, user) as client:
        error = await refused(client, "retriever", query="logs", resource_id="E")
        assert error["details"] == "there is no dataset 'E': take one of 'agreements', 'policies'"


async def test_only_datasets_in_reach_are_offered(locked: Served, keys: Keys) -> None:
    key = {"authorization": f"Bearer {keys.policies}"}
    async with over_http(locked.url, **key) as client:
        told = await refused(client, "file_count", dataset_id="e")
        assert told["details"] == "there is no dataset 'e': take one of 'policies'"
        hidden = await refused(client, "file_count", dataset_id="agree")
        assert hidden["type"] == "permission_error"
        assert hidden["details"].endswith("it reaches 'policies'")


async def test_a_dataset_is_a_resource_that_leads_to_its_documents(server: Served) -> None:
    async with over_http(server.url) as client:
        listed = (await client.read_resource("dataset://policies")).contents[0]
        assert isinstance(listed, TextResourceContents)
        for row in json.loads(listed.text):
            text = (await client.read_resource(row["resource"])).contents[0]
            assert isinstance(text, TextResourceContents)
            assert text.text
            assert row["uri"].startswith("/")


async def test_addresses_lead_to_the_page_where_it_is_served(place: Place) -> None:
    with serve(place.dsn, home=place.home) as page:
        with_page = replace(place, settings={"LEXICHORD_PAGE_URL": page.url})
        with inside(with_page) as server:
            async with over_http(server.url) as client:
                (best, *_) = (await call(client, "search", query=QUESTION))["results"]
                passage = await call(client, "fetch", id=best["id"])
                document = await call(client, "fetch", id=passage["metadata"]["document"])
        for found in (best, passage, document):
            opened = await asyncio.to_thread(page.by().get, found["url"])
            assert opened.status_code == 200
            assert "<mark" in opened.text or found is document
