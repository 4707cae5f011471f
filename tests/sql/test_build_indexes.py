from tests.sql.corpus import Connection, call, put, value

INDEXES = "select count(*) from lexichord.index_use() where plan is not null"


def test_an_empty_table_gets_no_index(connection: Connection) -> None:
    assert value(connection, "select lexichord.build_indexes()") is False
    assert value(connection, INDEXES) == 0


def test_builds_once(connection: Connection) -> None:
    put(connection, "a", ["w1", "w2"], [[1, 0, 0, 0], [0, 1, 0, 0]])
    assert value(connection, "select lexichord.build_indexes()") is True
    assert value(connection, INDEXES) == 2
    assert value(connection, "select lexichord.build_indexes()") is False


def test_builds_what_is_missing(connection: Connection) -> None:
    put(connection, "a", ["w1", "w2"], [[1, 0, 0, 0], [0, 1, 0, 0]])
    call(connection, "build_indexes")
    for row in call(connection, "index_use"):
        connection.execute(f"drop index lexichord_data.{row['index_name']}".encode())
        assert value(connection, "select lexichord.build_indexes()") is True
        assert value(connection, INDEXES) == 2


def test_a_re_index_without_an_index_is_no_error(connection: Connection) -> None:
    assert value(connection, "select lexichord.refresh_keyword_index()") is False
    put(connection, "a", ["w1"], [[1, 0, 0, 0]])
    assert value(connection, "select lexichord.refresh_keyword_index()") is False
