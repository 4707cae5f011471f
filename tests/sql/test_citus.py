"""What searches compare is on the workers of a cluster; what they find is what one server does."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import psycopg
import pytest

from lexichord.db import schema
from lexichord.errors import EngineUnsupportedError
from tests.conftest import SPACE, at, new_cluster, new_database
from tests.sql.corpus import BY_VECTOR, MOST, Connection, Row, call, engine_of, put, value, wide

SHARDS = "select shardid from pg_dist_shard where logicalrelid = %s::regclass order by 1"
MOVE = "select citus_move_shard_placement(%s, %s, %s, %s, %s, 'block_writes')"
SCOPES: list[Row] = [{}, {"filter": MOST}, {"datasets": ["odd"], "uri_prefix": "wide/1"}]
SEARCHES: dict[str, Row] = {
    "hybrid_search": {"query": "w3 w17 w44", **BY_VECTOR, "k": 20},
    "variant_candidates": {"query": "w3 w17 w44", **BY_VECTOR},
    "discover_files": {"query": "w17 w44", **BY_VECTOR},
    "feedback_chunks": {"query": "w44", **BY_VECTOR},
}
TABLE = "lexichord_data.chunk_vector"
COUNT = f"select count(*) from {TABLE}"


@contextmanager
def prepared(dsn: str, engine: str) -> Iterator[Connection]:
    schema.prepare(dsn, schema.Choice(engine, "english", SPACE))
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="module")
def both(citus_nodes: list[str]) -> Iterator[tuple[Connection, Connection]]:
    """The same documents on one server, and on a coordinator and its workers."""
    with ExitStack() as stack:
        alone = stack.enter_context(new_database(citus_nodes[0]))
        coordinator = stack.enter_context(new_cluster(citus_nodes))[0]
        one = stack.enter_context(prepared(alone, "plain"))
        many = stack.enter_context(prepared(coordinator, "citus"))
        for connection in (one, many):
            wide(connection)
        yield one, many


@pytest.fixture
def cluster(citus_nodes: list[str]) -> Iterator[Connection]:
    with new_cluster(citus_nodes) as dsns, prepared(dsns[0], "citus") as connection:
        yield connection


def shown(row: Row) -> Row:
    """Give all but what each database makes for itself."""
    return {
        name: round(each, 5) if isinstance(each, float) else each
        for name, each in row.items()
        if not name.endswith(("_id", "rank"))
    }


def found(connection: Connection, function: str, scope: Row) -> list[Row]:
    return [shown(row) for row in call(connection, function, **SEARCHES[function], **scope)]


@pytest.mark.parametrize("scope", SCOPES, ids=str)
@pytest.mark.parametrize("function", SEARCHES)
def test_searches_find_what_one_server_does(
    both: tuple[Connection, Connection], function: str, scope: Row
) -> None:
    one, many = (found(each, function, scope) for each in both)
    assert one
    assert many == one


def test_vectors_are_on_the_workers_alone(
    both: tuple[Connection, Connection],
) -> None:
    many = both[1]
    assert value(many, COUNT) == 3552
    rows = many.execute(
        "select table_name::text, shard_count from citus_tables order by 1"
    ).fetchall()
    workers = value(many, "select count(*) from citus_get_active_worker_nodes()")
    assert rows == [(TABLE, 2 * workers)]
    assert value(many, f"select pg_relation_size('{TABLE}')") == 0


@pytest.mark.parametrize("scoped", [False, True])
def test_each_shard_is_read_through_its_index(
    both: tuple[Connection, Connection], scoped: bool
) -> None:
    many = both[1]
    name = many.info.dbname
    many.execute(f"alter database {name} set enable_seqscan = off".encode())  # of workers as well
    try:
        with psycopg.connect(many.info.dsn, autocommit=True) as again:
            row, _ = call(again, "index_use")
            assert row["used"], row
            assert re.match(r"Index Scan using chunk_hnsw\w* on chunk_vector", row["plan"])
            statement = value(again, "select lexichord.dense_statement(%s)", scoped)
            for number, literal in enumerate(
                ("'[1,0,0,0]'::public.halfvec", "10", "'{1,2,3,4,5,6,7,8,9}'::bigint[]"), 1
            ):
                statement = statement.replace(f"${number}", literal)
            lines = again.execute(f"explain {statement}".encode()).fetchall()
            assert re.search(r"(using|on) chunk_(hnsw|vector_pkey)_\d+", str(lines))
    finally:
        many.execute(f"alter database {name} reset enable_seqscan".encode())


def test_shards_that_move_change_no_answer(both: tuple[Connection, Connection]) -> None:
    many = both[1]
    before = [found(many, name, {}) for name in SEARCHES]
    places = "select nodename, nodeport from pg_dist_placement join pg_dist_node using (groupid)"
    workers = many.execute("select * from citus_get_active_worker_nodes() order by 2").fetchall()
    for (shard,) in many.execute(SHARDS.encode(), [TABLE]).fetchall():
        (source,) = many.execute(f"{places} where shardid = %s".encode(), [shard]).fetchall()
        target = next(each for each in workers if each != source)
        many.execute(MOVE.encode(), [shard, *source, *target])
        assert [found(many, name, {}) for name in SEARCHES] == before
    assert all(row["amount"] == 0 for row in call(many, "count_faults"))


def test_another_number_of_shards_changes_no_answer(
    both: tuple[Connection, Connection],
) -> None:
    many = both[1]
    before = [found(many, name, {}) for name in SEARCHES]
    many.execute(f"select alter_distributed_table('{TABLE}', shard_count := 4)".encode())
    assert [found(many, name, {}) for name in SEARCHES] == before
    assert call(many, "outgrown_indexes") == []


def test_the_workers_follow_what_is_stored(cluster: Connection) -> None:
    for name in ("a", "b", "c"):
        put(cluster, name, ["w1 w2", "w3"], [[1, 0, 0, 0], [0, 1, 0, 0]])
    assert value(cluster, COUNT) == 6
    put(cluster, "a", ["w4"], [[0, 0, 1, 0]])
    assert value(cluster, COUNT) == 5
    assert len(call(cluster, "keyword_candidates", query="w4")) == 1
    cluster.execute("update lexichord_data.chunk set embedding = '[0,0,0,1]' where ordinal = 0")
    nearest = call(cluster, "dense_candidates", query_vector="[0,0,0,1]")
    assert [round(row["score"], 5) for row in nearest] == [1, 1, 1, 0, 0]
    with cluster.transaction(force_rollback=True):
        cluster.execute("delete from lexichord_data.document where uri = 'b'")
        assert value(cluster, COUNT) == 3
    assert value(cluster, COUNT) == 5
    cluster.execute("truncate lexichord_data.document cascade")
    assert value(cluster, COUNT) == 0


def test_what_the_workers_lack_is_told_and_made_anew(cluster: Connection) -> None:
    put(cluster, "a", ["w1 w2", "w3"], [[1, 0, 0, 0], [0, 1, 0, 0]])
    put(cluster, "b", ["w5"], [[1, 0, 0, 0]])
    cluster.execute(f"delete from {TABLE} where chunk_id = 2".encode())
    (row,) = [row for row in call(cluster, "count_faults") if row["amount"]]
    assert row == {"kind": "chunks that vector searches miss", "amount": 1}
    told = {"problem": f"{row['kind']}: 1", "remedy": "select lexichord.recount();"}
    assert told in call(cluster, "find_problems")
    call(cluster, "recount")
    assert told not in call(cluster, "find_problems")
    assert value(cluster, COUNT) == 3
    cluster.execute(
        f"insert into {TABLE} select 99, 99, embedding from {TABLE} where document_id = 1 "
        "limit 1".encode()
    )
    (row,) = [row for row in call(cluster, "count_faults") if row["amount"]]
    assert row == {"kind": "wrong rows of searches, of no chunk", "amount": 1}


def test_after_a_look_at_plans_a_transaction_still_sees_what_it_wrote(cluster: Connection) -> None:
    """EXPLAIN has Citus read plain tables over another connection from then on."""
    with cluster.transaction():
        put(cluster, "a", ["w1 w2"], [[1, 0, 0, 0]])
        call(cluster, "build_indexes")
        assert call(cluster, "find_problems") == []
        assert all(row["amount"] == 0 for row in call(cluster, "count_faults"))


@contextmanager
def shut(node: str, database: str) -> Iterator[None]:
    """Let nobody into a database of a server, as if it were down."""
    end = "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s"
    with psycopg.connect(at(node, "postgres"), autocommit=True) as admin:
        admin.execute(f"alter database {database} allow_connections false".encode())
        admin.execute(end, [database])
        try:
            yield
        finally:
            admin.execute(f"alter database {database} allow_connections true".encode())


def test_a_worker_that_is_down_fails_what_needs_it_and_nothing_is_lost(
    cluster: Connection, citus_nodes: list[str]
) -> None:
    for number in range(30):
        put(cluster, f"{number}.md", ["w1 w2", "w3"], [[1, 0, 0, 0], [0, 1, 0, 0]])
    before = call(cluster, "hybrid_search", query="w3", **BY_VECTOR)
    worker = urlsplit(citus_nodes[-1]).netloc.rpartition("@")[2]
    with shut(citus_nodes[-1], cluster.info.dbname):
        for _ in range(2):
            with pytest.raises(psycopg.OperationalError, match=worker):
                call(cluster, "hybrid_search", query="w3", **BY_VECTOR)
        with pytest.raises(psycopg.OperationalError):
            cluster.execute("delete from lexichord_data.document")
        assert len(call(cluster, "list_documents")) == 30
    assert call(cluster, "hybrid_search", query="w3", **BY_VECTOR) == before
    assert value(cluster, COUNT) == 60
    assert all(row["amount"] == 0 for row in call(cluster, "count_faults"))


def drop_shards(cluster: Connection, worker: str) -> None:
    """Leave a worker as one that was put in place of a lost one."""
    shards = cluster.execute(
        "select shardid from pg_dist_placement join pg_dist_node using (groupid) "
        "where nodeport = %s",
        [urlsplit(worker).port],
    ).fetchall()
    with psycopg.connect(at(worker, cluster.info.dbname), autocommit=True) as there:
        there.execute("set citus.enable_manual_changes_to_shards = on")
        for (shard,) in shards:
            there.execute(f"drop table {TABLE}_{shard}".encode())


def restore_alone(cluster: Connection) -> None:
    """Leave the table as pg_restore does: the coordinator's own."""
    cluster.execute(f"drop table {TABLE}".encode())
    cluster.execute("set citus.enable_ddl_propagation = off")
    cluster.execute(
        f"create table {TABLE} as select document_id, id as chunk_id, embedding "
        "from lexichord_data.chunk".encode()
    )


