"""What writers of files have in common."""

from collections.abc import Iterable
from pathlib import Path

from tests.walked.said import Said
from tests.walked.shapes import Block


class Writer:
    """Writes the parts of one file; `taken` are the files beside it that it takes in, by name.

    `behind` stands behind all parts: what links and notes lead to.
    """

    def __init__(self, said: Said) -> None:
        self.said = said
        self.taken = dict[str, str]()
        self.behind = list[str]()

    def _block(self, block: Block) -> str:
        raise NotImplementedError

    def _piece(self, kind: str) -> str:
        raise NotImplementedError

    def blocks(self, parts: Iterable[Block], between: str = "") -> str:
        return between.join(map(self._block, parts))

    def _extra(self, piece: str) -> str:
        """Write a piece of a cell; where its words stand is not looked at."""
        order = len(self.said.order)
        written = self._piece(piece) if piece else ""
        del self.said.order[order:]
        return written

    def _own(self) -> str:
        return self.said.gone("directives' own signs")

    def _row(self, columns: int) -> list[str]:
        words = [self.said.text() for _ in range(columns)]
        self.said.row(words)
        return words

    def _take(self, ending: str, content: str) -> str:
        name = f"{self.said.word()}{ending}"
        self.taken[name] = content
        return name

    def save(self, file: Path, text: str) -> None:
        file.write_text(text)
        for name, content in self.taken.items():
            (file.parent / name).write_text(content)
