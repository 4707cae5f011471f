import time

from tests.sql.corpus import Connection, value

TEXTS = [
    ("getUserName_v2", "get user name v2 getusernamev2"),
    ("HTTPServer", "http server httpserver"),
    ("src/foo_bar.rs", "src foo bar rs foobar"),
    ("Section 5.2.1(b)", "section 5.2.1 b 5 2 1"),
    ("$1,000,000 or 1,5", "1000000 or 1 5"),
    ("<Vec<Foo>>", "vec foo"),
    ("École “é”", "école é"),
    ("保密。", "保密"),
    ("保密协议", "保密 密协 协议"),
    ("甲方，密 保密ABC协议第3条", "甲方 密 保密 abc 协议 议第 3 条"),
    ("使用getUserName函数", "使用 get user name 函数 getusername"),
    ("個人データの", "個人 人デ デー ータ タの"),
    ("개인정보는 법", "개인 인정 정보 보는 법"),
    ("สวัสดี ที่นี่", "สวั วัส สดี ที่นี่"),
    ("𠀀𠀁𠀂 e\x01é", "𠀀𠀁 𠀁𠀂 e é"),
    ("U.S.A. end.", "u s a end"),
    ("The NDAs, PDFs' and KPIs.", "the nda pdf and kpi"),
    ("parseURLs user_IDs", "parse url user id parseurl userid"),
    ("CAs OSs As OSes iOS IDs_old", "ca os as o ses i os i ds old oses ios idsold"),
    ("Ver\u00adtrags\u00adstrafe in 1\u00ad000 \u00ad", "vertragsstrafe in 1000"),
    ("", ""),
]


def test_splits_and_keeps_whole(connection: Connection) -> None:
    for text, expected in TEXTS:
        made = value(connection, "select lexichord.keyword_text(%s)", text)
        assert made.split() == expected.split()


def test_a_run_takes_time_by_its_length(connection: Connection) -> None:
    statement = "select length(lexichord.keyword_text(repeat('保密协议', %s)))"

    def seconds(repeats: int) -> float:
        started = time.perf_counter()
        row = connection.execute(statement, [repeats]).fetchone()
        assert row == (3 * 4 * repeats,)
        return time.perf_counter() - started

    seconds(1)
    assert seconds(80_000) < 40 * seconds(10_000)
