"""Text as its readers see it, and the lines that an answer has."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexichord.display.plain_text import (
    MAX_CODE_LINES,
    lay_out,
    plain_text,
    seen_spans,
    shown_text,
    without_roles,
)
from tests.wordings import worded


@worded("text", "shown")
def test_markup_is_shown_as_readers_see_it(text: str, shown: str) -> None:
    assert plain_text(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "Use `{ref}` and `[a](b)` and `<div>`.",
        "```md\n(a)=\n[a](b)\n:::{note}\n```",
        "[Seller](Buyer) may choose [Price][Date]; it cites [1][2].",
        "if a < b and c > d: f[i](x) or a[i][j]",
        "kaiplan==<release> in {user}, at 5:30: `x`",
        "**Bold** and _emphasis_ stay.",
        "![](a.png)",
    ],
)
def test_what_is_no_markup_stays(text: str) -> None:
    assert plain_text(text) == text


def test_a_tag_in_a_text_without_markup_is_what_it_speaks_of() -> None:
    assert shown_text("Write <b> in bold.", "a.PDF") == "Write <b> in bold."
    assert shown_text("Write <b> in bold.", "a.tex") == "Write <b> in bold."
    assert shown_text("Write <b> in bold.", "a.md") == "Write  in bold."
    assert without_roles("See :class:`~a.B` in <b>.") == "See B in <b>."


PIECES = st.sampled_from(
    [
        "{ref}`",
        "`",
        "``",
        "[",
        "](",
        ")",
        "<b>",
        "a",
        " ",
        "\n",
        ":::{note}",
        "```",
        "![",
        "{#a}",
        "~",
    ]
)


@given(st.lists(PIECES).map("".join))
def test_what_is_seen_stands_in_order_in_the_text(text: str) -> None:
    spans = seen_spans(text)
    assert sorted(spans) == spans
    assert all(one[1] <= other[0] for one, other in pairwise(spans))


@pytest.mark.parametrize(
    "text",
    [
        *("[" * 50_000, "![a](" * 10_000, "[a](b" * 10_000, "[a][" * 10_000, "<a " * 20_000),
        *("{ref}`" * 10_000, "`a <" * 20_000, "<!--" * 10_000, "{#a " * 20_000, "(" * 50_000),
        *("```\n" * 20_001, ":::{note} " * 10_000, " " * 90_000, "[^" * 30_000, ":a:`" * 20_000),
    ],
)
def test_hostile_text_takes_no_time(text: str) -> None:
    start = time.process_time()
    plain_text(text)
    lay_out(text)
    assert time.process_time() - start < 2


def test_a_paragraph_and_an_item_have_a_line() -> None:
    text = (
        "# Head\nOne that\nis wrapped.\n\n1. The hub: where it\n   runs. Here.\n   - set\n     in\n"
    )
    lines = ["# Head", "One that is wrapped.", "1. The hub: where it runs. Here.", "   - set in"]
    assert lay_out(f"{text}| a |\n| b |") == [*lines, "| a |", "| b |"]


def test_code_is_shown_as_it_is_but_long_code_is_cut() -> None:
    assert lay_out('Run:\n```sh title="x"\nmake\n\n  all\n```') == [
        "Run:",
        "```sh",
        "make",
        "",
        "  all",
        "```",
    ]
    assert lay_out("- Run:\n  ```\n  a\n    b\n  ```") == [
        "- Run:",
        "  ```",
        "  a",
        "    b",
        "  ```",
    ]
    assert lay_out("```py\ncut") == ["```py", "cut", "```"]
    assert lay_out("Run:\n```py") == ["Run:"]
    long = "\n\n".join(f"x{number}" for number in range(99))
    shown = lay_out(f"```\n{long}\n```")
    assert [line for line in shown if line.startswith("x")] == long.split("\n\n")[:MAX_CODE_LINES]
    assert shown[-2:] == ["…", "```"]
