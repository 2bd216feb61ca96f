"""How a customer speaks: wire, reworded, plain or pidgin.

Sentence forms and everyday words stand in ``data/customers``. Each has a part for tuning and a part for testing.
"""

from __future__ import annotations

import random
import re
from functools import cache
from typing import Any

from ego_cli.errors import NotFoundError
from ego_cli.evaluation.cards import Constraint, is_material
from ego_cli.settings import load_toml

WAYS = ("wire", "reworded", "plain", "pidgin")
PARTS = ("tuning", "test")
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
ATTRIBUTES = {"other": "anything else", "use_case": "the occasion", "color": "colour"}

ENOUGH_WORDS = 5  # with this much said, a further clause is taken whole or not at all

_KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_ORNAMENT = re.compile(r"[^\w\s.,;:!?%'\"’&/+()$₦£€₹°×#@*<>=-]")
_CLAUSE = re.compile(r"[.;!?()]+(?=\s|$)|,\s|\s[-–|]\s")


class Speech:
    """One customer's way of speaking: a style, a part of the wordings, and dice of her own."""

    def __init__(self, way: str, part: str, seed: str) -> None:
        if way not in WAYS:
            raise NotFoundError(f"there is no way of speaking called {way!r}", hint="use " + ", ".join(WAYS))
        if part not in PARTS:
            raise NotFoundError(f"there is no part called {part!r}", hint="use " + " or ".join(PARTS))
        self.way = way
        self._part = part
        self._dice = random.Random(seed)
        self._forms: dict[str, Any] = load_toml("customers", f"{way}.toml")
        self._last: dict[str, str] = {}

    def say(self, act: str, **slots: str) -> str:
        """A sentence for an act; the same form is not used twice running."""
        options = self._options(self._forms["acts"][act])
        fresh = [form for form in options if form != self._last.get(act)] or options
        form = self._dice.choice(fresh)
        self._last[act] = form
        if "attribute" in slots and self.way != "wire":
            slots["attribute"] = ATTRIBUTES.get(slots["attribute"], slots["attribute"])
        return form.format(**slots)

    def category(self, parent: str, leaf: str) -> str:
        """The shelf that the customer asks for."""
        if self.way == "wire":
            return self._options(self._forms["category"])[0].format(parent=parent, leaf=leaf).strip()
        parent, leaf = (re.sub(r"\s*&\s*", " and ", name.lower()) for name in (parent, leaf))
        if " " not in leaf:
            leaf = leaf.replace("-", " ")
        if self._forms["needs"] != "verbatim":
            leaf = self._swapped(leaf, "shelves")
        if not parent:
            return leaf
        return self._dice.choice(self._options(self._forms["category"])).format(parent=parent, leaf=leaf)

    def need(self, constraint: Constraint) -> str:
        """A constraint in this customer's words."""
        if self._forms["needs"] == "verbatim":
            return constraint.text
        short = self._short(constraint)
        return short or self._swapped(gist(constraint.text), "words") or constraint.text.lower()

    def slip(self, text: str) -> str:
        """The same text with one or two typing slips in longer words."""
        words = text.split(" ")
        long = [i for i, word in enumerate(words) if len(word) >= 5 and word.isalpha()]
        for i in self._dice.sample(long, k=min(len(long), self._dice.choice((1, 2)))):
            words[i] = _mistype(words[i], self._dice)
        return " ".join(words)

    def _options(self, entry: dict[str, list[str]]) -> list[str]:
        options = entry.get("forms") or entry[self._part]
        if self.way == "pidgin" and "pidgin" in entry:
            options = entry["pidgin"] + options
        return options

    def _short(self, constraint: Constraint) -> str | None:
        """The protocol's short constraints: a bare material, a colour, a budget, one detail."""
        text, forms = constraint.text, _everyday()["short"]
        if text.startswith("budget around "):
            return self._pick(forms["budget"]).format(x=text.removeprefix("budget around "))
        if is_material(text):
            return self._pick(forms["material"]).format(x=text.lower())
        key, colon, value = text.partition(": ")
        if not colon or len(key.split()) > 4 or len(value.split()) > 6 or not value:
            return None
        value = self._swapped(clean(value).lower(), "words")
        name = key.lower()
        if name in {"color", "colour"}:
            return self._pick(forms["color"]).format(x=value)
        if name in {"brand", "manufacturer", "store"}:
            return self._pick(forms["brand"]).format(x=value)
        return self._pick(forms["detail"]).format(key=name, value=value)

    def _pick(self, entry: dict[str, list[str]]) -> str:
        return self._dice.choice(self._options(entry))

    def _swapped(self, text: str, table: str) -> str:
        """Page phrases replaced by everyday ones."""
        pattern, entries = _lexicon(table)

        def everyday(found: re.Match[str]) -> str:
            if self._dice.random() > _everyday()["swap"]:
                return found.group(0)
            entry = entries[found.group(0).lower()]
            own = entry.get("pidgin") if self.way == "pidgin" else None
            return self._dice.choice(own or entry[self._part])

        return pattern.sub(everyday, text)


def gist(text: str) -> str:
    """What a person would repeat of a bullet: lower case, no advertising, about a dozen words, whole clauses."""
    limit: int = _everyday()["gist_words"]
    kept: list[str] = []
    for clause in _CLAUSE.split(clean(text)):
        words = _without_puff(clause.replace(":", " ")).split()
        if len(kept) >= ENOUGH_WORDS and len(kept) + len(words) > limit:
            break
        kept += words[: limit - len(kept)]
    while kept and kept[-1] in {
        "and",
        "or",
        "with",
        "the",
        "a",
        "of",
        "for",
        "to",
        "in",
        "is",
        "your",
        "you",
    }:
        kept.pop()
    return " ".join(kept)


def clean(text: str) -> str:
    """Without ornaments; inches as a word."""
    text = re.sub(r"(?<=\d)\s*(?:\"|''|”)", " inch", text)
    return " ".join(_ORNAMENT.sub(" ", text).replace(" & ", " and ").split())


def _without_puff(text: str) -> str:
    return " ".join(_puff().sub(" ", text.lower()).split()).strip(" ,-")


@cache
def _everyday() -> dict[str, Any]:
    return load_toml("customers", "everyday.toml")


@cache
def _puff() -> re.Pattern[str]:
    words = sorted(_everyday()["puff"], key=len, reverse=True)
    return re.compile(r"(?<![\w-])(?:" + "|".join(map(re.escape, words)) + r")(?![\w-])")


@cache
def _lexicon(table: str) -> tuple[re.Pattern[str], dict[str, dict[str, list[str]]]]:
    entries = {phrase: entry for entry in _everyday()[table] for phrase in entry["page"]}
    longest_first = sorted(entries, key=len, reverse=True)
    pattern = re.compile(
        r"(?<![\w-])(?:" + "|".join(map(re.escape, longest_first)) + r")(?![\w-])", re.IGNORECASE
    )
    return pattern, entries


def _mistype(word: str, dice: random.Random) -> str:
    at = dice.randrange(1, len(word) - 1)
    kind = dice.choice(("swap", "drop", "double", "neighbour"))
    if kind == "swap":
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    if kind == "drop":
        return word[:at] + word[at + 1 :]
    if kind == "double":
        return word[:at] + word[at] + word[at:]
    row = next((row for row in _KEYBOARD if word[at].lower() in row), "")
    near = row[row.index(word[at].lower()) - 1] if row else word[at]
    return word[:at] + near + word[at + 1 :]
