import pytest

from lexichord.errors import ConfigError
from lexichord.evaluate.measure import Gate, check_gate, parse_gate

MEANS = {"pass@5": 0.84, "mrr": 0.5, "evidence@4000": float("nan")}


@pytest.mark.parametrize(
    ("text", "gate"),
    [
        ("pass@5>=0.84", Gate("pass@5", ">=", 0.84)),
        (" Pass@5 > .84 ", Gate("pass@5", ">", 0.84)),
        ("entity_f1<5e-1", Gate("entity_f1", "<", 0.5)),
    ],
)
def test_gates_are_read(text: str, gate: Gate) -> None:
    assert parse_gate(text) == gate
    assert parse_gate(str(gate)) == gate


@pytest.mark.parametrize(
    "text",
    [
        *("", "pass@5>=", ">=0.84", "pass@5==0.84", "mrr>x", "mrr>nan", "mrr>1e999"),
        "mrr>0.5 and map>0.5",
    ],
)
def test_what_is_no_gate_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"not a gate: .*; write one like 'pass@5>=0.84'"):
        parse_gate(text)


@pytest.mark.parametrize(
    ("sign", "passes"), [(">=", True), (">", False), ("<=", True), ("<", False)]
)
def test_means_pass_or_fail_and_what_is_not_a_number_passes_no_gate(
    sign: str, passes: bool
) -> None:
    reason = check_gate(parse_gate(f"pass@5{sign}0.84"), MEANS)
    assert reason == (None if passes else f"gate pass@5{sign}0.84 failed: pass@5 is 0.8400")
    assert check_gate(parse_gate(f"evidence@4000{sign}0.5"), MEANS) is not None


def test_an_unknown_metric_names_those_there_are() -> None:
    with pytest.raises(ConfigError, match=r"no metric 'pass@7'.*evidence@4000, mrr, pass@5"):
        check_gate(parse_gate("pass@7>0"), MEANS)
    with pytest.raises(ConfigError, match="there are none"):
        check_gate(parse_gate("pass@7>0"), {})
