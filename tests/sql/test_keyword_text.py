import psycopg
import pytest


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("getUserName_v2", "get user name v2 getusernamev2"),
        ("HTTPServer", "http server httpserver"),
        ("src/foo_bar.rs", "src foo bar rs foobar"),
        ("Section 5.2.1(b)", "section 5.2.1 b 5 2 1"),
        ("$1,000,000 or 1,5", "1000000 or 1 5"),
        ("<Vec<Foo>>", "vec foo"),
        ("École “é”", "école é"),
        ("保密。", "保密"),
        ("U.S.A. end.", "u s a end"),
        ("The NDAs, PDFs' and KPIs.", "the nda pdf and kpi"),
        ("parseURLs user_IDs", "parse url user id parseurl userid"),
        ("CAs OSs As OSes iOS IDs_old", "ca os as o ses i os i ds old oses ios idsold"),
        ("", ""),
    ],
)
def test_splits_and_keeps_whole(connection: psycopg.Connection, text: str, expected: str) -> None:
    row = connection.execute("select lexichord.keyword_text(%s)", [text]).fetchone()
    assert row is not None
    assert row[0].split() == expected.split()
