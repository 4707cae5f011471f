"""What contexts by a language model took."""

from dataclasses import dataclass, field

from lexichord.types.generation import Usage


@dataclass(slots=True)
class Written:
    """What a model was asked and gave; before, as an estimate, what it would be.

    Of the `chunks` with its contexts, `cached` are those it was not asked for; `failed` says by
    document and place why a chunk has none; `left` are those not asked for, because of what
    `stopped` says. `dollars` is None where a price is not known.
    """

    model: str
    chunks: int = 0
    cached: int = 0
    left: int = 0
    stopped: str = ""
    failed: dict[str, str] = field(default_factory=dict)
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    dollars: float | None = 0.0

    def add(self, usage: Usage) -> None:
        """Count a call."""
        self.requests += usage.requests
        self.input_tokens += usage.input_tokens
        self.output_tokens += usage.output_tokens
