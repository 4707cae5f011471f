"""A language for tests: English in letters of another width, German by the name of its file."""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from string import ascii_letters

from lexichord.serve.page.language import FOLDER, PLACEHOLDER

# Of a letter the one that is as wide as a Chinese sign: what is not translated shows at once.
WIDE = {ord(letter): ord(letter) + 0xFEE0 for letter in ascii_letters}


def translate(text: str) -> str:
    """Return a text of the page in the language; {placeholders} stay."""
    parts = enumerate(PLACEHOLDER.split(text))
    return "".join(f"{{{part}}}" if at % 2 else part.translate(WIDE) for at, part in parts)


def write_translation(folder: Path) -> Path:
    """Write the texts of the language to a file."""
    file = folder / "de.toml"
    file.write_text("\n".join(_lines()))
    return file


def _lines() -> Iterator[str]:
    for section, texts in tomllib.loads((FOLDER / "en.toml").read_text()).items():
        yield f"[{section}]"
        for name, text in texts.items():
            forms = text if isinstance(text, dict) else {"other": text}
            if section != "dates":
                forms = {form: translate(each) for form, each in forms.items()}
            written = (f"{form} = {json.dumps(each)}" for form, each in forms.items())
            yield f"{name} = {{ {', '.join(written)} }}"
