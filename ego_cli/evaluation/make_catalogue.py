"""Product files of any size for benchmarks, in the published shape of a real catalogue of clothing, shoes and jewelry.

Rows are those of Amazon Reviews 2023 metadata. How many rows a shelf has, how many have a price, a description, five bullets,
and how often things were rated follows ``[shape]`` of ``data/make_catalogue.toml``; the words come from its tables. Products
come in lines of siblings that differ in little (a colour, a sleeve, a closure), which is what makes them hard to tell apart.
The same seed gives the same file, and a shorter file is the beginning of a longer one.
"""

from __future__ import annotations

import json
import math
import random
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, count, islice
from statistics import NormalDist
from typing import Any

from ego_cli.settings import load_toml

SEED = 20_240_601

_SYLLABLES = ["ka", "lo", "ve", "mi", "ra", "dor", "san", "tel", "bri", "nor", "fa", "el", "qui", "zan", "mar", "pe", "lu", "gra", "thu", "vi", "ton", "ber", "si", "da", "ren", "hol", "wy", "cas", "ju", "ne", "ost", "fen", "pri", "al", "mo", "xa", "sel", "kir"]  # fmt: skip
_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Shelf:
    """A pair of last two categories and what stands there."""

    family: Mapping[str, Any]
    above: tuple[str, ...]  # category levels between the department and the last one
    last: str
    noun: str  # what one thing of it is called
    kind: str  # the narrower word that goes before the noun, may be empty

    @property
    def pair(self) -> tuple[str, str]:
        """The last two categories."""
        return self.above[-1], self.last


@cache
def shelves() -> tuple[Shelf, ...]:
    """Every shelf of the tables, ``[shape] pairs`` of them, each with its own pair of last two categories."""
    table = load_toml("make_catalogue.toml")
    wanted = table["shape"]["pairs"]
    found: dict[tuple[str, str], Shelf] = {}
    narrow: list[Shelf] = []
    for family in table["family"]:
        for line in family["kinds"]:
            kind, noun, listed = (part.strip() for part in line.split("|"))
            broad = Shelf(family, (family["path"],), kind, noun, "")
            found.setdefault(broad.pair, broad)
            for name in (part.strip() for part in listed.split(",")):
                own = _singular(name) if not family.get("plural") else name.split(" & ")[0]
                is_thing = name.endswith("s") and not name.endswith("ss")
                shelf = Shelf(
                    family, (family["path"], kind), name, own if is_thing else noun, "" if is_thing else name
                )
                found.setdefault(shelf.pair, shelf)
                narrow.append(shelf)
    picked = random.Random(SEED)
    for style in table["shape"]["deeper"]:
        for shelf in picked.sample(narrow, len(narrow)):
            if len(found) >= wanted:
                return tuple(found.values())
            deeper = Shelf(shelf.family, (*shelf.above, shelf.last), style, shelf.noun, shelf.kind)
            found.setdefault(deeper.pair, deeper)
    return tuple(found.values())


def _singular(name: str) -> str:
    """One thing of a shelf: "Sports Bras" -> "Sports Bra", "Blouses & Button-Down Shirts" -> "Blouse"."""
    first = name.split(" & ")[0]
    if first.split()[-1] in load_toml("make_catalogue.toml")["shape"]["always_plural"]:
        return first
    if first.endswith("ies"):
        return first[:-3] + "y"
    if first.endswith(("ches", "shes", "xes", "sses")):
        return first[:-2]
    return first.removesuffix("s")


