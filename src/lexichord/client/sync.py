"""The same application for programs without an event loop."""

import asyncio
import atexit
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from contextlib import AbstractContextManager, suppress
from functools import wraps
from inspect import signature
from queue import Empty, SimpleQueue
from threading import Thread
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Concatenate, Self, cast, get_args

from lexichord.client.lexichord import Lexichord
from lexichord.errors import ConfigError
from lexichord.settings import Settings

if TYPE_CHECKING:
    from lexichord.retrieve.stages import Stages

SYNC_NOT_OPEN = "SyncLexichord is not open: use it inside `with`, or call open() first"
INTERRUPT_SECONDS = 10  # seconds for what was interrupted to leave things in order


def _sync[**P, R](
    method: Callable[Concatenate[Lexichord, P], Coroutine[Any, Any, R]],
) -> "Callable[Concatenate[SyncLexichord, P], R]":
    @wraps(method)
    def call(self: "SyncLexichord", *args: P.args, **kwargs: P.kwargs) -> R:
        return self.run(method(self.core, *args, **kwargs))

    return cast("Callable[Concatenate[SyncLexichord, P], R]", call)


def _sync_generator[**P, T](
    method: Callable[Concatenate[Lexichord, P], AsyncGenerator[T]],
) -> "Callable[Concatenate[SyncLexichord, P], Generator[T]]":
    @wraps(method)
    def call(self: "SyncLexichord", *args: P.args, **kwargs: P.kwargs) -> Generator[T]:
        if not self._open:
            raise ConfigError(SYNC_NOT_OPEN)
        items = method(self.core, *args, **kwargs)
        try:
            while item := self.run(_next(items)):
                yield item[0]
        finally:
            self.run(items.aclose())

    shown = signature(method)
    returned = GenericAlias(Generator, get_args(shown.return_annotation)[0])
    call.__annotations__ = {**method.__annotations__, "return": returned}
    call.__signature__ = shown.replace(return_annotation=returned)  # type: ignore[attr-defined]
    return cast("Callable[Concatenate[SyncLexichord, P], Generator[T]]", call)


async def _next[T](items: AsyncGenerator[T]) -> tuple[T] | None:
    """Return the next item, None after the last."""
    try:
        return (await anext(items),)
    except StopAsyncIteration:
        return None


