"""What goes past the triggers is counted anew."""

from tests.sql.corpus import Connection, call, put
from tests.sql.oracle import check_statistics


def test_mends_what_went_past_the_triggers(connection: Connection) -> None:
    put(connection, "a", ["oak elm", "oak ash"])
    put(connection, "b", ["fir"])
    connection.execute("update lexichord_data.chunk set lexemes = '' where content = 'fir'")
    connection.execute("update lexichord_data.chunk set lexemes = 'fir:1' where content = 'fir'")
    connection.execute("delete from lexichord_data.term where lexeme = 'fir'")
    connection.execute("update lexichord_data.term set df = 7 where lexeme = 'oak'")
    connection.execute("insert into lexichord_data.term (lexeme, df) values ('gone', 3)")
    connection.execute("update lexichord_data.corpus set chunk_count = 9, token_count = 9")
    connection.execute("update lexichord_data.corpus set document_count = 9, card_token_count = 9")
    faults = {row["kind"]: row["amount"] for row in call(connection, "count_faults")}
    assert faults["wrong term statistics"] == 3
    remedies = {row["remedy"] for row in call(connection, "find_problems")}
    assert "select lexichord.recount();" in remedies
    call(connection, "recount")
    check_statistics(connection)
