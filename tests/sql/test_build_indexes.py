from tests.sql.corpus import Connection, call, put, value

INDEXES = "select count(*) from lexichord.index_use() where plan is not null"


def built(connection: Connection) -> int:
    """How many indexes a small corpus has: so few chunks are not sealed."""
    return 1 if value(connection, "select to_regproc('lexichord.sealing') is not null") else 2


def test_an_empty_table_gets_no_index(connection: Connection) -> None:
    assert value(connection, "select lexichord.build_indexes()") is False
    assert value(connection, INDEXES) == 0


def test_builds_once(connection: Connection) -> None:
    put(connection, "a", ["w1", "w2"], [[1, 0, 0, 0], [0, 1, 0, 0]])
    assert value(connection, "select lexichord.build_indexes()") is True
    assert value(connection, INDEXES) == built(connection)
    assert value(connection, "select lexichord.build_indexes()") is False


def test_builds_what_is_missing(connection: Connection) -> None:
    put(connection, "a", ["w1", "w2"], [[1, 0, 0, 0], [0, 1, 0, 0]])
    call(connection, "build_indexes")
    for row in call(connection, "index_use")[: built(connection)]:
        connection.execute(f"drop index lexichord_data.{row['index_name']}".encode())
        assert value(connection, "select lexichord.build_indexes()") is True
        assert value(connection, INDEXES) == built(connection)
