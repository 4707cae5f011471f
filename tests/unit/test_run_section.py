"""What the page says of an ingest while it goes on."""

import re
from datetime import UTC, datetime
from html import unescape

import pytest

from lexichord.ingest.report import Reading
from lexichord.serve.http.jobs import RunProgress
from lexichord.serve.page import fill
from lexichord.serve.page.status import RunView
from lexichord.types.state import FileProgress, IngestRun

BEGUN = datetime(2026, 11, 24, tzinfo=UTC)
COUNTS = (34, 1, 1, 0, 0, 0, 0)  # in all, done, stored
RUN = IngestRun(1, "library", "upload", "running", BEGUN, BEGUN, None, *COUNTS, {}, {}, {})

FILES = {
    "upload://library/a.pdf": FileProgress(),
    "upload://library/<b>.txt": FileProgress(5400, 9),
}
AT_HAND = "a.pdf: being read; <b>.txt: 9 of 5,400 chunks embedded"


@pytest.mark.parametrize(
    ("progress", "said", "unsaid"),
    [
        (
            RunProgress(128, 977, Reading(12, 34, FILES)),
            ["12 of 34 files read", "128 chunks made searchable so far", AT_HAND],
            ["977"],  # a guess
        ),
        (
            RunProgress(128, 229, Reading(34, 34)),
            ["All are read; 128 of 229 chunks made searchable"],
            ["being read"],
        ),
        (
            RunProgress(229, 229, Reading(34, 34)),
            ["All are read and made searchable; they are being stored"],
            ["229 of 229"],
        ),
        (None, ["1 of 34 files so far", AT_HAND], ["searchable"]),  # of another process
    ],
    ids=["reading", "embedding", "storing", "elsewhere"],
)
def test_a_run_says_what_is_done_now(
    progress: RunProgress | None, said: list[str], unsaid: list[str]
) -> None:
    named = [(uri.rpartition("/")[2], each) for uri, each in FILES.items()]
    is_at_hand = progress is None or bool(progress.reading and progress.reading.files)
    view = RunView(RUN, progress, named if is_at_hand else [], [], 0, is_sent=True)
    html = fill("run_section.html", view=view)
    text = " ".join(unescape(re.sub(r"<[^>]+>", "", html)).split())
    assert [one for one in said if one not in text] == []
    assert [one for one in unsaid if one in text] == []
