import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexichord.errors import ConfigError
from lexichord.evaluate.statistics import bootstrap_difference
from lexichord.types.evaluation import Difference

values = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def test_the_mean_is_of_the_differences_and_pairs_without_one_are_left_out() -> None:
    difference = bootstrap_difference([1.0, None, 0.5, 0.25], [0.5, 1.0, None, 0.5])
    assert difference.mean == 0.125


def test_the_interval_is_that_of_the_normal_where_there_are_many() -> None:
    change = np.random.default_rng(1).normal(0.02, 0.3, 2000)
    difference = bootstrap_difference(change.tolist(), [0.0] * 2000)
    error = 1.96 * change.std() / np.sqrt(len(change))
    assert (difference.low, difference.high) == pytest.approx(
        (change.mean() - error, change.mean() + error), abs=0.001
    )
    assert not difference.is_noise


def test_noise_is_said_to_be_noise_as_often_as_it_should_be() -> None:
    """Two runs that differ by chance alone: about one in twenty may look different."""
    rng = np.random.default_rng(7)
    differences = [
        bootstrap_difference(rng.random(60).tolist(), rng.random(60).tolist()) for _ in range(100)
    ]
    assert 0 < sum(not each.is_noise for each in differences) <= 12


def test_the_same_difference_in_every_question_is_no_noise() -> None:
    difference = bootstrap_difference([0.75] * 20, [0.5] * 20)
    assert difference == Difference(0.25, 0.25, 0.25, is_noise=False)
    assert bootstrap_difference([0.5] * 20, [0.75] * 20).high == -0.25


@pytest.mark.parametrize(("changed", "is_noise"), [(0, True), (5, True), (8, False)])
def test_a_few_questions_alone_prove_nothing(changed: int, is_noise: bool) -> None:
    ones = [1.0] * changed
    assert bootstrap_difference(ones + [0.0] * 200, [0.0] * (changed + 200)).is_noise == is_noise
    assert bootstrap_difference(ones or [0.0], [0.0] * len(ones or [0.0])).is_noise == is_noise


def test_questions_of_one_group_count_as_one() -> None:
    better, before = [1.0] * 10 + [0.0] * 30, [0.0] * 40
    alone = bootstrap_difference(better, before)
    grouped = bootstrap_difference(better, before, ["a"] * 10 + [f"b{n}" for n in range(30)])
    assert grouped.mean == alone.mean
    assert not alone.is_noise
    assert grouped.is_noise
    assert grouped.high - grouped.low > alone.high - alone.low


def test_uneven_groups_weigh_by_their_questions() -> None:
    difference = bootstrap_difference([1.0, 1.0, 1.0, 0.0], [0.0] * 4, ["a", "a", "a", "b"])
    assert (difference.mean, difference.low, difference.high) == (0.75, 0, 1)


@settings(max_examples=25)
@given(values, st.data())
def test_turning_it_round_changes_the_sign_alone(a: list[float], data: st.DataObject) -> None:
    b = data.draw(st.lists(st.floats(0, 1), min_size=len(a), max_size=len(a)))
    one, other = bootstrap_difference(a, b), bootstrap_difference(b, a)
    assert other.mean == pytest.approx(-one.mean)
    assert (other.low, other.high) == pytest.approx((-one.high, -one.low), abs=1e-9)
    assert one.low - 1e-9 <= one.high
    assert bootstrap_difference(a, b) == one


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(ConfigError, match="different questions"):
        bootstrap_difference([1.0], [1.0, 0.0])
    with pytest.raises(ConfigError, match="different questions"):
        bootstrap_difference([1.0, 0.0], [1.0, 0.0], ["a"])
    with pytest.raises(ConfigError, match="nothing to compare"):
        bootstrap_difference([1.0, None], [None, 1.0])
