"""Compare what two ways of asking gave."""

import json
from math import isclose
from typing import Any

SPENT = frozenset({"ms", "ahead_ms", "timings_ms", "milliseconds"})


def differences(one: Any, other: Any, place: str = "") -> list[str]:
    """Return where two results differ, as JSON has them, but for how long things took.

    Numbers are the same to four digits: a server may add up in any order, and a text's vector
    differs in its last digits with the texts that it was embedded with.
    """
    if not place:
        one, other = (json.loads(json.dumps(each, default=str)) for each in (one, other))
        place = "$"
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        parts = [(f".{name}", one[name], other[name]) for name in one.keys() - SPENT]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        parts = [(f"[{index}]", *pair) for index, pair in enumerate(zip(one, other, strict=True))]
    elif isinstance(one, float) and isinstance(other, float):
        same = isclose(one, other, rel_tol=1e-4, abs_tol=1e-6)
        return [] if same else [f"{place}: {one} is not {other}"]
    else:
        return [] if one == other else [f"{place}: {one!r} is not {other!r}"]
    return [line for key, left, right in parts for line in differences(left, right, place + key)]
