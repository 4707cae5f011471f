"""Which provider serves a space, and which one a setting names: one table of all vendors."""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import SecretStr

from lexichord.errors import ConfigError
from lexichord.providers import Embedder, Generator, Reader, Reranker
from lexichord.providers.cohere import COHERE_URL, CohereEmbeddings, CohereReranker
from lexichord.providers.embed import (
    EMBEDDING_TIMING,
    OPENAI_URL,
    BatchedEmbedder,
    EmbeddingTiming,
    OpenAIEmbeddings,
)
from lexichord.providers.embed.folder import FolderEmbedder
from lexichord.providers.embed.local import LOCAL_INT8_SPACE, LOCAL_SPACE, LocalEmbedder, find_model
from lexichord.providers.gemini import GEMINI_URL, GeminiEmbeddings
from lexichord.providers.http import checked_url, find_key, has_library, host
from lexichord.providers.models import INT8, MODELS
from lexichord.providers.onnx_folder import (
    GRAPH_FILES,
    STATIC_FILE,
    TOKENIZER_FILE,
    find_folder,
    missing_files,
    package_folders,
)
from lexichord.providers.reader import FolderReader
from lexichord.providers.rerank import JINA_URL, JinaReranker, TeiReranker
from lexichord.providers.rerank.folder import FolderReranker
from lexichord.settings import Settings
from lexichord.types import EmbeddingSpace
from lexichord.work import in_thread

NO_LOCAL_LIBRARIES = "no embedder: by words only; run: pip install 'lexichord[local]'"
NO_LOCAL_MODEL = (
    f"no embedding model: by words only; run: lexichord models fetch {LOCAL_SPACE.model}"
)
NO_READER = "no reader: words and vectors judge; run: pip install 'lexichord[local]'"
HALF_A_READER = (
    "no reader: words and vectors judge; lexichord-reader in '{}' lacks {}, "
    "run: pip install --force-reinstall lexichord-reader"
)
READER_PACKAGE = "lexichord_reader"
COHERE_VARIABLES, JINA_VARIABLES = ("CO_API_KEY", "COHERE_API_KEY"), ("JINA_API_KEY",)


@dataclass(frozen=True, slots=True)
class Vendor:
    """A service: its own address, if it has one, the variables of its key, and what it needs.

    `make` takes the space or the model's name, the key and the address. With `needs_key` it needs a
    key at any address, else only at its own. `takes_model`: its setting names a model, too.
    """

    make: Callable[[Any, Any, str], Any]
    url: str | None
    library: str
    extra: str
    variables: tuple[str, ...] = ()
    needs_key: bool = True
    takes_model: bool = True

    def missing(self, kind: "ServiceKind", url: str | None, key: SecretStr | None) -> list[str]:
        """Return what must be done before it can be asked, by setting and extra."""
        steps = []
        if not has_library(self.library):
            steps.append(f"run: pip install 'lexichord[{self.extra}]'")
        if not (self.url or url):
            steps.append(f"set {SETTINGS_OF[kind]}_BASE_URL")
        if self.url and key is None and (self.needs_key or url is None):
            variables = "" if url else "".join(f" or {name}" for name in self.variables)
            steps.append(f"set {SETTINGS_OF[kind]}_API_KEY{variables}")
        return steps


type ServiceKind = Literal["embedder", "reranker"]