@pytest.mark.parametrize("how", ["dropped", "a worker's shards", "restored alone"])
def test_what_is_not_spread_is_made_anew(
    cluster: Connection, citus_nodes: list[str], how: str
) -> None:
    put(cluster, "a", ["w1 w2", "w3"], [[1, 0, 0, 0], [0, 1, 0, 0]])
    call(cluster, "build_indexes")
    cluster.execute(f"select alter_distributed_table('{TABLE}', shard_count := 5)".encode())
    before = call(cluster, "hybrid_search", query="w3", **BY_VECTOR)
    if how == "dropped":
        cluster.execute(f"drop table {TABLE}".encode())
    elif how == "restored alone":
        restore_alone(cluster)
    else:
        drop_shards(cluster, citus_nodes[-1])
    schema.prepare(cluster.info.dsn, schema.Choice())
    assert call(cluster, "hybrid_search", query="w3", **BY_VECTOR) == before
    assert call(cluster, "find_problems") == []
    (shards,) = cluster.execute("select shard_count from citus_tables").fetchone() or (0,)
    workers = value(cluster, "select count(*) from citus_get_active_worker_nodes()")
    assert shards == (5 if how == "a worker's shards" else 2 * workers)
    with shut(citus_nodes[-1], cluster.info.dbname):
        schema.prepare(cluster.info.dsn, schema.Choice())  # nothing is known to be wrong


def test_a_database_that_is_no_cluster_is_refused(citus_nodes: list[str]) -> None:
    with new_database(citus_nodes[0]) as dsn:
        choice = schema.Choice("citus", "english", SPACE)
        with pytest.raises(EngineUnsupportedError, match="run create extension citus here and on"):
            schema.prepare(dsn, choice)
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("create extension citus")
        with pytest.raises(EngineUnsupportedError, match="needs workers, and this coordinator has"):
            schema.prepare(dsn, choice)
        schema.prepare(dsn, schema.Choice(None, "english", SPACE))
        with psycopg.connect(dsn) as connection:
            assert engine_of(connection) != "citus"
