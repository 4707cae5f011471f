"""A file that was sent is deleted, taken out or moved while an ingest stores it again."""

import zipfile
from collections.abc import AsyncIterator, Callable
from functools import partial
from io import BytesIO
from pathlib import Path

import psycopg
import pytest

from lexichord import Lexichord
from lexichord.errors import ForbiddenError, NotFoundError
from lexichord.serve.access import ScopedClient
from lexichord.types.state import Rights
from tests.conftest import SPACE
from tests.end_to_end.hashing import Hashing

TEXT = "The tenant of the zebra house pays the rent monthly."
DELETE = "select lexichord.delete_file(id) from lexichord_data.file"
TAKE_OUT = "select lexichord.delete_file(id, 'zoo') from lexichord_data.file"
MOVE = "select lexichord.move_documents(array_agg(id), 'farm') from lexichord_data.document"


@pytest.fixture
async def core(dsn: str, tmp_path: Path) -> AsyncIterator[Lexichord]:
    async with Lexichord(dsn=dsn, home=tmp_path) as core:
        core.embedder = Hashing(str(SPACE))
        yield core


def change(dsn: str, statement: str, _: int) -> None:
    """Change the database as an ingest begins, from another connection."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(statement.encode())


def ignore(_: object) -> None:
    """Hear nothing."""


async def store(core: Lexichord, file_id: str, on_run: Callable[[int], None]) -> dict[str, str]:
    """Store a sent file; return why what of it failed."""
    heard = {"on_chunks": ignore, "on_estimate": ignore, "on_reading": ignore}
    report = await ScopedClient(core).ingest_files("zoo", {file_id: {}}, on_run=on_run, **heard)
    return report.failed


def archive() -> bytes:
    content = BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        for number in range(3):
            file.writestr(f"{number}.txt", f"{TEXT} It is number {number}.")
    return content.getvalue()


@pytest.mark.parametrize(
    ("name", "content"), [("a.txt", TEXT.encode()), ("a.zip", archive())], ids=["text", "archive"]
)
@pytest.mark.parametrize(
    ("statement", "left"),
    [(DELETE, set()), (TAKE_OUT, set()), (MOVE, {"farm"})],
    ids=["deleted", "taken out", "moved"],
)
async def test_what_is_gone_from_a_dataset_meanwhile_is_not_stored_in_it(
    core: Lexichord, name: str, content: bytes, statement: str, left: set[str]
) -> None:
    await ScopedClient(core).define_dataset("zoo", {})
    row = await ScopedClient(core).keep_file(name, "", "assistants", content)
    assert await store(core, row["file_id"], ignore) == {}
    # As a newer version of lexichord would store it again.
    change(core.database.dsn, "update lexichord_data.document set recipe = 'older'", 0)
    failed = await store(core, row["file_id"], partial(change, core.database.dsn, statement))
    assert set(failed.values()) == {"it was deleted or moved before it was stored"}
    assert {each.dataset for each in await core.list()} == left


async def test_a_file_of_a_wider_key_is_taken_out_of_a_dataset_and_not_deleted(
    core: Lexichord,
) -> None:
    await ScopedClient(core).define_dataset("zoo", {})
    row = await ScopedClient(core).keep_file("a.txt", "", "assistants", TEXT.encode())
    assert await store(core, row["file_id"], ignore) == {}
    narrow = ScopedClient(core, Rights(("zoo",), writes=True))
    with pytest.raises(ForbiddenError, match="also where the key does not reach"):
        await narrow.delete_file(row["file_id"])
    assert len(await core.list()) == 1
    await narrow.remove_dataset_file("zoo", row["file_id"])
    assert await core.list() == []
    with pytest.raises(NotFoundError):
        await narrow.delete_file(row["file_id"])
    assert await ScopedClient(core).kept_content(row["file_id"]) == TEXT.encode()


async def test_a_file_that_is_gone_before_it_is_stored_at_all_is_not_stored(
    core: Lexichord,
) -> None:
    await ScopedClient(core).define_dataset("zoo", {})
    row = await ScopedClient(core).keep_file("a.txt", "", "assistants", TEXT.encode())
    gone = "delete from lexichord_data.file"
    failed = await store(core, row["file_id"], partial(change, core.database.dsn, gone))
    assert set(failed.values()) == {"it was deleted or moved before it was stored"}
    assert await core.list() == []