SETTINGS_OF: dict[ServiceKind, str] = {
    "embedder": "LEXICHORD_EMBEDDING",
    "reranker": "LEXICHORD_RERANKER",
}
VENDORS: dict[tuple[ServiceKind, str], Vendor] = {
    ("embedder", "gemini"): Vendor(
        GeminiEmbeddings, GEMINI_URL, "google.genai", "gemini", ("GEMINI_API_KEY",)
    ),
    ("embedder", "cohere"): Vendor(
        CohereEmbeddings, COHERE_URL, "cohere", "cohere", COHERE_VARIABLES
    ),
    ("embedder", "openai"): Vendor(
        OpenAIEmbeddings, OPENAI_URL, "httpx", "openai", ("OPENAI_API_KEY",), needs_key=False
    ),
    ("embedder", "jina"): Vendor(
        OpenAIEmbeddings, JINA_URL, "httpx", "openai", JINA_VARIABLES, needs_key=False
    ),
    ("reranker", "cohere"): Vendor(
        CohereReranker, COHERE_URL, "cohere", "cohere", COHERE_VARIABLES
    ),
    ("reranker", "jina"): Vendor(
        JinaReranker, JINA_URL, "httpx", "rerank", JINA_VARIABLES, needs_key=False
    ),
    ("reranker", "tei"): Vendor(
        lambda _, key, url: TeiReranker(url, key),
        *(None, "httpx", "rerank"),
        needs_key=False,
        takes_model=False,
    ),
}


def find_embedder(
    settings: Settings, space: str, timing: EmbeddingTiming = EMBEDDING_TIMING
) -> tuple[Embedder | None, list[str]]:
    """Return the embedder of the database's space, or the reason why there is none.

    `timing` is for embedding by a service. Raises ConfigError for an address or a key that cannot
    be one.
    """
    if ("embedder", space.partition("/")[0]) in VENDORS:
        return _find_service(settings, EmbeddingSpace.parse(space), timing)
    local_space = next(
        (known for known in (LOCAL_SPACE, LOCAL_INT8_SPACE) if str(known) == space), None
    )
    if local_space is None and not space.startswith("local/"):
        return None, [f"no embedder for {space}: by words only"]
    if _missing_local_libraries():
        return None, [NO_LOCAL_LIBRARIES]
    if local_space is None:
        return _find_folder(settings, EmbeddingSpace.parse(space))
    if find_model(settings.model_dir, settings.home) is None:
        return None, [NO_LOCAL_MODEL]
    return LocalEmbedder(settings.home, settings.model_dir, local_space), []


def _find_folder(
    settings: Settings, space: EmbeddingSpace
) -> tuple[FolderEmbedder | None, list[str]]:
    whole = space.model.removesuffix(INT8)
    folder = find_folder(space.model, settings.home, settings.model_dir, STATIC_FILE)
    folder = folder or find_folder(whole, settings.home, None, STATIC_FILE)
    if folder is None:
        missing = _bring(whole, settings.home)
        return None, [f"no embedder for {space}: by words only; {missing}"]
    is_twin = space.model.endswith(INT8) and not folder.name.endswith(INT8)
    return FolderEmbedder(folder, space, settings.home if is_twin else None), []


def _find_service(
    settings: Settings, space: EmbeddingSpace, timing: EmbeddingTiming
) -> tuple[BatchedEmbedder | None, list[str]]:
    vendor = VENDORS["embedder", space.provider]
    in_use = settings.embedding is None or settings.embedding.startswith(f"{space.provider}/")
    url, key = _access(settings, "embedder", vendor, in_use)
    if missing := vendor.missing("embedder", url, key):
        return None, [f"no embedder for {space}: by words only; {missing[0]}"]
    price = settings.prices.get(f"{space.provider}/{space.model}")
    # A server of one's own may want no key.
    service = vendor.make(space, key or SecretStr(""), url or vendor.url or "")
    return BatchedEmbedder(
        service,
        per_minute=settings.embedding_requests_per_minute,
        at_once=settings.embedding_concurrency,
        timeout=settings.embedding_timeout,
        price=None if price is None else price.input,
        timing=timing,
    ), []


def _access(
    settings: Settings, kind: ServiceKind, vendor: Vendor, in_use: bool
) -> tuple[str | None, SecretStr | None]:
    """Return the address that the settings name, if any, and the key. Raises ConfigError.

    Those of the settings belong to the provider in use; others have their own variables alone.
    """
    named = settings if in_use else Settings.model_construct()
    if kind == "embedder":
        url = checked_url("embedding_base_url", named.embedding_base_url)
        key = named.embedding_api_key
    else:
        url = checked_url("reranker_base_url", named.reranker_base_url)
        key = named.reranker_api_key
    return url, find_key(f"the {kind}", key, url, vendor.variables)


