"""Language models: any that DSPy names, asked through typed signatures.

The words of an answer are read out of a reply that is still being written: it holds its texts as
JSON, and of each object one field is what the answer says.

Imports dspy: import this module only where a model is used.
"""

import asyncio
import dataclasses
import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import Any, get_args

import dspy
from dspy._vendor.lm15.transports import StdlibAsyncTransport
from dspy._vendor.lm15.transports._types import AsyncTransportResponse, TransportRequest
from dspy.clients.engines.lm15_engine import AsyncLM15Engine
from dspy.utils import exceptions as failures
from pydantic import BaseModel

from lexichord.errors import (
    AuthError,
    BadResponseError,
    ConfigError,
    ProviderError,
    ProviderTimeoutError,
    RateLimitError,
)
from lexichord.providers import OnDraft
from lexichord.providers.http import (
    RetryLaterError,
    TransientError,
    fits,
    host,
    llm_connection,
    told_tokens,
)
from lexichord.providers.llm.prompts import SIGNATURES
from lexichord.providers.transport import MAX_REPLY_BYTES, bounded_pieces
from lexichord.settings import Settings
from lexichord.types.questions import Generated, Task, Usage

DRAFTED: Mapping[Task, str] = {"clauses": "quote", "summary": "text"}  # by task, the field
# What is there of a string, up to an escape that is not there whole; surrogates come in pairs.
STRING = re.compile(
    r'(?:[^"\\]|\\["\\/bfnrt]|\\u(?![dD][89abAB])[0-9a-fA-F]{4}'
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}(?:\\u[0-9a-fA-F]{4}|(?=[^\\]|\\[^u])))*"
)
MAX_OPENING_CHARS = 50  # of a field's name up to its text


@dataclasses.dataclass(frozen=True, slots=True)
class Drafts:
    """The drafts of one task: one a reply, each with a request of its own."""

    field: str
    on_draft: OnDraft
    streams: list["DraftStream"] = dataclasses.field(default_factory=list)

    def reading(self) -> "DraftStream":
        """Return what DSPy sends the pieces of the next reply to."""
        self.streams.append(DraftStream(self))
        return self.streams[-1]

    @property
    def have_begun(self) -> bool:
        """Whether any piece of a reply has come."""
        return any(stream.has_begun for stream in self.streams)


class DraftStream:
    """Takes the pieces of a reply as DSPy sends them."""

    def __init__(self, drafts: Drafts) -> None:
        self._tell, self._reader, self._length = drafts.on_draft, DraftReader(drafts.field), 0
        self.has_begun = False

    async def send(self, chunk: Any) -> None:  # noqa: ANN401 - as DSPy makes it
        """Tell what a piece adds to the draft."""
        self.has_begun = True
        added = self._reader.read(chunk.choices[0].delta.get("content") or "")
        if added:
            self._tell(self._length, added)
            self._length += len(added)


class DraftReader:
    """Reads the texts of a field, a line each, while the JSON around them is written."""

    def __init__(self, field: str) -> None:
        self._opening = re.compile(rf'"{field}"\s*:\s*"')
        self._unread, self._is_inside = "", False

    def read(self, piece: str) -> str:
        """Return what a piece adds."""
        self._unread += piece
        added = ""
        while self._is_inside or self._enter():
            string = STRING.match(self._unread)
            assert string is not None
            self._unread = self._unread[string.end() :]
            added += json.loads(f'"{string[0]}"', strict=False)
            if not self._unread.startswith('"'):  # it goes on in the next piece
                break
            self._is_inside = False
            added += "\n"
        return added.encode(errors="replace").decode()

    def _enter(self) -> bool:
        """Go to the beginning of the next text, if it is there."""
        opening = self._opening.search(self._unread)
        self._is_inside = opening is not None
        start = -MAX_OPENING_CHARS if opening is None else opening.end()
        self._unread = self._unread[start:]
        return self._is_inside


# Characters and nested brackets of a reply; 20,000 braces took 2 s.
MAX_REPLY_CHARS, MAX_REPLY_NESTING = 100_000, 100

# How services refuse a stream that would give the whole reply at once.
STREAM_REFUSALS = (400, 404, 405, 415, 422, 501)

