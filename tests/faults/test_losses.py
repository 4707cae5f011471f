"""A short run of scripts/break/faults.py --losses: each way to lose a server, once."""

from collections.abc import Iterator
from itertools import count

import pytest

from breaking.losses import LOSSES, Loss, Pair, pair
from lexichord.db.embedded import PROGRAMS
from tests.faults.earlier import PRELOADS

pytestmark = pytest.mark.faults


@pytest.fixture(scope="module")
def made() -> Iterator[Pair]:
    with pair(PROGRAMS / "pg_ctl", PRELOADS["plain"], "plain") as both:
        yield both


@pytest.mark.parametrize("fault", LOSSES)
def test_nothing_is_lost_and_no_answer_is_wrong_unmarked(made: Pair, fault: str) -> None:
    """`python scripts/break/faults.py --losses --seed SEED --count 1` repeats it."""
    loss = next(each for seed in count() if (each := Loss(made, seed)).fault == fault)
    print(loss)
    loss.run()
