"""What `lexichord keys` prints of a key, and of what it was used for."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from lexichord.cli.admin import _print_calls, _print_keys
from lexichord.cli.render import out
from lexichord.types import ApiCall, ApiKey

DAY = datetime(2026, 2, 3, 4, 5, tzinfo=UTC)
PLAIN = ApiKey(1, "ci", None, True, False, False, None, DAY, None, None, None, None, True)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({}, "   1  ci  read all datasets  2026-02-03  valid  never used"),
        (
            {"datasets": ("a", "b"), "writes": True, "deletes": True, "requests_per_minute": 60},
            "   1  ci  read+write+delete a, b  60/min  2026-02-03  valid  never used",
        ),
        (
            {"expires_at": DAY, "valid": False, "last_used_at": DAY},
            "   1  ci  read all datasets  2026-02-03  expired 2026-02-03 04:05  "
            "last used 2026-02-03 04:05",
        ),
        (
            {"expires_at": DAY, "renews": 7, "reads": False, "writes": True},
            "   1  ci  write all datasets  2026-02-03  valid until 2026-02-03 04:05, renews 7  "
            "never used",
        ),
        (
            {"revoked_at": DAY, "expires_at": DAY, "valid": False},
            "   1  ci  read all datasets  2026-02-03  revoked 2026-02-03  never used",
        ),
    ],
)
def test_a_key_is_a_line(changes: dict[str, object], line: str) -> None:
    with out.capture() as captured:
        _print_keys([replace(PLAIN, **changes)])  # type: ignore[arg-type]
    assert " ".join(captured.get().split()) == " ".join(line.split())


def test_a_call_is_a_line_with_its_words_where_they_were_kept() -> None:
    call = ApiCall(DAY, 1, "ci", "search", ("a",), 200, None)
    with out.capture() as captured:
        _print_calls([call, replace(call, datasets=None, query="zebra", status=403)])
    assert [" ".join(line.split()) for line in captured.get().splitlines()] == [
        "2026-02-03 04:05:00 1 ci search 200 a",
        "2026-02-03 04:05:00 1 ci search 403 all datasets zebra",
    ]