def find_reranker(settings: Settings) -> Reranker | None:
    """Return the reranker that the settings name; None where they name none. Raises ConfigError."""
    if not settings.reranker:
        return None
    provider, _, model = settings.reranker.partition("/")
    if provider == "local" and model:
        return FolderReranker(_local_folder(settings, "reranker", model))
    vendor = VENDORS.get(("reranker", provider))
    if vendor is None or vendor.takes_model != bool(model):
        known = "cohere/MODEL, jina/MODEL, local/FOLDER, tei"
        raise ConfigError(f"there is no reranker {settings.reranker}: {known}")
    url, key = _access(settings, "reranker", vendor, in_use=True)
    if not has_library(vendor.library):
        install = f"pip install 'lexichord[{vendor.extra}]'"
        raise ConfigError(f"the reranker needs {vendor.library}: {install}")
    address = url or vendor.url
    if address is None:
        raise ConfigError(f"reranker {provider} needs an address: set LEXICHORD_RERANKER_BASE_URL")
    if vendor.needs_key and key is None:
        raise ConfigError(f"reranker {provider} needs a key: set LEXICHORD_RERANKER_API_KEY")
    reranker: Reranker = vendor.make(model, key, address)
    return reranker


def find_reader(settings: Settings) -> tuple[Reader | None, list[str]]:
    """Return the reader that the settings name, else the package's, or the reason there is none.

    There is no reason to give where they want none. Raises ConfigError.
    """
    if settings.reader == "none":
        return None, []
    if settings.reader is None:
        return _find_own_reader()
    provider, _, model = settings.reader.partition("/")
    if provider != "local" or not model:
        raise ConfigError(f"there is no reader {settings.reader}: local/FOLDER, none")
    return FolderReader(_local_folder(settings, "reader", model)), []


def _find_own_reader() -> tuple[FolderReader | None, list[str]]:
    own = [] if _missing_local_libraries() else package_folders(READER_PACKAGE)
    if not own:
        return None, [NO_READER]
    if missing := missing_files(own[0]):
        return None, [HALF_A_READER.format(own[0], " and ".join(missing))]
    return FolderReader(own[0]), []


def _local_folder(settings: Settings, kind: str, model: str) -> Path:
    """Return the folder of a local reranker or reader. Raises ConfigError where it cannot run."""
    if missing := _missing_local_libraries():
        raise ConfigError(f"the local {kind} needs {missing}: pip install 'lexichord[local]'")
    folder = find_folder(model, settings.home)
    if folder is None:
        raise ConfigError(f"there is no {kind} local/{model}: {_bring(model, settings.home)}")
    return folder


def _bring(model: str, home: Path) -> str:
    """Return how a model of a folder comes to this machine."""
    if model in MODELS and not MODELS[model].unfit:
        return f"run: lexichord models fetch {model}"
    return f"put {GRAPH_FILES[0]} and {TOKENIZER_FILE} into {home / 'models' / model}"


def _missing_local_libraries() -> str:
    return " and ".join(name for name in ("onnxruntime", "tokenizers") if not has_library(name))


@asynccontextmanager
async def opened_generator(settings: Settings) -> AsyncIterator[Generator | None]:
    """Yield what `find_generator` finds; its connections end with the block.

    The first takes about a second to load. Raises ConfigError.
    """
    generator = await in_thread(find_generator, settings)
    try:
        yield generator
    finally:
        if generator is not None:
            await generator.aclose()


