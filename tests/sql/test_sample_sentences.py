"""Sentences of what is stored, by which a model's cosines are measured."""

from psycopg import Connection

from tests.sql.corpus import call, put

LEASE = "The lease of the hall ends in June. Too short. The rent is due on the first of a month."
CHINESE = (
    "租约在每年六月的最后一天结束，除非双方另有书面约定。"
    "房租应在每个月的第一天支付给房东，不得延迟。"
)


def sampled(connection: Connection, amount: int) -> list[str]:
    return [row["sentence"] for row in call(connection, "sample_sentences", amount=amount)]


def test_a_sentence_of_each_chunk_comes_before_a_second_one(connection: Connection) -> None:
    assert sampled(connection, 9) == []
    put(connection, "a", [LEASE, "x" * 401, "The deposit is paid back within thirty days."])
    put(connection, "b", [CHINESE])
    first = sampled(connection, 3)
    assert first == sampled(connection, 3)
    assert len({*first} & {*LEASE.split(". ")} - {"Too short"}) <= 1
    assert "The deposit is paid back within thirty days." in first
    assert len([one for one in first if one in CHINESE]) == 1
    every = sampled(connection, 9)
    assert len(every) == 5
    assert every[:3] == first
    assert all(20 <= len(one) <= 400 and one in f"{LEASE}{CHINESE}{first}" for one in every)


def test_lines_are_sentences_and_no_more_come_than_are_asked_for(connection: Connection) -> None:
    put(connection, "a", [f"The clause number {n} says nothing else" for n in range(50)])
    assert len({*sampled(connection, 20)}) == 20
