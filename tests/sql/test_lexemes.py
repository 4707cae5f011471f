from tests.sql.corpus import Connection, call, put, value


def test_words_are_stemmed_with_their_positions(library: Connection) -> None:
    for text, lexemes in {
        "The tenants were running": "'run':4 'tenant':2",
        "getUserName": "'get':1 'getusernam':4 'name':3 'user':2",
        "Section 5.2": "'2':3 '5':2 '5.2':4 'section':1 'section5.2':4",
        "w1 w1 w2": "'w1':1,2 'w2':3",
        "the": "",
        "": "",
        None: None,
    }.items():
        assert value(library, "select lexichord.lexemes(%s)::text", text) == lexemes, text


CONTENTS = ["getUserName(id)", "Sections 5.2 and 6.1", "He ran, they run", "$1,000,000 in all"]
CONTENTS += ["une école", "保密 协议", "All NDAs bind"]
FOUND = {  # by the number of the content
    **dict.fromkeys(("user name", "getusername", "get_user_name"), 0),
    **dict.fromkeys(("§ 5.2", "6"), 1),
    **{"8.9": None, "running": 2, "1000000": 3, "1,000,000": 3},
    **{"ecole": 4, "ÉCOLE": 4, "保密": 5, "NDA": 6, "the NDAs": 6},
}


def test_queries_meet_documents(connection: Connection) -> None:
    put(connection, "z", CONTENTS)
    for _ in range(2):  # without the index, and with it
        for query, number in FOUND.items():
            hits = call(connection, "keyword_candidates", query=query)
            assert [hit["chunk_id"] - 1 for hit in hits[:1]] == (
                [] if number is None else [number]
            ), query
        call(connection, "build_indexes")
