import time

from tests.sql.corpus import Connection, value

TEXTS = [  # a text, its words, and what it holds joined
    ("getUserName", "get user name", "getusername"),
    ("HTTPServer", "http server", "httpserver"),
    ("src/foo_bar.rs", "src foo bar rs", "foobar srcfoo"),
    ("src/lib/foo_bar.rs", "src lib foo bar rs", "foobar"),
    ("Section 5.2.1(b)", "section 5 2 1 b", ""),
    ("$1000000 or 1,5", "1000000 or 1 5", ""),
    ("<Vec<Foo>>", "vec foo", ""),
    ("École “é”", "école é", ""),
    ("使用 getUserName 函数", "使用 get user name 函数", "getusername"),
    ("U.S.A. end.", "u s a end", ""),
    ("The NDAs, PDFs' and KPIs.", "the nda pdf and kpi", ""),
    ("parseURLs user_IDs", "parse url user id", "userids parseurls"),
    ("CAs As OSes iOS", "ca as o ses i os", "oses ios"),
    ("plug-in, state-of-the-art", "plug in state of the art", "plugin stateoftheart"),
    ("input/output a/b/c", "input output a b c", "inputoutput"),
    ("RULE-A002 H2O 0x8007A1 getV2Name", "rule a002 h2o 0x8007a1 get v2 name", ""),
    ("Set up it, Log in; described in", "set up it log in described in", ""),
    ("liability3 note12 H2 year2019", "liability3 note12 h2 year2019", "liability note"),
    ("Straße ΟΔΟΣ İst GROẞ", "strasse οδοσ ist gross", ""),
    ("हिन्दी שָׁלוֹם", "हिन्दी שָׁלוֹם", ""),
    ("", "", ""),
]


def test_words_are_split_and_joined(connection: Connection) -> None:
    made = """
        select array[lexichord.keyword_text(t), lexichord.joined_words(t)]
        from (select %s) as t (t)"""
    for text, *expected in TEXTS:
        assert [each.split() for each in value(connection, made, text)] == (
            [each.split() for each in expected]
        )


RUNS = [
    ("保密。", "保密 。"),
    ("保密协议", "保密 密协 协议"),
    ("甲方，密 保密ABC协议第3条", "甲方 ， 密 保密 ABC 协议 议第 3 条"),
    ("使用getUserName函数", "使用 getUserName 函数"),
    ("個人データの", "個人 人デ デー ータ タの"),
    ("개인정보는 법", "개인 인정 정보 보는 법"),
    ("สวัสดี ที่นี่", "สวั วัส สดี ที่นี่"),
    ("𠀀𠀁𠀂 e\x01é", "𠀀𠀁 𠀁𠀂 e é"),
    ("no run", "no run"),
]


def test_runs_become_pairs(connection: Connection) -> None:
    for text, expected in RUNS:
        assert value(connection, "select lexichord.split_runs(%s)", text).split() == (
            expected.split()
        )


def test_a_run_takes_time_by_its_length(connection: Connection) -> None:
    statement = "select length(lexichord.split_runs(repeat('保密协议', %s)))"

    def seconds(repeats: int) -> float:
        started = time.perf_counter()
        assert value(connection, statement, repeats) == 3 * 4 * repeats
        return time.perf_counter() - started

    seconds(1)
    assert seconds(80_000) < 40 * seconds(10_000)
