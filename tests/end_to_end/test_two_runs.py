"""Two ingests of the same files at once store each file once."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

from lexichord import SyncLexichord
from lexichord.ingest.report import Report

FILES = 120


def test_the_second_skips_what_the_first_has_stored_meanwhile(
    fresh: str, home: Path, tmp_path: Path
) -> None:
    for number in range(FILES):
        (tmp_path / f"{number}.md").write_text(f"# Rule {number}\n\nRule {number} of the house.")
    both = Barrier(2)

    def ingest(_: int) -> Report:
        with SyncLexichord(dsn=fresh, home=home) as lexichord:
            both.wait()
            return lexichord.ingest([tmp_path])

    with ThreadPoolExecutor(2) as pool:
        reports = [*pool.map(ingest, range(2))]
    assert sum(report.inserted for report in reports) == FILES
    assert sum(report.skipped for report in reports) == FILES
    assert [report.replaced for report in reports] == [0, 0]


def test_what_changed_is_stored_anew(fresh: str, home: Path, tmp_path: Path) -> None:
    file = tmp_path / "rule.md"
    with SyncLexichord(dsn=fresh, home=home) as lexichord:
        for number, (inserted, replaced) in enumerate([(1, 0), (0, 1), (0, 1)]):
            file.write_text(f"# Rule\n\nRule {number} of the house.")
            report = lexichord.ingest([file])
            assert (report.inserted, report.replaced) == (inserted, replaced)
        assert lexichord.ingest([file]).skipped == 1
