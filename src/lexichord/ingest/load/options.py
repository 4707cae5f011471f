"""How files are loaded, beyond what stands in them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lexichord.types.options import Marking

if TYPE_CHECKING:
    from lexichord.settings import Settings


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """The password of those that are encrypted, and what recognizes the text of scans.

    `ocr` is tesseract or, with the languages that it shall expect, tesseract/eng+deu; or rapidocr.
    What is `hidden`, and `comments`, are kept as text, marked as what they are, or dropped. Words
    that are hidden amid the text are kept where all is, else dropped.
    """

    password: str | None = None
    ocr: str | None = None
    hidden: Marking = "mark"
    comments: Marking = "mark"


def load_options(settings: "Settings") -> LoadOptions:
    """Return how files are loaded by the settings."""
    secret = settings.file_password
    password = secret.get_secret_value() if secret else None
    return LoadOptions(password, settings.ocr, settings.hidden, settings.comments)
