"""How files are loaded, beyond what stands in them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """The password of those that are encrypted, and what recognizes the text of scans.

    `ocr` is tesseract or, with the languages that it shall expect, tesseract/eng+deu.
    """

    password: str | None = None
    ocr: str | None = None
