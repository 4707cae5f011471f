"""API keys: kept nowhere, limited, ended, renewed; what they are used for is on record."""

import asyncio
import inspect
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from lexichord import Lexichord, SyncLexichord
from lexichord.db import catalogue
from lexichord.errors import (
    AccessError,
    ConfigError,
    KeyExpiredError,
    LexichordError,
    MissingScopeError,
    NotFoundError,
    TooManyRequestsError,
)
from lexichord.serve import limits, permissions
from lexichord.serve.access import LOOPBACK_NAMES, AccessPolicy, ScopedClient
from lexichord.serve.limits import RequestRates
from lexichord.serve.permissions import CallLog
from lexichord.types import ApiCall, NewApiKey, Rights
from tests.conftest import SPACE


def stored(lexichord: SyncLexichord) -> str:
    with psycopg.connect(lexichord.core.database.dsn) as connection:
        rows = connection.execute("select k::text from lexichord_data.api_key k").fetchall()
    return " ".join(row for (row,) in rows)


def test_a_key_gives_the_rights_that_it_was_made_with(plain: SyncLexichord) -> None:
    created = plain.create_key("Ann", datasets=["nda", "lease", "nda"], writes=True)
    assert plain.check_key(created.secret) == Rights(
        ("nda", "lease"), True, created.key.key_id, deletes=False
    )
    assert plain.check_key(plain.create_key("all").secret).datasets is None
    assert not plain.check_key(plain.create_key("reads").secret).writes


def test_the_secret_is_in_no_table_and_in_no_list(plain: SyncLexichord) -> None:
    created = plain.create_key("Ann")
    secret = created.secret.removeprefix("lx_")
    listed = [key.to_dict() for key in plain.list_keys()]
    assert len(secret) >= 43  # 256 bits
    assert secret not in stored(plain) + str(listed)
    assert secret.encode().hex() not in stored(plain)
    assert datetime.fromisoformat(listed[-1]["created_at"]).tzinfo is not None


@pytest.mark.parametrize("change", [str.upper, lambda s: s[:-1], lambda s: s + "a", lambda s: ""])
def test_another_secret_is_refused(plain: SyncLexichord, change: object) -> None:
    assert callable(change)
    secret = plain.create_key("Ann").secret
    with pytest.raises(AccessError, match="unknown or revoked"):
        plain.check_key(change(secret))


def test_a_revoked_key_opens_nothing_and_cannot_be_revoked_again(plain: SyncLexichord) -> None:
    created = plain.create_key("Ann")
    plain.revoke_key(created.key.key_id)
    with pytest.raises(AccessError):
        plain.check_key(created.secret)
    with pytest.raises(NotFoundError, match="no valid key"):
        plain.revoke_key(created.key.key_id)
    assert next(key for key in plain.list_keys() if key.key_id == created.key.key_id).revoked_at


@pytest.mark.parametrize(
    ("name", "datasets"),
    [
        *(("", None), ("Ann", [""])),
        *((" ", None), ("\u200b", None), ("a\nb", None), ("x" * 2001, None)),
        ("Ann", ["open", " "]),
    ],
)
def test_a_key_for_nobody_or_nothing_is_not_made(
    plain: SyncLexichord, name: str, datasets: list[str] | None
) -> None:
    with pytest.raises(ConfigError, match="needs a name"):
        plain.create_key(name, datasets=datasets)


def test_a_key_of_no_dataset_is_not_made(plain: SyncLexichord) -> None:
    with pytest.raises(ConfigError, match="reaches no dataset opens nothing"):
        plain.create_key("Ann", datasets=[])


DAY = timedelta(days=1)


def change(lexichord: SyncLexichord, assignment: str, key: int) -> None:
    """Let a key's time pass, for no test waits for it."""
    with psycopg.connect(lexichord.core.database.dsn, autocommit=True) as connection:
        connection.execute(
            f"update lexichord_data.api_key set {assignment} where id = %s".encode(), [key]
        )


