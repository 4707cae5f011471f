"""Text that means nothing, as where a font has an encoding of its own and the file does not say it.

Vowels and consonants take turns in every language. Sukhotin's method finds the vowels by that
alone; in a text that a font has enciphered, other letters stand where vowels should.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection
from itertools import pairwise

from lexichord.ingest.load.pdf.words import UNKNOWN_LETTER

MIN_LETTERS = 300  # of a page's different words, or nothing is told of it
MIN_VOWEL_SHARE = 0.5  # of the letters that behave like vowels are vowels; of ciphers about .2
USUAL_VOWELS = (0.33, 0.5)  # of all letters, in European languages
MIN_SIGNS = 100  # of a page
MAX_MEANINGLESS_SHARE = 0.3  # of a page's signs: unknown glyphs, private characters, odd marks
LATIN_WORD = re.compile(r"[a-z]{3,}")
VOWELS = frozenset("aeiouy")
# No language writes with these in the place of letters; dot leaders and rules are not among them.
MEANINGLESS = re.compile(rf"[\ue000-\uf8ff{UNKNOWN_LETTER}!\"#$%&'()*+,/:;<>?@\[\\\]^`{{}}~]")


def is_cipher(text: str, unknown: int) -> bool:
    """Return whether a page's text, with so many glyphs of unknown meaning beside, is cipher."""
    signs = len("".join(text.split())) + unknown
    meaningless = unknown + len(MEANINGLESS.findall(text))
    if signs >= MIN_SIGNS and meaningless > MAX_MEANINGLESS_SHARE * signs:
        return True
    words = set(LATIN_WORD.findall(_plain_letters(text)))
    letters = Counter("".join(words))
    amount = letters.total()
    least, most = USUAL_VOWELS
    if amount < MIN_LETTERS or least < sum(letters[vowel] for vowel in VOWELS) / amount < most:
        return False
    behaving = _vowels(words)
    found = sum(letters[letter] for letter in behaving)
    real = sum(letters[letter] for letter in behaving & VOWELS)
    return real < MIN_VOWEL_SHARE * found


def _plain_letters(text: str) -> str:
    """Return a text in small letters without accents."""
    parted = unicodedata.normalize("NFD", text.lower())
    return "".join(sign for sign in parted if not unicodedata.combining(sign))


def _vowels(words: Collection[str]) -> set[str]:
    """Return the letters that stand beside others rather than beside each other (Sukhotin)."""
    beside = Counter[tuple[str, str]]()
    for word in words:
        for pair in pairwise(word):
            if pair[0] != pair[1]:
                beside[pair] += 1
                beside[pair[::-1]] += 1
    rest = Counter[str]()
    for (first, _), amount in beside.items():
        rest[first] += amount
    vowels = set[str]()
    while rest and (best := max(rest, key=rest.__getitem__)) and rest[best] > 0:
        vowels.add(best)
        del rest[best]
        for letter in rest:
            rest[letter] -= 2 * beside[letter, best]
    return vowels
