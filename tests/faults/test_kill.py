"""kill -9 at 12 moments of ingest, prune and retry: the database ends up as if nothing had been."""

import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

import psycopg
import pytest

from tests.conftest import new_database
from tests.end_to_end.killed import (
    CLIENTS,
    assert_same,
    finish,
    kill,
)
from tests.end_to_end.processes import wait_until

pytestmark = pytest.mark.faults

KILLS = 4  # of each step
SEED = 1


def text(random: Random, name: str, sections: int = 4) -> str:
    words = [f"word{number}" for number in range(400)]
    return f"# The tale of {name}\n\n" + "\n\n".join(
        f"## {number}. Part of {name}\n\n" + " ".join(random.choices(words, k=90)) + "."
        for number in range(1, sections + 1)
    )


def fill(folder: Path, random: Random) -> None:
    """50 files, some of them bad, some copies."""
    for number in range(42):
        name = f"f{number:02}.{'md' if number % 3 else 'txt'}"
        (folder / name).write_text(text(random, name))
    for number in range(5):
        (folder / f"bad{number}.txt").write_bytes(b"\0")
    for number in range(3):
        shutil.copy(folder / f"f{number:02}.{'md' if number else 'txt'}", folder / f"g{number}.txt")


def change(folder: Path, random: Random) -> None:
    """Of each kind: changed, renamed, deleted, moved, copied, new, gone bad."""
    files = sorted(folder.glob("f*"))
    random.shuffle(files)
    for file in files[:10]:
        file.write_text(file.read_text().replace("word7 ", "changed "))
    for file in files[10:15]:
        file.rename(folder / f"renamed-{file.name}")
    for file in files[15:24]:
        file.unlink()
    (folder / "deep").mkdir()
    for file in files[24:27]:
        file.rename(folder / "deep" / file.name)
    shutil.copy(files[28], folder / "copy.md")
    for number in range(8):
        (folder / f"new{number}.md").write_text(text(random, f"new{number}"))
    for file in files[30:36]:
        file.write_bytes(b"\0")


def repair(folder: Path, random: Random) -> None:
    bad = [
        file for file in sorted(folder.iterdir()) if file.is_file() and b"\0" in file.read_bytes()
    ]
    for file in bad[:-2]:
        file.write_text(text(random, file.name, sections=9))
    bad[-2].unlink()


STEPS: dict[str, Callable[[Path, Random], None]] = {
    "ingest": fill,
    "prune": change,
    "retry": repair,
}


def test_what_was_killed_ends_as_what_was_not(template: str, dsn: str, tmp_path: Path) -> None:
    print(f"seed {SEED}")
    random = Random(SEED)
    with new_database(template, copy_of=template) as undisturbed:
        for step, prepare in STEPS.items():
            prepare(tmp_path, random)
            done = finish(undisturbed, step, str(tmp_path))
            assert len(done) > 10
            kills = 0
            while kills < KILLS:
                kills += kill(random, dsn, step, str(tmp_path))
            with psycopg.connect(dsn, autocommit=True) as connection:
                wait_until(lambda: connection.execute(CLIENTS).fetchall() == [(0,)])
            finish(dsn, step, str(tmp_path))
            assert_same(dsn, undisturbed)
