"""What a language model writes about where a chunk belongs in its document: the calls of an ingest.

`prompt` holds what it is shown and what that may cost, `backfill` makes the calls for documents
that are stored.
"""

import asyncio
import hashlib
import os
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import uniform
from time import monotonic
from typing import Any

from lexichord.db import store
from lexichord.db.pool import Database
from lexichord.errors import (
    AuthError,
    BadResponseError,
    ConfigError,
    ProviderError,
    ProviderTimeoutError,
)
from lexichord.ingest.flow import INGEST_LIMITS, IngestLimits, unbounded_gather
from lexichord.ingest.llm_context.prompt import (
    MAX_CHUNKS_PER_CALL,
    MAX_CONTEXT_CHARS,
    ContextCall,
    ContextTemplate,
    clean_context,
    context_key,
    find_template,
    model_label,
    plan_calls,
)
from lexichord.ingest.report import ContextReport
from lexichord.providers import Generator
from lexichord.providers.gemini import cached_document
from lexichord.providers.http import RetryLaterError, retry
from lexichord.providers.registry import opened_generator
from lexichord.settings import Settings
from lexichord.types import Chunk, Document
from lexichord.types.questions import Generated, Price, Usage


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


MAX_FAILED_CALLS = 20  # calls in a row that fail in the end, after which no more are made


@dataclass
class ContextWriter:
    """Writes contexts, for several documents at once; what fails is reported and stops nothing."""

    database: Database
    generator: Generator
    settings: Settings
    budget: CallBudget
    limits: IngestLimits = INGEST_LIMITS
    template: ContextTemplate | None = None
    report: ContextReport = field(init=False)

    def __post_init__(self) -> None:
        self.report = ContextReport(self.generator.name)
        self.by = model_label(self.generator.name, self.template)
        calls = self.limits.max_context_calls
        self._part_slots = asyncio.Semaphore(calls)  # of documents, which services cache
        self._call_slots = asyncio.Semaphore(calls)
        self._document_locks = defaultdict[str, asyncio.Lock](asyncio.Lock)
        self._resume_at = 0.0
        self._failures = 0

    async def write(
        self, document: Document, chunks: Sequence[Chunk], places: Iterable[int]
    ) -> dict[int, str]:
        """Return the contexts of the chunks at these places, but for those that fail.

        Each is kept in the database as soon as it is there. Raises DatabaseError.
        """
        keys = self._keys(document, chunks, places)
        text = hashlib.sha256(document.text.encode()).hexdigest()
        async with self._document_locks[text]:  # a copy then finds what the first has got
            kept = await store.known_contexts(self.database, list(keys.values()))
            work = _Work(document, chunks, keys)
            await self._keep(
                work, {place: kept[keys[place]] for place in keys if keys[place] in kept}
            )
            self.report.cached += len(work.contexts)
            missing = [place for place in keys if place not in work.contexts]
            parts = self._plan(document, chunks, missing)
            await unbounded_gather(self._write_part(work, part) for part in parts)
        self.report.chunks += len(work.contexts)
        self.report.left += len(keys) - len(work.contexts) - work.failed
        self.report.dollars = self.budget.spent
        return work.contexts

    async def estimate(
        self, document: Document, chunks: Sequence[Chunk], places: Iterable[int], seen: set[str]
    ) -> None:
        """Count what `write` would take; `seen` are the keys of the documents before."""
        keys = self._keys(document, chunks, places)
        kept = await store.known_contexts(self.database, list(keys.values()))
        missing = [place for place, key in keys.items() if key not in kept and key not in seen]
        seen.update(keys.values())
        report = self.report
        report.chunks += len(keys)
        report.cached += len(keys) - len(missing)
        for part in self._plan(document, chunks, missing):
            for call in part:
                report.add(estimate_usage(call))
        if price := self.budget.price:
            report.dollars = price.of(report.input_tokens, report.output_tokens)
        elif report.requests:
            report.dollars = None

    def _plan(
        self,
        document: Document,
        chunks: Sequence[Chunk],
        places: Sequence[int],
        max_chunks: int = MAX_CHUNKS_PER_CALL,
    ) -> list[list[ContextCall]]:
        """Return what to ask; a template shows one chunk a call, and no marks but its own."""
        is_own = self.template is None
        number = max_chunks if is_own else 1
        window = self.settings.llm_window
        return plan_calls(document.text, chunks, places, window, number, marks=is_own)

    def _keys(
        self, document: Document, chunks: Sequence[Chunk], places: Iterable[int]
    ) -> dict[int, str]:
        return {place: context_key(document.text, chunks[place], self.by) for place in places}

    async def _write_part(self, work: "_Work", part: Sequence[ContextCall]) -> None:
        """Make the first call before the others: their beginning is then in the service's cache."""
        async with self._part_slots:
            if self.report.stopped:
                return
            shown = part[0].document
            # With a budget nothing is spent that no call counts; Gemini's newer models find a
            # prompt's beginning again by themselves.
            is_worth_it = len(part) > 1 and self.budget.limit is None and self.template is None
            tokens = count_tokens(shown) if is_worth_it else 0
            async with cached_document(self.generator, self.settings, shown, tokens) as generator:
                await self._write_call(work, generator, part[0])
                await unbounded_gather(self._write_call(work, generator, call) for call in part[1:])

    async def _write_call(self, work: "_Work", generator: Generator, call: ContextCall) -> None:
        try:
            contexts = await self._ask(generator, call)
        except _StoppedError:
            return
        except OverBudgetError:
            self.report.stopped = f"the budget of ${self.budget.limit:g} would be passed"
        except BadResponseError as error:
            if len(call.places) == 1:
                self._fail(work, call, error)
            else:
                await self._write_singly(work, generator, call)
        except ProviderError as error:
            self._fail(work, call, error)
        else:
            self._failures = 0
            await self._keep(work, dict(zip(call.places, contexts, strict=True)))

    async def _write_singly(self, work: "_Work", generator: Generator, call: ContextCall) -> None:
        for part in self._plan(work.document, work.chunks, call.places, max_chunks=1):
            for single in part:
                await self._write_call(work, generator, single)

    async def _keep(self, work: "_Work", contexts: Mapping[int, str]) -> None:
        document, new = work.document, {work.keys[place]: text for place, text in contexts.items()}
        if new:
            await store.keep_contexts(self.database, document.dataset, document.uri, new)
        work.contexts.update(contexts)

    def _fail(self, work: "_Work", call: ContextCall, error: ProviderError) -> None:
        self._failures += 1
        for place in call.places:
            self.report.failed[f"{work.document.uri} chunk {place}"] = str(error)
        work.failed += len(call.places)
        if isinstance(error, AuthError):
            self.report.stopped = str(error)
        elif self._failures == MAX_FAILED_CALLS:
            self.report.stopped = f"{MAX_FAILED_CALLS} calls failed one after another: {error}"

    async def _ask(self, generator: Generator, call: ContextCall) -> list[str]:
        """Return a context for each chunk of a call. Raises ProviderError."""
        async with self._call_slots:  # in its pauses, too: a service in trouble is asked less
            policy = self.limits.context_retry
            return await retry(
                lambda: self._ask_once(generator, call), policy, on_pause=self._pause
            )

    async def _pause(self, error: ProviderError, seconds: float) -> None:
        """Wait before another try; where the service asks for a pause, all calls wait."""
        if isinstance(error, RetryLaterError):
            self._resume_at = max(self._resume_at, monotonic() + error.seconds)
        else:
            await asyncio.sleep(seconds)

    async def _ask_once(self, generator: Generator, call: ContextCall) -> list[str]:
        if (rest := self._resume_at - monotonic()) > 0:
            base_seconds = self.limits.context_retry.base_seconds or 0.0
            spread = uniform(0, base_seconds)  # noqa: S311 - not all at once
            await asyncio.sleep(rest + spread)
        if self.report.stopped:
            raise _StoppedError
        expected, seconds = estimate_usage(call), self.limits.context_call_seconds
        async with self.budget.pay(expected) as usages:
            try:
                generated = await self._generate(generator, call, seconds)
            except (BadResponseError, ProviderTimeoutError) as error:
                usages.append(_at_most(expected, 1 + isinstance(error, BadResponseError)))
                self.report.add(usages[0])
                raise
            usages.append(generated.usage if generated.usage.input_tokens else expected)
            self.report.add(usages[0])
        items = generated.outputs["contexts"]
        return _checked(items, len(call.places), self.generator.name)

    async def _generate(self, generator: Generator, call: ContextCall, seconds: float) -> Generated:
        if self.template is None:
            return await generator.generate("contexts", call.inputs, seconds)
        prompt = self.template.fill(call.document, call.passages)
        text, usage = await generator.complete(prompt, seconds)
        return Generated({"contexts": [{"number": 1, "context": text}]}, usage)


