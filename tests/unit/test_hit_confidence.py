"""One score for each hit: a probability that falls with the rank and with the confidence."""

from itertools import pairwise

from lexichord.retrieve.confidence import hit_confidences
from lexichord.types import Response
from lexichord.types.questions import Intent
from tests.builders import HIT


def scores(confidence: float, hits: int) -> list[float]:
    intent = Intent("general", "q")
    return hit_confidences(Response("q", intent, [], [HIT] * hits, "", [], confidence=confidence))


def test_scores_are_probabilities_below_the_confidence_that_fall_with_the_rank() -> None:
    confidences = scores(0.9, 100)
    assert all(0 < score < 0.9 for score in confidences)
    assert all(better > worse for better, worse in pairwise(confidences))
    assert confidences[0] > 0.5 > confidences[1]


def test_a_foreign_question_scores_low_throughout() -> None:
    assert max(scores(0.03, 10)) < 0.05
    assert scores(0.0, 3) == [0.0] * 3
    assert scores(0.9, 0) == []


def test_the_best_hit_of_sure_evidence_is_likelier_right_than_not_and_never_certain() -> None:
    assert 0.7 < scores(1.0, 1)[0] < 0.75
