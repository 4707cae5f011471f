"""Real servers for every test that touches SQL: one embedded server, a fresh database per test."""

import gc
import json
import os
import shutil
import ssl
import subprocess
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from hypothesis import settings as hypothesis_settings

from lexichord import SyncLexichord
from lexichord.db import schema
from lexichord.db.pool import Database
from lexichord.db.server import embedded_server
from lexichord.ingest.sandbox import Sandbox
from lexichord.providers.embed.local import LocalEmbedder, find_model
from lexichord.providers.onnx_folder import open_folder, package_folders
from lexichord.settings import Settings, load_settings
from lexichord.types import EmbeddingSpace

ENGINES = ("plain", "textsearch", "vectorchord", "citus")
SPACE = EmbeddingSpace("test", "tiny", 4)  # small vectors that a test can write down
ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "samples"
SECONDS = Path(__file__).with_name("seconds.json")  # by file and test, of the last run kept
SLOW_SECONDS = 3  # of a test with all its parameters: what takes longer is `slow`
NUMBERS = count()
OUTSIDE = (
    *("DATABASE_URL", "LEXICHORD_"),
    *("CO_", "COHERE_", "GEMINI_", "GOOGLE_", "JINA_", "OPENAI_"),
    *("AWS_", "AZURE_", "FSSPEC_", "STORAGE_EMULATOR_"),
)

# No test is timed: on a busy machine an example may take any time.
hypothesis_settings.register_profile("untimed", deadline=None)
hypothesis_settings.load_profile("untimed")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--save-seconds", action="store_true", help=f"write {SECONDS.name} anew")


def pytest_xdist_auto_num_workers() -> int:
    """Return more than there are cores: servers start, time-outs pass while a test waits."""
    return 3 * (os.cpu_count() or 1) // 2


