"""What the name of a column, or of a detail, proposes. The words stand in ``data/columns.toml``."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from ego_cli.catalog.reading.cleaning import clean_text
from ego_cli.catalog.reading.prices import currency_code, currency_mark
from ego_cli.places import load_toml

NARROWEST = 4.0  # depth of a category column whose name says nothing about its depth


@dataclass(frozen=True, slots=True)
class NamedRole:
    """What a column's name proposes."""

    role: str
    rank: int
    level: float = NARROWEST
    currency: str | None = None
    minor: bool = False
    why: str = ""


_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NOT_WORD = re.compile(r"[^\w#]+|_+")
_EXAMPLE = re.compile(
    r"\([^()]*[,/:;…][^()]*\)"
)  # how to fill a column: "Categories (x,y,z...)", "Active (0/1)"


def normal_name(name: str) -> str:
    """``g:sale_price``, ``SalePrice`` and ``Sale Price`` are all ``sale price``."""
    text = unicodedata.normalize("NFKD", _CAMEL.sub(" ", name))
    text = "".join(ch for ch in text if not unicodedata.combining(ch)).casefold()
    return _NOT_WORD.sub(" ", text).strip()


@cache
def _names() -> dict[str, NamedRole]:
    table = load_toml("columns.toml")
    levels = table["category_levels"]
    names: dict[str, NamedRole] = {}
    for drop in table["drop"]:
        for name in drop["names"]:
            names[normal_name(name)] = NamedRole("drop", 0, why=drop["why"])
    for role, known in table["roles"].items():
        for rank, name in enumerate(known):
            word = normal_name(name)
            level = float(levels.get(word, NARROWEST)) if role == "category" else NARROWEST
            names.setdefault(word, NamedRole(role, rank, level=level))
    for name, level in levels.items():
        names.setdefault(normal_name(name), NamedRole("category", 99, level=float(level)))
    return names


@lru_cache(maxsize=4096)
def role_of_name(name: str) -> NamedRole | None:
    """The role that a column's name proposes, or None. Nested names are written with dots."""
    full = normal_name(name.replace(".", " "))
    if name.rpartition(".")[2].startswith("@"):
        return NamedRole("drop", 0, why="book-keeping of linked data")
    if found := _lookup(full, name):
        return found
    if (plain := _EXAMPLE.sub(" ", name).strip()) != name and plain and (found := role_of_name(plain)):
        return replace(found, rank=found.rank + 20)
    if "." not in name:
        return None
    parent, _, leaf = name.rpartition(".")
    above = role_of_name(parent)
    below = normal_name(leaf)
    if above is None:
        # Inside something that has a role of its own (a category's parent's name) a leaf's name means little.
        return None if role_of_name(name.split(".")[0]) else _lookup(below, leaf)
    if above.role == "drop":
        return NamedRole("drop", 0, why=above.why)
    return _inside(above.role, below)


_NESTED = 50  # rank of a column that is named by its place inside another


def _inside(role: str, leaf: str) -> NamedRole | None:
    """What a member of a nested price or rating is."""
    if role in ("price", "price_list"):
        if leaf in ("currency", "currency code", "currency symbol", "unit"):
            return NamedRole("currency", _NESTED)
        if role == "price_list" or re.search(r"original|list|regular|was|old|before|compare|mrp|rrp", leaf):
            return NamedRole("price_list", _NESTED)
        return NamedRole("price_max" if re.search(r"max|high|upper|to\b", leaf) else "price", _NESTED)
    if role in ("rating", "rating_count", "reviews"):
        if re.search(r"count|total|number|quantity|votes", leaf):
            return NamedRole("rating_count", _NESTED)
        if re.search(r"average|avg|mean|score|rating|value|stars|rate", leaf):
            return NamedRole("rating", _NESTED)
    return None


