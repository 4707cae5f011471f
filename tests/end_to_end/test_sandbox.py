"""The child process that reads files: what goes wrong there does not go wrong here."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import psutil
import pytest

from lexichord.errors import IngestError
from lexichord.ingest.chunk.splitter import split
from lexichord.ingest.files import MAX_LATE_PARTS, FileSources
from lexichord.ingest.load import load
from lexichord.ingest.load.marks import LoadOptions
from lexichord.ingest.sandbox import SCRATCH_PREFIX, Sandbox, ScratchFolder
from lexichord.ingest.sources import IngestSource
from tests.documents import Block, Layout, make_docx, make_pdf, scanned
from tests.end_to_end.processes import wait_until

MB = 2**20
PARENT = """
import sys, time
from pathlib import Path
from lexichord.ingest.sandbox import Sandbox
sandbox = Sandbox(seconds=float(sys.argv[1]))
sandbox.read(Path(sys.argv[2]))
print(sandbox._children[0]._process.pid, flush=True)
if len(sys.argv) > 3:
    sandbox.read(Path(sys.argv[3]))
time.sleep(60)
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    file = tmp_path / "small.md"
    file.write_text("# Lease\n\nThe rent is due.\n")
    return file


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    """Takes seconds to cut, and hundreds of MB."""
    file = tmp_path / "slow.txt"
    file.write_text("The rent is due on each first day. " * 700_000)
    return file


def child() -> psutil.Process:
    (sandbox,) = [
        process
        for process in psutil.Process().children(recursive=True)
        if "lexichord.ingest.sandbox" in process.cmdline() and process.ppid() != os.getpid()
    ]
    return sandbox


def amid_a_read(victim: psutil.Process, act: Callable[[], object]) -> None:
    """Act, in another thread, once a child has taken up a file as large as `slow`."""
    before = victim.memory_info().rss

    def wait() -> None:
        wait_until(lambda: victim.memory_info().rss > before + 30 * MB)
        act()

    threading.Thread(target=wait).start()


def wait_until_gone(pid: int, seconds: float) -> None:
    end = time.monotonic() + seconds
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < end, "the child lives on"
        time.sleep(0.02)


RECOGNIZES = """#!/bin/sh
echo $$ > {pid}
exec sleep 60
"""


def refused(sandbox: Sandbox, file: Path) -> None:
    with pytest.raises(IngestError):
        sandbox.read(file)


def recognizing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have OCR take a minute a page; return the file that gets its process' number."""
    pid = tmp_path / "pid"
    program = tmp_path / "tesseract"
    program.write_text(RECOGNIZES.format(pid=pid))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    return pid


