"""A model that is loaded when somebody first needs it."""

from collections.abc import Callable
from threading import Lock


class OnDemand[Model]:
    """Loads a model once, when it is first asked for; several threads may ask."""

    def __init__(self, load: Callable[[], Model]) -> None:
        self._load = load
        self._lock = Lock()
        self._model: Model | None = None

    def get(self) -> Model:
        """Return the model. Raises what loading it raises; the next one to ask loads it again."""
        with self._lock:
            if self._model is None:
                self._model = self._load()
            return self._model
