"""Every tool and resource, asked by a tenant for what is another's, and for what is nowhere."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from mcp_types import TextContent

from lexichord import SyncLexichord
from mcp import Client
from tests.conftest import new_database
from tests.http.conftest import DOCUMENTS, places
from tests.mcp.serving import Place, inside, over_http

ROLE = f"mcp_server_{os.getpid()}"
MISSING = 10**12
NAMELESS = ("file_count", "keyword_generator", "similar")  # whose answers do not name what is asked
ASKED = {  # a call of each tool, {} where it asks for something of somebody's
    "assistant": {"query": "zebra", "resource_id": "{name}"},
    "retriever": {"query": "zebra", "resource_id": "{name}"},
    "file_discover": {"query": "zebra", "resource_id": "{name}"},
    "file_lister": {"dataset_id": "{name}"},
    "file_count": {"dataset_id": "{name}"},
    "keyword_generator": {"query": "zebra", "dataset_id": "{name}"},
    "similar": {"document_name": "{document}"},
    "search": {"query": "zebra of {name}"},
    "fetch": {"id": "document://{document}"},
}


@dataclass(frozen=True)
class Shared:
    """Tenants `open` and `closed`, a key of `open`, and a document and chunk of each."""

    url: str
    key: str
    places: dict[str, dict[str, str]]


@pytest.fixture(scope="module")
def shared(bare: str, home: Path) -> Iterator[Shared]:
    with (
        new_database(bare, copy_of=bare) as dsn,
        psycopg.connect(dsn, autocommit=True) as connection,
        SyncLexichord(dsn=dsn, home=home) as owner,
    ):
        owner.turn_tenants_on()
        ids = {}
        for name, documents in DOCUMENTS.items():
            owner.add_tenant(name, datasets=[name])
            owner.ingest(documents=documents, dataset=name)
            found = places(owner, name)
            ids[name] = {"name": name, "document": str(found["document_id"])}
            ids[name]["chunk"] = str(found["chunk_id"])
        key = owner.create_key("k", tenant="open").secret
        write = owner.core.database.ids.write
        ids["nowhere"] = {"name": "nowhere", "document": write("doc", MISSING)}
        ids["nowhere"]["chunk"] = write("chunk", MISSING)
        connection.execute(f"create role {ROLE} login in role lexichord_server".encode())
        try:
            place = Place(psycopg.conninfo.make_conninfo(dsn, user=ROLE), home)
            with inside(place) as running:
                yield Shared(running.url, key, ids)
        finally:
            connection.execute(f"drop owned by {ROLE}; drop role {ROLE}".encode())


async def ask(client: Client, shared: Shared, tool: str, about: str) -> str:
    arguments = {key: text.format(**shared.places[about]) for key, text in ASKED[tool].items()}
    content = (await client.call_tool(tool, arguments)).content[0]
    assert isinstance(content, TextContent)
    return content.text


def scrubbed(shared: Shared, text: str) -> str:
    for place in shared.places.values():
        for each in place.values():
            text = text.replace(each, "?")
    return re.sub(r"[\d.]+", "0", text)


async def test_what_is_anothers_is_as_what_is_nowhere(shared: Shared) -> None:
    async with over_http(shared.url, authorization=f"Bearer {shared.key}") as client:
        assert {each.name for each in (await client.list_tools()).tools} == ASKED.keys()
        for tool in ASKED:
            answers = [await ask(client, shared, tool, each) for each in ("closed", "nowhere")]
            assert "closed/nda.txt" not in answers[0], tool
            assert scrubbed(shared, answers[0]) == scrubbed(shared, answers[1]), tool
            own = await ask(client, shared, tool, "open")
            assert tool in NAMELESS or any(each in own for each in shared.places["open"].values())
        for kind in ("document", "chunk"):
            errors = []
            for about in ("closed", "nowhere"):
                with pytest.raises(Exception, match="there is no") as raised:
                    await client.read_resource(f"{kind}://{shared.places[about][kind]}")
                errors.append(scrubbed(shared, str(raised.value)))
            assert errors[0] == errors[1]
            await client.read_resource(f"{kind}://{shared.places['open'][kind]}")
        for prompt in (await client.list_prompts()).prompts:
            arguments = {each.name: "zebra" for each in prompt.arguments or []}
            assert "closed" not in str(await client.get_prompt(prompt.name, arguments))
