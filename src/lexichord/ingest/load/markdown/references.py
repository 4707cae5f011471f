"""Markdown's links whose addresses stand elsewhere, with the addresses behind their words."""

import re
from collections.abc import Mapping
from typing import Any, TypeGuard

from lexichord.display.plain_text import CODE_BLOCK, CODE_SPAN
from lexichord.ingest.markdown import part_by_fences

# [name]: address "title"
DEFINITION = (
    r"^ {0,3}\[(?P<defined>[^\^\[\]\n][^\[\]\n]{0,200})\]:[ \t]+<?(?P<address>[^\s<>]+)>?"
    r"(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*(?:\n|\Z)"
)
REFERENCE = (
    r"(?<![\w\\\]])\[(?P<words>!\[[^\[\]]*\]\([^()\s]*\)|[^\^\[\]\n][^\[\]]{0,200})\]"
    r"(?:\[(?P<name>[^\[\]\n]{0,200})\])?(?![\[(:])"
)
NAME = re.compile(rf"{CODE_SPAN}|\{{\{{[ \t]*(?P<name>[\w.-]{{1,100}})[ \t]*\}}\}}")
PARTS = re.compile(f"{CODE_BLOCK}|{CODE_SPAN}|{DEFINITION}|{REFERENCE}", re.M)


def resolve_references(text: str) -> str:
    """Return a text with [words](address) for [words][name] and [words], without definitions."""
    parts = [*part_by_fences(text)]
    found = (match for words, _ in parts for match in PARTS.finditer(words) if match["defined"])
    addresses = {_folded(match["defined"]): match["address"] for match in found}

    def written(match: re.Match[str]) -> str:
        if match["defined"]:
            return ""
        address = match["words"] and addresses.get(_folded(match["name"] or match["words"]))
        return f"[{match['words']}]({address})" if address else match[0]

    if not addresses:
        return text
    # Pictures first, then what is linked by them.
    return "".join(PARTS.sub(written, PARTS.sub(written, words)) + code for words, code in parts)


def substitute(text: str, facts: Mapping[str, Any]) -> str:
    """Return a text with the words of its front matter for {{ names }}, as MyST has them."""
    myst = facts.get("myst")
    words = facts.get("substitutions") or (myst.get("substitutions") if _is_map(myst) else None)
    if not _is_map(words):
        return text

    def written(match: re.Match[str]) -> str:
        word = words.get(match["name"]) if match["name"] else None
        return match[0] if word is None or isinstance(word, Mapping | list) else str(word)

    return "".join(NAME.sub(written, told) + code for told, code in part_by_fences(text))


def _is_map(value: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping)


def _folded(name: str) -> str:
    return " ".join(name.casefold().split())
