"""Plain text, Markdown and source code: what is stored is the decoded file, as it is."""

from pathlib import Path

from lexichord.errors import IngestError


def read_text(file: Path) -> str:
    """Decode a file. Raises IngestError if it is not UTF-8, or holds what Postgres cannot store."""
    try:
        text = file.read_bytes().decode()
    except OSError as error:
        raise IngestError(f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise IngestError(f"is not UTF-8 text (byte {error.start}): convert it") from None
    if "\0" in text:
        raise IngestError("holds NUL characters: it is binary, or in another encoding than UTF-8")
    if not text.strip():
        raise IngestError("holds no text")
    return text
