"""What a language model's tokens cost: as the user's settings say, else DSPy's bundled list."""

import os

from lexichord.settings import Settings
from lexichord.types.generation import Price


def find_price(settings: Settings) -> Price | None:
    """Give the price of `settings.llm`; None where nobody knows it.

    `settings.prices` goes before the list.
    """
    name = settings.llm or ""
    return settings.prices.get(name) or _listed(name)


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