def test_a_key_ends_when_it_was_to_and_says_so(plain: SyncLexichord) -> None:
    made = plain.create_key("Ann", lasts=90 * DAY)
    assert made.key.expires_at is not None
    assert timedelta() <= made.key.expires_at - made.key.created_at - 90 * DAY < timedelta(hours=2)
    assert plain.check_key(made.secret).key_id == made.key.key_id
    change(plain, "expires_at = '2026-02-03 12:00+00'", made.key.key_id)
    with pytest.raises(KeyExpiredError, match=r"^this key expired on 2026-02-03: make a new one"):
        plain.check_key(made.secret)
    (listed,) = [key for key in plain.list_keys() if key.key_id == made.key.key_id]
    assert not listed.valid
    plain.revoke_key(made.key.key_id)
    with pytest.raises(AccessError, match="unknown or revoked"):
        plain.check_key(made.secret)


def test_old_and_new_key_are_valid_for_the_overlap(plain: SyncLexichord) -> None:
    old = plain.create_key(
        "Ann", datasets=["a"], writes=True, lasts=30 * DAY, requests_per_minute=7
    )
    new = plain.rotate_key(old.key.key_id, overlap=timedelta(hours=2))
    rights, renewed = plain.check_key(old.secret), plain.check_key(new.secret)
    assert (renewed.datasets, renewed.writes, renewed.deletes) == (("a",), True, False)
    assert (renewed.requests_per_minute, renewed.key_id) == (7, new.key.key_id)
    assert (new.key.name, new.key.renews) == ("Ann", rights.key_id)
    assert new.key.expires_at is not None
    assert new.key.expires_at - new.key.created_at >= 29 * DAY  # a whole span, not what was left
    (ending,) = [key for key in plain.list_keys() if key.key_id == old.key.key_id]
    assert ending.expires_at is not None
    assert timedelta(hours=1) < ending.expires_at - datetime.now(UTC) <= timedelta(hours=2)
    change(plain, "expires_at = now()", old.key.key_id)
    with pytest.raises(KeyExpiredError):
        plain.check_key(old.secret)
    assert plain.check_key(new.secret)


def test_a_rotation_never_lengthens_the_old_key(plain: SyncLexichord) -> None:
    old = plain.create_key("Ann", lasts=DAY)
    plain.rotate_key(old.key.key_id, overlap=10 * DAY)
    (ending,) = [key for key in plain.list_keys() if key.key_id == old.key.key_id]
    assert ending.expires_at == old.key.expires_at


