"""Amounts of money in words, and from one currency to another at a configured rate."""

from __future__ import annotations

from collections.abc import Mapping

SYMBOLS: Mapping[str, str] = {
    "NGN": "₦",
    "USD": "$",
    "GBP": "£",
    "EUR": "€",
    "INR": "₹",
    "GHS": "GH₵",
    "KES": "KSh ",
    "ZAR": "R ",
    "JPY": "¥",
    "CNY": "CN¥",
    "CAD": "CA$",
    "AUD": "A$",
}


def format_money(amount: float, currency: str | None) -> str:
    """``₦18,500``, ``$12.50``; a currency without a symbol stands behind the number: ``5,499 SEK``."""
    whole = abs(amount - round(amount)) < 0.005
    text = f"{round(amount):,}" if whole else f"{amount:,.2f}"
    if currency is None:
        return text
    symbol = SYMBOLS.get(currency)
    return f"{symbol}{text}" if symbol else f"{text} {currency}"


def exchange_rate(source: str, target: str, fx: Mapping[str, float]) -> float | None:
    """How many units of ``target`` one unit of ``source`` buys, or None when the configuration states no rate.

    ``fx`` maps names such as ``NGN_per_USD`` to numbers (1500: naira for one dollar).
    """
    if source == target:
        return 1.0
    if rate := fx.get(f"{target}_per_{source}"):
        return rate
    if rate := fx.get(f"{source}_per_{target}"):
        return 1.0 / rate
    return None
