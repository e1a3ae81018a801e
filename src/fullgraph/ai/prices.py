"""What a model costs, from the list that comes with `genai-prices`; nothing is downloaded."""

from __future__ import annotations

from msgspec import Struct

from fullgraph.ai.selection import Selection


class Price(Struct, frozen=True):
    """The price of one model: how to look it up again."""

    model: str
    provider: str | None
    address: str | None

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """Return the dollars for so many tokens."""
        found = _look_up(self, input_tokens, output_tokens)
        if found is None:
            raise LookupError(self.model)
        return found


def price_of(selection: Selection) -> Price | None:
    """Return the price of a model; None if it is not known, which is not the same as 0.

    A server with an address of its own may be a proxy of the provider or serve other models. Its
    address counts if it is known, and then the provider's price for a model of this name.
    """
    name, provider = selection.model.name, selection.provider
    for price in (Price(name, None, provider.address), Price(name, provider.name, None)):
        if _look_up(price, 1000, 1000) is not None:
            return price
    return None


def _look_up(price: Price, input_tokens: int, output_tokens: int) -> float | None:
    try:
        from genai_prices import Usage, calc_price
    except ImportError:
        return None
    usage = Usage(input_tokens=input_tokens, output_tokens=output_tokens)
    try:
        if price.address is not None:
            found = calc_price(usage, price.model, provider_api_url=price.address)
        else:
            found = calc_price(usage, price.model, provider_id=price.provider)
    except (LookupError, ValueError):
        return None
    return float(found.total_price)
