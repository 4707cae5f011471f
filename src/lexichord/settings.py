"""Settings: arguments > environment > .env > TOML > defaults."""

import os
import re
import stat
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import platformdirs
from pydantic import (
    AfterValidator,
    AliasChoices,
    BeforeValidator,
    Field,
    SecretStr,
    ValidationError,
)
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    EnvSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from lexichord.errors import ConfigError, plain_reason
from lexichord.types.query_options import Marking, Recording
from lexichord.types.questions import Price

CONTAINER_SECRETS = Path("/run/secrets")  # of Docker and Podman, readable by all inside
MAX_KEY_FILE_BYTES = 10_000

type Origin = Literal["argument", "environment", ".env", "TOML", "default"]


def default_home() -> Path:
    """Where the embedded server and fetched models live, unless LEXICHORD_HOME says otherwise.

    Root's server runs as another user, who must be able to reach its folder: so not under /root.
    """
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        return Path("/var/lib/lexichord")
    return platformdirs.user_data_path("lexichord")


def _pair(price: object) -> object:
    """Read a single number as the price of what goes in."""
    return {"input": price, "output": 0.0} if isinstance(price, int | float) else price


def _ocr(name: str) -> str:
    if not re.fullmatch(r"rapidocr|tesseract(/[A-Za-z_]+(\+[A-Za-z_]+)*)?", name):
        choices = "rapidocr, tesseract, or tesseract with languages: tesseract/eng+deu"
        raise ValueError(f"there is no {name!r}: take {choices}")
    return name


def _page_url(url: str) -> str:
    if not re.fullmatch(r"https?://[^\s?#]+", url):
        raise ValueError("write http:// or https://, a host and perhaps a path, without ? and #")
    return url


def _checked(price: Price) -> Price:
    if not all(isfinite(dollars) and dollars >= 0 for dollars in (price.input, price.output)):
        raise ValueError("a price is a number of dollars, 0 or more")
    return price


def _parts(value: object) -> object:
    """Read a text as a list with commas."""
    return (
        [part.strip() for part in value.split(",") if part.strip()]
        if isinstance(value, str)
        else value
    )


type Names = Annotated[list[str], NoDecode, BeforeValidator(_parts)]