class _StoppedError(Exception):
    """No more calls are made."""


@dataclass(slots=True)
class _Work:
    """A document under way: its chunks' keys and contexts, by place, and how many failed."""

    document: Document
    chunks: Sequence[Chunk]
    keys: Mapping[int, str]
    contexts: dict[int, str] = field(default_factory=dict)
    failed: int = 0


@asynccontextmanager
async def opened_writer(
    database: Database,
    settings: Settings,
    budget: float | None = None,
    limits: IngestLimits = INGEST_LIMITS,
) -> AsyncIterator[ContextWriter]:
    """Yield a writer that asks the settings' model. Raises ConfigError."""
    template = find_template(settings.context_prompt)
    async with opened_generator(settings) as generator:
        if generator is None:
            raise ConfigError("contexts by a model need one: set LEXICHORD_LLM to vendor/model")
        price = await asyncio.to_thread(find_price, settings)
        if budget is not None and price is None:
            raise ConfigError(
                f"a budget needs a price, and none is known of {generator.name}: write "
                f'prices."{generator.name}" = {{input = ..., output = ...}} into lexichord.toml'
            )
        allowed = CallBudget(price, budget)
        yield ContextWriter(database, generator, settings, allowed, limits, template)


def _checked(items: Sequence[Mapping[str, Any]], number: int, model: str) -> list[str]:
    """Return the contexts if they are those of passages 1 to `number`, in this order."""
    texts = [clean_context(item["context"]) for item in items]
    if [item["number"] for item in items] != list(range(1, number + 1)) or not all(texts):
        raise BadResponseError(f"{model} gave no context for each of {number} passages, in order")
    return texts


def _at_most(expected: Usage, requests: int) -> Usage:
    """Return the most that a call may have taken which reported nothing."""
    tokens = (requests * expected.input_tokens, requests * expected.output_tokens)
    return Usage(requests, *tokens, None)
