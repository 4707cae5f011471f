"""The budget of calls to a language model: estimates before, sums after, a limit never passed."""

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from lexichord.ingest.llm_context.prompt import MAX_CONTEXT_CHARS, ContextCall
from lexichord.settings import Settings
from lexichord.types.questions import Price, Usage


def find_price(settings: Settings) -> Price | None:
    """Return the price of `settings.llm`; None where it is not known.

    `settings.prices` goes before the list.
    """
    name = settings.llm or ""
    return settings.prices.get(name) or _listed(name)


def _listed(name: str) -> Price | None:
    # Else DSPy fetches the list from the network.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "true"
    from dspy.clients.model_metadata import model_info

    vendor, _, model = name.partition("/")
    info = model_info(vendor, model)
    rates = [info.get(f"{kind}_cost_per_token") for kind in ("input", "output")]
    if not all(isinstance(rate, int | float) for rate in rates):
        return None
    return Price(*(rate * 1_000_000 for rate in rates))


# Tokens of a prompt beside document and passages: with DSPy's format 2,100 characters.
INSTRUCTION_TOKENS = 550
# Of a reply, and of each context in it: at most, in English.
REPLY_TOKENS, CONTEXT_TOKENS = 40, MAX_CONTEXT_CHARS // 4
# Estimates held back for a call under way: a reply that cannot be read is asked for twice.
HELD_ESTIMATES = 2


class OverBudgetError(Exception):
    """A call might pass the budget."""


def count_tokens(text: str) -> int:
    """Estimate tokens: four ASCII characters make one, any other character is one, as at worst."""
    plain = len(text.encode("ascii", "ignore"))
    return -(-plain // 4) + len(text) - plain


def estimate_usage(call: ContextCall) -> Usage:
    """Estimate what a call takes, without its price."""
    prompt_tokens = INSTRUCTION_TOKENS + count_tokens(call.document) + count_tokens(call.passages)
    return Usage(1, prompt_tokens, REPLY_TOKENS + CONTEXT_TOKENS * len(call.places), None)


@dataclass(slots=True)
class CallBudget:
    """What calls may cost, in dollars; `spent` is None where no price is known.

    With a `limit` the first call goes alone: what it takes beside its estimate, as when a model
    reasons before it writes, is what the estimates of the others are raised by.
    """

    price: Price | None
    limit: float | None = None
    spent: float | None = 0.0
    held: float = 0.0
    worst: float = 0.0
    freed: asyncio.Condition = field(default_factory=asyncio.Condition)

    @asynccontextmanager
    async def pay(self, expected: Usage) -> AsyncGenerator[list[Usage]]:
        """Hold back what a call may take, and pay what it took: it puts that into the list.

        Raises OverBudgetError before the call.
        """
        guess = self.price.of(expected.input_tokens, expected.output_tokens) if self.price else 0.0
        held = await self._hold(guess)
        taken: list[Usage] = []
        try:
            yield taken
        finally:
            for usage in taken:
                self._add(usage, guess)
            self.held -= held
            async with self.freed:
                self.freed.notify_all()

    async def _hold(self, guess: float) -> float:
        def is_due() -> bool:
            return not self.held or (bool(self.worst) and self._has(self._need(guess) + self.held))

        async with self.freed:
            if self.limit is not None:
                await self.freed.wait_for(is_due)
            need = self._need(guess)
            if not self._has(need):
                raise OverBudgetError
            self.held += need
            return need

    def _need(self, guess: float) -> float:
        return HELD_ESTIMATES * guess * max(self.worst, 1.0)

    def _has(self, dollars: float) -> bool:
        return self.limit is None or (self.spent or 0.0) + dollars <= self.limit

    def _add(self, usage: Usage, guess: float) -> None:
        """Add what a call took; the user's table goes before DSPy's own estimate."""
        paid = usage.dollars
        if self.price:
            paid = self.price.of(usage.input_tokens, usage.output_tokens)
        self.spent = None if paid is None or self.spent is None else self.spent + paid
        if paid and guess:
            self.worst = max(self.worst, paid / (guess * usage.requests))