# DSPy's errors as ours, the narrower class first. A service's own words are never repeated:
# they may hold the key, or pieces of documents.
TRY_LATER, TRY_OTHER_MODEL = "try again later", "try another model"
LM_ERRORS: tuple[tuple[type[Exception], type[ProviderError], str], ...] = (
    (failures.AdapterParseError, BadResponseError, f"gave no usable reply: {TRY_OTHER_MODEL}"),
    (failures.LMNotConfiguredError, AuthError, "has no key: set LEXICHORD_LLM_API_KEY"),
    (failures.LMAuthError, AuthError, "refuses the key: check LEXICHORD_LLM_API_KEY"),
    (failures.LMBillingError, RateLimitError, "payment required: check the account"),
    (failures.LMRateLimitError, RateLimitError, f"asks for fewer requests: {TRY_LATER}"),
    (failures.LMTimeoutError, ProviderTimeoutError, f"did not answer in time: {TRY_LATER}"),
    (failures.ContextWindowExceededError, ProviderError,
     f"cannot read so much text: {TRY_OTHER_MODEL}"),
    (failures.LMUnsupportedModelError, ProviderError, "is not served: check LEXICHORD_LLM"),
    (failures.LMInvalidRequestError, ProviderError, "refuses the request: check its name, its "
     "address and whether it takes chat requests"),
    (failures.LMServerError, TransientError, f"failed: {TRY_LATER}"),
    (failures.LMTransportError, TransientError,
     "cannot be reached or broke off: check its address"),
    (Exception, BadResponseError, f"gave no usable reply: check its address, or {TRY_OTHER_MODEL}"),
)  # fmt: skip


class DspyGenerator:
    """Asks the model of `settings.llm`; several tasks may run it at once, on any event loop.

    Raises ConfigError if DSPy has no way to the model, the base URL is no address, or a file in
    `settings.llm_prompts` is not a program that DSPy saved.
    """

    def __init__(self, settings: Settings) -> None:
        self._name = settings.llm or ""
        self._lm = _model(self._name, llm_connection(settings))
        self._programs = {task: _program(task, settings.llm_prompts) for task in get_args(Task)}
        self._streams = True  # until its service proves that it cannot

    @property
    def name(self) -> str:
        """As DSPy names it: openai/gpt-4o-mini."""
        return self._name

    async def generate(
        self,
        task: Task,
        inputs: Mapping[str, object],
        seconds: float,
        on_draft: OnDraft | None = None,
    ) -> Generated:
        """Do a task within `seconds`; `inputs` are those of its signature, by field.

        One request where the reply is good. A reply that cannot be read is asked for once more, as
        JSON; so is, after the pause that the service asks for, a refusal to serve so many, if that
        pause fits into `seconds`. Where `on_draft` is to hear it and the service cannot stream, the
        whole is asked for, from then on at once. Raises AuthError, RateLimitError,
        ProviderTimeoutError, BadResponseError, or their base ProviderError.
        """
        lm = self._lm.copy()  # with a history of its own
        program = self._programs[task]
        fields = {name: _harmless(inputs[name]) for name in program.signature.input_fields}
        is_heard = on_draft and task in DRAFTED and self._streams
        drafts = Drafts(DRAFTED[task], on_draft) if on_draft and is_heard else None
        try:
            async with asyncio.timeout(seconds):
                deadline = monotonic() + seconds
                prediction, requests = await self._ask(program, lm, fields, deadline, drafts)
        except TimeoutError:
            raise _late(self.name, seconds, replied=bool(lm.history)) from None
        except Exception as error:  # DSPy lets those of its parsers through, too
            raise _named_error(
                error, self.name
            ) from None  # the cause may hold the key or documents
        outputs = {name: _plain(prediction[name]) for name in program.signature.output_fields}
        return Generated(outputs, _usage(requests, lm.history))

    async def _ask(
        self,
        program: dspy.Predict,
        lm: dspy.LM,
        fields: Mapping[str, object],
        deadline: float,
        drafts: Drafts | None,
    ) -> tuple[dspy.Prediction, int]:
        """As the function `_ask`, without drafts where they cannot be had."""
        try:
            return await _ask(program, lm, fields, deadline, drafts)
        except failures.LMError as error:
            if drafts is None or not _refuses_stream(error, drafts):
                raise
        prediction, requests = await _ask(program, lm, fields, deadline, None)
        self._streams = False
        return prediction, len(drafts.streams) + requests

    async def complete(self, prompt: str, seconds: float) -> tuple[str, Usage]:
        """As `Generator.complete`: one request, with no word of ours."""
        lm = self._lm.copy()
        try:
            async with asyncio.timeout(seconds):
                with _ours(lm, send_stream=None):
                    replies = await lm.acall(_clean(prompt))
        except TimeoutError:
            raise _late(self.name, seconds, replied=bool(lm.history)) from None
        except Exception as error:
            raise _named_error(error, self.name) from None
        text = replies[0] if replies else None
        if not isinstance(text, str) or not text.strip() or len(text) > MAX_REPLY_CHARS:
            raise BadResponseError(f"{self.name} gave no usable reply: {TRY_OTHER_MODEL}")
        return _clean(text), _usage(1, lm.history)

    async def aclose(self) -> None:
        """As `Generator.aclose`: DSPy keeps connections for as long as a service does."""
        await self._lm.aclose()

    def prompt(self, task: Task, inputs: Mapping[str, object]) -> tuple[str, str]:
        """Return what `generate` first asks for a task: instructions, and the message to answer."""
        program = self._programs[task]
        fields = {name: _harmless(inputs[name]) for name in program.signature.input_fields}
        messages = _Chat().format(program.signature, program.demos, fields)
        if len(messages) != 2:  # compiled examples are messages, too
            raise ConfigError(f"the prompt of {task} holds examples")
        return messages[0]["content"], messages[1]["content"]

    def read(self, task: Task, reply: str) -> dict[str, Any]:
        """Read a reply to `prompt`: a task's outputs. Raises BadResponseError."""
        try:
            outputs = _Chat().parse(self._programs[task].signature, reply)
        except Exception as error:  # DSPy lets those of its parsers through, too
            raise _named_error(error, self.name) from None
        return {name: _plain(value) for name, value in outputs.items()}


