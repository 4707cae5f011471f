"""What names a document or a chunk on every surface: this database's text, never its number."""

import asyncio
import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from llama_index.core.schema import NodeWithScore
from mcp.shared.exceptions import MCPError

from lexichord import SyncLexichord
from lexichord.db import schema
from lexichord.db.embedded import PROGRAMS
from lexichord.errors import NotFoundError
from lexichord.langchain import LexichordRetriever as LangChainRetriever
from lexichord.llama_index import LexichordRetriever as LlamaIndexRetriever
from lexichord.providers.embed.local import LocalEmbedder
from lexichord.types import Explanation
from lexichord.types.base import ID_EXAMPLE, IdKind, Ids
from tests.conftest import SAMPLES, new_database
from tests.end_to_end.processes import run_cli
from tests.http.served import serving
from tests.mcp.serving import Place, over_stdio, read
from tests.sql.corpus import call

# Numbers that nothing else is: where one stands in a text, it is an id's.
FIRST_DOCUMENT, FIRST_CHUNK = 7317317001, 8428428001
A_NUMBER = re.compile(r"7317317\d{3}|8428428\d{3}")
AN_ID = re.compile(r"\b(doc|chunk)_([a-z2-7]{16})\b")
NOUNS: dict[IdKind, str] = {"doc": "document", "chunk": "chunk"}
QUESTION = "Compare the governing law of the lease and the master services agreement"


@dataclass(frozen=True)
class Numbered:
    """A server's database with its numbers, the application on it, and an address."""

    dsn: str
    home: Path
    lexichord: SyncLexichord
    url: str

    @property
    def ids(self) -> Ids:
        return self.lexichord.core.database.ids


@pytest.fixture(scope="module")
def numbered(embedded_dsn: str, embedder: LocalEmbedder, home: Path) -> Iterator[Numbered]:
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice())
        with psycopg.connect(dsn) as connection:
            for table, first in (("document", FIRST_DOCUMENT), ("chunk", FIRST_CHUNK)):
                restart = f"alter table lexichord_data.{table} alter column id restart with {first}"
                connection.execute(restart.encode())
        with SyncLexichord(dsn=dsn, home=home, record="text") as lexichord:
            lexichord.ingest([SAMPLES / "agreements", SAMPLES / "policies"])
            with serving(lexichord) as url:
                yield Numbered(dsn, home, lexichord, url)


def check(numbered: Numbered, text: str) -> None:
    """Fail where a number stands, an id that the database does not know, or none at all."""
    assert (number := A_NUMBER.search(text)) is None, text[max(0, number.start() - 200) :][:400]
    with psycopg.connect(numbered.dsn) as connection:
        known: dict[IdKind, set[int]] = {
            "doc": {row["document_id"] for row in call(connection, "list_documents")},
            "chunk": {id for (id,) in connection.execute("select id from lexichord_data.chunk")},
        }
    found = {match[0]: match[1] for match in AN_ID.finditer(text)}
    assert found
    for each, kind in found.items():
        assert numbered.ids.read(kind, each) in known[kind]  # type: ignore[index, arg-type]


def test_python(numbered: Numbered) -> None:
    lexichord = numbered.lexichord
    response = lexichord.query(QUESTION, answer=True, rewrite=True, reflect=True)
    hit = response.hits[0]
    results = [
        response,
        Explanation(response),
        lexichord.search(QUESTION),
        lexichord.files(QUESTION),
        lexichord.similar(hit.document_id),
        lexichord.list(documents=[hit.document_id]),
        lexichord.show(hit.document_id),
        lexichord.expand(hit.chunk_id),
    ]
    for each in results:
        check(numbered, json.dumps(each.to_dict()))
        assert not A_NUMBER.search(f"{each}\n{each._repr_html_()}")
    assert response.comparison is not None
    assert lexichord.count(documents=[hit.document_id]) == 1


def test_a_recorded_query_keeps_what_it_found(numbered: Numbered) -> None:
    response = numbered.lexichord.query("notice of termination")
    with psycopg.connect(numbered.dsn) as connection:
        rows = call(connection, "query_hits", query_id=response.query_id)
    kept = [numbered.ids.write("chunk", row["chunk_id"]) for row in rows]
    assert kept == [hit.chunk_id for hit in response.hits]
    assert [row["current_chunk_id"] for row in rows] == [row["chunk_id"] for row in rows]