def test_only_a_valid_key_is_rotated_and_once(plain: SyncLexichord) -> None:
    old, gone, over = (plain.create_key(name) for name in ("old", "gone", "over"))
    plain.revoke_key(gone.key.key_id)
    change(plain, "expires_at = now()", over.key.key_id)
    new = plain.rotate_key(old.key.key_id)
    for number in (gone.key.key_id, over.key.key_id, old.key.key_id, 10**9):
        with pytest.raises(NotFoundError, match=f"no valid key {number} that no other renews"):
            plain.rotate_key(number)
    plain.revoke_key(new.key.key_id)  # its secret was lost, say
    again = plain.rotate_key(old.key.key_id)
    assert again.key.expires_at is None
    assert plain.check_key(again.secret)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lasts": timedelta()}, "more than no time"),
        ({"lasts": -DAY}, "more than no time"),
        ({"lasts": 40_000 * DAY}, "at most 36,500 days"),
        ({"requests_per_minute": 0}, "requests_per_minute is 1 to"),
        ({"requests_per_minute": 10**9}, "requests_per_minute is 1 to"),
        ({"reads": False}, "neither read, write nor delete"),
    ],
)
def test_a_key_that_opens_nothing_is_not_made(
    plain: SyncLexichord, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        plain.create_key("Ann", **options)


def test_a_key_may_send_so_many_requests_in_any_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(limits, "monotonic", lambda: now)
    rates = RequestRates()
    for _ in range(3):
        rates.count(1, 3)
        now += 10
    rates.count(2, 1)  # another's requests are its own
    with pytest.raises(TooManyRequestsError, match="3 requests a minute: try again in 30 s") as hit:
        rates.count(1, 3)
    assert hit.value.retry_after == 30
    now += 29
    with pytest.raises(TooManyRequestsError):
        rates.count(1, 3)
    now += 1
    rates.count(1, 3)  # a refused request did not count
    with pytest.raises(TooManyRequestsError, match="in 10 s"):
        rates.count(1, 3)


@pytest.fixture
def filled(plain: SyncLexichord) -> str:
    """A database with a document in each of two datasets."""
    for name in ("open", "closed"):
        chunk = {"content": f"zebra of {name}", "vector": [1.0, 0.0, 0.0, 0.0]}
        document = {"uri": f"{name}/nda.txt", "chunks": [chunk], "space": str(SPACE)}
        plain.ingest(documents=[document], dataset=name)
    return plain.core.database.dsn


@pytest.fixture
async def served(filled: str) -> AsyncIterator[tuple[Lexichord, AccessPolicy]]:
    async with Lexichord(dsn=filled) as core:
        policy = AccessPolicy(core, "127.0.0.1", LOOPBACK_NAMES, True, CallLog(core))
        yield core, policy
        await policy.aclose()


type Served = tuple[Lexichord, AccessPolicy]


async def test_a_key_that_ends_watches_no_further(served: Served) -> None:
    core, policy = served
    made = await core.create_key("Ann")
    scoped = await policy.authorize(f"Bearer {made.secret}")
    (row,) = await core.database.call("start_run", dataset="nda", source="files", total=1)
    looks = scoped.watch_job(row["start_run"], 10, 0.01)
    run, _ = await anext(looks)
    assert run.state == "running"
    await core.revoke_key(made.key.key_id)
    with pytest.raises(AccessError, match="revoked"):
        await anext(looks)


# A call of each method of `ScopedClient`, with the deed that it is.
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "search": ("read", {"query": "zebra", "datasets": ["open"], "mode": "keyword"}),
    "files": ("read", {"query": "zebra"}),
    "keywords": ("read", {"query": "zebra"}),
    "query": ("read", {"query": "zebra"}),
    "similar": ("read", {"document": "DOC"}),
    "list": ("read", {}),
    "count": ("read", {}),
    "count_by": ("read", {"key": "title"}),
    "complete": ("read", {"beginning": "zeb"}),
    "passages": ("read", {"response": None, "k": 1}),
    "show": ("read", {"document": "DOC"}),
    "page_image": ("read", {"document": "DOC", "page": 1}),
    "boxes": ("read", {"document": "DOC", "start": 0, "end": 1}),
    "page_sizes": ("read", {"document": "DOC"}),
    "original": ("read", {"document": "DOC"}),
    "expand": ("read", {"chunk": "CHUNK"}),
    "datasets": ("read", {}),
    "jobs": ("read", {}),
    "job": ("read", {"job": 1}),
    "cancel_job": ("write", {"job": 1}),
    "job_files": ("read", {"job": 1, "limit": 10}),
    "tables": ("read", {}),
    "set_metadata": ("write", {"document": "DOC", "changes": {"year": 1}}),
    "ingest": ("write", {"documents": [{"uri": "n", "text": "gnu"}], "dataset": "open"}),
    "move": ("delete", {"documents": ["DOC"], "dataset": "open"}),
    "reread": ("write", {"document": "DOC"}),
    "delete": ("delete", {"documents": ["DOC"]}),
    "embed": ("read", {"texts": ["zebra"]}),
    "judge": ("write", {"judgment_id": "q", "right": True}),
    "status": ("read", {}),
    "doctor": ("write", {}),
    "evaluations": ("read", {"latest": 1}),
    "evaluation_results": ("read", {"evaluation": 1}),
    "kept_files": ("read", {}),
    "kept_content": ("read", {"file_id": "file-none"}),
    "describe_datasets": ("read", {}),
    "dataset_files": ("read", {"dataset": "open"}),
    "keep_file": (
        "write",
        {"name": "a.md", "media_type": "", "purpose": "assistants", "content": b"gnu"},
    ),
    "check_files": ("write", {"file_ids": []}),
    "define_dataset": ("write", {"dataset": "open", "details": {}}),
    "ingest_files": ("write", {"dataset": "open", "attributes": {}, "on_run": print}),
    "add_dataset_files": ("write", {"dataset": "open", "run": 1, "attributes": {}}),
    "delete_file": ("delete", {"file_id": "file-none"}),
    "remove_dataset_file": ("delete", {"dataset": "open", "file_id": "file-none"}),
    "rename_dataset": ("write", {"dataset": "gone", "new_name": "open"}),
    "delete_dataset": ("delete", {"dataset": "gone"}),
}


