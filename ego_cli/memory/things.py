"""What clauses speak of: things, sizes and amounts of money, each brought to one spelling."""

from __future__ import annotations

import re
from functools import lru_cache

from ego_cli.memory.tokens import stem, words_of
from ego_cli.settings import load_toml

SIZE = (
    r"(?:(?:uk|us|eu|eur|size)\s*)?(?:\d{1,4}(?:[.,]5|½)?(?:\s*(?:uk|us|eu))?|\d{2,3}\s?[a-h]{1,2}|(?:[2-6]?x{1,4})?[sl]|m|"
    r"(?:extra[- ])*(?:small|large)|medium|petite|plus[- ]size|free size)"
)
MONEY = r"(?:₦|n|ngn|\$|usd|£|gbp|€|eur|#)?\s?\d[\d,]*(?:\.\d+)?\s?(?:k|m|thousand|million)?\s?(?:naira|dollars?|usd|pounds?|gbp|euros?|ngn|bucks)?"
_AMOUNT = re.compile(
    r"(?P<sign>₦|ngn|n(?=\d)|\$|usd|£|gbp|€|eur|#)?\s?(?P<number>\d[\d,]*(?:\.\d+)?)\s?(?P<scale>k|m|thousand|million)?\b\s?"
    r"(?P<name>naira|dollars?|usd|pounds?|gbp|euros?|ngn|bucks)?",
    re.IGNORECASE,
)
_CURRENCY = {
    "₦": "NGN",
    "n": "NGN",
    "#": "NGN",
    "naira": "NGN",
    "ngn": "NGN",
    "$": "USD",
    "usd": "USD",
    "dollar": "USD",
}
_CURRENCY |= {"dollars": "USD", "bucks": "USD", "£": "GBP", "gbp": "GBP", "pound": "GBP", "pounds": "GBP"}
_CURRENCY |= {"€": "EUR", "eur": "EUR", "euro": "EUR", "euros": "EUR"}


def read_amount(text: str) -> tuple[float, str | None] | None:
    """The first amount of money in a text and its ISO currency (None when not said): "30k" is 30,000."""
    match = _AMOUNT.search(text)
    if not match:
        return None
    number = float(match["number"].replace(",", ""))
    scale = (match["scale"] or "").lower()
    number *= {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6}.get(scale, 1)
    sign = (match["sign"] or match["name"] or "").lower()
    return number, _CURRENCY.get(sign)


def sized_thing(size: str, item: str) -> str:
    """Which size it is: words that share one size come together, a bare European shoe number is a shoe's."""
    sizes = load_toml("memory.toml")["sizes"]
    words = words_of(item)
    for thing, others in sizes.items():
        if thing != "shoe_numbers" and any(word == thing or word in others.split() for word in words):
            return str(thing)
    if words:
        return words[-1] if words[-1] not in ("size",) else ""
    low, high = sizes["shoe_numbers"]
    number = re.fullmatch(r"(?:eur?\s*)?(\d{2})(?:[.,]5|½)?", size.strip().lower())
    return "shoe" if number and low <= int(number[1]) <= high else ""


@lru_cache(maxsize=16)
def word_list(name: str) -> frozenset[str]:
    """A word list of the rules file."""
    return frozenset(load_toml("memory_rules.toml")["words"][name].split())


def split_list(value: str) -> list[str]:
    """ "red, blue and green" -> three values; "black and white shirts" and "salt and pepper crisps" stay whole."""
    parts = [
        part.strip()
        for part in re.split(r"(?i)\s*,\s*(?:and|or|nor)\s+|\s*,\s*|\s+(?:and|or|nor|plus|&)\s+", value)
        if part.strip()
    ]
    if len(parts) < 2 or any(len(part.split()) > 3 for part in parts):
        return [value]
    if len(parts[-1].split()) > len(parts[0].split()) and len(parts[0].split()) == 1 and _describes(parts[0]):
        return [value]
    return parts


def _describes(word: str) -> bool:
    """Whether a word alone can only describe something: "black and white shirts" is one thing, "rice and red beans" two."""
    low = word.lower()
    return low in word_list("describing") or low.endswith(("y", "ful", "ous", "ish", "ed", "ic", "ive", "al"))


def canonical_object(text: str) -> str:
    """One spelling for one thing: stems in alphabetical order (as they stand when numbers are among them), the word
    "colour" dropped beside another word.

    Rows are unique by it, so it depends on the fixed list of spellings only, not on the words that search unites.
    """
    spellings = _spellings()
    words = words_of(text)
    found = [stem(spellings.get(word, word)) for word in words if word not in word_list("untelling")] or words
    if len(found) > 1:
        found = [word for word in found if word != "colour"] or found
    if any(character.isdigit() for word in found for character in word):
        return " ".join(found)
    return " ".join(sorted(dict.fromkeys(found)))


@lru_cache(maxsize=1)
def _spellings() -> dict[str, str]:
    groups = [group.split() for group in load_toml("memory.toml")["search"]["spellings"]]
    return {word: group[0] for group in groups for word in group}
