"""Stages that overlap keep their order, and leave nothing behind."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from lexichord.db.store import Turn
from lexichord.ingest.flow import bounded_gather, gather_in_turns


async def numbers(count: int) -> AsyncGenerator[int]:
    for number in range(count):
        yield number


class Work:
    """Doubles numbers, the later the faster, or the first alone; 3 may fail."""

    def __init__(self, fails: bool = False, stuck: bool = False) -> None:
        self.fails = fails
        self.stuck = stuck
        self.now = self.most = 0
        self.cancelled: list[int] = []

    async def double(self, number: int) -> int:
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await asyncio.sleep(60 if self.stuck and number else 0.01 * (6 - number))
            if self.fails and number == 3:
                raise ValueError("3")
        except asyncio.CancelledError:
            self.cancelled.append(number)
            raise
        finally:
            self.now -= 1
        return 2 * number


@pytest.mark.parametrize("at_once", [1, 2, 4])
async def test_the_order_stays_and_no_more_are_made_at_once(at_once: int) -> None:
    work = Work()
    pairs = [pair async for pair in bounded_gather(numbers(6), work.double, at_once)]
    assert pairs == [(number, 2 * number) for number in range(6)]
    assert work.most == at_once


async def test_an_error_comes_in_its_place_and_ends_the_others() -> None:
    work = Work(fails=True)
    async with aclosing(bounded_gather(numbers(6), work.double, 2)) as pairs:
        assert [await anext(pairs) for _ in range(3)] == [(0, 0), (1, 2), (2, 4)]
        with pytest.raises(ValueError, match="3"):
            await anext(pairs)
    assert work.now == 0


async def test_who_stops_early_leaves_nothing_running() -> None:
    work = Work(stuck=True)
    async with aclosing(bounded_gather(numbers(6), work.double, 3)) as pairs:
        assert await anext(pairs) == (0, 0)
    assert work.now == 0
    assert work.cancelled == [1, 2]


async def test_an_error_of_what_comes_is_raised_after_what_came() -> None:
    async def broken() -> AsyncGenerator[int]:
        async with aclosing(numbers(3)) as first:
            async for number in first:
                yield number
        raise ValueError("no more")

    async with aclosing(bounded_gather(broken(), Work().double, 2)) as pairs:
        assert [await anext(pairs) for _ in range(3)] == [(0, 0), (1, 2), (2, 4)]
        with pytest.raises(ValueError, match="no more"):
            await anext(pairs)


async def test_what_is_prepared_at_once_takes_effect_in_order() -> None:
    prepared: list[int] = []
    stored: list[int] = []

    async def store(number: int, turn: Turn) -> None:
        await asyncio.sleep(0.01 * (number % 2 == 0))  # the second one of each pair is ready first
        prepared.append(number)
        await turn()
        await asyncio.sleep(0.01)
        stored.append(number)

    await gather_in_turns(numbers(6), store, 2)
    assert stored == [0, 1, 2, 3, 4, 5] != prepared


async def test_none_takes_effect_after_one_that_failed() -> None:
    stored: list[int] = []

    async def store(number: int, turn: Turn) -> None:
        await turn()
        if number == 3:
            raise ValueError("3")
        stored.append(number)

    with pytest.raises(ValueError, match="3"):
        await gather_in_turns(numbers(6), store, 3)
    await asyncio.sleep(0.01)
    assert stored == [0, 1, 2]
