"""Work in threads ends when nobody waits for it any more."""

import asyncio
from collections.abc import Sequence
from threading import Event, get_ident
from time import sleep

import pytest

from lexichord.providers.onnx_folder import batches_by_length
from lexichord.work import MANY_ITEMS, UnwantedError, check_wanted, in_thread, of_many


async def test_it_returns_what_the_function_does() -> None:
    assert await in_thread(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        await in_thread(divmod, 7, 0)


async def test_what_nobody_waits_for_ends_before_its_next_batch() -> None:
    begun, ended = Event(), Event()
    done: list[list[int]] = []

    def work() -> None:
        try:
            for batch in batches_by_length([3] * 80_000, 8):
                done.append(batch)
                begun.set()
                sleep(0.001)
        except UnwantedError:
            ended.set()

    task = asyncio.create_task(in_thread(work))
    await asyncio.to_thread(begun.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(ended.wait, 5)
    assert len(done) < 10_000


async def test_what_is_waited_for_goes_on_beside_it() -> None:
    def count() -> int:
        return sum(len(batch) for batch in batches_by_length([3] * 100, 8))

    first, second = asyncio.create_task(in_thread(count)), asyncio.create_task(in_thread(count))
    first.cancel()
    assert await second == 100


def test_outside_of_a_thread_everything_is_wanted() -> None:
    check_wanted()


@pytest.mark.parametrize(("items", "is_aside"), [(MANY_ITEMS - 1, False), (MANY_ITEMS, True)])
async def test_many_items_are_worked_on_where_they_hold_up_nobody(
    items: int, is_aside: bool
) -> None:
    def work(numbers: Sequence[int]) -> tuple[int, int]:
        return sum(numbers), get_ident()

    done, thread = await of_many(work, range(items))
    assert done == sum(range(items))
    assert (thread != get_ident()) is is_aside