class SyncLexichord:
    """`Lexichord`, method by method, without `await`.

    Its event loop has a thread of its own, so that it also works where one runs already, as in
    notebooks. Used as `with SyncLexichord() as lexichord`, or from `open()` to `close()`.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        stages: "Stages | None" = None,
        **arguments: object,
    ) -> None:
        self.core = Lexichord(settings, stages=stages, **arguments)
        self._open = False
        self._loop: asyncio.AbstractEventLoop | None = None

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.close()

    def open(self) -> Self:
        """Open it where no `with` fits, as from one notebook cell to the next; `close` it then."""
        if self._open:
            return self
        self._loop = loop = asyncio.new_event_loop()
        self._thread = Thread(target=loop.run_forever, name="lexichord", daemon=True)
        self._thread.start()
        try:
            self.run(self.core.open())
        except BaseException:
            self._stop()
            raise
        self._open = True
        atexit.register(self.close)  # a notebook's last cell is seldom the one that closes
        return self

    def close(self) -> None:
        """Leave the database, as the end of `with` does."""
        if not self._open:
            return
        atexit.unregister(self.close)
        try:
            self.run(self.core.close())
        finally:
            self._stop()

    def run[R](self, coroutine: Coroutine[Any, Any, R]) -> R:
        """Run a coroutine on the loop and wait for its result; an interrupt here cancels it."""
        loop = self._loop
        if loop is None:
            coroutine.close()
            raise ConfigError(SYNC_NOT_OPEN)
        started: list[asyncio.Task[R]] = []
        # No Event: an interrupt within its Python code can leave it locked for ever.
        ended = SimpleQueue[object]()

        def start() -> None:
            started.append(loop.create_task(coroutine))
            started[0].add_done_callback(ended.put)

        def cancel() -> None:
            if not started:  # the interrupt came before the loop was told
                coroutine.close()
            if not started or not started[0].cancel():
                ended.put(None)

        try:
            # In here, too: it wakes the loop's thread, and lets an interrupt in when all has begun.
            loop.call_soon_threadsafe(start)
            ended.get()
        except BaseException:
            loop.call_soon_threadsafe(cancel)
            with suppress(Empty):
                ended.get(timeout=INTERRUPT_SECONDS)
            raise
        return started[0].result()

    def reading_after(self, position: str) -> AbstractContextManager[None]:
        """See `Lexichord.reading_after`."""
        return self.core.reading_after(position)

    def _stop(self) -> None:
        loop, self._loop, self._open = self._loop, None, False
        if loop is not None:
            loop.call_soon_threadsafe(loop.stop)
            self._thread.join()
            loop.close()

    watch = _sync_generator(Lexichord.watch)
    stream = _sync_generator(Lexichord.stream)
    ingest = _sync(Lexichord.ingest)
    retry_failed = _sync(Lexichord.retry_failed)
    reread = _sync(Lexichord.reread)
    contextualize = _sync(Lexichord.contextualize)
    calibrate = _sync(Lexichord.calibrate)
    evaluate = _sync(Lexichord.evaluate)
    training_triplets = _sync(Lexichord.training_triplets)
    judge_query = _sync(Lexichord.judge_query)
    write_judged_set = _sync(Lexichord.write_judged_set)
    search = _sync(Lexichord.search)
    files = _sync(Lexichord.files)
    keywords = _sync(Lexichord.keywords)
    query = _sync(Lexichord.query)
    explain = staticmethod(Lexichord.explain)
    similar = _sync(Lexichord.similar)
    list = _sync(Lexichord.list)
    count = _sync(Lexichord.count)
    count_by = _sync(Lexichord.count_by)
    complete = _sync(Lexichord.complete)
    set_metadata = _sync(Lexichord.set_metadata)
    show = _sync(Lexichord.show)
    page_image = _sync(Lexichord.page_image)
    boxes = _sync(Lexichord.boxes)
    page_sizes = _sync(Lexichord.page_sizes)
    original = _sync(Lexichord.original)
    expand = _sync(Lexichord.expand)
    delete = _sync(Lexichord.delete)
    move = _sync(Lexichord.move)
    rename_dataset = _sync(Lexichord.rename_dataset)
    delete_dataset = _sync(Lexichord.delete_dataset)
    turn_tenants_on = _sync(Lexichord.turn_tenants_on)
    add_tenant = _sync(Lexichord.add_tenant)
    list_tenants = _sync(Lexichord.list_tenants)
    drop_tenant = _sync(Lexichord.drop_tenant)
    create_key = _sync(Lexichord.create_key)
    list_keys = _sync(Lexichord.list_keys)
    rotate_key = _sync(Lexichord.rotate_key)
    revoke_key = _sync(Lexichord.revoke_key)
    list_calls = _sync(Lexichord.list_calls)
    check_key = _sync(Lexichord.check_key)
    copy_to = _sync(Lexichord.copy_to)
    import_vechord = _sync(Lexichord.import_vechord)
    export_vechord = _sync(Lexichord.export_vechord)
    position = _sync(Lexichord.position)
    ping = _sync(Lexichord.ping)
    datasets = _sync(Lexichord.datasets)
    tables = _sync(Lexichord.tables)
    index_changes = _sync(Lexichord.index_changes)
    status = _sync(Lexichord.status)
    doctor = _sync(Lexichord.doctor)
    reindex = _sync(Lexichord.reindex)
    embed = _sync(Lexichord.embed)
    reembed = _sync(Lexichord.reembed)
