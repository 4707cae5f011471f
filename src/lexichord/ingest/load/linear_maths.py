"""What equations in a line have in common, whatever they were written in."""

from types import MappingProxyType

ROOTS = MappingProxyType({"2": "√", "3": "∛", "4": "∜"})


def is_bracketed(text: str) -> bool:
    """Return whether one pair of parentheses holds all of a part."""
    depth = 0
    for place, sign in enumerate(text, 1):
        depth += (sign == "(") - (sign == ")")
        if not depth:
            return sign == ")" and place == len(text)
    return False