def test_a_program_that_the_child_runs_ends_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else pages of a scan would be recognized on, for nobody and without a limit."""
    pid, file = recognizing(tmp_path, monkeypatch), scanned(tmp_path, [(60, 700, "It is due.")])
    with Sandbox(LoadOptions(ocr="tesseract/eng"), workers=1) as sandbox:
        reading = threading.Thread(target=refused, args=[sandbox, file])
        reading.start()
        wait_until(lambda: pid.exists() and pid.read_text().endswith("\n"))
    reading.join()
    wait_until_gone(int(pid.read_text()), 5)


def test_nothing_is_read_on_when_the_parent_is_killed_amid_a_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: Path
) -> None:
    """The child itself sees that it is alone only once it has read the whole file."""
    pid, file = recognizing(tmp_path, monkeypatch), scanned(tmp_path, [(60, 700, "It is due.")])
    code = PARENT.replace("seconds=", 'options=LoadOptions(ocr="tesseract/eng"), seconds=')
    code = f"from lexichord.ingest.load.marks import LoadOptions{code}"
    with subprocess.Popen(
        [sys.executable, "-c", code, "60", str(small), str(file)],
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdout is not None
        reader = int(parent.stdout.readline())
        wait_until(lambda: pid.exists() and pid.read_text().endswith("\n"))
        parent.kill()
    wait_until_gone(int(pid.read_text()), 5)
    wait_until_gone(reader, 5)


@pytest.mark.parametrize("kind", ["md", "pdf", "docx"])
def test_the_child_gives_what_the_loader_and_the_chunker_give(
    tmp_path: Path, sandbox: Sandbox, kind: str
) -> None:
    file = tmp_path / f"a.{kind}"
    content = [Block("Term ü 🎉", 1), Block(rows=(("a", "b"), ("1", "2"))), Block("Five years.")]
    if kind == "pdf":
        make_pdf(file, content, Layout())
    elif kind == "docx":
        make_docx(file, content)
    else:
        file.write_text("# Term ü 🎉\n\nFive\u200b years.\n")
    loaded = load(file)
    assert sandbox.read(file) == (loaded, split(loaded))


def test_a_refusal_leaves_the_child_as_it_is(tmp_path: Path, sandbox: Sandbox, small: Path) -> None:
    empty = tmp_path / "empty.md"
    empty.write_text("")
    sandbox.read(small)
    first = child().pid
    with pytest.raises(IngestError, match=r"^holds no text$"):
        sandbox.read(empty)
    with pytest.raises(IngestError, match=r"^cannot be read: No such file or directory$"):
        sandbox.read(tmp_path / "absent\udce9\n.md")
    assert sandbox.read(small)[0].title == "Lease"
    assert child().pid == first


SHUT_OUT = """
import os, sys
from pathlib import Path
from lexichord.ingest.sandbox import Sandbox
os.chdir(sys.argv[1])
os.chmod(".", 0)
with Sandbox() as sandbox:
    print(sandbox.read(Path(sys.argv[2]))[0].title)
