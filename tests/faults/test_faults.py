"""A short run of scripts/break/faults.py on each engine: each kind of fault, in some step."""

from collections.abc import Iterator
from itertools import count

import pytest

from breaking.bench import bench
from breaking.breakage import FAULTS
from breaking.stage import Stage, stage
from breaking.trial import Trial, unfit_faults
from lexichord.db.embedded import PROGRAMS
from tests.conftest import ENGINES
from tests.faults.earlier import PRELOADS, fill_earlier
from tests.own_server import find_pg_ctl

pytestmark = pytest.mark.faults


@pytest.fixture(scope="module", params=ENGINES)
def ready(request: pytest.FixtureRequest) -> Iterator[Stage]:
    """A bench of an engine whose programs are on this machine."""
    engine = request.param
    pg_ctl = (
        PROGRAMS / "pg_ctl"
        if engine == "plain"
        else find_pg_ctl(request.getfixturevalue(f"{engine}_dsn"))
    )
    with bench(pg_ctl, PRELOADS[engine]) as own, stage(own, engine, fill_earlier(engine)) as made:
        yield made


@pytest.mark.parametrize("fault", FAULTS)
def test_nothing_is_lost(ready: Stage, fault: str) -> None:
    """`python scripts/break/faults.py --engine ENGINE --seed SEED --count 1` repeats it."""
    if fault in (unfit := unfit_faults(ready)):
        pytest.skip(unfit[fault])
    first = 1000 * ENGINES.index(ready.engine)  # other steps on each engine
    trial = next(each for seed in count(first) if (each := Trial(ready, seed)).fault == fault)
    print(trial)
    trial.run()