def pytest_collection_finish() -> None:
    """Look no more through what collecting has left, ever, for garbage."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow, and begin with the files that take longest.

    So at the end no worker waits for one of them.
    """
    seconds: dict[str, dict[str, float]] = json.loads(SECONDS.read_text())
    for item in items:
        file, test = _test_of(item.nodeid)
        if seconds.get(file, {}).get(test, 0) > SLOW_SECONDS:
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: -sum(seconds.get(_test_of(item.nodeid)[0], {}).values()))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say each reason for skipping once, with how many tests it skipped, and what took longest."""
    stats = terminalreporter.stats
    reasons = Counter(report.longrepr[2] for report in stats.get("skipped", []))
    for reason, skipped in reasons.most_common():
        terminalreporter.write_line(f"{skipped} tests: {reason}")
    seconds: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    for report in (each for reports in stats.values() for each in reports):
        if isinstance(report, pytest.TestReport):
            file, test = _test_of(report.nodeid)
            seconds[file][test] += report.duration
    files = {file: sum(tests.values()) for file, tests in seconds.items()}
    for file, took in sorted(files.items(), key=lambda each: -each[1])[:10]:
        terminalreporter.write_line(f"{took:6.0f} s {file}")
    if terminalreporter.config.getoption("save_seconds"):
        SECONDS.write_text(json.dumps(_whole(seconds), indent=1) + "\n")


def _whole(seconds: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, int]]:
    """Return the seconds of the tests that take one or more, in the order of their names."""
    whole = {
        file: {test: round(took) for test, took in sorted(tests.items()) if took >= 1}
        for file, tests in sorted(seconds.items())
    }
    return {file: tests for file, tests in whole.items() if tests}


def _test_of(name: str) -> tuple[str, str]:
    """Return the file and the test of a node's name, without its parameters."""
    file, _, test = name.partition("::")
    return file, test.partition("[")[0]


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor vendors' keys and addresses, nor a proxy before the servers of tests."""
    for name in list(os.environ):
        if name.startswith(OUTSIDE) and not name.startswith("LEXICHORD_TEST_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture(scope="session", autouse=True)
def _open_once() -> Iterator[object]:
    """The reader, and the certificates of clients, of which none is asked for: 20 ms a client."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", cache(ssl.create_default_context))
        yield [open_folder(folder) for folder in package_folders("lexichord_reader")]


@pytest.fixture(scope="session")
def home() -> Iterator[Path]:
    """A short path: a socket's name has room for about 100 characters."""
    folder = Path(tempfile.mkdtemp(prefix="lxc"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def settings(home: Path) -> Settings:
    return load_settings(home=home)


@pytest.fixture(scope="session")
def embedded_dsn(settings: Settings) -> Iterator[str]:
    with embedded_server(settings) as dsn:
        yield dsn


@pytest.fixture(scope="session")
def plain_dsn(request: pytest.FixtureRequest) -> str:
    """A server with pgvector: the one that the environment names, else the embedded one."""
    dsn = os.environ.get("LEXICHORD_TEST_DSN_PLAIN")
    return dsn or str(request.getfixturevalue("embedded_dsn"))


@pytest.fixture(scope="session")
def textsearch_dsn() -> str:
    """A server with pg_textsearch 1.4 or later: the one that the environment names, else a skip."""
    dsn = os.environ.get("LEXICHORD_TEST_DSN_TEXTSEARCH")
    if not dsn:
        pytest.skip("no pg_textsearch: LEXICHORD_TEST_DSN_TEXTSEARCH is unset")
    return dsn


@pytest.fixture(scope="session")
def vectorchord_dsn() -> Iterator[str]:
    """A VectorChord server: the one that the environment names, else a container, else a skip."""
    if dsn := os.environ.get("LEXICHORD_TEST_DSN_VECTORCHORD"):
        yield dsn
        return
    if not _docker_runs():
        pytest.skip(
            "no VectorChord: LEXICHORD_TEST_DSN_VECTORCHORD is unset, no Docker engine runs"
        )
    from testcontainers.postgres import PostgresContainer

    image = os.environ.get("LEXICHORD_DB_IMAGE", "tensorchord/vchord-suite:pg17-20260501")
    with PostgresContainer(image, driver=None) as container:
        yield container.get_connection_url()


@pytest.fixture(scope="session")
def citus_nodes() -> list[str]:
    """The servers of the Citus cluster whose coordinator the environment names: it and workers."""
    dsn = os.environ.get("LEXICHORD_TEST_DSN_CITUS")
    if not dsn:
        pytest.skip("no Citus cluster: LEXICHORD_TEST_DSN_CITUS is unset")
    return nodes_of(dsn)


def nodes_of(dsn: str) -> list[str]:
    """The servers of a Citus cluster, by its coordinator: that one and the workers."""
    with psycopg.connect(dsn) as coordinator:
        nodes = coordinator.execute(
            "select nodename, nodeport from pg_dist_node where groupid <> 0 "
            "and noderole = 'primary' and isactive order by nodeid"
        ).fetchall()
    user = urlsplit(dsn).netloc.rpartition("@")[0]
    places = [f"{user}@{host}:{port}" for host, port in nodes]
    return [dsn, *(urlunsplit(urlsplit(dsn)._replace(netloc=place)) for place in places)]


@pytest.fixture(scope="session")
def citus_dsn(citus_nodes: list[str]) -> Iterator[str]:
    """An empty database of a Citus cluster, its workers all there is."""
    with new_cluster(citus_nodes) as dsns:
        yield dsns[0]


CLUSTERS: dict[str, list[str]] = {}  # the nodes of each such database


@contextmanager
def new_cluster(nodes: Sequence[str]) -> Iterator[list[str]]:
    """A database of one name on each node, and Citus in all of them; the coordinator's first."""
    with _on_each(nodes) as dsns:
        for dsn in dsns:
            with psycopg.connect(dsn, autocommit=True) as connection:
                connection.execute("create extension citus")
        with psycopg.connect(dsns[0], autocommit=True) as coordinator:
            for number, dsn in enumerate(dsns):
                place = (urlsplit(dsn).hostname, urlsplit(dsn).port)
                add = "citus_add_node(%s, %s)" if number else "citus_set_coordinator_host(%s, %s)"
                coordinator.execute(f"select {add}".encode(), place)
        yield dsns


@contextmanager
def _on_each(nodes: Sequence[str], copy_of: str | None = None) -> Iterator[list[str]]:
    with ExitStack() as stack:
        dsns = [stack.enter_context(_new_database(nodes[0], copy_of))]
        name = urlsplit(dsns[0]).path[1:]
        dsns += [stack.enter_context(_new_database(node, copy_of, name)) for node in nodes[1:]]
        CLUSTERS[dsns[0]] = list(nodes)
        yield dsns


SETTINGS = """
select unnest(s.setconfig)
from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase where d.datname = %s
"""


@contextmanager
def _copied_cluster(template: str) -> Iterator[str]:
    """Copy a prepared database on each node: what Citus knows of it is in it, its settings not."""
    name = urlsplit(template).path[1:]
    nodes = CLUSTERS[template]
    for node in nodes:
        with psycopg.connect(at(node, "postgres"), autocommit=True) as admin:
            admin.execute(f"alter database {name} allow_connections false".encode())
            admin.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", [name]
            )
    with _on_each(nodes, template) as dsns:
        for node in nodes:
            with psycopg.connect(at(node, "postgres"), autocommit=True) as admin:
                admin.execute(f"alter database {name} allow_connections true".encode())
        for dsn in dsns:
            with psycopg.connect(dsn, autocommit=True) as connection:
                connection.execute("select '[1]'::vector")
                for (setting,) in connection.execute(SETTINGS, [name]).fetchall():
                    connection.execute(
                        f"alter database {connection.info.dbname} set {setting}".encode()
                    )
        yield dsns[0]


def _docker_runs() -> bool:
    client = shutil.which("docker")
    return (
        client is not None and subprocess.run([client, "info"], capture_output=True).returncode == 0
    )


class Keeper:
    """Keeps what a session makes once of each engine.

    A fixture's own value is gone as soon as a test asks for another engine, and in each file one
    does.
    """

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._kept: dict[object, Any] = {}

    def keep[Made](self, name: object, make: Callable[[], AbstractContextManager[Made]]) -> Made:
        """Return what is kept by a name; it is made at first, and ends with the session."""
        if name not in self._kept:
            self._kept[name] = self._stack.enter_context(make())
        made: Made = self._kept[name]
        return made


@pytest.fixture(scope="session")
def keeper(embedded_dsn: str) -> Iterator[Keeper]:
    """Ends before the embedded server does; with a container its databases have ended."""
    with suppress(psycopg.OperationalError), ExitStack() as stack:
        yield Keeper(stack)


@pytest.fixture(scope="session", params=ENGINES)
def template(request: pytest.FixtureRequest, keeper: Keeper) -> str:
    """A prepared, empty database of each engine that can be reached."""
    name = request.param
    server = request.getfixturevalue(f"{name}_dsn")
    return keeper.keep(name, partial(_prepared, name, server))


@contextmanager
def _prepared(engine: str, server: str) -> Iterator[str]:
    with nullcontext(server) if server in CLUSTERS else new_database(server) as dsn:
        schema.prepare(dsn, schema.Choice(engine, "english", SPACE))
        yield dsn


@pytest.fixture
def dsn(template: str) -> Iterator[str]:
    """A fresh, prepared database, bound to SPACE."""
    with new_database(template, copy_of=template) as fresh:
        yield fresh


@pytest.fixture(scope="session")
def bare(embedded_dsn: str) -> Iterator[str]:
    """A prepared, empty database of the embedded server, bound to SPACE: to be copied."""
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice("plain", "english", SPACE))
        yield dsn


@pytest.fixture
def fresh(bare: str) -> Iterator[str]:
    """A copy of it."""
    with new_database(bare, copy_of=bare) as dsn:
        yield dsn


@pytest.fixture(scope="session")
def corpus(embedded_dsn: str, embedder: LocalEmbedder, home: Path) -> Iterator[str]:
    """The samples with real vectors, in datasets `agreements` and `policies`: to be copied."""
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice())
        with SyncLexichord(dsn=dsn, home=home) as lexichord:
            for name in ("agreements", "policies"):
                lexichord.ingest([SAMPLES / name], dataset=name)
        yield dsn


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    """Read files in a process apart."""
    with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def connection(dsn: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


@pytest.fixture
async def database(dsn: str) -> AsyncIterator[Database]:
    async with Database(dsn, size=4) as database:
        yield database


@pytest.fixture(scope="session")
def embedder(home: Path) -> LocalEmbedder:
    """The real model; where its files are absent, what needs it is skipped."""
    if find_model(None, home) is None:
        pytest.skip("the weights of all-MiniLM-L6-v2 are not on this machine")
    embedder = LocalEmbedder(home)
    embedder.load()  # whoever opens it in this process shares it as long as it is open
    return embedder


@pytest.fixture(scope="session")
def embedding_template(embedded_dsn: str, embedder: LocalEmbedder) -> Iterator[str]:
    """A prepared, empty database, bound to the local embedder's space."""
    with new_database(embedded_dsn) as dsn:
        schema.prepare(dsn, schema.Choice())
        yield dsn


@contextmanager
def new_database(server: str, copy_of: str | None = None) -> Iterator[str]:
    """A database that is there for the length of a with statement."""
    if copy_of in CLUSTERS:
        with _copied_cluster(copy_of) as dsn:
            yield dsn
    elif server in CLUSTERS:
        with new_cluster(CLUSTERS[server]) as dsns:
            yield dsns[0]
    else:
        with _new_database(server, copy_of) as dsn:
            yield dsn


@contextmanager
def _new_database(
    server: str, copy_of: str | None = None, name: str | None = None
) -> Iterator[str]:
    name = name or f"t{os.getpid()}_{next(NUMBERS)}"
    template = urlsplit(copy_of).path[1:] if copy_of else "template0"
    with psycopg.connect(at(server, "postgres"), autocommit=True) as admin:
        locale = "locale 'C.UTF-8'"
        if admin.info.server_version >= 170000:
            locale = "locale 'C' locale_provider builtin builtin_locale 'C.UTF-8'"
        admin.execute(
            f"create database {name} template {template} {'' if copy_of else locale}".encode()
        )
    try:
        yield at(server, name)
    finally:  # anew: a test may have had the server killed
        with psycopg.connect(at(server, "postgres"), autocommit=True) as admin:
            _drop(admin, name)


def _drop(admin: psycopg.Connection, name: str) -> None:
    """Drop a database, which Citus' own daemon may enter at the same moment."""
    for last in (False, False, False, True):
        try:
            admin.execute(f"drop database {name} with (force)".encode())
        except psycopg.errors.ObjectInUse:
            if last:
                raise
            time.sleep(0.2)
        else:
            return


def at(dsn: str, database: str) -> str:
    """The same server, another database."""
    return urlunsplit(urlsplit(dsn)._replace(path=f"/{database}"))
