"""What waits to be stored is set down in a file, and takes no memory."""

import gc
import resource
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from lexichord.errors import IngestError
from lexichord.ingest.given_documents import GivenDocument, GivenSources
from lexichord.ingest.sandbox import Sandbox
from lexichord.ingest.sources import Spool


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    with closing(Spool(tmp_path)) as spool:
        yield spool


def test_what_is_kept_is_read_again_in_any_thread(spool: Spool) -> None:
    kept = [spool.keep((number, "x" * number)) for number in range(500)]
    with ThreadPoolExecutor(8) as threads:
        read = list(threads.map(lambda one: one(), kept * 2))
    assert read == [(number, "x" * number) for number in range(500)] * 2


def test_documents_that_wait_are_not_in_memory(spool: Spool) -> None:
    documents = (
        {"uri": f"d/{n}", "text": f"Text {n}.", "chunks": [{"content": f"Text {n}."}]}
        for n in range(50)
    )
    with Sandbox() as sandbox:
        sources = list(GivenSources("library", "none", sandbox, spool).documents(documents))
        gc.collect()
        assert not [one for one in gc.get_objects() if isinstance(one, GivenDocument)]
        assert sources[7].read().document.text == "Text 7."


def test_what_cannot_be_written_is_told_with_its_folder(spool: Spool, tmp_path: Path) -> None:
    bounds = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, bounds[1]))
    try:
        with pytest.raises(IngestError, match=f"{tmp_path.parent} cannot hold.*TMPDIR"):
            spool.keep("x" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, bounds)
