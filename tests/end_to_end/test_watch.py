"""A folder that is followed."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from lexichord import Lexichord, SyncLexichord
from lexichord.errors import ConfigError
from tests.end_to_end.conftest import names, write


def test_a_folder_is_followed(plain: SyncLexichord, folder: Path) -> None:
    write(folder / "a.txt", folder / "b.txt")
    reports = plain.watch([folder], prune=True)
    assert next(reports).inserted == 2
    (folder / "b.txt").unlink()
    (folder / "new").mkdir()
    write(folder / "new" / "c.txt")
    seen = [next(reports)]
    while sum(report.inserted + report.deleted for report in seen) < 2:
        seen.append(next(reports))
    assert names(plain) == ["a.txt", "c.txt"]
    (folder / "a.txt").unlink()
    (folder / "new" / "c.txt").unlink()
    while "holds no files now" not in (reasons := " ".join(next(reports).degraded)):
        pass
    assert "2 documents would be deleted" in reasons or "1 documents" in reasons
    write(folder / "a.txt", folder / "new" / "c.txt")
    while next(reports).skipped < 2:
        pass
    reports.close()
    with pytest.raises(ConfigError, match="nothing to watch"):
        next(plain.watch([]))
    with pytest.raises(ConfigError, match="there is no file or folder"):
        next(plain.watch([folder / "missing" / "x"]))


@pytest.mark.parametrize("has_begun", [True, False])
def test_an_interrupt_while_the_loop_is_told_ends_a_watch(
    has_begun: bool, plain: SyncLexichord, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Telling it wakes the loop's thread, which may run before the interrupted one goes on."""
    write(folder / "a.txt")
    reports = plain.watch([folder])
    assert next(reports).inserted == 1
    assert plain._loop is not None
    tell = plain._loop.call_soon_threadsafe

    def interrupted(call: Callable[[], None]) -> None:
        monkeypatch.setattr(plain._loop, "call_soon_threadsafe", tell)
        if has_begun:
            tell(call)
        raise KeyboardInterrupt

    monkeypatch.setattr(plain._loop, "call_soon_threadsafe", interrupted)
    with pytest.raises(KeyboardInterrupt):
        next(reports)
    assert names(plain) == ["a.txt"]


async def test_a_watch_can_be_cancelled(dsn: str, folder: Path, tmp_path: Path) -> None:
    write(folder / "a.txt")
    async with Lexichord(dsn=dsn, home=tmp_path / "home") as lexichord:
        reports = lexichord.watch([folder])
        assert (await anext(reports)).inserted == 1
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(reports), 0.7)
        await reports.aclose()
