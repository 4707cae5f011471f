"""JSON lines: a record a line, cut between records, whose numbers are their places."""

from pathlib import Path

from lexichord.ingest.load.kinds import NDJSON_TYPE
from lexichord.ingest.load.text import read_text
from lexichord.types import LoadedText, Table


def load(file: Path, named: str) -> LoadedText:
    """Read lines of records as they are. Raises IngestError."""
    content, metadata = read_text(file)
    tables = (Table(0, len(content), 0, first_row=1),)
    return LoadedText(content, NDJSON_TYPE, named, tables=tables, metadata=metadata)