async def _ask(
    program: dspy.Predict,
    lm: dspy.LM,
    fields: Mapping[str, object],
    deadline: float,
    drafts: Drafts | None,
) -> tuple[dspy.Prediction, int]:
    """Return the prediction, and the number of requests that it took."""
    chat = _Chat(use_json_adapter_fallback=False)
    try:
        return await _predict(program, lm, chat, fields, drafts), 1
    except failures.AdapterParseError:
        again: dspy.ChatAdapter = _Json()  # asked in the same form, a model errs in the same way
    except failures.LMRateLimitError as error:
        if error.retry_after is None or not fits(error.retry_after, deadline):
            raise
        await asyncio.sleep(error.retry_after)
        again = chat
    return await _predict(program, lm, again, fields, drafts), 2


async def _predict(
    program: dspy.Predict,
    lm: dspy.LM,
    adapter: dspy.ChatAdapter,
    fields: Mapping[str, object],
    drafts: Drafts | None,
) -> dspy.Prediction:
    stream = None if drafts is None else drafts.reading()
    with _ours(lm, adapter=adapter, send_stream=stream):
        return await program.acall(**fields)


def _refuses_stream(error: failures.LMError, drafts: Drafts) -> bool:
    """Tell whether a service gave no stream: it refused, or sent the reply whole, with no event."""
    is_whole = isinstance(error, failures.LMStreamAssemblyError)
    return not drafts.have_begun and (is_whole or error.status in STREAM_REFUSALS)


def _ours(lm: dspy.LM, **more: object) -> AbstractContextManager[None]:
    """Keep what the application around us has DSPy record or call from seeing the documents."""
    settings: AbstractContextManager[None] = dspy.context(
        lm=lm,
        callbacks=[],
        trace=None,
        disable_history=False,  # ours counts the tokens; it ends with the call
        track_usage=False,
        warn_on_type_mismatch=False,
        **more,
    )
    return settings


class _Chat(dspy.ChatAdapter):
    """Fields under headers; refuses a reply that DSPy's parsers would take seconds for."""

    def parse(self, signature: type[dspy.Signature], completion: str) -> dict[str, Any]:
        _check_size(signature, completion)
        return dict(super().parse(signature, completion))


class _Json(dspy.JSONAdapter):
    """One JSON object, checked in the same way."""

    def parse(self, signature: type[dspy.Signature], completion: str) -> dict[str, Any]:
        _check_size(signature, completion)
        return dict(super().parse(signature, completion))


def _check_size(signature: type[dspy.Signature], completion: str) -> None:
    depth = deepest = 0
    for bracket in re.findall(r"[][{}]", completion[:MAX_REPLY_CHARS]):
        depth = depth + 1 if bracket in "[{" else max(depth - 1, 0)
        deepest = max(deepest, depth)
    if len(completion) > MAX_REPLY_CHARS or deepest > MAX_REPLY_NESTING:
        raise failures.AdapterParseError("lexichord", signature, completion[:MAX_REPLY_CHARS])


class _Model(dspy.LM):
    """A model whose calls are remembered by itself alone, not in DSPy's global history."""

    def update_history(self, entry: dict[str, Any]) -> None:
        self.history.append(entry)


class _BoundedTransport(StdlibAsyncTransport):
    """Reads no more of a reply, unpacked, than any other client of ours."""

    @asynccontextmanager
    async def stream(self, request: TransportRequest) -> AsyncIterator[AsyncTransportResponse]:
        """As `StdlibAsyncTransport.stream`."""
        async with super().stream(request) as reply:
            reply._chunks = bounded_pieces(reply._chunks, host(request.url), MAX_REPLY_BYTES)
            yield reply