def methods() -> set[str]:
    return {
        name
        for name, value in inspect.getmembers(ScopedClient)
        if inspect.iscoroutinefunction(value) and not name.startswith("_")
    }


async def attempt(scoped: ScopedClient, name: str, ids: dict[str, str]) -> LexichordError | None:
    arguments = {
        key: ids.get(value, value) if isinstance(value, str) else value
        for key, value in CALLS[name][1].items()
    }
    if name in ("delete", "move"):
        arguments["documents"] = [ids["DOC"]]
    try:
        await getattr(scoped, name)(**arguments)
    except LexichordError as error:
        return error
    except AttributeError:  # of passages, whose response is none
        assert name == "passages"
    return None


async def known_ids(core: Lexichord) -> dict[str, str]:
    (row, *_) = await core.list(datasets=["open"])
    shown = await core.show(row.document_id)
    return {"DOC": row.document_id, "CHUNK": shown.chunks[0].chunk_id}


async def on_record(core: Lexichord, key: NewApiKey) -> list[ApiCall]:
    return [*reversed(await core.list_calls(1000, key=key.key.key_id))]


def test_no_method_is_forgotten_here() -> None:
    assert methods() == {*CALLS}


async def test_each_deed_needs_its_own_right(served: Served) -> None:
    core, policy = served
    ids = await known_ids(core)
    rights = ("reads", "writes", "deletes")
    for own, deed in zip(rights, ("read", "write", "delete"), strict=True):
        # All but this right: what is refused is what needs it, and nothing else.
        made = await core.create_key(
            "all but", reads=own != "reads", writes=own != "writes", deletes=own != "deletes"
        )
        scoped = await policy.authorize(f"Bearer {made.secret}")
        refused = set()
        for name in sorted(CALLS, key=lambda name: CALLS[name][0] == "delete"):
            error = await attempt(scoped, name, ids)
            if isinstance(error, MissingScopeError):
                option = "without --no-read" if deed == "read" else f"with --{deed}"
                assert f"make one {option}" in str(error)
                refused.add(name)
        needing = {name for name, (needed, _) in CALLS.items() if needed == deed}
        # What a change or a check returns is read; a job is seen by who may write, too.
        if deed == "write":  # and it deletes where they were
            needing |= {"move"}
        if deed == "read":
            needing = (needing | {"set_metadata", "doctor"}) - {"job", "job_files"}
        assert refused == needing, deed