def test_http(numbered: Numbered) -> None:
    query, question = {"query": QUESTION, "k": 3}, {"question": QUESTION}
    hit = numbered.lexichord.search(QUESTION).hits[0]
    document, chunk = f"/v1/documents/{hit.document_id}", f"/v1/chunks/{hit.chunk_id}"
    dify = {"knowledge_id": "default", "query": QUESTION, "retrieval_setting": {"top_k": 3}}
    requests: list[tuple[str, str, Any]] = [
        *(("POST", path, query) for path in ("/v1/search", "/v1/query", "/v1/files:discover")),
        ("POST", "/v1/search", {**query, "documents": [hit.document_id]}),
        *(("GET", path, None) for path in ("/v1/documents", document, f"{document}/similar")),
        ("GET", chunk, None),
        ("GET", f"/search?query={QUESTION}", None),
        ("POST", "/ask", question),
        ("POST", "/v1/vector_stores/default/search", {"query": QUESTION}),
        ("POST", "/retrieval", {**dify, "retrieval_setting": {"top_k": 3, "score_threshold": 0}}),
        *(("GET", path, None) for path in (f"/?q={QUESTION}", "/", f"/document/{hit.document_id}")),
    ]
    with httpx.Client(base_url=numbered.url, timeout=60) as client:
        for method, path, body in requests:
            answer = client.request(method, path, json=body)
            assert answer.status_code == 200, (path, answer.text)
            if path.startswith("/document/"):  # its address has the id
                assert not A_NUMBER.search(answer.text)
            else:
                check(numbered, answer.text)
        described = client.get("/openapi.json").text
        assert not A_NUMBER.search(described)


async def test_mcp(numbered: Numbered) -> None:
    found = (await asyncio.to_thread(numbered.lexichord.search, QUESTION)).hits[0]
    calls: list[tuple[str, dict[str, Any]]] = [
        ("assistant", {"query": QUESTION, "verbose": True}),
        ("retriever", {"query": QUESTION, "verbose": True}),
        ("retriever", {"query": QUESTION, "document_name": found.document_id}),
        ("file_discover", {"query": QUESTION}),
        ("file_lister", {}),
        ("search", {"query": QUESTION}),
        ("fetch", {"id": f"chunk://{found.chunk_id}"}),
        ("fetch", {"id": found.chunk_id}),
        ("fetch", {"id": f"document://{found.document_id}"}),
    ]
    async with over_stdio(Place(numbered.dsn, numbered.home)) as client:
        for tool, arguments in calls:
            result = await client.call_tool(tool, arguments)
            assert not result.is_error, read(result)
            texts = [content.model_dump_json() for content in result.content]
            assert not A_NUMBER.search("".join(texts)), tool
            if (tool, arguments) != ("fetch", {"id": f"document://{found.document_id}"}):
                check(numbered, "".join(texts))
        for kind, id in (("document", found.document_id), ("chunk", found.chunk_id)):
            (content,) = (await client.read_resource(f"{kind}://{id}")).contents
            assert not A_NUMBER.search(content.model_dump_json())
        for uri in (f"chunk://{found.document_id}", "chunk://8428428001", "document://7317317001"):
            with pytest.raises(MCPError):
                await client.read_resource(uri)


@pytest.mark.parametrize("form", [["--json"], []])
def test_cli(numbered: Numbered, form: list[str]) -> None:
    hit = numbered.lexichord.search(QUESTION).hits[0]
    commands = [
        ["query", QUESTION, "--explain", *form],
        ["search", QUESTION, "--document", hit.document_id, *form],
        ["list", *form],
        ["show", hit.document_id, *form],
        ["show", "--chunk", hit.chunk_id, *form],
    ]
    for command in commands:
        done = run_cli(numbered.dsn, numbered.home, *command)
        assert done.exit_code == 0, done.stderr
        assert not A_NUMBER.search(done.stdout + done.stderr)
        if form or command[0] == "list":
            check(numbered, done.stdout)


