"""The table of the analyzer is what the analyzer does."""

import re

import psycopg

from tests.conftest import ROOT
from tests.sql.corpus import value

PAGE = ROOT / "docs/sql/search.md"
MADE = "select array_to_string(tsvector_to_array(lexichord.lexemes(%s, 'english')), ' ')"


def test_each_row_of_the_table_is_true(fresh: str) -> None:
    table = PAGE.read_text().partition("| text | lexemes under `english` |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", table, re.MULTILINE)
    assert len(rows) > 10
    with psycopg.connect(fresh) as connection:
        made = {
            text: value(connection, MADE, text.replace(r"\u200b", "\u200b")) for text, _ in rows
        }
    assert made == dict(rows)
