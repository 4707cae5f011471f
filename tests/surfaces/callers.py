"""The five ways of asking, each through the real thing: what comes back, in one form."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import psycopg
from psycopg import errors
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from lexichord import SyncLexichord
from lexichord.db.session import with_texts
from lexichord.errors import (
    AccessError,
    ConfigError,
    ForbiddenError,
    LexichordError,
    NotFoundError,
    UnknownDatasetError,
)
from lexichord.serve.access import AccessPolicy
from tests.end_to_end.processes import run_cli
from tests.mcp.serving import over_http, read
from tests.surfaces.cases import Caller, Case, Refused, Surface

type Row = dict[str, Any]

CHANNELS = ("dense", "keyword", "fused")
STATUSES: dict[int, Refused] = {
    **{400: "invalid", 413: "invalid", 422: "invalid"},
    **{401: "unauthorised", 403: "forbidden", 404: "not found"},
}
KINDS: dict[str, Refused] = {
    "invalid_request_error": "invalid",
    "not_found_error": "not found",
    "permission_error": "forbidden",
    "authentication_error": "unauthorised",
}


@dataclass(frozen=True)
class Refusal:
    """Why nothing came back, and the line that says so."""

    kind: Refused
    line: str


type Answer = list[Row] | Refusal


@dataclass(frozen=True, eq=False)
class House:
    """A database, what serves it, and the keys and roles of those who ask."""

    lexichord: SyncLexichord
    http: str
    mcp: str
    keys: Mapping[Caller, str | None]
    roles: Mapping[Caller, str]  # addresses of the database


def by_python(house: House, case: Case) -> Answer:
    """As a program that checks keys itself."""
    key = house.keys[case.caller]

    async def ask() -> list[Row]:
        door = AccessPolicy(house.lexichord.core, "127.0.0.1", (), needs_key=True)
        limited = await door.authorize(key and f"Bearer {key}")
        if case.what == "files":
            files = await limited.files(case.query, **case.options)
            return [file.to_dict() for file in files.files]
        result = await limited.search(case.query, **case.options)
        return [hit.to_dict() for hit in result.hits]

    try:
        return house.lexichord.run(ask())
    except LexichordError as error:
        kinds: dict[type[LexichordError], Refused] = {
            NotFoundError: "not found",
            UnknownDatasetError: "not found",
            ConfigError: "invalid",
            ForbiddenError: "forbidden",
            AccessError: "unauthorised",
        }
        return Refusal(kinds[type(error)], str(error))


def by_cli(house: House, case: Case) -> Answer:
    """As `lexichord search ... --json`, by a role of the caller's."""
    names = {"uri_prefix": "--under", "datasets": "--dataset", "documents": "--document", "k": "-k"}
    arguments = [case.what, "--json"]
    for name, value in case.options.items():
        for each in value if isinstance(value, list) else [value]:
            text = json.dumps(each) if name == "filter" else str(each)
            arguments += [names.get(name, f"--{name}"), text]
    home = house.lexichord.core.settings.home
    run = run_cli(house.roles[case.caller], home, *arguments, "--", case.query)
    if run.exit_code == 0:
        result = json.loads(run.stdout)
        return list(result["files" if case.what == "files" else "hits"])
    line = run.stderr.strip().removeprefix("lexichord: ")
    if "permission denied" in line:
        return Refusal("unauthorised", line)
    assert run.exit_code == 2, run.stderr
    return Refusal("not found" if line.startswith("there is no d") else "invalid", line)