def find_generator(settings: Settings) -> Generator | None:
    """Return the language model that the settings name; None where they name none.

    Whoever asks closes it: `opened_generator` does. Raises ConfigError.
    """
    if not settings.llm:
        return None
    if not has_library("dspy"):
        raise ConfigError("llm needs dspy: pip install 'lexichord[llm]'")
    # Else DSPy fetches a list of models and prices from the network; it brings one along.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "true"
    from lexichord.providers.llm import DspyGenerator

    return DspyGenerator(settings)


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider as it is listed; with nothing `missing` it can be used as it is.

    `address` is where texts are sent to, None for this machine or what no setting names yet.
    """

    kind: Literal["embedder", "reranker", "reader", "language model"]
    name: str
    needs: str
    missing: list[str]
    in_use: bool
    address: str | None = None


def list_providers(settings: Settings, space: str) -> list[Provider]:
    """List all providers; `space` is the database's. Nothing is sent anywhere.

    What the settings say of address and key counts for the one in use. Raises ConfigError for a
    setting that is wrong.
    """
    in_use = {"embedder": space, "reranker": settings.reranker or ""}
    return [
        _list_local(settings, space.partition("/")[0] == "local"),
        *(
            _list_service(settings, kind, name, in_use[kind].partition("/")[0] == name)
            for kind, name in VENDORS
        ),
        _list_folder(settings, "reranker", (settings.reranker or "").startswith("local/")),
        _list_own_reader(settings),
        _list_folder(settings, "reader", settings.reader not in (None, "none")),
        _list_model(settings),
    ]


def _list_local(settings: Settings, in_use: bool) -> Provider:
    try:
        reasons = find_embedder(settings, str(LOCAL_SPACE))[1]
    except ConfigError as error:
        reasons = [str(error)]
    missing = [reason.rpartition("; ")[2] for reason in reasons]
    return Provider("embedder", "local", "lexichord[local] and its model (91 MB)", missing, in_use)


def _list_folder(settings: Settings, kind: Literal["reranker", "reader"], named: bool) -> Provider:
    """List the reranker or reader of a folder; `named`: the settings name one."""
    missing = ["run: pip install 'lexichord[local]'"] if _missing_local_libraries() else []
    if named and not missing:
        try:
            find_reranker(settings) if kind == "reranker" else find_reader(settings)
        except ConfigError as error:
            missing = [str(error)]
    elif not named:
        missing.append(f"set LEXICHORD_{kind.upper()} to local/FOLDER")
    return Provider(kind, "local", "lexichord[local], a folder with a model", missing, named)


def _list_own_reader(settings: Settings) -> Provider:
    missing = [reason.rpartition("; ")[2] for reason in _find_own_reader()[1]]
    needs = "lexichord[local]; with LEXICHORD_READER=none nothing is read"
    return Provider("reader", "lexichord-reader", needs, missing, settings.reader is None)


def _list_service(settings: Settings, kind: ServiceKind, name: str, in_use: bool) -> Provider:
    vendor, setting = VENDORS[kind, name], SETTINGS_OF[kind]
    url, key = _access(settings, kind, vendor, in_use)
    needs = f"lexichord[{vendor.extra}], its address"
    if vendor.url:
        needs = f"lexichord[{vendor.extra}], a key ({setting}_API_KEY, {vendor.variables[0]})"
    if kind == "embedder" and not vendor.needs_key:
        needs += f" or the address of your own server ({setting}_BASE_URL)"
    missing = vendor.missing(kind, url, key)
    address = url or vendor.url
    return Provider(kind, name, needs, missing, in_use, address and host(address))


def _list_model(settings: Settings) -> Provider:
    missing = [] if has_library("dspy") else ["run: pip install 'lexichord[llm]'"]
    if not settings.llm:
        missing.append("set LEXICHORD_LLM to vendor/model")
    url = checked_url("llm_base_url", settings.llm_base_url)
    needs = "lexichord[llm], its key (LEXICHORD_LLM_API_KEY, the vendor's) or your own server"
    name = settings.llm or "none"
    return Provider("language model", name, needs, missing, bool(settings.llm), url and host(url))
