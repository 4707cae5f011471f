"""What Postgres rolls back for others' sake is done again: nobody who asks sees it."""

from concurrent.futures import ThreadPoolExecutor

import psycopg

from lexichord import SyncLexichord
from tests.conftest import new_database
from tests.end_to_end.processes import wait_until

# Of those that wait for a lock and hold one meanwhile that somebody else could want.
WAITING = """
select count(*) > 0 from pg_locks w join pg_locks h on h.pid = w.pid
where not w.granted and w.relation = 'lexichord_data.dataset'::regclass
and h.granted and h.relation = 'lexichord_data.document'::regclass
"""


def test_a_deadlock_is_tried_again(corpus: str) -> None:
    with (
        new_database(corpus, copy_of=corpus) as stocked,
        SyncLexichord(dsn=stocked) as lexichord,
        psycopg.connect(stocked) as other,
        psycopg.connect(stocked, autocommit=True) as watcher,
        ThreadPoolExecutor(1) as pool,
    ):
        expected = lexichord.list()
        other.execute("set deadlock_timeout = '1h'")  # so that it is the reader who is rolled back
        other.execute("lock table lexichord_data.dataset in access exclusive mode")
        listed = pool.submit(lexichord.list)
        wait_until(lambda: watcher.execute(WAITING).fetchone() == (True,))
        other.execute("lock table lexichord_data.document in access exclusive mode")
        other.rollback()
        assert listed.result() == expected != []
