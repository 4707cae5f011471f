"""The table of clients says what tests do with each: they are marked with it."""

import ast
from collections import defaultdict
from collections.abc import Iterator

from tests.conftest import ROOT

PAGE = ROOT / "docs/integrations/index.md"
OPERATIONS = ("search", "k", "filters", "answer", "stream", "store", "delete", "async")


def marks() -> Iterator[list[str]]:
    """Yield the arguments of each mark: a client, then what it does in that test."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for call in getattr(node, "decorator_list", ()):
                if ast.unparse(call).startswith("pytest.mark.client("):
                    yield [ast.literal_eval(argument) for argument in call.args]


def table() -> list[str]:
    done: dict[str, set[str]] = defaultdict(set)
    for client, *operations in marks():
        assert set(operations) <= set(OPERATIONS), (client, operations)
        done[client].update(operations)
    rows = [
        [client, *("✓" if operation in done[client] else "" for operation in OPERATIONS)]
        for client in sorted(done, key=str.lower)
    ]
    head = [["client", *OPERATIONS], ["---"] * (len(OPERATIONS) + 1)]
    return [f"| {' | '.join(cells)} |" for cells in [*head, *rows]]


def test_the_table_is_what_is_tested() -> None:
    assert len(table()) > 9
    assert "\n".join(table()) in PAGE.read_text(encoding="utf-8"), "\n".join(table())


def test_each_client_s_page_says_what_to_install() -> None:
    pages = [page for page in PAGE.parent.glob("*.md") if page.name not in (PAGE.name, "sql.md")]
    assert [page.name for page in pages if "pip install" not in page.read_text("utf-8")] == []
