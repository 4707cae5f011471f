"""How many files a query is about, from the question to what the command prints."""

from functools import partial

import pytest

from lexichord import SyncLexichord
from tests.end_to_end.processes import run_cli


def titles(samples: SyncLexichord, query: str) -> set[str]:
    response = samples.query(query)
    rows = samples.list(documents=list(response.relevant_files)) if response.relevant_files else []
    return {row.title for row in rows}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("how long are customer support logs kept", {"Data Retention Policy"}),
        ("what does the remote work policy say about travel", {"Remote Work Policy"}),
        (
            "compare the retention policy and the remote work policy by who pays",
            {"Data Retention Policy", "Remote Work Policy"},
        ),
    ],
)
def test_a_query_is_about_what_it_names_or_what_stands_out(
    samples: SyncLexichord, query: str, expected: set[str]
) -> None:
    assert titles(samples, query) == expected


def test_the_command_says_how_many(samples: SyncLexichord) -> None:
    settings = samples.core.settings
    query = partial(run_cli, settings.dsn, settings.home, "query")
    assert "Files (1 relevant)" in query("how long are customer support logs kept").stdout
    refused = query("who won the world cup in 1998", "--answer").stdout
    assert "that the evidence holds an answer: none is given" in refused
    assert "Files (none stands out)" in refused