def _lookup(words: str, original: str) -> NamedRole | None:
    names = _names()
    if found := names.get(words):
        return _with_symbol(found, original)
    filler = load_toml("columns.toml")["filler"]
    tokens = words.split()
    found = names.get(" ".join(token for token in tokens if not token.isdigit()))
    if found is not None and found.role == "drop":  # "image 1", "Attribute 2 visible"
        return found
    for _ in range(3):
        if len(tokens) > 1 and tokens[0] in filler["before"]:
            tokens = tokens[1:]
        elif len(tokens) > 1 and tokens[-1] in filler["after"]:
            tokens = tokens[:-1]
        else:
            break
        if found := names.get(" ".join(tokens)):
            return _with_symbol(replace(found, rank=found.rank + 20), original)
    return _price_with_currency(words, original)


_BEFORE_SIGN = re.compile(r"(?<![^\W_])([A-Za-z]{1,3})(?=[$₵£])")


def _with_symbol(found: NamedRole, original: str) -> NamedRole:
    """``Preis (€)`` and ``Price ($)``: the sign is no word, but it tells the currency."""
    if found.role not in ("price", "price_max", "price_list"):
        return found
    if not any(unicodedata.category(ch) == "Sc" for ch in original):
        return found
    return replace(found, currency=currency_mark(original))


def _price_with_currency(words: str, original: str) -> NamedRole | None:
    """``Price (INR)``, ``price_ngn_max``, ``amount in naira``, ``price_cents``: the name holds the unit too."""
    minor_words = load_toml("columns.toml")["minor_units"]["words"]
    tokens = words.split()
    before_sign = {word.casefold() for word in _BEFORE_SIGN.findall(original)}  # the US of "Price (US$)"
    currency, kept, minor = None, [], False
    for token in tokens:
        if token in before_sign:
            continue
        if token in currency_words():
            currency = currency_code(token)
        elif token in minor_words:
            minor = True
        elif token not in ("in", "of", "per"):
            kept.append(token)
    currency = currency or currency_mark(original)
    if currency is None and not minor:
        return None
    found = _names().get(" ".join(kept)) if kept else None
    if found is None or found.role not in ("price", "price_max", "price_list"):
        return None
    return replace(found, currency=currency, minor=minor)


@cache
def currency_words() -> frozenset[str]:
    """Words that name a currency and nothing else in a column's name ("try", "all" and the like are left out)."""
    table = load_toml("columns.toml")["currency"]
    words = {word.casefold() for code, marks in table["marks"].items() for word in (code, *marks)}
    return frozenset(words.difference(table["not_in_names"]))


@lru_cache(maxsize=4096)
def field_of_detail(key: str) -> str | None:
    """The product field that a key inside details really is (``Main Material`` is material), or None."""
    word = normal_name(key)
    for role, names in load_toml("columns.toml")["detail_fields"].items():
        if word in names:
            return str(role)
    return None


@lru_cache(maxsize=2048)
def _gender_of_text(text: str) -> str | None:
    word = normal_name(text)
    for gender, words in load_toml("columns.toml")["gender_words"].items():
        if word in words or text.strip().casefold() in words:
            return str(gender)
    return None


def gender_of(cell: object) -> str | None:
    """men, women, boys, girls, kids or unisex, in any of the languages of ``data/columns.toml``."""
    if isinstance(cell, list | tuple):
        found = {gender for item in cell if (gender := gender_of(item))}
        return found.pop() if len(found) == 1 else "unisex" if found else None
    return _gender_of_text(cell) if isinstance(cell, str) and len(cell) < 40 else None


@lru_cache(maxsize=8192)
def label_of(name: str) -> str:
    """A column's name as the key of a detail: ``assembly_required`` -> ``Assembly required``."""
    leaf = _EXAMPLE.sub(" ", name).rpartition(".")[2] or name
    if re.search(r"[a-z][A-Z]|_", leaf) or leaf.islower():
        words = normal_name(leaf)
        leaf = words[:1].upper() + words[1:]
    return clean_text(leaf).strip(" :?")[:60]