"""


def test_the_current_folder_need_not_be_entered(tmp_path: Path, small: Path) -> None:
    """As that of root is not, from which a command is run by `sudo -u`."""
    unprivileged = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    if os.getuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("root may read everything")
    folder = tmp_path / "shut"
    folder.mkdir()
    command = [sys.executable, "-c", SHUT_OUT, str(folder), str(small)]
    command = unprivileged * (os.getuid() == 0) + command
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    folder.chmod(0o700)
    assert done.stdout == "Lease\n", done.stderr


def refusal(source: IngestSource) -> str:
    with pytest.raises(IngestError) as raised:
        source.read()
    return str(raised.value)


def test_parts_that_take_too_long_are_read_up_to_some(tmp_path: Path, slow: Path) -> None:
    """A small archive of a thousand of them would hold a reader for a day."""
    file = tmp_path / "slow.zip"
    with zipfile.ZipFile(file, "w") as archive:
        for number in range(MAX_LATE_PARTS + 2):
            archive.write(slow, f"{number}.txt")
    with Sandbox() as lists, Sandbox(seconds=0.6) as sandbox:
        parts = lists.list_parts(file)
        files = FileSources("default", "", sandbox)
        sources = files.parts("slow.zip", parts, lambda: nullcontext(file), {}, str)
        told = [*map(refusal, sources)]
    late = ["took longer than 0.6 s to read"] * MAX_LATE_PARTS
    assert told == late + [f"was not read: {MAX_LATE_PARTS} parts before it took too long"] * 2


@pytest.mark.timeout(30)
def test_what_takes_too_long_is_given_up(small: Path, slow: Path) -> None:
    with Sandbox(seconds=0.6) as sandbox:
        sandbox.read(small)
        pid = child().pid
        with pytest.raises(IngestError, match=r"^took longer than 0.6 s to read$"):
            sandbox.read(slow)
        assert not psutil.pid_exists(pid)
    with Sandbox() as sandbox:
        assert sandbox.read(small)[0].title == "Lease"


@pytest.mark.timeout(30)
@pytest.mark.skipif(sys.platform != "linux", reason="the limit is the kernel's, here of Linux")
def test_what_needs_too_much_memory_is_given_up(small: Path, slow: Path) -> None:
    with Sandbox(memory=60 * MB) as sandbox:
        sandbox.read(small)
        first = child().pid
        with pytest.raises(IngestError, match=r"^needed more than 60 MiB to read$"):
            sandbox.read(slow)
        assert sandbox.read(small)[0].title == "Lease"
        assert child().pid != first


@pytest.mark.timeout(30)
def test_a_crash_is_told_and_the_next_file_is_read(
    sandbox: Sandbox, small: Path, slow: Path
) -> None:
    sandbox.read(small)
    victim = child()
    amid_a_read(victim, lambda: victim.send_signal(signal.SIGSEGV))
    with pytest.raises(IngestError, match=r"^reading it crashed \(signal 11\): open it"):
        sandbox.read(slow)
    assert sandbox.read(small)[0].title == "Lease"


def test_a_child_that_died_idle_is_replaced(sandbox: Sandbox, small: Path) -> None:
    sandbox.read(small)
    victim = child()
    victim.kill()
    while victim.status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)
    assert sandbox.read(small)[0].title == "Lease"


@pytest.mark.timeout(30)
def test_closing_ends_a_read(small: Path, slow: Path) -> None:
    sandbox = Sandbox()
    sandbox.read(small)
    pid = child().pid
    amid_a_read(child(), sandbox.close)
    with pytest.raises(IngestError, match="reading it crashed"):
        sandbox.read(slow)
    sandbox.close()
    assert not psutil.pid_exists(pid)
    with pytest.raises(IngestError, match="the reader is closed"):
        sandbox.read(small)


@pytest.mark.timeout(30)
def test_threads_share_one_child(sandbox: Sandbox, tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.txt" for number in range(40)]
    for file in files:
        file.write_text(f"This is file {file.name}.")
    texts = dict[Path, str]()

    def read(file: Path) -> None:
        texts[file] = sandbox.read(file)[0].text

    threads = [threading.Thread(target=read, args=[file]) for file in files]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == {file: f"This is file {file.name}." for file in files}
    child()


@pytest.mark.timeout(60)
@pytest.mark.parametrize("is_busy", [False, True])
def test_the_child_ends_when_its_parent_is_killed(small: Path, slow: Path, is_busy: bool) -> None:
    arguments = ["1", str(small), *([str(slow)] if is_busy else [])]
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, *arguments], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        time.sleep(0.2)
        assert psutil.Process(pid).is_running()
        parent.kill()
    wait_until_gone(pid, 30)


def test_the_current_folder_is_no_source_of_code(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, small: Path
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit(3)")
    (tmp_path / "lexichord").mkdir()
    monkeypatch.chdir(tmp_path)
    with Sandbox() as sandbox:
        assert sandbox.read(small)[0].title == "Lease"


LEAVER = """
import os, signal
from lexichord.ingest.sandbox import ScratchFolder
folder = ScratchFolder()
print(folder.name, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_left_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "lexichord-scratch-mine").symlink_to(tmp_path)
    held, fresh = ScratchFolder(), tmp_path / f"{SCRATCH_PREFIX}fresh"
    fresh.mkdir()
    leave = [sys.executable, "-c", LEAVER]
    told = subprocess.run(
        leave, env={**os.environ, "TMPDIR": str(tmp_path)}, stdout=subprocess.PIPE
    )
    left = Path(told.stdout.decode().strip())
    (left / "sent.txt").write_text("words")
    for folder in (left, Path(held.name)):
        os.utime(folder, (0, 0))
    with ScratchFolder() as name:
        others = {path.name for path in tmp_path.iterdir()} - {Path(name).name}
    assert others == {Path(held.name).name, fresh.name, "lexichord-scratch-mine"}
    held.cleanup()
    assert not Path(held.name).exists()
