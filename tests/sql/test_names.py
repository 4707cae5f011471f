"""Names that are like one that was wanted: the same order in SQL and in Python."""

import pytest

from lexichord.errors import likeness, some_names
from tests.sql.corpus import Connection, call, put, value

NAMES = ["web", "guides", "notes", "contracts", "archive", "policies", "we", "éte", "o'ther", ""]


@pytest.mark.parametrize("wanted", ["webb", "WEB", "policy", "note", "ete", "'", "", "x" * 300])
def test_sql_and_python_put_the_same_names_first(connection: Connection, wanted: str) -> None:
    for name in NAMES:
        both = value(connection, "select lexichord.name_likeness(%s, %s)", wanted, name)
        assert both == pytest.approx(likeness(wanted, name))
    names = [name for name in NAMES if "'" not in name]
    choices = "select lexichord.name_choices(%s, %s)"
    assert value(connection, choices, [wanted], names) == some_names(names, [wanted])
    assert value(connection, choices, [wanted], []) is None


def test_the_nearest_come_first() -> None:
    assert some_names({"a", "b", "c", "d", "e", "web"}, ["webb"]).startswith("'web', 'a', ")
    assert some_names({"a", "b", "c", "d", "e", "web"}, ["webb"]).endswith(" and 1 more")
    assert likeness("web", "Web") == 1


@pytest.mark.parametrize(
    ("reference", "found"),
    [
        ("docs/indx.md", ["/srv/docs/index.md", "/srv/api/index.md"]),
        ("Cronn", ["/srv/docs/cron.md"]),
        ("cron.txt", ["/srv/docs/cron.md"]),
        ("%_\\", []),
        ("", []),
        ("zebra.md", []),
    ],
)
def test_documents_with_a_name_like_it(
    connection: Connection, reference: str, found: list[str]
) -> None:
    for uri in ("/srv/docs/index.md", "/srv/api/index.md", "/srv/docs/cron.md"):
        put(connection, uri, ["zebra"], dataset="a")
    rows = call(connection, "similar_uris", reference=reference, datasets=["a"])
    assert [row["uri"] for row in rows] == found
    assert call(connection, "similar_uris", reference=reference, datasets=["b"]) == []
