"""Settings: arguments > environment > .env > TOML > defaults."""

import os
from pathlib import Path
from typing import Literal

import platformdirs
from pydantic import AliasChoices, Field, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from lexichord.errors import ConfigError
from lexichord.types.response import Recording


def default_home() -> Path:
    """Where the embedded server and fetched models live, unless LEXICHORD_HOME says otherwise.

    Root's server runs as another user, who must be able to reach its folder: so not under /root.
    """
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        return Path("/var/lib/lexichord")
    return platformdirs.user_data_path("lexichord")


class Settings(BaseSettings):
    """What can be set from outside; the environment's names are LEXICHORD_ and the field's.

    engine, text_config and embedding (provider/model/dimension) are fixed when a database is made.
    record keeps queries in the database, "text" with their words. reranker is cohere/MODEL,
    jina/MODEL or tei; /rerank, for cohere /v2/rerank, is appended to reranker_base_url.
    llm is a model as DSPy names it, vendor/MODEL; llm_base_url ends where /chat/completions, for
    gemini /models, is appended; llm_prompts is a folder of compiled prompts, TASK.json. llm_window
    is what a model is shown of a document, in characters; llm_prices is a TOML file of prices.
    """

    model_config = SettingsConfigDict(
        env_prefix="LEXICHORD_",
        env_file=".env",
        toml_file="lexichord.toml",
        extra="ignore",
        populate_by_name=True,
    )

    home: Path = Field(default_factory=default_home)
    dsn: str | None = Field(None, validation_alias=AliasChoices("LEXICHORD_DSN", "DATABASE_URL"))
    model_dir: Path | None = None
    engine: Literal["pgvector", "vectorchord"] | None = None
    text_config: str | None = None
    embedding: str | None = None
    pool_size: int = Field(4, ge=1, le=100)
    record: Recording = "off"
    llm: str | None = None
    llm_base_url: str | None = None
    llm_api_key: SecretStr | None = None
    llm_prompts: Path | None = None
    # 20,000 characters of English have some 5,000 tokens: with all else in a prompt they fit in the
    # 8,192 that the smallest of today's models read. Ollama reads 4,096 unless told: set 8000.
    llm_window: int = Field(20_000, ge=4_000)
    llm_prices: Path | None = None
    reranker: str | None = None
    reranker_base_url: str | None = None
    reranker_api_key: SecretStr | None = None

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


def load_settings(**arguments: object) -> Settings:
    """Read the settings; an argument that is None counts as not given. Raises ConfigError."""
    if unknown := set(arguments).difference(Settings.model_fields):
        raise ConfigError(f"there is no setting {', '.join(sorted(unknown))}")
    given = {name: value for name, value in arguments.items() if value is not None}
    try:
        settings = Settings(**given)  # type: ignore[arg-type]
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"setting {name}: {first['msg']}") from None
    except (ValueError, OSError) as error:
        raise ConfigError(f"lexichord.toml or .env cannot be read: {error}") from None
    return settings.model_copy(update={"home": settings.home.expanduser().resolve()})
