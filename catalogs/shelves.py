"""Turns the hand-written tables into catalogue rows.

A table file holds kinds of goods. A kind holds sentence patterns and lines; a line is one model of one
brand with its variants. Every random choice is seeded by the line itself, so that adding a product does
not change the others.
"""

from __future__ import annotations

import math
import random
import re
import string
import tomllib
from pathlib import Path

import formulas

SEED = "ego-demo-1"
TABLES = Path(__file__).parent / "tables"
NO_PRICE_SHARE = 0.015
NO_RATING_SHARE = 0.06
LIST_PRICE_SHARE = {"NGN": 0.45, "USD": 0.16}
SIZE_LADDER = ["XS", "S", "M", "L", "XL", "XXL", "3XL", "4XL", "5XL"]


def dice(*key: object) -> random.Random:
    """A random source that depends on nothing but its key."""
    return random.Random("|".join([SEED, *map(str, key)]))


def load(name: str) -> dict:
    return tomllib.loads((TABLES / name).read_text(encoding="utf-8"))


def rows_of(table: str, shop: dict, brands: dict) -> list[dict]:
    """All rows of one table file, without ids."""
    rows = []
    for kind in load(table)["kind"]:
        kind = {k: _lines(v) if k in _LISTS else v for k, v in kind.items()}
        for line in kind["lines"]:
            rows.extend(_line_rows(line, kind, shop, brands))
    return rows


_LISTS = {"titles", "must", "may", "say", "details", "lines"}


def _lines(block: str) -> list[str]:
    return [line.strip() for line in block.strip().splitlines() if line.strip()]


def _facts(text: str) -> dict[str, str]:
    """`mah=20000, out=22.5W, torch` -> {"mah": "20000", "out": "22.5W", "torch": "yes"}."""
    facts = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        key, _, value = part.partition("=")
        # Commas part the facts, so a value writes its own commas as " / ".
        facts[key.strip()] = value.strip().replace(" / ", ", ") or "yes"
    return facts


def _line_rows(line: str, kind: dict, shop: dict, brands: dict):
    cells = [c.strip() for c in line.split("|")]
    brand, model, variants, facts, colours, note = cells + [""] * (6 - len(cells))
    shared = _facts(kind.get("facts", "")) | _facts(facts)
    each, _, names = colours.rpartition(":")
    palette = [c.strip() for c in names.split(",") if c.strip()]
    each = len(palette) if each.strip() == "all" else int(each or 1)
    quality = dice("quality", brand, model, kind["name"]).gauss(4.2, 0.2) + brands[brand].get("lift", 0.0)
    turn = 0
    for variant in variants.split(";"):
        own, _, price = variant.partition("@")
        for _ in range(min(each, len(palette)) if palette else 1):
            given = shared | _facts(own) | {"brand": brand, "model": model}
            if "material" in given:
                given["stuffs"] = given["material"]
                given["material"] = given["stuffs"].replace("+", " and ")
            if palette:
                given["tints"] = palette[turn % len(palette)]
                given["colour"] = given["tints"].replace("+", " and ")
                turn += 1
            yield _row(given, float(price), quality, note, kind, shop)


def fill(pattern: str, facts: dict[str, str]) -> str | None:
    """The pattern with its fields filled, or None where a field or the `key?` condition fails."""
    head, mark, rest = pattern.partition("? ")
    if mark and head.lstrip("!").isidentifier():
        if (head.lstrip("!") in facts) == head.startswith("!"):
            return None
        return fill(rest, facts)
    wanted = [f for _, f, _, _ in string.Formatter().parse(pattern) if f]
    if any(f not in facts for f in wanted):
        return None
    text = " ".join(pattern.format_map(facts).split())
    return text[:1].upper() + text[1:]


def filled(patterns: list[str], facts: dict[str, str]) -> list[str]:
    return [t for t in (fill(p, facts) for p in patterns) if t]


def _row(facts: dict, price: float, quality: float, note: str, kind: dict, shop: dict) -> dict:
    key = (kind["name"], *sorted(facts.items()))
    rng = dice(*key)
    inci = formulas.inci_list(facts, rng) if "base" in facts else None
    row: dict = {
        "title": _title(rng.choice(filled(kind["titles"], facts)), shop["currency"]),
        "brand": facts["brand"],
    }
    row["categories"] = (fill(facts.get("path") or kind["path"], facts) or "").split(" > ")
    # Colours of one thing cost the same in the dollar shop, so its ending hangs on model and price only.
    row |= _money(
        price,
        shop["currency"],
        rng if shop["currency"] == "NGN" else dice("ending", facts["brand"], facts["model"], price),
        rng,
    )
    row |= _standing(quality, kind.get("fame", 3.2), rng)
    row["features"] = _features(kind, facts, inci, rng)
    row["description"] = _description(kind["say"], facts, note, rng)
    details = {}
    for pattern in kind["details"]:
        name, _, value = pattern.partition(" = ")
        value = fill(value, facts)
        # Real sellers leave gaps; the first two facts are nearly always there.
        if value and (len(details) < 2 or rng.random() < 0.93):
            details[name] = value
    for name, value in details.items():
        # Three bullets at least; a thin row borrows from its own details.
        if len(row["features"]) < 3 and value.lower() not in ", ".join(row["features"]).lower():
            row["features"].append(f"{name}: {value}")
    for field, parts in (("colour", facts.get("tints")), ("material", facts.get("stuffs"))):
        if parts:
            row[field] = parts.split("+") if "+" in parts else parts
    if "sizes" in facts:
        row["sizes"] = _sizes(facts["sizes"], rng)
    if "skin" in facts:
        row["skin_types"] = facts["skin"].split("+")
    if inci and rng.random() < 0.86:
        row["ingredients"] = ", ".join(inci)
    sellers = kind.get("sellers") or shop["sellers"]
    store = rng.choice(sellers)
    size = facts.get("bulk") or kind.get("bulk", "parcel")
    delivery = dice("delivery", store, size).choice(shop["delivery"][size])
    row["details"] = details | {"Delivery": delivery}
    row["store"] = store
    row["delivery"] = delivery
    if shop["currency"] == "NGN":
        row["seller_score"] = round(min(99, max(58, dice("seller", store).gauss(88, 7))))
    return row


