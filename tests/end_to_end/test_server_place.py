"""Where the embedded server may live, as whom, and what is said where it cannot."""

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lexichord import SyncLexichord
from lexichord.db.server import start_server, stop_server
from lexichord.errors import ConfigError
from lexichord.settings import load_settings
from tests.conftest import ROOT
from tests.end_to_end.client import SPACE, documents, uri, word
from tests.end_to_end.processes import postmaster

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
NOBODY = "nobody"
type Run = Callable[..., subprocess.CompletedProcess[str]]
FAILING = """
import sys
from pathlib import Path
from lexichord.db.embedded import attach
from lexichord.errors import DatabaseError
try:
    attach(Path(sys.argv[1]), lock_seconds=0)
except DatabaseError as error:
    sys.stdout.write(str(error))
"""


@pytest.fixture
def parent() -> Iterator[Path]:
    """A folder to make homes in, with a short path."""
    folder = Path(tempfile.mkdtemp(prefix="lxp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def assert_works(home: Path) -> None:
    with SyncLexichord(home=home, embedding=SPACE) as lexichord:
        lexichord.ingest(documents=documents(0, 3))
        hits = lexichord.search(word(1), mode="keyword").hits
        assert {hit.uri for hit in hits} == {uri(1)}
    assert postmaster(home) is None


@pytest.mark.parametrize("name", ["R&D (it's) naïve; 100%", "long" * 30])
def test_a_homes_name_may_hold_spaces_and_signs_and_be_long(parent: Path, name: str) -> None:
    """As on a Mac, in Application Support; a socket's name has room for about 100 characters."""
    assert_works(parent / name)


@pytest.mark.parametrize("name", [*(f"a{sign}b" for sign in '"$`\\'), "file/home"])
def test_a_home_that_cannot_be_is_said_in_one_line(parent: Path, name: str) -> None:
    (parent / "file").write_text("no folder")
    with pytest.raises(ConfigError, match="set LEXICHORD_HOME") as caught:
        SyncLexichord(home=parent / name).open()
    assert "\n" not in str(caught.value)
    assert [each.name for each in parent.iterdir()] == ["file"]


def test_a_wrong_choice_is_the_only_thing_that_is_said(
    parent: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The server has no schema yet when it is stopped again."""
    with pytest.raises(ConfigError, match="'tiny' is no embedding space"):
        SyncLexichord(home=parent / "home", embedding="tiny").open()
    assert caplog.text == ""
    assert postmaster(parent / "home") is None
    settings = load_settings(home=parent / "new", dsn="postgresql://127.0.0.1:1/none")
    for call in (start_server, stop_server):
        with pytest.raises(ConfigError, match="a DSN is set"):
            call(settings)
    assert not (parent / "new").exists()


def test_why_it_does_not_start_is_said_in_one_line(prepared_home: Path) -> None:
    """What the log holds of earlier starts is no reason; nor is anything else printed."""
    log = prepared_home / "postgres" / "log"
    log.write_text(log.read_text() + "FATAL:  of long ago\n")
    auto = prepared_home / "postgres" / "postgresql.auto.conf"
    written = auto.read_text()
    auto.write_text("shared_buffers = 'plenty'\n")
    run = subprocess.run(
        [sys.executable, "-c", FAILING, str(prepared_home)], capture_output=True, text=True
    )
    assert run.stderr == ""
    assert run.stdout.startswith("the embedded server does not start: ")
    assert "FATAL:  configuration file" in run.stdout
    assert f"(its log: {log})" in run.stdout
    assert "\n" not in run.stdout
    auto.write_text(written)


@as_root
def test_root_is_told_which_folders_are_opened(
    parent: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Root's server runs as another user, who must reach its folder; the data stay closed."""
    private = parent / "private"
    private.mkdir(mode=0o700)
    assert_works(private / "home")
    messages = [record.getMessage() for record in caplog.records if "is opened" in record.message]
    assert messages == [f"root's server runs as user pgserver: {private} is opened for other users"]
    assert private.stat().st_mode & 0o777 == 0o755
    data = private / "home" / "postgres"
    assert data.stat().st_mode & 0o777 == 0o700
    assert data.owner() == "pgserver"
    caplog.clear()
    assert_works(private / "home")
    assert "is opened" not in caplog.text


@pytest.mark.skipif(os.geteuid() == 0, reason="root's server must open folders")
def test_an_ordinary_users_folders_stay_closed(
    parent: Path, caplog: pytest.LogCaptureFixture
) -> None:
    parent.chmod(0o700)
    assert_works(parent / "home")
    assert "is opened" not in caplog.text
    assert parent.stat().st_mode & 0o777 == 0o700


@pytest.fixture
def as_nobody(parent: Path) -> Run:
    """Runs Python as an ordinary user, who owns `parent`."""
    setpriv = shutil.which("setpriv")
    try:
        user = pwd.getpwnam(NOBODY)
    except KeyError:
        pytest.skip("there is no user nobody")
    if setpriv is None:
        pytest.skip("there is no setpriv")
    become = [setpriv, f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
    environment = {"HOME": str(parent), "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [*become, sys.executable, *arguments]
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)

    if run("-c", "import lexichord.db.embedded").returncode != 0:
        pytest.skip("this Python is closed to other users")
    os.chown(parent, user.pw_uid, user.pw_gid)
    return run


@as_root
def test_an_ordinary_user_has_a_server_of_his_own(parent: Path, as_nobody: Run) -> None:
    done = as_nobody("-m", "tests.end_to_end.client", str(parent / "home"), "ingest", "0", "3")
    assert done.stdout.splitlines() == ["open", *(f"{uri(n)} inserted" for n in range(3)), "done"]
    assert done.stderr == ""
    assert (parent / "home" / "postgres").owner() == NOBODY
    assert postmaster(parent / "home") is None
