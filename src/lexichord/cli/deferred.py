"""What shows results and progress, imported at its first use: rich costs more than `--help`."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lexichord.cli import progress, render
else:

    class _Deferred:
        """A module that is imported when something of it is first asked for."""

        def __init__(self, module: str) -> None:
            self._module = module

        def __getattr__(self, name: str) -> object:
            return getattr(import_module(self._module), name)

    progress, render = _Deferred("lexichord.cli.progress"), _Deferred("lexichord.cli.render")

__all__ = ["progress", "render"]