class _Engines(dict[object, Any]):
    """What a model asks by, for each event loop and address; all its copies share them."""

    def __setitem__(self, key: object, engine: Any) -> None:  # noqa: ANN401 - of several classes
        if isinstance(engine, AsyncLM15Engine):  # DSPy lets nobody else name its transport
            engine.router._transport = _BoundedTransport(**engine.config.transport_kwargs())
        super().__setitem__(key, engine)


def _model(name: str, connection: Mapping[str, str]) -> _Model:
    # lm15 is DSPy's own client. Its other one, litellm, takes seconds to import at the first call.
    try:
        lm = _Model(name, engine="lm15", cache=False, num_retries=0, temperature=0, **connection)
        lm._engine_store = _Engines()
        reasons = lm.supports_reasoning  # loads the price table now, not in the first query
    except (failures.LMError, ValueError):
        raise ConfigError(
            f"llm '{name}' is no model that DSPy reaches by itself: write vendor/model, vendor "
            "being openai, gemini, anthropic, groq, openrouter, deepseek, xai, moonshot, ollama or "
            "hosted_vllm; for others openai/model with llm_base_url"
        ) from None
    if reasons and name.startswith("openai/"):
        lm.kwargs.pop("temperature")  # OpenAI's reasoning models refuse any but their own
    return lm


def _program(task: Task, folder: Path | None) -> dspy.Predict:
    """Return the task's program, with the instructions and examples compiled for it, if any."""
    program = dspy.Predict(SIGNATURES[task])
    if folder is None:
        return program
    if not folder.is_dir():
        raise ConfigError(f"llm_prompts '{folder}' is no folder: name one that holds TASK.json")
    file = folder / f"{task}.json"
    if not file.exists():
        return program
    try:
        state = json.loads(file.read_bytes())
        _check_state(state, program.signature)
        # The rest of a file could choose another model, or replace the program's own parts.
        kept = {name: state[name] for name in ("demos", "signature")}
        program.load_state({"traces": [], "train": [], "lm": None} | kept)
        _Chat().format(program.signature, program.demos, {})
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise ConfigError(
            f"'{file}' is no {task} program that DSPy saved ({_line(str(error))}): "
            "compile it again, or remove the file"
        ) from None
    return program


def _check_state(state: dict[str, Any], signature: type[dspy.Signature]) -> None:
    fields, demos = state["signature"]["fields"], state["demos"]
    if len(fields) != len(signature.fields):
        raise ValueError(f"{len(fields)} fields, not {len(signature.fields)}")
    texts = [state["signature"]["instructions"]]
    texts += [field[part] for field in fields for part in ("prefix", "description")]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("its instructions are no text")
    if not isinstance(demos, list) or not all(isinstance(demo, dict) for demo in demos):
        raise ValueError("its demos are no list of objects")


def _harmless(value: object) -> object:
    # A text cannot begin a field of the prompt, nor hold what JSON cannot.
    return _clean(value).replace("[[ ##", "[[##") if isinstance(value, str) else value


def _clean(text: str) -> str:
    return text.encode(errors="replace").decode().replace("\0", "")


def _plain(value: object) -> object:
    """Return a reply's value as JSON has it, without what a database refuses in a text."""
    if isinstance(value, BaseModel):
        return _plain(value.model_dump())
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {_plain(name): _plain(item) for name, item in value.items()}
    return value


def _usage(requests: int, calls: list[dict[str, Any]]) -> Usage:
    costs = [call["cost"] for call in calls]
    return Usage(
        requests=requests,
        input_tokens=sum(told_tokens(call["usage"].get("prompt_tokens")) for call in calls),
        output_tokens=sum(told_tokens(call["usage"].get("completion_tokens")) for call in calls),
        dollars=None if None in costs else sum(costs),
    )


def _late(name: str, seconds: float, *, replied: bool) -> ProviderError:
    if replied:
        return BadResponseError(
            f"{name} gave no usable reply in {seconds:.3g} s: {TRY_OTHER_MODEL}"
        )
    return ProviderTimeoutError(
        f"{name} did not answer within {seconds:.3g} s: give it more time, or name a faster model"
    )


def _named_error(error: Exception, name: str) -> ProviderError:
    status = getattr(error, "status", None)
    ours, words = next((ours, words) for kind, ours, words in LM_ERRORS if isinstance(error, kind))
    message = f"{name} {words}" + (f" ({status})" if status else "")
    if isinstance(error, failures.LMRateLimitError) and error.retry_after is not None:
        return RetryLaterError(message, error.retry_after)
    return ours(message)


def _line(text: str) -> str:
    return " ".join(text.split())[:160]