@cache
def rows_per_shelf() -> tuple[int, ...]:
    """Rows of each shelf in a file of ``at_rows``: log-normal around ``median_rows``, at least 1, at most ``most_rows``."""
    shape = load_toml("make_catalogue.toml")["shape"]
    number, total = len(shelves()), shape["at_rows"]
    quantiles = [NormalDist().inv_cdf((place + 0.5) / number) for place in range(number)]

    def counts(spread: float) -> list[int]:
        sizes = (shape["median_rows"] * math.exp(spread * q) for q in quantiles)
        return [max(1, min(shape["most_rows"], round(size))) for size in sizes]

    low, high = 0.5, 4.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(counts(middle)) < total else (low, middle)
    sizes = counts(low)
    sizes[number * 9 // 10] += total - sum(sizes)  # what rounding left over goes to one of the larger shelves
    # Which shelves are large: by the weight of their family, with luck.
    luck = random.Random(SEED)
    order = sorted(range(number), key=lambda place: shelves()[place].family["weight"] * luck.expovariate(1.0))
    placed = [0] * number
    for size, place in zip(sizes, order, strict=True):
        placed[place] = size
    return tuple(placed)


def _lines(luck: random.Random) -> list[tuple[int, int]]:
    """(shelf, number of siblings) of every line of one round of ``at_rows`` rows, in random order."""
    shape = load_toml("make_catalogue.toml")["shape"]
    lines = []
    for shelf, left in enumerate(rows_per_shelf()):
        while left:
            size = 1 if luck.random() < shape["alone"] else min(luck.randint(2, shape["most_siblings"]), left)
            lines.append((shelf, size))
            left -= size
    luck.shuffle(lines)
    return lines


def rows(number: int, *, seed: int = SEED) -> Iterator[dict[str, Any]]:
    """``number`` product rows: parent_asin, title, features, description, price, categories, details, average_rating,
    rating_number, store."""
    return islice(_endless(seed), number)


def _endless(seed: int) -> Iterator[dict[str, Any]]:
    serial = count()
    for lap in count():
        for place, (shelf, siblings) in enumerate(_lines(random.Random(f"{seed}/{lap}"))):
            line = _Line(shelves()[shelf], random.Random(f"{seed}/{lap}/{place}"))
            for _ in range(siblings):
                yield line.row(next(serial))


@cache
def _brands() -> tuple[list[str], list[float]]:
    """Brand names with cumulative Zipf weights."""
    number = load_toml("make_catalogue.toml")["shape"]["brands"]
    luck = random.Random("brands")
    names: dict[str, None] = {}
    while len(names) < number:
        name = "".join(luck.choices(_SYLLABLES, k=luck.choice((2, 2, 3)))).capitalize()
        names[
            name
            if luck.random() < 0.7
            else f"{name} {luck.choice(('Co', 'Studio', 'Wear', 'Goods', 'Craft', 'House', 'Kids', 'Sport'))}"
        ] = None
    return list(names), list(accumulate(1 / (place + 8) ** 0.8 for place in range(number)))


class _Line:
    """Siblings: one brand, one model, one set of slot values, drawn once; ``vary`` slots are drawn for each product."""

    def __init__(self, shelf: Shelf, luck: random.Random) -> None:
        self._shelf = shelf
        self._luck = luck
        self._family = shelf.family
        self._shape = load_toml("make_catalogue.toml")["shape"]
        self._common = load_toml("make_catalogue.toml")["lists"]
        names, weights = _brands()
        self._brand = names[bisect_left(weights, luck.random() * weights[-1])]
        departments = self._family["departments"]
        self._department = luck.choices(list(departments), weights=list(departments.values()))[0]
        self._values: dict[str, str] = {
            "brand": self._brand,
            "dept": f"{self._department}'" if self._department.endswith("s") else f"{self._department}'s",
            "dept_low": self._department.lower(),
            "who": self._department,
            "noun": shelf.noun,
            "sub": shelf.kind or self._draw("praise").capitalize(),
            "model": "".join(luck.choices(_SYLLABLES, k=2)).capitalize()
            + luck.choice(("", "", " II", f" {luck.randrange(10, 990, 5)}")),
        }
        self._title = luck.choice(self._family["titles"])
        self._bullets = self._pick_bullets()
        self._details = {key: text for key, text in self._family["details"].items() if luck.random() < 0.6}
        self._sentences = luck.sample(
            self._family["sentences"], luck.randint(1, len(self._family["sentences"]))
        )
        self._rating_level = luck.gauss(4.2, 0.35)
        self._told: set[tuple[str, ...]] = set()  # titles and bullets of the siblings so far

    def _pick_bullets(self) -> list[str]:
        """Short facts first, as shops list them, then sentences; at least one sentence tells the line apart."""
        many = self._luck.random() < self._shape["five_bullets"]
        wanted = self._luck.randint(5, 8) if many else self._luck.randint(1, 4)
        sentences = max(1, min(wanted - self._luck.randint(2, 4), len(self._family["bullets"])))
        facts = self._luck.sample(self._family["facts"], min(wanted - sentences, len(self._family["facts"])))
        facts.sort(key=self._family["facts"].index)
        return facts + self._luck.sample(self._family["bullets"], wanted - len(facts))

    def _draw(self, slot: str) -> str:
        values = self._family.get(slot) or self._common.get(slot)
        return str(self._luck.choice(values))

    def _fill(self, template: str, values: dict[str, str]) -> str:
        def value(match: re.Match[str]) -> str:
            slot = match[1]
            if slot not in values:
                values[slot] = self._fill(self._value_of(slot, values), values)
            return values[slot]

        return _SLOT.sub(value, template)

    def _value_of(self, slot: str, values: dict[str, str]) -> str:
        if slot.endswith("_word"):  # "Zipper closure" -> "Zipper"
            whole = self._fill(f"{{{slot.removesuffix('_word')}}}", values)
            return whole.removesuffix(" closure").removesuffix(" sole")
        if self._family.get(slot) or self._common.get(slot):
            return self._draw(slot)
        base = slot.rstrip("2")  # {trim2}: another {trim}
        for _ in range(5):
            other = self._draw(base)
            if other != values.get(base):
                break
        return other

    def _values_kept(self) -> Iterator[tuple[str, str]]:
        """What all siblings share by birth; every other slot is free to be drawn anew."""
        return (
            (slot, self._values[slot])
            for slot in ("brand", "dept", "dept_low", "who", "noun", "sub", "model")
        )

    def row(self, serial: int) -> dict[str, Any]:
        """The next sibling."""
        varied = set(self._family["vary"])
        varied |= {f"{slot}_word" for slot in varied}
        values = {slot: value for slot, value in self._values.items() if slot not in varied}
        luck = self._luck
        title = self._fill(self._title, values)
        features = list(dict.fromkeys(_sentence(self._fill(bullet, values)) for bullet in self._bullets))
        while (title, *features) in self._told:  # no two siblings may read the same
            features[-1] = _sentence(
                self._fill(luck.choice(self._family["bullets"]), dict(self._values_kept()))
            )
        self._told.add((title, *features))
        details = {key: self._fill(text, values) for key, text in self._details.items()}
        if luck.random() < 0.5:
            details["Item model number"] = f"{self._brand[:3].upper()}-{luck.randrange(1000, 99999)}"
        if luck.random() < 0.6:
            details["Date First Available"] = (
                f"{luck.choice(_MONTHS)} {luck.randint(1, 28)}, {luck.randint(2010, 2023)}"
            )
        told = luck.random() < self._shape["described"]
        description = (
            [" ".join(_sentence(self._fill(text, values)) for text in self._sentences)] if told else []
        )
        low, high = self._family["price"]
        price = (
            round(min(high, low * math.exp(abs(luck.gauss(0, 0.75))))) - 0.01
            if luck.random() < self._shape["priced"]
            else None
        )
        self._values = values  # what was drawn for one sibling holds for the next
        spread = math.sqrt(2 * math.log(self._shape["mean_ratings"] / self._shape["median_ratings"]))
        ratings = min(
            200_000, max(1, round(luck.lognormvariate(math.log(self._shape["median_ratings"]), spread)))
        )
        return {
            "parent_asin": _asin(serial),
            "title": title[0].upper() + title[1:],
            "features": features,
            "description": description,
            "price": price,
            "categories": [
                load_toml("make_catalogue.toml")["shape"]["root"],
                self._department,
                *self._shelf.above,
                self._shelf.last,
            ],
            "details": details,
            "average_rating": round(
                min(5.0, max(1.0, luck.gauss(self._rating_level, 1.2 / math.sqrt(ratings)))), 1
            ),
            "rating_number": ratings,
            "store": self._brand if luck.random() < 0.96 else None,
        }


_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _asin(serial: int) -> str:
    """Ten letters and digits, different for every serial number, in no visible order."""
    scrambled = (serial * 2_654_435_761 + 12_345) % (
        36**7
    )  # the factor is prime to 36**7, so nothing collides
    digits = []
    for _ in range(7):
        scrambled, digit = divmod(scrambled, 36)
        digits.append(_DIGITS[digit])
    return "B0" + "".join(reversed(digits)) + "X"


def line_of(row: Mapping[str, Any]) -> str:
    """One row as a line of JSON, without the line end."""
    return json.dumps(row, ensure_ascii=False)
