"""What a language model's tokens cost: as the user's table says, else DSPy's bundled list."""

import os
import tomllib
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lexichord.errors import ConfigError
from lexichord.settings import Settings
from lexichord.types.generation import Price

Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid")

    input: Dollars
    output: Dollars


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid")

    models: dict[str, _Row]


def find_price(settings: Settings) -> Price | None:
    """Give the price of `settings.llm`; None where nobody knows it. Raises ConfigError.

    The table `settings.llm_prices` goes before the list: [models."vendor/MODEL"] with `input` and
    `output`, dollars for a million tokens.
    """
    name = settings.llm or ""
    table = _read(settings.llm_prices) if settings.llm_prices else {}
    return table.get(name) or _listed(name)


def _read(file: Path) -> dict[str, Price]:
    try:
        table = _Table.model_validate(tomllib.loads(file.read_text()))
    except OSError as error:
        raise ConfigError(f"llm_prices '{file}' cannot be read: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"llm_prices '{file}': {place}: {first['msg']}") from None
    except ValueError as error:
        raise ConfigError(f"llm_prices '{file}' is no TOML: {error}") from None
    return {name: Price(row.input, row.output) for name, row in table.models.items()}


def _listed(name: str) -> Price | None:
    # Else DSPy fetches the list from the network.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "true"
    from dspy.clients.model_metadata import model_info

    vendor, _, model = name.partition("/")
    found = model_info(vendor, model)
    rates = [found.get(f"{kind}_cost_per_token") for kind in ("input", "output")]
    if not all(isinstance(rate, int | float) for rate in rates):
        return None
    return Price(*(rate * 1_000_000 for rate in rates))