class Settings(BaseSettings):
    """What can be set from outside; the environment's names are LEXICHORD_ and the field's.

    engine, text_config and embedding (provider/model/dimension) are fixed when a database is made.
    read_dsn names a standby, or several: searches go there, and to dsn where it cannot answer.
    record keeps queries in the database, "text" with their words. reranker is cohere/MODEL,
    jina/MODEL, tei, or local/FOLDER for a cross-encoder or a model of late interaction in ONNX;
    /rerank, for cohere /v2/rerank, is appended to reranker_base_url. reader is local/FOLDER for a
    model of SQuAD's form in ONNX, none, or by default lexichord[local]'s.
    llm is a model as DSPy names it, vendor/MODEL; llm_base_url ends where /chat/completions, for
    gemini /models, is appended; llm_prompts is a folder of compiled prompts, TASK.json. llm_window
    is what a model is shown of a document, in characters.
    context_prompt has a model write chunks' contexts to another prompt: anthropic, or a file with
    {whole_document} and {chunk}.
    /embeddings is appended to embedding_base_url, for cohere /v2/embed, for gemini /v1/models.
    file_password opens files that are encrypted, such as PDFs. ocr recognizes pages of PDFs that
    hold no text: tesseract, an installed command, or with languages tesseract/eng+deu; or rapidocr,
    the extra ocr, whose models come along. What files hide, and comments in them, are kept as text,
    marked as what they are or dropped, as hidden and comments say: keep, mark or drop; words that
    are hidden amid the text are kept or dropped. A document of more than max_chunks chunks is
    refused. watch_seconds is how often an ingest that follows buckets and servers lists them.
    embedding_timeout is in seconds, for one request. prices are in dollars a million tokens, by
    provider/model: a number, or for a language model input and output. A key may also stand in a
    file that ..._api_key_file names.
    What listens for others, HTTP or MCP: allowed_hosts are names that requests may be addressed to,
    besides those of this machine, allowed_origins pages that may ask from a browser,
    allowed_addresses services that a request may name in its headers, fetch_hosts those whose pages
    it may have fetched (.example.com with all below it, * any public one, example.com:8080 on
    another port than 80 and 443); lists with commas. page_url is where the page of `lexichord
    serve` opens, as https://search.example.com: what MCP finds leads there. page_language is what
    the page speaks: en, or a file of texts of yours, named by its language, as de.toml.
    audit keeps what API keys are used for in the database, "text" with the words of questions.
    fallbacks are queries that MCP's assistant tries while the evidence is too little; empty: none.
    max_conditions are those of a filter, each held against each document.
    max_body is in bytes, as is max_json, of what is no file: 5 MB are read in 50 ms, in which all
    others wait. max_texts are the characters that one request may have embedded. max_requests is
    how many are answered at once, request_timeout in seconds.
    """

    model_config = SettingsConfigDict(
        env_prefix="LEXICHORD_",
        env_file=".env",
        toml_file="lexichord.toml",
        extra="ignore",
        populate_by_name=True,
    )

    home: Path = Field(default_factory=default_home)
    dsn: str | None = Field(
        None, validation_alias=AliasChoices("LEXICHORD_DSN", "DATABASE_URL"), repr=False
    )
    read_dsn: str | None = Field(None, repr=False)
    model_dir: Path | None = None
    engine: Literal["plain", "textsearch", "vectorchord", "citus"] | None = None
    text_config: str | None = None
    embedding: str | None = None
    embedding_base_url: str | None = Field(None, repr=False)
    embedding_api_key: SecretStr | None = None
    embedding_api_key_file: Path | None = None
    embedding_requests_per_minute: int | None = Field(None, ge=1)
    embedding_concurrency: int = Field(4, ge=1, le=100)
    file_password: SecretStr | None = None
    ocr: Annotated[str, AfterValidator(_ocr)] | None = None
    hidden: Marking = "mark"
    comments: Marking = "mark"
    max_chunks: int | None = Field(None, ge=1)
    watch_seconds: float = Field(60.0, gt=0, le=86400)
    embedding_timeout: float = Field(60.0, gt=0, le=3600)
    prices: dict[str, Annotated[Price, BeforeValidator(_pair), AfterValidator(_checked)]] = {}
    pool_size: int = Field(4, ge=1, le=100)
    allowed_hosts: Names = []
    allowed_origins: Names = []
    allowed_addresses: Names = []
    fetch_hosts: Names = []
    page_url: Annotated[str, AfterValidator(_page_url)] | None = None
    page_language: str = "en"
    fallbacks: Names = ["definitions", "overview", "summary"]
    max_conditions: int = Field(100, ge=1)
    max_body: int = Field(50_000_000, ge=1)
    max_json: int = Field(5_000_000, ge=1)
    max_texts: int = Field(1_000_000, ge=1)
    max_requests: int = Field(16, ge=1, le=1000)
    request_timeout: float = Field(60.0, gt=0, le=3600)
    record: Recording = "off"
    audit: Recording = "on"
    llm: str | None = None
    llm_base_url: str | None = Field(None, repr=False)
    llm_api_key: SecretStr | None = None
    llm_api_key_file: Path | None = None
    llm_prompts: Path | None = None
    context_prompt: str | None = None
    # 20,000 characters of English have some 5,000 tokens: with all else in a prompt they fit in the
    # 8,192 that the smallest of today's models read. Ollama reads 4,096 unless told: set 8000.
    llm_window: int = Field(20_000, ge=4_000)
    reader: str | None = None
    reranker: str | None = None
    reranker_base_url: str | None = Field(None, repr=False)
    reranker_api_key: SecretStr | None = None
    reranker_api_key_file: Path | None = None

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Add the TOML file below the environment."""
        toml = TomlConfigSettingsSource(settings_cls)
        return init_settings, env_settings, dotenv_settings, toml


def given_settings(settings: Settings | None, arguments: dict[str, object]) -> Settings:
    """Return the settings that a caller gives as one object, or those that they name."""
    if settings is None:
        return load_settings(**arguments)
    if not isinstance(settings, Settings):
        raise ConfigError("settings are given by name, such as Lexichord(dsn='postgresql://...')")
    if beside := sorted(name for name, value in arguments.items() if value is not None):
        raise ConfigError(f"give {', '.join(beside)} in the Settings, not beside them")
    return settings


def load_settings(**arguments: object) -> Settings:
    """Read the settings; an argument that is None counts as not given. Raises ConfigError."""
    if unknown := set(arguments).difference(Settings.model_fields):
        raise ConfigError(f"there is no setting {', '.join(sorted(unknown))}")
    values = {name: value for name, value in arguments.items() if value is not None}
    try:
        settings = Settings(**values)  # type: ignore[arg-type]
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"setting {name}: {plain_reason(first['msg'])}") from None
    except (ValueError, OSError, RecursionError) as error:
        raise ConfigError(f"lexichord.toml or .env cannot be read: {error}") from None
    home = settings.home.expanduser().resolve()
    return settings.model_copy(update={"home": home, **_secrets(settings)})


def origins(**arguments: object) -> dict[str, Origin]:
    """Return where `load_settings` takes each setting from, by name."""
    places: list[tuple[Origin, set[str]]] = [
        ("argument", {name for name, value in arguments.items() if value is not None}),
        ("environment", set(EnvSettingsSource(Settings)())),
        (".env", set(DotEnvSettingsSource(Settings)())),
        ("TOML", set(TomlConfigSettingsSource(Settings)())),
    ]
    return {
        name: next(
            (place for place, names in places if names & {name, f"LEXICHORD_{name.upper()}"}),
            "default",
        )
        for name in Settings.model_fields
    }


def shown(settings: Settings) -> dict[str, object]:
    """Return the settings without secrets: of a key only whether it is set, no URL's password."""
    return {name: _shown(name, getattr(settings, name)) for name in Settings.model_fields}


