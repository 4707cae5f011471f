"""The code in Markdown pages: what is to be run, what it is to print, what is left out and why."""

import re
from dataclasses import dataclass
from pathlib import Path

RUN = ("console", "python", "sh", "sql")
READ = ("json", "toml", "yaml")
NOT_RUN = re.compile(r"<!-- not run: (.+) -->")
OWN_ID = re.compile(r"\b(doc|chunk)_[a-z2-7]{16}\b")  # each database writes its own
FENCE = re.compile(r"(`{3,})(\{?[\w-]*\}?).*")


@dataclass(frozen=True)
class Block:
    """A piece of code with the line that it begins in.

    `output` is the text block right after it, None where there is none; `reason` says why it is
    not run, None where it is.
    """

    line: int
    language: str
    text: str
    output: str | None = None
    reason: str | None = None

    @property
    def is_run(self) -> bool:
        """Whether a test runs it."""
        return self.language in RUN and self.reason is None


def read_blocks(page: Path) -> list[Block]:
    """Return a page's blocks of code, each with the text block that follows it as its output."""
    blocks: list[Block] = []
    after = -1  # the line after the last block
    reason: str | None = None
    lines = iter(enumerate(page.read_text(encoding="utf-8").splitlines(), 1))
    for number, line in lines:
        if match := NOT_RUN.fullmatch(line):
            reason = match[1]
        if (fence := FENCE.fullmatch(line)) is None:
            after += line == ""  # an output may stand after an empty line
            continue
        body = []
        for _, inner in lines:
            if inner.startswith(fence[1]):
                break
            body.append(inner)
        language, text = fence[2], "".join(f"{each}\n" for each in body)
        if language == "text" and blocks and after == number:
            last = blocks[-1]
            blocks[-1] = Block(last.line, last.language, last.text, text, last.reason)
        else:
            blocks.append(Block(number, language, text, reason=reason))
            reason, after = None, number + len(body) + 2
    return blocks


def commands(block: Block) -> list[tuple[str, str | None]]:
    """Return a console block's commands, each with what it prints; None where nothing is shown."""
    pairs: list[tuple[str, str | None]] = []
    for line in block.text.splitlines(keepends=True):
        if line.startswith("$ "):
            pairs.append((line[2:], None))
        elif line.startswith("> "):  # goes on
            pairs[-1] = (pairs[-1][0] + line[2:], None)
        else:
            pairs[-1] = (pairs[-1][0], (pairs[-1][1] or "") + line)
    return pairs


def is_shown(output: str, shown: str) -> bool:
    """Tell whether an output is what a page shows of it; a line of dots stands for any lines."""
    parts = re.split(r"^\.\.\.\n", _even(shown), flags=re.MULTILINE)
    pattern = r"(?:.*\n)*?".join(re.escape(part) for part in parts)
    return re.fullmatch(pattern, _even(output)) is not None


def _even(text: str) -> str:
    """Return the text without spaces at lines' ends, empty lines at its own, and letters of ids."""
    lines = [OWN_ID.sub(r"\1_", line.rstrip()) for line in text.strip("\n").splitlines()]
    return "".join(f"{line}\n" for line in lines)
