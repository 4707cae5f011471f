"""Clauses, headings and declarations: which are found, and what they are under."""

import pytest

from lexichord.ingest.chunk.outline import clauses, declarations, is_code, outline
from lexichord.ingest.chunk.splitter import split
from lexichord.ingest.load.text import markdown_headings, markdown_tables
from lexichord.types import LoadedText
from tests.wordings import worded

CONTRACT = """\
SERVICES AGREEMENT
This agreement was made on 5 May 2024 under Section 12 of the Act.

ARTICLE I DEFINITIONS
“Fee” means the price.
"Services" (the "Work") shall mean what Exhibit A lists.
ARTICLE II
2.1 Term. The term is 3.5 years, and 12 months may follow.
2.2 Ending. Either party may end it if: (i) the other fails to pay; (ii) it is bankrupt; or
(iii) section 2.1 of this
Agreement so provides.
(a) Notice is given in writing to
14 Main Street, as 2.1 says.
(b) A copy goes to J. Smith.
(c) It counts on arrival, and (d) lapses after 30 days.
Section 2.3 Survival. This lasts.
EXHIBIT A
1. Cleaning
2. Painting
   a) walls
   b) doors
3) Guarding
"""


def levels_and_names(text: str) -> list[tuple[int, str]]:
    return [(clause.level, clause.name) for clause in clauses(text, 0, len(text))]


def test_a_contract_is_read_as_its_lists_go_on() -> None:
    assert levels_and_names(CONTRACT) == [
        (1, "ARTICLE I DEFINITIONS"),
        (2, "“Fee”"),
        (2, '"Services"'),
        (1, "ARTICLE II"),
        (2, "2.1 Term"),
        (2, "2.2 Ending"),
        (3, "(i)"),
        (3, "(ii)"),
        (3, "(iii)"),
        (3, "(a) Notice is given in writing to"),
        (3, "(b)"),
        (3, "(c)"),
        (3, "(d)"),
        (2, "Section 2.3 Survival"),
        (1, "EXHIBIT A"),
        (2, "1 Cleaning"),
        (2, "2 Painting"),
        (3, "a)"),
        (3, "b)"),
        (2, "3 Guarding"),
    ]


NEWS = """\
1. New features in the shell

a. Words are split.

2. New features in the library

a. Lines are wrapped.

1. New features in the shell

a. Names are completed: the first of
   1. Variables
   2. Functions

2. Fixes
"""


def test_a_clause_with_a_name_that_counts_from_one_again_is_in_no_other() -> None:
    """As a file of news does, version by version; a list within a clause stands further in."""
    assert [level for level, _ in levels_and_names(NEWS)] == [1, 2, 1, 2, 1, 2, 3, 3, 1]


@worded("text", "names")
def test_what_begins_a_clause(text: str, names: list[str]) -> None:
    assert [name for _, name in levels_and_names(text)] == names


def test_a_definition_stays_with_its_term() -> None:
    text = "1. Definitions\n" + "".join(
        f"“Term {n}” means {'what is meant by it, and ' * 12}no more.\n" for n in range(3)
    )
    chunks = split(LoadedText(text, "text/plain", "T"), limit=200)
    for chunk in chunks[1:]:
        number = chunk.heading[-2]
        assert chunk.heading == f"1 Definitions › “Term {number}”"
    assert len(chunks) > 6


def test_clauses_under_a_heading_are_one_level_below_it() -> None:
    text = "# Lease\n\n## 5. Term\n\n5.1 Start. " + "Now. " * 30 + "\n\n(a) " + "then, " * 30
    chunks = split(LoadedText(text, "text/markdown", "Lease"), limit=200)
    assert [chunk.heading for chunk in chunks] == [
        "5. Term › 5.1 Start",
        "5. Term › 5.1 Start › (a)",
    ]


def test_no_clause_begins_in_a_fenced_block_or_a_table() -> None:
    text = "1.1 Rent\n```\n1.2 Fenced\n```\n| a | b |\n|---|---|\n| 1.2 Cell | x |\n\n1.2 Term\n"
    headings, _ = outline(LoadedText(text, "text/markdown", "T"))
    assert [heading.name for heading in headings] == ["1.1 Rent", "1.2 Term"]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("## Rent ##", "Rent"),
        ("Rent\n----", "Rent"),
        ("####### seven", None),
        ("```\n# a comment\n```", None),
        ("~~~~\n# a\n~~~\n# b\n~~~~", None),
        ("## " + "long " * 50, None),
    ],
)
def test_what_is_a_heading_in_markdown(line: str, name: str | None) -> None:
    names = [heading.name for heading in markdown_headings(f"Before.\n\n{line}\nAfter.")]
    assert names == ([name] if name else [])


def test_a_table_in_markdown_is_found_with_its_header() -> None:
    text = "Before.\n\n| Item | Price |\n|------|------:|\n| Tea | 2 |\n| Milk | 1 |\n\nAfter | it."
    (table,) = markdown_tables(text)
    assert text[table.start : table.header_end] == "| Item | Price |\n|------|------:|\n"
    assert text[table.header_end : table.end] == "| Tea | 2 |\n| Milk | 1 |\n"


CODE = '''\
import os

# How many there are.
LIMIT = 3

@dataclass
class Store:
    """Keeps things."""

    def get(self, key: str) -> int:
        return 1

    async def put(self) -> None: ...

// Adds numbers.
pub fn add(a: i32) -> i32 { a }
export default async function main() {}
func (s *Server) Serve() error {}
public static final class Inner<T> {}
CREATE OR REPLACE FUNCTION pg.add(a int)
classify = 3
'''


def test_declarations_are_found_in_many_languages_with_the_comments_above_them() -> None:
    lines = ((each, CODE[each.start :].split("\n")[0]) for each in declarations(CODE))
    assert [(each.level, each.name, line) for each, line in lines] == [
        (1, "class Store", "@dataclass"),
        (2, "def get", "    def get(self, key: str) -> int:"),
        (2, "def put", "    async def put(self) -> None: ..."),
        (1, "fn add", "// Adds numbers."),
        (1, "function main", "export default async function main() {}"),
        (1, "func Serve", "func (s *Server) Serve() error {}"),
        (1, "class Inner", "public static final class Inner<T> {}"),
        (1, "CREATE OR REPLACE FUNCTION pg.add", "CREATE OR REPLACE FUNCTION pg.add(a int)"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CODE, True),
        ("  return 0;\n}\n", True),
        ("The type of goods. A class of shares.\n(a) any function\n", False),
        ("A set {a, b} is finite.\nSo is {c}\n", False),
    ],
)
def test_what_is_code(text: str, expected: bool) -> None:
    assert is_code(text) is expected