def _shown(name: str, value: object) -> object:
    if SecretStr in get_args(Settings.model_fields[name].annotation):
        return "not set" if value is None else "set"
    if isinstance(value, str):
        hidden = re.sub(r"://\S*@", "://***@", value)
        return re.sub(r"(?i)(password\s*=\s*)('(\\.|[^'])*'?|[^\s&]+)", r"\1***", hidden)
    return str(value) if isinstance(value, Path) else value


def _secrets(settings: Settings) -> dict[str, SecretStr]:
    """Read the keys that stand in files."""
    read: dict[str, SecretStr] = {}
    for name in Settings.model_fields:
        file = getattr(settings, name) if name.endswith("_api_key_file") else None
        if file in (None, Path()):  # unset, or set to nothing
            continue
        key = name.removesuffix("_file")
        if getattr(settings, key) is not None:
            raise ConfigError(f"{key} and {name} are both set: leave one out")
        read[key] = SecretStr(read_secret(name, file.expanduser()))
    return read


def read_secret(name: str, file: Path, *, container_secrets: Path = CONTAINER_SECRETS) -> str:
    """Return the text of a file that its owner alone may read, or one that a container was given.

    `name` is the setting's, for messages. Raises ConfigError.
    """
    try:
        with file.open("rb") as stream:
            mode = stat.S_IMODE(os.fstat(stream.fileno()).st_mode)
            if mode & 0o077 and not file.resolve().is_relative_to(container_secrets):
                raise ConfigError(f"{name}: others may read '{file}': run chmod 600 on it")
            text = stream.read(MAX_KEY_FILE_BYTES).decode().strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no text"
        raise ConfigError(f"{name}: '{file}' cannot be read ({reason})") from None
    if not text:
        raise ConfigError(f"{name}: '{file}' is empty")
    return text


def list_settings(**arguments: object) -> Sequence[dict[str, Any]]:
    """Return each setting's name, value and source; of keys only whether they are set."""
    settings = load_settings(**arguments)
    sources, values = origins(**arguments), shown(settings)
    for name, file in values.items():
        if name.endswith("_api_key_file") and file is not None:
            sources[name.removesuffix("_file")] = sources[name]  # it was read from there
    return [{"name": name, "value": values[name], "source": sources[name]} for name in values]
