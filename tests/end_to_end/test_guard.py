"""What one caller may use: nothing beyond the datasets and rights of its key, by no method."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from lexichord import Lexichord
from lexichord.errors import (
    AccessError,
    ConfigError,
    DatabaseError,
    ForbiddenError,
    NotFoundError,
    ProviderError,
)
from lexichord.serve.access import AccessPolicy, ScopedClient, is_loopback
from lexichord.serve.errors import public_error, public_line
from lexichord.types import Rights

DOCUMENTS = {
    name: {"uri": f"{name}/nda.txt", "chunks": [{"content": f"zebra of {name}"}]}
    for name in ("open", "closed")
}
READER = Rights(("open",), writes=False, deletes=False, key_id=1)


@pytest.fixture
async def core(dsn: str) -> AsyncIterator[Lexichord]:
    async with Lexichord(dsn=dsn) as core:
        for name, document in DOCUMENTS.items():
            await core.ingest(documents=[document], dataset=name)
        yield core


async def test_every_search_stays_within_the_datasets_of_the_key(core: Lexichord) -> None:
    limited = ScopedClient(core, READER)
    searched = await limited.search("zebra", mode="keyword")
    files = await limited.files("zebra", mode="keyword")
    answered = await limited.query("zebra", mode="keyword")
    assert {hit.dataset for hit in [*searched.hits, *answered.hits]} == {"open"}
    assert {file.dataset for file in [*files.files, *answered.files]} == {"open"}
    assert [each.dataset for each in await limited.list()] == ["open"]
    assert [row["dataset"] for row in await limited.datasets()] == ["open"]
    everything = await ScopedClient(core).search("zebra", mode="keyword")
    assert {hit.dataset for hit in everything.hits} == {"open", "closed"}


async def test_a_document_out_of_reach_is_not_there_by_any_of_its_names(core: Lexichord) -> None:
    limited = ScopedClient(core, Rights(("open",)))
    (closed,) = await core.list(datasets=["closed"])
    chunk = (await core.show(closed.document_id)).chunks[0].chunk_id
    for name in (closed.document_id, str(closed.document_id), closed.uri):
        for method in (limited.show, limited.similar, lambda each: limited.delete([each])):
            with pytest.raises(NotFoundError):
                await method(name)
        with pytest.raises(NotFoundError):
            await limited.search("zebra", documents=[name])
    with pytest.raises(NotFoundError):
        await limited.expand(chunk)
    assert (await limited.show("nda.txt")).document.dataset == "open"  # no two to choose from
    assert len(await core.list()) == 2


@pytest.mark.parametrize("name", ["closed", "neither"])
async def test_whether_a_dataset_out_of_reach_is_there_is_not_told(
    core: Lexichord, name: str
) -> None:
    limited = ScopedClient(core, READER)
    refused: list[Callable[[], Awaitable[Any]]] = [
        lambda: limited.search("zebra", datasets=["open", name]),
        lambda: limited.files("zebra", datasets=[name]),
        lambda: limited.query("zebra", datasets=[name]),
        lambda: limited.list(datasets=[name]),
        lambda: limited.show("nda.txt", [name]),
    ]
    for call in refused:
        with pytest.raises(ForbiddenError, match=f"dataset {name}: it reaches 'open'$"):
            await call()


async def test_an_unknown_dataset_is_told_with_those_in_reach(core: Lexichord) -> None:
    with pytest.raises(NotFoundError, match=r"'none': take one of 'closed', 'open'$"):
        await ScopedClient(core).search("zebra", datasets=["none"])
    gone = ScopedClient(core, Rights(("open", "gone")))
    with pytest.raises(NotFoundError, match=r"'gone': the API key reaches 'gone', 'open'$"):
        await gone.search("zebra", datasets=["gone"])
    many = ScopedClient(core, Rights(tuple("abcdefg")))
    with pytest.raises(ForbiddenError, match=r"it reaches 'a', 'b', 'c', 'd', 'e' and 2 more$"):
        await many.list(datasets=["none"])


async def test_a_reader_writes_nothing_and_a_writer_only_within_reach(core: Lexichord) -> None:
    reader, writer = ScopedClient(core, READER), ScopedClient(core, Rights(("open",)))
    for refused in (
        reader.ingest(documents=[DOCUMENTS["open"]], dataset="open"),
        reader.delete(["nda.txt"]),
        writer.ingest(documents=[DOCUMENTS["open"]], dataset="closed"),
        writer.ingest(documents=[DOCUMENTS["open"]]),  # into "default"
    ):
        with pytest.raises(ForbiddenError):
            await refused
    assert (await writer.delete(["nda.txt"])) == 1
    assert [each.dataset for each in await core.list()] == ["closed"]


async def test_one_text_as_datasets_reaches_no_further_than_a_list(core: Lexichord) -> None:
    reader = ScopedClient(core, READER)
    assert await reader.count(datasets="open") == await reader.count(datasets=["open"]) > 0
    with pytest.raises(ForbiddenError, match="does not reach dataset closed: it reaches 'open'"):
        await reader.search("zebra", datasets="closed")


@pytest.mark.parametrize("rights", [READER, Rights()], ids=["some", "all"])
async def test_an_empty_list_is_not_all_in_reach(core: Lexichord, rights: Rights) -> None:
    empty: list[dict[str, Any]] = [{"datasets": []}, {"datasets": ()}, {"documents": []}]
    for limits in empty:
        for ask in (ScopedClient(core, rights).search, ScopedClient(core, rights).query):
            with pytest.raises(ConfigError, match="s is an empty list: name one at least"):
                await ask("zebra", **limits)
    with pytest.raises(ConfigError, match="datasets is an empty list"):
        await ScopedClient(core, rights).list(datasets=[])


async def test_an_empty_list_is_not_all_where_documents_are_changed_or_copied(
    core: Lexichord, dsn: str
) -> None:
    for act in (
        core.show("nda.txt", []),
        core.delete(["nda.txt"], []),
        core.set_metadata("nda.txt", {"a": 1}, []),
        core.page_image("nda.txt", 1, datasets=[]),
        core.copy_to(dsn, []),
        core.export_vechord("copy", iter(())),
        core.contextualize([]),
    ):
        with pytest.raises(ConfigError, match="datasets is an empty list"):
            await act
    assert len(await core.list()) == len(DOCUMENTS)


async def test_no_key_is_needed_where_only_this_machine_comes(core: Lexichord) -> None:
    door = await AccessPolicy.open(core, "127.0.0.1")
    assert (await door.authorize(None)).rights == Rights()
    created = await core.create_key("Ann", datasets=["open"])
    assert (await door.authorize(f"bearer {created.secret}")).rights.datasets == ("open",)
    with pytest.raises(AccessError, match="unknown"):
        await door.authorize("Bearer lx_wrong")


async def test_another_address_is_not_listened_on_without_a_valid_key(core: Lexichord) -> None:
    with pytest.raises(ConfigError, match="make a key"):
        await AccessPolicy.open(core, "0.0.0.0")
    created = await core.create_key("Ann")
    door = await AccessPolicy.open(core, "0.0.0.0")
    for header in (None, "", "Bearer", "Bearer ", created.secret, f"Basic {created.secret}"):
        with pytest.raises(AccessError, match="send an API key"):
            await door.authorize(header)
    assert (await door.authorize(f"Bearer {created.secret}")).rights.key_id == created.key.key_id
    await core.revoke_key(created.key.key_id)
    with pytest.raises(ConfigError, match="make a key"):
        await AccessPolicy.open(core, "0.0.0.0")


async def test_a_name_from_outside_needs_a_key_on_loopback_too(dsn: str) -> None:
    async with Lexichord(dsn=dsn, allowed_hosts="search.example.com") as core:
        with pytest.raises(ConfigError, match=r"search\.example\.com"):
            await AccessPolicy.open(core, "127.0.0.1")
        await core.create_key("Ann")
        door = await AccessPolicy.open(core, "127.0.0.1")
        assert door.needs_key
        assert "search.example.com" in door.hosts


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        *((each, True) for each in ("127.0.0.1", "127.8.8.8", "::1", "[::1]", "localhost")),
        *((each, False) for each in ("0.0.0.0", "::", "10.0.0.1", "localhost.example.com", "")),
    ],
)
def test_loopback_is_told_from_all_else(host: str, expected: bool) -> None:
    assert is_loopback(host) == expected


SECRET = "password=hunter2 /var/lib/secret select * from lexichord_data.api_key"


@pytest.mark.parametrize(
    ("error", "status"),
    [(DatabaseError(SECRET), 503), (ProviderError(SECRET), 502), (RuntimeError(SECRET), 500)],
)
def test_what_happens_inside_stays_inside(
    error: Exception, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    seen = public_error(error)
    assert seen.status == status
    assert "hunter2" not in seen.message
    assert seen.log_id is not None
    assert seen.log_id in seen.message
    assert f"{seen.log_id}: " in caplog.text
    assert "hunter2" in caplog.text


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        ("there is no model in /srv/models: fetch it", "there is no model in …: fetch it"),
        (
            "nda.txt may mean 2: 3 (/a/b/nda.txt); give the id",
            "nda.txt may mean 2: 3 (…); give the id",
        ),
        (
            "files are not reranked: http://10.0.0.7:8080/rerank: 500",
            "files are not reranked: … 500",
        ),
        ("POSTGRESQL://u:secret@db/x is away", "… is away"),
        ("(2+postgres://u:secret@db/x)", "(…"),
        ("'~/models/x' cannot be read", "'…' cannot be read"),
        (
            "there is no dataset 'x': select * from lexichord.list_datasets();",
            "there is no dataset 'x'",
        ),
        ("k and/or depth 3/4, either/or, 2026/11/21", "k and/or depth 3/4, either/or, 2026/11/21"),
    ],
)
def test_a_line_for_strangers_names_no_place_of_ours(line: str, seen: str) -> None:
    assert public_line(line) == seen
    assert public_error(ConfigError(line)).message == seen


async def test_jobs_are_those_of_the_datasets_in_reach(core: Lexichord) -> None:
    limited, everything = ScopedClient(core, READER), ScopedClient(core)
    (seen,) = await limited.jobs()
    assert (seen.dataset, seen.state, seen.inserted) == ("open", "finished", 1)
    assert await limited.job(seen.run_id) == seen
    latest, before = await everything.jobs()
    assert [latest, before] == sorted([latest, before], key=lambda job: -job.run_id)
    hidden = next(job for job in (latest, before) if job.dataset == "closed")
    with pytest.raises(NotFoundError):
        await limited.job(hidden.run_id)
    with pytest.raises(ForbiddenError):
        await limited.jobs(datasets=["closed"])
