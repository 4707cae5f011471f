"""lexichord: context-aware retrieval that lives in your Postgres."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lexichord.app import Lexichord
    from lexichord.sync import SyncLexichord

__all__ = ["Lexichord", "SyncLexichord"]


def __getattr__(name: str) -> object:
    """Import the application when it is asked for, so that `lexichord --help` answers at once."""
    if name == "Lexichord":
        from lexichord.app import Lexichord

        return Lexichord
    if name == "SyncLexichord":
        from lexichord.sync import SyncLexichord

        return SyncLexichord
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
