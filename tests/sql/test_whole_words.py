"""What is one word to a reader and not to a parser."""

import pytest

from tests.sql.corpus import Connection, call, put, value

MADE = "select lexichord.whole_words(lexichord.normal_form(%s), 'english')"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("RULE-A002, rule_a002; Rule/A002", {"rulea002"}),
        ("CVE-2024-1234", {"cve2024-1234"}),
        ("77-1140-B 771-140-B", {"77-1140b", "771-140b"}),
        ("§ 14.3 and 14.30.", {"14.3", "14.30", "§"}),
        ("v2.10.1", {"v2.10.1", "2.10.1"}),
        ("ADR 3, ISO\n27001", {"adr3", "iso27001"}),
        ("in 2024 of 3 parts", set()),
        ("getV2Name user_id2", {"getv2name", "userid2"}),
        ("License GPLv3+: GNU, BLOCKSx512", {"gplv3", "blocksx512", "licensegplv3"}),
        ("grep -i, [-n] or `-V`: e-mail, part-a, x -y2, --all - a", {"-i", "-n", "-V"}),
        ("H2O 0x8007A1 note3 12", set()),
        ("2024-05-01 10/20", {"2024-05-01", "10-20"}),
        ("C++ and c#, not C#x or ++", {"c++", "c#"}),
        ("🚀🚀 5€ ✓ → ■ ─ •", {"🚀", "€", "✓", "→"}),
        ("x" * 60 + "-12345", set()),
        ("", set()),
    ],
)
def test_identifiers_and_symbols(library: Connection, text: str, words: set[str]) -> None:
    assert set(value(library, MADE, text)) == words


def test_an_option_weighs_as_a_word(fresh: Connection) -> None:
    put(fresh, "grep.1", ["-i, --ignore-case", "-v inverts it", "grep prints lines", "it does so"])
    rows = call(fresh, "weigh_terms", texts=["what does grep -i do", "-i ignores case"])
    weighed = {row["lexeme"]: (row["df"], row["text_numbers"]) for row in rows}
    assert weighed["-i"] == (1, [1, 2])


def test_an_identifier_counts_once_a_text_and_twice_a_query(library: Connection) -> None:
    assert value(library, "select lexichord.lexemes('A-1 or A-1 🚀')::text").split() == (
        ["'1':2,5", "'a1':6", "'🚀':6"]
    )
    assert "'a1':3,4" in value(library, "select lexichord.query_lexemes('A-1')::text")


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("Log in, set up it; described in; drop  down", {"log in", "set up"}),
        ("outdoors up", set()),
        ("Check out", {"check out"}),
    ],
)
def test_particles_follow_short_words(library: Connection, text: str, phrases: set[str]) -> None:
    assert set(value(library, "select lexichord.particle_phrases(%s)", text)) == phrases


@pytest.fixture
def rules(connection: Connection) -> Connection:
    """Many chunks that hold the parts of an identifier, one that holds it, and one like it."""
    parts = [
        f"Rule {n}: a rule of rules, see RULE-B{n:03}, A{n % 7}02 and v2.1.10" for n in range(90)
    ]
    near = [[1.0, n / 90, 0, 0] for n in range(90)]
    put(connection, "parts", parts, near)
    put(connection, "whole", ["RULE-A002 is in force since v2.10.1"], [[0.6, 0.8, 0, 0]])
    return connection


@pytest.mark.parametrize("query", ["RULE-A002", "rule a002", "v2.10.1", "2.10.1"])
@pytest.mark.parametrize("scope", [{}, {"filter": {"key": "title", "op": "eq", "value": "x1"}}])
def test_the_identifier_outranks_its_parts(
    rules: Connection, query: str, scope: dict[str, object]
) -> None:
    for weights in ({}, {"weights": [0.0, 1.0]}):
        asked = {"query": query, "query_vector": "[1,0,0,0]", **scope, **weights}
        assert call(rules, "hybrid_search", **asked)[0]["uri"] == "whole", weights
    files = call(rules, "discover_files", query=query, query_vector="[1,0,0,0]", **scope)
    assert files[0]["uri"] == "whole"


@pytest.mark.parametrize(
    ("query", "absent"),
    [
        ("is RULE-A003 as RULE-A002", ["RULE-A003"]),
        ("v2.1.1, v2.1.10", ["v2.1.1"]),
        ("rule 77 of 90-day notice, the 5th, 20kg", []),
        ("what was in force in 1987, at 2400 or in 1850?", ["1987"]),
        ("rule", []),
        ("A1" + "x" * 6000, []),
    ],
)
def test_what_nothing_holds_is_told(rules: Connection, query: str, absent: list[str]) -> None:
    rows = call(rules, "absent_identifiers", query=query)
    assert [row["identifier"] for row in rows] == absent


def test_what_a_scope_does_not_hold_is_told(rules: Connection) -> None:
    rows = call(rules, "absent_identifiers", query="RULE-A002", documents=[1])
    assert [row["identifier"] for row in rows] == ["RULE-A002"]
