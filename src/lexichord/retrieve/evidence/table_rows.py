"""Rows of tables in words: a reader learnt from prose, and takes "| Team | €49 |" for signs.

"Team: Price €49; Users 10.", each value behind its column's name. Of 34 questions of six tables the
reader finds the row of 20 between bars and of 28 in this form; of 16 without the full stop, of 22
as "Plan: Team; Price: €49.", of 24 as "Plan Team: …", of 26 with "is" or commas.
"""

import re
from collections.abc import Sequence

from lexichord.retrieve.evidence.relevance import QuotedSentence, sub_quote
from lexichord.types.evidence import Quote
from lexichord.types.reading import Passage, SentenceReading

BAR = re.compile(r"(?<!\\)\|")


def cells_of(line: str) -> list[str]:
    """Return the cells of a row of Markdown, a bar behind a backslash in its cell."""
    cells = BAR.split(line.strip().removeprefix("|"))
    return [cell.strip() for cell in (cells if cells[-1] else cells[:-1])]


def in_words(head: str, row: str) -> str:
    """Return a row in words: its first cell, then each of the others behind its column's name.

    Where the head is not known, or has other columns, the values stand alone.
    """
    first, *values = cells_of(row) or [""]
    names = cells_of(head)[1:]
    if len(names) != len(values):
        names = [""] * len(values)
    pairs = zip(names, values, strict=True)
    said = "; ".join(f"{name} {value}".strip() for name, value in pairs if value)
    return ": ".join(filter(None, (first, said))).replace(r"\|", "|") + "."


class ReadText:
    """The text of a passage as a reader takes it, and where its places stand in the passage.

    Heads of tables are left out, for each row says its columns' names.
    """

    def __init__(self, quote: Quote, sentences: Sequence[QuotedSentence]) -> None:
        self.quote = quote
        self.sentences = [one for one in sentences if not one.is_head]
        self.text, self.places = "", list[tuple[int, int]]()
        end = 0
        for one in sentences:
            start = one.quote.start - quote.start
            self.text += "\n" if one.is_row else quote.text[end:start]
            end = one.quote.end - quote.start
            if not one.is_head:
                said = in_words(one.before, one.quote.text) if one.is_row else one.quote.text
                self.places.append((len(self.text), len(self.text) + len(said)))
                self.text += said
        self.text += quote.text[end:]

    def passage(self) -> Passage:
        """Return it named, with the places of its sentences."""
        heading = self.quote.heading.rpartition(" › ")[2]
        title = ". ".join(dict.fromkeys(filter(None, (self.quote.title, heading))))
        return Passage(title, self.text, tuple(self.places))

    def phrase(self, number: int, said: SentenceReading) -> Quote:
        """Return the phrase of a sentence as it stands in the passage.

        Of a row it is the only cell that the phrase holds, else the row.
        """
        read = self.sentences[number]
        sentence = read.quote
        start, _ = self.places[number]
        first, last = said.start - start, said.end - start
        if read.is_row:
            found = self.text[said.start : said.end].strip(" ;:.")
            whole = [cell for cell in cells_of(sentence.text) if cell and cell in found]
            wanted = found if found in sentence.text else whole[0] if len(whole) == 1 else ""
            first = sentence.text.find(wanted) if wanted else 0
            last = first + len(wanted) if wanted else len(sentence.text)
        return sub_quote(sentence, first, last, sentence.score)
