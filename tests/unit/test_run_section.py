"""What the page says of an ingest while it goes on."""

import re
from datetime import UTC, datetime
from html import unescape

import pytest

from lexichord.ingest.report import Reading
from lexichord.serve.http.jobs import RunProgress
from lexichord.serve.page.render import fill
from lexichord.serve.page.runs import RunView
from lexichord.types.state import IngestRun

BEGUN = datetime(2026, 11, 24, tzinfo=UTC)
COUNTS = (34, 1, 1, 0, 0, 0, 0)  # in all, done, stored
RUN = IngestRun(1, "library", "upload", "running", BEGUN, BEGUN, None, *COUNTS, {}, {})


@pytest.mark.parametrize(
    ("progress", "said", "unsaid"),
    [
        (
            RunProgress(128, 977, Reading(12, 34, ("upload://library/a.pdf",))),
            ["12 of 34 files read", "128 chunks made searchable so far", "Reading: a.pdf, <b>.txt"],
            ["977"],  # a guess
        ),
        (
            RunProgress(128, 229, Reading(34, 34)),
            ["All are read; 128 of 229 chunks made searchable"],
            ["Reading:"],
        ),
        (
            RunProgress(229, 229, Reading(34, 34)),
            ["All are read and made searchable; they are being stored"],
            ["229 of 229"],
        ),
        (None, ["1 of 34 files so far"], ["chunk", "Reading:"]),  # of another process
    ],
    ids=["reading", "embedding", "storing", "elsewhere"],
)
def test_a_run_says_what_is_done_now(
    progress: RunProgress | None, said: list[str], unsaid: list[str]
) -> None:
    names = ["a.pdf", "<b>.txt"] if progress and progress.reading and progress.reading.names else []
    view = RunView(RUN, progress, names, [], 0, is_sent=True)
    html = fill("run_section.html", view=view)
    text = " ".join(unescape(re.sub(r"<[^>]+>", "", html)).split())
    assert [one for one in said if one not in text] == []
    assert [one for one in unsaid if one in text] == []