def test_langchain_and_llama_index(numbered: Numbered) -> None:
    documents = LangChainRetriever(lexichord=numbered.lexichord).invoke(QUESTION)
    check(numbered, "".join(each.model_dump_json() for each in documents))
    nodes: list[NodeWithScore] = LlamaIndexRetriever(numbered.lexichord).retrieve(QUESTION)
    check(numbered, "".join(each.model_dump_json() for each in nodes))


def unknown(numbered: Numbered, kind: IdKind) -> list[str]:
    """What has the form of an id and is none, and what once was one."""
    number = {"doc": FIRST_DOCUMENT, "chunk": FIRST_CHUNK}[kind]
    other: IdKind = "chunk" if kind == "doc" else "doc"
    return [
        ID_EXAMPLE[kind],
        Ids(b"another database").write(kind, number),
        numbered.ids.write(kind, 12),
        numbered.ids.write(other, number),
        numbered.ids.write(kind, number)[:-1],
        str(number),
        "",
    ]


def test_what_is_no_id_here_is_nowhere_one(numbered: Numbered) -> None:
    lexichord = numbered.lexichord
    for text in unknown(numbered, "doc"):
        said = f"^there is no document {text}: see lexichord list$"
        for ask in (lexichord.show, lexichord.similar):
            with pytest.raises(NotFoundError, match=said):
                ask(text)
        with pytest.raises(NotFoundError, match=said):
            lexichord.search(QUESTION, documents=[text])
        with pytest.raises(NotFoundError, match=said):
            lexichord.delete([text])
    for text in unknown(numbered, "chunk"):
        with pytest.raises(NotFoundError, match=f"^there is no chunk {text}: take the id of a hit"):
            lexichord.expand(text)
    assert lexichord.count() == 13


def test_what_is_no_id_here_has_a_status_over_http(numbered: Numbered) -> None:
    with httpx.Client(base_url=numbered.url, timeout=60) as client:
        paths: dict[IdKind, str] = {"doc": "/v1/documents/", "chunk": "/v1/chunks/"}
        for kind, path in paths.items():
            for text in filter(None, unknown(numbered, kind)):
                answer = client.get(path + text)
                assert answer.status_code == 404
                assert answer.json()["error"]["message"].startswith(f"there is no {NOUNS[kind]} ")
        for text in filter(None, unknown(numbered, "doc")):
            body = {"query": QUESTION, "documents": [text]}
            assert client.post("/v1/search", json=body).status_code == 404
            assert client.get(f"/document/{text}").status_code == 404
        numbers = {"query": QUESTION, "documents": [FIRST_DOCUMENT]}
        assert client.post("/v1/search", json=numbers).status_code == 422


def test_what_is_no_id_here_is_a_line_on_the_terminal(numbered: Numbered) -> None:
    for name in (str(FIRST_DOCUMENT), ID_EXAMPLE["doc"]):
        done = run_cli(numbered.dsn, numbered.home, "show", name)
        line = f"lexichord: there is no document {name}: see lexichord list\n"
        assert (done.exit_code, done.stderr) == (2, line)
    done = run_cli(numbered.dsn, numbered.home, "show", "--chunk", "12")
    line = "lexichord: there is no chunk 12: take the id of a hit\n"
    assert (done.exit_code, done.stderr) == (2, line)


def test_links_stay_what_they_are_after_a_dump_and_restore(
    numbered: Numbered, embedded_dsn: str
) -> None:
    before = {row.uri: row.document_id for row in numbered.lexichord.list()}
    dump = [str(PROGRAMS / "pg_dump"), "-Fc", "-d", numbered.dsn]
    with new_database(embedded_dsn) as restored:
        dumped = subprocess.run(dump, capture_output=True, check=True).stdout
        load = [str(PROGRAMS / "pg_restore"), "--exit-on-error", "-d", restored]
        subprocess.run(load, input=dumped, capture_output=True, check=True)
        with SyncLexichord(dsn=restored, home=numbered.home) as lexichord:
            assert {row.uri: row.document_id for row in lexichord.list()} == before
