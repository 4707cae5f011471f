"""The pages' server, and documents whose every word would act if it could."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lexichord import SyncLexichord
from lexichord.types import Json
from tests.conftest import ROOT
from tests.http.served import serving

HOSTILE = "</mark></title><script>alert(1)</script><img src=//evil.example/x onerror=alert(1)> ‮&\"'"
MARKED = "data-hostile"  # of every hostile text, to find them by

STATIC = ROOT / "src/lexichord/serve/page/static"
OWN_SCRIPTS = {f"/static/{script.name}" for script in STATIC.glob("*.js")}

LEASE: Json = {
    "uri": "contracts/lease.txt",
    "title": "Office Lease",
    "chunks": [
        {"content": "1. Rent\nThe rent of the zebra house is EUR 900.", "heading": "1. Rent"},
        {"content": "2. Notice\nEither zebra party gives ninety days.", "heading": "2. Notice"},
        {"content": "3. Law\nThe law of Ghent governs.", "heading": "3. Law", "page": 2},
    ],
}
LICENCE: Json = {
    "uri": "contracts/licence.txt",
    "title": "Software Licence",
    "chunks": [{"content": "1. Notice\nThe licensee gives thirty days.", "heading": "1. Notice"}],
}
TRAP: Json = {
    "uri": f'traps/{MARKED}" onmouseover="alert(1)',
    "title": f"Trap {HOSTILE}",
    "chunks": [{"content": f"A giraffe said {HOSTILE} twice.", "heading": f"§ {HOSTILE}"}],
}


def fill(dsn: str) -> None:
    """Store the documents in two datasets."""
    with SyncLexichord(dsn=dsn) as core:
        core.ingest(documents=[LEASE, LICENCE], dataset="open")
        core.ingest(documents=[TRAP], dataset="closed")


@contextmanager
def served(dsn: str, **settings: Any) -> Iterator[str]:
    """Serve a database until the with statement ends; gives the address."""
    with SyncLexichord(dsn=dsn, **settings) as core, serving(core) as address:
        yield address