def by_sql(house: House, case: Case) -> Answer:
    """As an application that has its own vectors and speaks SQL only."""
    embedder = house.lexichord.core.embedder
    assert embedder is not None
    (vector,) = embedder.embed([case.query], "query")
    arguments: Row = {"query": case.query, "query_vector": str([float(x) for x in vector])}
    for name, value in case.options.items():
        if name == "mode":
            arguments["weights"] = {"dense": [1.0, 0.0], "keyword": [0.0, 1.0]}[value]
        else:
            arguments[name] = Jsonb(value) if name == "filter" else value
    function = "discover_files" if case.what == "files" else "hybrid_search"
    named = ", ".join(f"{name} => %({name})s" for name in arguments)
    with psycopg.connect(house.roles[case.caller], row_factory=dict_row) as connection:
        try:
            ids = "select document_id from lexichord.find_documents(%s)"
            if "documents" in arguments:  # by name in all other surfaces
                known = [
                    connection.execute(ids, [name]).fetchone() for name in arguments["documents"]
                ]
                arguments["documents"] = [each["document_id"] if each else 0 for each in known]
            statement = f"select * from lexichord.{function}({named})".encode()
            rows = connection.execute(statement, arguments).fetchall()
        except errors.InsufficientPrivilege as error:
            return Refusal("unauthorised", str(error))
        except errors.NoDataFound as error:
            return Refusal("not found", _line(error))
        except psycopg.DataError as error:
            return Refusal("invalid", _line(error))
    rows = with_texts(house.lexichord.core.database.ids, function, rows)
    return [_file(row) if case.what == "files" else _hit(row) for row in rows]


def _line(error: psycopg.Error) -> str:
    primary, hint = error.diag.message_primary, error.diag.message_hint
    return f"{primary}: {hint[0].lower()}{hint[1:]}" if hint else str(primary)


def _hit(row: Row) -> Row:
    """Give a row the form of a hit."""
    same = {name.removeprefix("char_"): value for name, value in row.items()}
    scores = {name: same.pop(f"{name}_score") for name in CHANNELS}
    ranks = {name: same.pop(f"{name}_rank") for name in CHANNELS[:2]}
    return {**same, "scores": scores, "ranks": ranks}


def _file(row: Row) -> Row:
    scores = {"chunks": row.pop("chunk_score"), "card": row.pop("card_score")}
    return {**row, "scores": scores}


def by_http(house: House, case: Case) -> Answer:
    """As any program that speaks HTTP."""
    key = house.keys[case.caller]
    path = "/v1/files:discover" if case.what == "files" else "/v1/search"
    reply = httpx.post(
        house.http + path,
        json={"query": case.query, **case.options},
        headers=_header(key),
        timeout=60,
    )
    body = reply.json()
    if reply.status_code == 200:
        return list(body["files" if case.what == "files" else "hits"])
    return Refusal(STATUSES[reply.status_code], body["error"]["message"])


def _header(key: str | None) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"} if key else {}


def by_mcp(house: House, case: Case) -> Answer:
    """As an agent, through kbbridge's tools."""
    first = httpx.post(house.mcp, json={}, headers=_header(house.keys[case.caller]), timeout=60)
    if first.status_code == 401:  # what the client makes of that is its own affair
        return Refusal("unauthorised", first.json()["message"])
    return asyncio.run(_by_mcp(house, case))


async def _by_mcp(house: House, case: Case) -> Answer:
    tool = "file_discover" if case.what == "files" else "retriever"
    async with over_http(house.mcp, **_header(house.keys[case.caller])) as client:
        reply = await client.call_tool(tool, _arguments(case))
    body = read(reply)
    if reply.is_error:
        return Refusal(KINDS[body["type"]], body["details"])
    rows = body["files" if case.what == "files" else "result"]
    return [{name: value for name, value in row.items() if name != "document_name"} for row in rows]


def _arguments(case: Case) -> Row:
    options = dict(case.options)
    mode = options.pop("mode", "hybrid")
    own: Row = {"query": case.query}
    if case.what == "files":
        own["top_k_return"] = options.pop("k", 10)
    else:
        methods = {"dense": "semantic_search", "keyword": "keyword_search"}
        own["search_method"] = methods.get(mode, "hybrid_search")
        own |= {"top_k": options.pop("k", 10), "verbose": True, "weights": 0.4}
    options.pop("depth", None)  # as deep as k asks for
    for name, theirs in (("datasets", "dataset_id"), ("documents", "document_name")):
        if name in options:
            (own[theirs],) = options.pop(name)
    if "uri_prefix" in options:
        own["source_path"] = options.pop("uri_prefix")
    assert not options, options
    return own


SURFACES: dict[Surface, Callable[[House, Case], Answer]] = {
    "Python": by_python,
    "CLI": by_cli,
    "SQL": by_sql,
    "HTTP": by_http,
    "MCP": by_mcp,
}