async def test_every_call_is_on_record_without_its_words(served: Served) -> None:
    core, policy = served
    ids, made = await known_ids(core), await core.create_key("Ann", datasets=["open", "closed"])
    scoped = await policy.authorize(f"Bearer {made.secret}")
    errors = [await attempt(scoped, name, ids) for name in CALLS]
    await policy.aclose()
    recorded = await on_record(core, made)
    assert [call.kind for call in recorded] == [*CALLS]
    assert recorded[0].datasets == ("open",)  # those asked for
    assert recorded[1].datasets == ("open", "closed")  # all in reach
    assert recorded[-3].datasets == ("open",)
    for call, error in zip(recorded, errors, strict=True):
        assert call.query is None
        if error is None and call.kind != "passages":
            assert call.status == 200
        if isinstance(error, MissingScopeError):
            assert call.status == 403
    assert {call.status for call in recorded} >= {200, 403}
    (listed,) = [key for key in await core.list_keys() if key.key_id == made.key.key_id]
    assert listed.last_used_at is not None


@pytest.mark.parametrize(
    ("audit", "kept"), [("off", []), ("on", [None]), ("text", ["zebra\ufffd"])]
)
async def test_words_are_kept_only_if_asked_for(
    filled: str, audit: str, kept: list[str | None]
) -> None:
    async with Lexichord(dsn=filled, audit=audit) as core:
        policy = AccessPolicy(core, "127.0.0.1", LOOPBACK_NAMES, True, CallLog(core))
        made = await core.create_key("Ann")
        scoped = await policy.authorize(f"Bearer {made.secret}")
        with pytest.raises(LexichordError):  # no text in Postgres holds it
            await scoped.search("zebra\0", datasets=["nothing\ud800"], mode="keyword")
        await policy.aclose()
        assert [call.query for call in await on_record(core, made)] == kept
        (listed,) = [key for key in await core.list_keys() if key.key_id == made.key.key_id]
        assert listed.last_used_at is not None


async def test_refusals_of_known_keys_are_on_record(served: Served) -> None:
    core, policy = served
    made = await core.create_key("Ann", requests_per_minute=1)
    await policy.authorize(f"Bearer {made.secret}")
    with pytest.raises(TooManyRequestsError):
        await policy.authorize(f"Bearer {made.secret}")
    over = await core.create_key("Bo", lasts=timedelta(milliseconds=1))
    await asyncio.sleep(0.01)
    with pytest.raises(KeyExpiredError):
        await policy.authorize(f"Bearer {over.secret}")
    await policy.aclose()
    for key, status in ((made, 429), (over, 401)):
        assert [(call.kind, call.status) for call in await on_record(core, key)] == [
            ("authorize", status)
        ]


async def test_what_could_not_be_written_is_written_later(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    core, policy = served
    monkeypatch.setattr(permissions, "RECORD_SECONDS", 0.01)
    made = await core.create_key("Ann")
    scoped = await policy.authorize(f"Bearer {made.secret}")
    async with core.database.transaction() as connection:
        await connection.execute("lock table lexichord_data.api_call")
        await connection.execute("alter table lexichord_data.api_call rename to api_call_away")
    await scoped.count()
    await asyncio.sleep(0.1)
    async with core.database.transaction() as connection:
        await connection.execute("alter table lexichord_data.api_call_away rename to api_call")
    await policy.aclose()
    assert [call.kind for call in await on_record(core, made)] == ["count"]


async def test_a_busy_key_is_not_written_more_than_once_a_minute(served: Served) -> None:
    core, _ = served
    made = await core.create_key("Ann")
    called = {"key_id": made.key.key_id, "kind": "count", "status": 200}

    async def last_used(at: str) -> datetime | None:
        await catalogue.record_api_calls(core.database, [{**called, "called_at": at}], keep=False)
        (listed,) = [key for key in await core.list_keys() if key.key_id == made.key.key_id]
        return listed.last_used_at

    first = await last_used("2026-01-31T12:00:00Z")
    assert await last_used("2026-01-31T12:00:59Z") == first
    later = await last_used("2026-01-31T12:01:01Z")
    assert later is not None
    assert first is not None
    assert later > first
