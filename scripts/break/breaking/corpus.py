"""Documents that are told apart by a word of their own, in versions; and what has to hold of them.

Whatever happened, each document is there in a version that it may have, found once by its word and
by its vectors, and both channels are what plain Python makes of the stored texts.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any

import numpy as np
from tests.end_to_end.hashing import Hashing
from tests.sql import oracle
from tests.sql.corpus import Connection, call, random_lines, value
from tests.sql.test_no_hit_lost import check_keywords, check_vectors

from lexichord.ingest.vectors import embedding_text

STORED = range(24)  # the documents of a database before anything happens to it, in version 0
TOLERANCE = 2e-3  # of a halfvec's number
STATED = """
select d.uri, c.ordinal, c.id, c.content, c.context,
    concat_ws(' ', c.context, c.keyword_context, c.content), c.embedding::text
from lexichord_data.document d join lexichord_data.chunk c on c.document_id = d.id
where d.uri like %s order by d.uri, c.ordinal
"""
BY_WORD = """
select w.word, array_agg(k.chunk_id order by k.chunk_id)
from unnest(%s::text[]) as w (word), lateral lexichord.keyword_candidates(w.word, 100) as k
group by w.word
"""
BY_VECTOR = """
select n.chunk, count(*)
from unnest(%s::bigint[], %s::text[]) as n (chunk, vector),
    lateral lexichord.dense_candidates(n.vector::public.halfvec, 100) as k
where k.chunk_id = n.chunk and k.score > 0.9999 group by n.chunk
"""

type Versions = dict[int, set[int | None]]  # that a document may have; None: it may be away


@dataclass(frozen=True)
class Stated:
    """A chunk as it is stored."""

    uri: str
    ordinal: int
    id: int
    content: str
    context: str
    words: str
    embedding: str | None


def uri(number: int) -> str:
    return f"doc/{number:03}"


def word(number: int) -> str:
    """Return the word that no other document has."""
    return f"u{number:03}x"


@lru_cache(10_000)
def lines(number: int, version: int) -> tuple[str, ...]:
    random = Random(f"{number} {version}")
    some = random_lines(random, random.randint(1, 6), words=120, longest=40)
    return tuple(f"{word(number)} v{version} {line}" for line in some)


def document(number: int, version: int) -> dict[str, Any]:
    return {"uri": uri(number), "chunks": [{"content": line} for line in lines(number, version)]}


def documents(numbers: range, version: int) -> list[dict[str, Any]]:
    return [document(number, version) for number in numbers]


def as_stored() -> Versions:
    return {number: {0} for number in STORED}


@lru_cache(10_000)
def vector(space: str, text: str) -> tuple[float, ...]:
    return tuple(Hashing(space).vector(text))


def read(connection: Connection, uris: str = "%") -> list[Stated]:
    return [Stated(*row) for row in connection.execute(STATED.encode(), [uris]).fetchall()]


def check(connection: Connection, versions: Versions) -> None:
    """Raise AssertionError unless all of it holds; where a document may be of two, it is of one."""
    chunks = read(connection)
    check_versions([chunk for chunk in chunks if chunk.uri.startswith("doc/")], versions)
    check_found(connection, chunks)
    check_oracle(connection, chunks)
    faults = {row["kind"]: row["amount"] for row in call(connection, "count_faults")}
    assert not any(faults.values()), f"faults: {faults}"


def check_versions(chunks: list[Stated], versions: Versions) -> None:
    found: dict[int, list[str]] = {}
    for chunk in chunks:
        number = int(chunk.uri.removeprefix("doc/"))
        assert chunk.ordinal == len(found.setdefault(number, []))
        found[number].append(chunk.content)
    assert found.keys() <= versions.keys()
    for number, allowed in versions.items():
        texts = {
            version: list(lines(number, version)) for version in allowed if version is not None
        }
        is_there = number in found
        assert is_there or None in allowed, f"{uri(number)} is lost"
        assert not is_there or found[number] in texts.values(), f"{uri(number)} is not as it was"


def check_found(connection: Connection, chunks: list[Stated]) -> None:
    """Each document by its word, and each chunk by its vector, once."""
    owned: dict[str, list[int]] = {}
    for chunk in chunks:
        if chunk.uri.startswith("doc/"):
            owned.setdefault(word(int(chunk.uri.removeprefix("doc/"))), []).append(chunk.id)
    by_word = dict(connection.execute(BY_WORD, [list(owned)]).fetchall())
    assert by_word == {name: sorted(ids) for name, ids in owned.items()}
    embedded = [chunk for chunk in chunks if chunk.embedding]
    points = [chunk.id for chunk in embedded], [chunk.embedding for chunk in embedded]
    by_vector = dict(connection.execute(BY_VECTOR, points).fetchall())
    assert by_vector == dict.fromkeys(points[0], 1), "a chunk is not found by its vector"


def check_oracle(connection: Connection, chunks: list[Stated]) -> None:
    """Compare both channels with BM25 and cosines in Python, over the texts as they are stored."""
    space = value(connection, "select space from lexichord.configuration()")
    texts = {chunk.id: " ".join(re.findall(r"\w+", chunk.words.lower())) for chunk in chunks}
    vectors: Mapping[int, Any] = {
        chunk.id: vector(space, embedding_text(chunk.context, chunk.content)) for chunk in chunks
    }
    for chunk in chunks:
        if chunk.embedding:
            stored = np.array(json.loads(chunk.embedding))
            assert np.allclose(stored, vectors[chunk.id], atol=TOLERANCE), "a vector is not its own"
    if not chunks:
        return
    parameters = call(connection, "bm25_parameters")[0]
    for query in ("w0", "w1 w5 w17", " ".join(f"w{number}" for number in range(0, 90, 3)), "late"):
        if exact := oracle.bm25(texts, query, **parameters):
            check_keywords(connection, query, exact)
    if all(chunk.embedding for chunk in chunks):
        check_vectors(connection, vectors, vector(space, "w3 w1"))


def check_found_by_themselves(connection: Connection) -> None:
    """Each chunk by its own words and its own vector, whatever they are."""
    chunks = read(connection)
    for chunk in chunks:
        rows = call(connection, "keyword_candidates", query=chunk.content, depth=100)
        assert chunk.id in {row["chunk_id"] for row in rows}, f"{chunk.uri} is not found"
    points = [chunk.id for chunk in chunks], [chunk.embedding for chunk in chunks]
    found = dict(connection.execute(BY_VECTOR, points).fetchall())
    assert found == {chunk.id: 1 for chunk in chunks if chunk.embedding}
