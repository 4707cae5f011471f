"""Where a language model is served, and with which key."""

import os

from lexichord.errors import ConfigError
from lexichord.providers.access import check_key, is_address
from lexichord.settings import Settings

NO_KEY = "none"  # what a server gets that was named without a key


def connection(settings: Settings) -> dict[str, str]:
    """Say where the model is served, and with which key.

    A vendor's key in the environment is sent to the address that goes with it and to no other.
    """
    key = settings.llm_api_key.get_secret_value() if settings.llm_api_key else ""
    check_key("llm_api_key", key)
    if url := settings.llm_base_url:
        if not is_address(url):
            raise ConfigError("llm_base_url is no address like http://localhost:11434/v1")
        return {"api_base": url.rstrip("/"), "api_key": key or NO_KEY}
    vendor = (settings.llm or "").partition("/")[0].upper()
    url = os.environ.get(f"{vendor}_API_BASE") or os.environ.get(f"{vendor}_BASE_URL")
    return ({"api_base": url.rstrip("/")} if url else {}) | ({"api_key": key} if key else {})