SMALL_WORDS = {
    "a",
    "and",
    "de",
    "at",
    "by",
    "for",
    "from",
    "in",
    "of",
    "on",
    "or",
    "per",
    "the",
    "to",
    "with",
    "ml",
    "g",
    "kg",
    "oz",
    "lb",
    "ft",
    "qt",
    "mm",
    "cm",
    "mg",
    "mcg",
    "x",
    "fl",
}


def _title(text: str, currency: str) -> str:
    """No word twice running ("Steam Steam Iron"); the dollar shop sets its titles in capitals."""
    text = re.sub(r"\b(\w{3,})( \1)\b", r"\1", text, flags=re.IGNORECASE)
    if currency == "NGN":
        return text
    return " ".join(
        w if w.lower().strip(",)") in SMALL_WORDS else w[:1].upper() + w[1:] for w in text.split(" ")
    )


def _money(price: float, currency: str, line_rng: random.Random, rng: random.Random) -> dict:
    if currency == "NGN":
        # Sellers of the same thing differ by a little; the dollar shop has one price.
        price *= 1 + rng.uniform(-0.012, 0.012)
    asked = ending(price, currency, line_rng)
    money: dict = {"price": asked}
    if rng.random() < LIST_PRICE_SHARE[currency]:
        money["list_price"] = ending(
            price * (1 + rng.choice([0.05, 0.08, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4])), currency, rng
        )
        if money["list_price"] <= asked:
            del money["list_price"]
    if rng.random() < NO_PRICE_SHARE:
        money = {"price": None}
    return money | {"currency": currency}


def ending(price: float, currency: str, rng: random.Random) -> float | int:
    """A price as a shop writes it: 12,990 or 135,999 or 4,250; $24 or $24.50 or $23.99."""
    if currency == "USD":
        whole = max(1, math.floor(price))
        return whole if price >= 60 else rng.choice([whole, whole + 0.5, whole + 0.95, whole + 0.99])
    step = 50 if price < 5000 else 100 if price < 30000 else 500 if price < 200000 else 1000
    whole = max(step, round(price / step) * step)
    return whole - rng.choice([0, 0, 1, 10, 5] if step > 50 else [0, 0, 0, 1])


def _standing(quality: float, fame: float, rng: random.Random) -> dict:
    if rng.random() < NO_RATING_SHARE:
        return {"rating": None, "rating_count": 0}
    count = max(1, round(rng.lognormvariate(fame, 1.25)))
    # Few votes wander further from the model's real quality than many do.
    rating = quality + rng.gauss(0, 0.28 / math.sqrt(1 + math.log1p(count)) + 0.05)
    return {"rating": round(min(4.9, max(3.2, rating)), 1), "rating_count": count}


def _features(kind: dict, facts: dict, inci: list[str] | None, rng: random.Random) -> list[str]:
    must = filled(kind["must"], facts)
    may = filled(kind["may"], facts)
    rng.shuffle(may)
    if inci is not None:
        true_claims = formulas.claims(inci, facts)
        rng.shuffle(true_claims)
        must += true_claims[: rng.choice([1, 2, 2, 3])]
        must += formulas.scent_words(facts, rng)
    want = rng.choice([3, 4, 4, 5, 5, 6])
    bullets = list(dict.fromkeys(must[:6] + may[: max(0, want - len(must))]))
    if rng.random() < 0.5:
        rng.shuffle(bullets)
    return bullets


def _description(say: list[str], facts: dict, note: str, rng: random.Random) -> str:
    spoken = filled(say, facts)
    note = fill(note, facts) if note else None
    picked = rng.sample(spoken, min(len(spoken), 1 if note else rng.choice([1, 2])))
    if note and rng.random() < 0.9:
        picked.insert(0, note)
        if rng.random() < 0.35:
            picked = [note]
    return " ".join(picked)


def _sizes(text: str, rng: random.Random) -> list[str]:
    if "+" in text:
        return text.split("+")
    low, dash, high = text.partition("-")
    if not dash:
        return [text]
    if low in SIZE_LADDER:
        run = SIZE_LADDER[SIZE_LADDER.index(low) : SIZE_LADDER.index(high) + 1]
    else:
        step = 2 if int(low) >= 4 and int(high) <= 28 and int(low) % 2 == 0 else 1
        run = [str(n) for n in range(int(low), int(high) + 1, step)]
    # A size or two is often sold out.
    gone = rng.choice([0, 0, 0, 1, 1, 2]) if len(run) > 4 else 0
    for size in rng.sample(run, gone):
        run.remove(size)
    return run
