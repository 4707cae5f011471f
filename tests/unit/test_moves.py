"""Which shard a document belongs to."""

from dataclasses import replace

from lexichord.db.moves import Moves

HOME = 0
URIS = [f"policies/{number}.md" for number in range(4000)]
THREE = Moves(0, 3, (1, 2), (), False, 0.0, 0, 0, ())  # the home and two others


def places(moves: Moves) -> list[int]:
    return [moves.place("default", uri, HOME) for uri in URIS]


def test_each_shard_gets_its_share() -> None:
    held = places(THREE)
    assert [round(held.count(number) / len(URIS), 1) for number in (0, 1, 2)] == [0.3, 0.3, 0.3]


def test_a_shard_that_is_added_takes_its_share_and_moves_nothing_else() -> None:
    before, after = places(THREE), places(replace(THREE, numbers=(1, 2, 3)))
    moved = [new for old, new in zip(before, after, strict=True) if new != old]
    assert set(moved) == {3}
    assert round(len(moved) / len(URIS), 2) in (0.24, 0.25, 0.26)


def test_what_leaves_a_shard_goes_to_all_others() -> None:
    before, after = places(THREE), places(replace(THREE, leaving=(1,)))
    pairs = list(zip(before, after, strict=True))
    assert {old for old, new in pairs if new != old} == {1}
    assert {new for old, new in pairs if new != old} == {0, 2}
