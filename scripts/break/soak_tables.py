"""Load many rows into an indexed table while its workers are killed; compare what is stored.

python scripts/break/soak_tables.py --dsn DSN [--rows 50000] [--kills 20] [--seed 5]

DSN is an empty database, which is prepared. Exits with 1 where a row and its document differ.
"""

import argparse
import sys
import time
from pathlib import Path
from random import Random

import psycopg

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.end_to_end.test_tables import ARTICLE, INDEX, SPACE, WORDS, change, started, work

from lexichord.db import schema
from lexichord.types import EmbeddingSpace

DIFFERING = """
select coalesce(a.id::text, s.key), a.text, s.text from (
  select id, concat_ws(E'\\n\\n', nullif(title, ''), nullif(body, '')) as text from article
  where published and concat(title, body) ~ '\\S') as a
full join (
  select r.key, d.text from lexichord_data.table_row r
  join lexichord_data.document d on d.id = r.document_id) as s on s.key = a.id::text
where a.text is distinct from s.text
"""
LEFT = """
select (select count(*) from lexichord_data.chunk where embedding is null),
  (select count(*) from lexichord_data.table_change), (select count(*) from
  lexichord.list_table_failures() where reason <> 'its text is empty')
"""


def main() -> None:
    """Exit with 1 if a row and its document differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn", required=True)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=5)
    arguments = parser.parse_args()
    random = Random(arguments.seed)
    schema.prepare(arguments.dsn, schema.Choice(space=EmbeddingSpace.parse(SPACE)))
    with psycopg.connect(arguments.dsn, autocommit=True) as connection:
        connection.execute(f"{ARTICLE}; {INDEX}".encode())
        with connection.cursor().copy("copy article (title, body) from stdin") as copy:
            for number in range(arguments.rows):
                copy.write_row((f"row {number}", " ".join(random.choices(WORDS, k=8))))
        for _ in range(arguments.kills):
            with started(arguments.dsn):
                until = time.monotonic() + random.uniform(1, 3)
                while time.monotonic() < until:
                    change(connection, random)
                    time.sleep(0.05)
        work(arguments.dsn)
        differing = connection.execute(DIFFERING).fetchmany(5)
        left = connection.execute(LEFT).fetchone()
    print(f"differing: {differing}; without a vector, waiting, refused: {left}")
    sys.exit(bool(differing) or left != (0, 0, 0))


if __name__ == "__main__":
    main()
