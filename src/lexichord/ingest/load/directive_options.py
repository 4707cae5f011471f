"""The options of directives, which reStructuredText and MyST write as fields below their names."""

import re
from collections.abc import Mapping, Sequence

from lexichord.ingest.load.marks import described, picture

OPTION = re.compile(r"(?P<margin>[ \t]*):(?P<name>[\w-]+):(?:[ \t]+(?P<value>.*?))?\s*")
YAML_RULE = re.compile(r"[ \t]*---[ \t]*\s*")  # around options, as MyST may have them
YAML_OPTION = re.compile(r"[ \t]*(?P<name>[\w-]+):(?:[ \t]+(?P<value>.*?))?\s*")
QUOTED = re.compile(r"(?P<mark>[\"'])(?P<words>.*)(?P=mark)")
MAX_OPTION_LINES = 50

type Options = Mapping[str, str]


def read_options(lines: Sequence[str], at: int) -> tuple[Options, int]:
    """Return a directive's options, and where they end; a line set in deeper goes on with one."""
    options, name, margin = dict[str, str](), "", 0
    while at < len(lines):
        line = lines[at]
        if match := OPTION.fullmatch(line):
            name, margin = match["name"].lower(), len(match["margin"])
            options[name] = match["value"] or ""
        elif name and line.strip() and len(line) - len(line.lstrip()) > margin:
            options[name] = f"{options[name]} {line.strip()}".strip()
        else:
            break
        at += 1
    return options, at


def read_myst_options(lines: Sequence[str], at: int) -> tuple[Options, int]:
    """Return the options of a directive of MyST, whose values may be quoted, as YAML has them."""
    end = _yaml_end(lines, at)
    found = (YAML_OPTION.fullmatch(line) for line in lines[at:end])
    options: Options = {match["name"]: match["value"] or "" for match in found if match}
    if not end:
        options, end = read_options(lines, at)
    return {name: unquoted(value) for name, value in options.items()}, end


def _yaml_end(lines: Sequence[str], at: int) -> int:
    """Return where options between lines of --- end; 0 where none begin."""
    if at < len(lines) and YAML_RULE.fullmatch(lines[at]):
        inside = range(at + 1, min(len(lines), at + MAX_OPTION_LINES))
        return next((n + 1 for n in inside if YAML_RULE.fullmatch(lines[n])), 0)
    return 0


def unquoted(value: str) -> str:
    """Return a value without the quotes around it; several in quotes stay as they are."""
    match = QUOTED.fullmatch(value)
    return match["words"] if match and match["mark"] not in match["words"] else value


def seen_options(options: Options) -> list[str]:
    """Return what options say that readers see: a caption, and what is said of a picture."""
    said = described(options.get("alt", ""))
    caption = options.get("caption", "").strip()
    return [*([caption] if caption else []), *([picture(said)] if said else [])]
