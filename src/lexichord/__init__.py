"""lexichord: context-aware retrieval that lives in your Postgres.

`SyncLexichord` is for scripts and notebooks, `Lexichord` the same with async and await; `Stages`
puts functions of your own into queries. What the methods return is in `lexichord.types`, what they
raise in `lexichord.errors`.
"""

from typing import TYPE_CHECKING

from lexichord.errors import LexichordError

if TYPE_CHECKING:
    from lexichord.client.lexichord import Lexichord
    from lexichord.client.sync import SyncLexichord
    from lexichord.retrieve.stages import Stages

__all__ = ["Lexichord", "LexichordError", "Stages", "SyncLexichord"]


def __getattr__(name: str) -> object:
    """Import the application when it is asked for, so that `lexichord --help` answers at once."""
    if name == "Lexichord":
        from lexichord.client.lexichord import Lexichord

        return Lexichord
    if name == "SyncLexichord":
        from lexichord.client.sync import SyncLexichord

        return SyncLexichord
    if name == "Stages":
        from lexichord.retrieve.stages import Stages

        return Stages
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Name also what is imported when it is asked for: notebooks complete names by this."""
    return sorted({*globals(), *__all__})
