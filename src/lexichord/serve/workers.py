"""Several processes that answer on the same sockets, and the one that keeps them at work."""

import asyncio
import logging
import multiprocessing
import os
import signal
import tempfile
import threading
from collections.abc import Callable
from multiprocessing.process import BaseProcess

from lexichord.errors import ConfigError, LexichordError
from lexichord.serve.limits import RESTART_SECONDS

log = logging.getLogger("lexichord")
spawn = multiprocessing.get_context("spawn")  # of a fork, threads and connections would be broken

type Work = Callable[[], None]


def check_workers(count: int) -> None:
    """Raise ConfigError where several processes cannot be kept at work."""
    if count > 1 and os.name == "nt":
        raise ConfigError("--workers is not there on Windows: start several servers behind a proxy")


async def run_workers(work: Work, count: int) -> None:
    """Keep `count` processes at `work`, which can be pickled, until SIGINT or SIGTERM.

    Each is told to end then by SIGTERM, and awaited; one that ends before is replaced.
    """
    told, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, told.set)
    with tempfile.TemporaryDirectory(prefix="lexichord-metrics-") as metrics:
        await asyncio.gather(*(_keep(work, metrics, told) for _ in range(count)))


async def _keep(work: Work, metrics: str, told: asyncio.Event) -> None:
    from prometheus_client.multiprocess import mark_process_dead

    while not told.is_set():
        process = spawn.Process(target=_run, args=(work, metrics))
        process.start()
        is_early = await _ends(process, told)
        mark_process_dead(process.pid, metrics)  # type: ignore[no-untyped-call]
        if is_early:
            log.warning("process %s ended (%s): another comes", process.pid, process.exitcode)
            await _done(told, RESTART_SECONDS)


async def _ends(process: BaseProcess, told: asyncio.Event) -> bool:
    """Wait for the end of a process, which it is told once we are; return whether it was early."""
    ended, loop = asyncio.Event(), asyncio.get_running_loop()
    loop.add_reader(process.sentinel, ended.set)
    try:
        waiting = {asyncio.ensure_future(one.wait()) for one in (ended, told)}
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if told.is_set():
            process.terminate()
        await ended.wait()
    finally:
        loop.remove_reader(process.sentinel)
    for one in waiting:
        one.cancel()
    process.join()
    return not told.is_set()


async def _done(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, but not for long."""
    await asyncio.wait({asyncio.ensure_future(event.wait())}, timeout=seconds)


def _run(work: Work, metrics: str) -> None:
    """Work in a process of its own, which does not outlive the one that keeps it.

    In the folder `metrics` all processes count, so that each can tell the sums.
    """
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = metrics  # looked at when prometheus_client is imported
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        work()
    except LexichordError as error:
        log.error("%s", error)
        raise SystemExit(1) from None


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
