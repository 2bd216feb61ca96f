"""Use four of a model: the sentence above a list, worded from a sheet of facts and let through only after an audit.

The audit reads one sentence at a time. Every number, price, rating, brand and product name must stand in the sheet; in a
sentence that names one product they must be that product's own. Word lists: ``data/prompts/phrase.toml``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ego_cli.conversation.events import Card, Decision
from ego_cli.conversation.words import stems
from ego_cli.llm.prompts import Prompt, data_block, prompt, quoted
from ego_cli.settings import load_toml

MOST_PRODUCTS = 5  # of a list that the sheet describes
MOST_REASONS = 3  # of one product
LANGUAGES = {"en": "plain English", "pcm": "light, warm Nigerian Pidgin", "mixed": "plain English"}

# Words of a text that name a kind of thing (a brand, a colour, a material), lower case; from the catalogue's lexicon.
Named = Callable[[str], Iterable[str]]


class AuditError(ValueError):
    """A model's words say something that the facts do not."""


@dataclass(frozen=True, slots=True)
class ProductFacts:
    """What may be said of one product: its name, and its numbers by kind."""

    title: str
    words: frozenset[str]
    money: frozenset[float]
    ratings: frozenset[float]
    price: float | None
    rating: float | None


@dataclass(frozen=True, slots=True)
class FactSheet:
    """All that a model is told, and all that its words may hold."""

    said: str
    language: str
    facts: Mapping[str, Any]
    products: tuple[ProductFacts, ...]
    words: frozenset[str]
    numbers: frozenset[str]  # of products: as "20000" and, with what it counts, "20000mah"
    counts: frozenset[str]  # how many products fit and are shown
    money: frozenset[float]  # bounds and differences that belong to no single product

    def prompt(self) -> Prompt:
        """What is sent."""
        return prompt(
            "phrase",
            language=LANGUAGES.get(self.language, LANGUAGES["en"]),
            said=quoted(self.said),
            facts=data_block(self.facts),
        )


def fact_sheet(decision: Decision, cards: Sequence[Card], *, said: str, language: str) -> FactSheet | None:
    """The facts of the list that is shown; None when nothing is shown."""
    if not decision.shown:
        return None
    shown = list(zip(decision.shown, cards, strict=True))[:MOST_PRODUCTS]
    rows = [
        {
            "name": card.title,
            "price": card.price,
            "rating": card.rating,
            **({"brand": scored.product.brand} if scored.product.brand else {}),
            **({"budget": card.against_budget} if card.against_budget else {}),
            "speaks for it": [reason.tag for reason in card.reasons[:MOST_REASONS]],
        }
        for scored, card in shown
    ]
    leads = [group.lead for group in decision.groups if group.lead]
    facts = {"said by the shop already": leads, "products, best first": rows}
    products = tuple(
        ProductFacts(
            title=card.title,
            words=_words(f"{card.title} {scored.product.brand or ''}"),
            money=_amounts(card.price) | _amounts(card.against_budget),
            ratings=frozenset()
            if scored.product.rating is None
            else frozenset({round(scored.product.rating, 1)}),
            price=card.amount,
            rating=scored.product.rating,
        )
        for scored, card in shown
    )
    texts = [*leads, *(text for row in rows for text in _texts(row))]
    numbers = {number for row in rows for text in _texts(row) for number in _numbers_with_units(text)}
    counts = {number for text in leads for number in _numbers_with_units(text)} | {str(len(decision.shown))}
    bounds = {group.price_max for group in decision.groups if group.price_max is not None}
    return FactSheet(
        said=said,
        language=language,
        facts=facts,
        products=products,
        words=frozenset().union(*map(_words, texts)),
        numbers=frozenset(numbers),
        counts=frozenset(counts),
        money=frozenset().union(bounds, *map(_amounts, leads)),
    )


def _texts(row: Mapping[str, Any]) -> Iterator[str]:
    for value in row.values():
        yield from [value] if isinstance(value, str) else value


# --- sentences ---------------------------------------------------------------------------------------------------------

_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"”')]*\s+")


def audited(pieces: Iterable[str], sheet: FactSheet, named: Named) -> Iterator[str]:
    """Whole sentences of a stream, each once it has passed; the first are held back until one names a product.

    Raises ``AuditError`` at the first sentence that does not pass, and at the end when none named a product.
    """
    audit = Audit(sheet, named)
    held: list[str] | None = []
    for sentence in _sentences(pieces):
        passed = audit.passed(sentence)
        if held is None:
            yield passed
        else:
            held.append(passed)
            if audit.about:
                yield from held
                held = None
    if held is not None:
        raise AuditError("it says nothing of the products")


def _sentences(pieces: Iterable[str]) -> Iterator[str]:
    """Whole sentences; an end that was not finished is left out."""
    waiting = ""
    for piece in pieces:
        waiting += piece
        *whole, waiting = _SENTENCE_END.split(waiting)
        yield from whole
    if waiting.rstrip(" \n\"”')").endswith((".", "!", "?", "…")):
        yield waiting


# --- the audit -----------------------------------------------------------------------------------------------------------

_CURRENCY_MARKS = "₦$£€"
_TOKEN = re.compile(rf"[{_CURRENCY_MARKS}]?\w(?:[\w'’]|[.,](?=\d)|-(?=\w))*%?")
_AMOUNT = re.compile(rf"^(?P<mark>[{_CURRENCY_MARKS}])?(?P<digits>\d[\d,]*(?:\.\d+)?)(?P<unit>[^\W\d]*|%)$")
_MULTIPLES = {"k": 1e3, "m": 1e6}
_MARKUP = re.compile(r"[{}\[\]<>|#*_`\\~^=@]|https?:|www\.|\w\.(?:com|ng|net|org)\b")
_OUT_OF_FIVE = re.compile(
    r"(?<=\d)\s?(?:/\s?|out of )(?:5|five)\b(?!\.\d)"
)  # "4.6/5": the scale is no fact of a product
_SLACK = 0.005  # of two amounts that are the same


class Audit:
    """Reads sentences in order: one that names nothing is about what the one before named."""

    def __init__(self, sheet: FactSheet, named: Named) -> None:
        self._sheet = sheet
        self._named = named
        self._lists: Mapping[str, Any] = load_toml("prompts", "phrase.toml")["audit"]
        self.about: tuple[ProductFacts, ...] = ()
        self._stems = {stem for word in sheet.words for stem in stems(word)}
        self._length = 0

    def passed(self, sentence: str) -> str:
        """The sentence, cleaned of space. Raises ``AuditError`` with the first thing that is not in the sheet."""
        sentence = " ".join(sentence.split())
        if not sentence.isprintable() or _MARKUP.search(sentence):
            raise AuditError("it holds more than plain words")
        tokens = _TOKEN.findall(_OUT_OF_FIVE.sub("", sentence))
        self._length += len(tokens)
        if self._length > self._lists["longest"]:
            raise AuditError("it is too long")
        lower = [token.lower().replace("’", "'") for token in tokens]
        self.about = self._products_named(lower) or self.about
        self._check_numbers(lower)
        self._check_names(tokens, lower, sentence)
        self._check_claims(lower)
        return sentence

    def _products_named(self, lower: Sequence[str]) -> tuple[ProductFacts, ...]:
        """The products of which a sentence uses a word that no other of the list has, or else the whole name."""
        said = _words(" ".join(lower))
        products = self._sheet.products
        own = [
            one.words.difference(*(other.words for other in products if other is not one)) for one in products
        ]
        if named := tuple(one for one, words in zip(products, own, strict=True) if words & said):
            return named
        whole = [one for one in products if one.words <= said]
        return tuple(one for one in whole if not any(one.words < other.words for other in whole))

    # --- numbers

    def _check_numbers(self, lower: Sequence[str]) -> None:
        in_words = self._lists["numbers"]
        for place, token in enumerate(lower):
            beside = set(lower[max(0, place - 2) : place + 3])
            amount = _AMOUNT.match(token)
            if amount is None:
                for part in token.split("-"):
                    if part in in_words:
                        ordinary = part in self._lists["ordinary_numbers"]
                        self._check_number(
                            float(in_words[part]), part, "", beside, lower, place, ordinary=ordinary
                        )
                if any(character.isdigit() for character in token) and token not in self._sheet.words:
                    raise AuditError(f"{token!r} is not in the facts")
                continue
            value = float(amount["digits"].replace(",", ""))
            unit = amount["unit"]
            if amount["mark"] or (unit in _MULTIPLES and f"{_plain(value)}{unit}" not in self._sheet.numbers):
                self._check_money(value * _MULTIPLES.get(unit, 1.0), token)
            else:
                self._check_number(value, token, unit, beside, lower, place)

    def _check_number(
        self, value: float, token: str, unit: str, beside: set[str], lower: Sequence[str], place: int,
        *, ordinary: bool = False,
    ) -> None:  # fmt: skip
        if beside & set(self._lists["ratings"]) and not self._counts_people(lower, place):
            if not _among(value, self._of_products("ratings")):
                raise AuditError(f"a rating of {token} is not in the facts")
            return
        following = lower[place + 1] if place + 1 < len(lower) else ""
        before = lower[place - 1] if place else ""
        if {following, before} & set(self._lists["money"]):
            self._check_money(value, token)
            return
        if ordinary:
            return
        counted = _plain(value) + unit
        known_units = {number.lstrip("0123456789.") for number in self._sheet.numbers}
        if not unit and following in known_units and following:
            counted += following
        counts_products = following in self._lists["counted"] or set(stems(following)) & self._stems
        if counted not in self._sheet.numbers and not (counted in self._sheet.counts and counts_products):
            raise AuditError(f"{token!r} is not in the facts")

    def _counts_people(self, lower: Sequence[str], place: int) -> bool:
        """ "rated 4.6 by 1,204 people": the second number is no rating."""
        following = lower[place + 1] if place + 1 < len(lower) else ""
        return following in ("people", "person", "reviews", "ratings", "shoppers") and (
            lower[place].replace(",", "") in self._sheet.numbers
        )

    def _check_money(self, value: float, token: str) -> None:
        if not _among(value, self._of_products("money") | self._sheet.money):
            raise AuditError(f"a price of {token} is not in the facts")

    def _of_products(self, kind: str) -> frozenset[float]:
        """The amounts of the products that are spoken of; of all when none is."""
        products = self.about or self._sheet.products
        return frozenset().union(*(getattr(product, kind) for product in products))

    # --- names and claims

    def _check_names(self, tokens: Sequence[str], lower: Sequence[str], sentence: str) -> None:
        openers = self._lists["openers"]
        for place, (token, low) in enumerate(zip(tokens, lower, strict=True)):
            if not any(character.isupper() for character in token):
                continue
            known = all(
                part in self._sheet.words for part in re.split(r"[-']", low.removesuffix("'s")) if part
            )
            opens = place == 0 and token[1:].islower() | (len(token) == 1) | ("'" in low)
            if (
                not known
                and not (opens and low in openers)
                and low not in ("i", "i'm", "i'd", "i'll", "i've")
            ):
                raise AuditError(f"{token!r} is not in the facts")
        for name in self._named(sentence):
            if not _words(name) <= self._sheet.words:
                raise AuditError(f"{name!r} is not in the facts")

    def _check_claims(self, lower: Sequence[str]) -> None:
        parts = [part for token in lower for part in token.split("-")]
        for part in parts:
            if part in self._lists["claims"] and part not in self._sheet.words:
                raise AuditError(f"{part!r} is not in the facts")
        text = f" {' '.join(parts)} "
        products = self._sheet.products
        prices = [product.price for product in products if product.price is not None]
        ratings = [product.rating for product in products if product.rating is not None]
        superlatives: Mapping[str, Callable[[ProductFacts], bool]] = {
            "lowest_price": lambda product: product.price == min(prices, default=-1.0),
            "highest_price": lambda product: product.price == max(prices, default=-1.0),
            "highest_rating": lambda product: product.rating == max(ratings, default=-1.0),
            "first": lambda product: product is products[0],
        }
        for name, holds in superlatives.items():
            said = next((phrase for phrase in self._lists[name] if f" {phrase} " in text), None)
            if said is None:
                continue
            text = text.replace(f" {said} ", " ")  # "best rated" is not also "best"
            if not self.about or not all(map(holds, self.about)):
                raise AuditError(f"{said!r} does not hold of what it is said of")


def _among(value: float, allowed: Iterable[float]) -> bool:
    return any(abs(value - known) <= _SLACK for known in allowed)


def _plain(value: float) -> str:
    return f"{value:.10g}"


def _words(text: str) -> frozenset[str]:
    """Words in lower case, whole and by their parts ("fast-charge")."""
    tokens = [token.lower().replace("’", "'") for token in _TOKEN.findall(text)]
    return frozenset([*tokens, *(part for token in tokens for part in re.split(r"[-']", token) if part)])


def _amounts(text: str) -> frozenset[float]:
    """The numbers of a text with a currency's mark or code."""
    found = re.findall(rf"(?:[{_CURRENCY_MARKS}]|[A-Z]{{3}}\s?)(\d[\d,]*(?:\.\d+)?)", text)
    return frozenset(float(number.replace(",", "")) for number in found)


def _numbers_with_units(text: str) -> Iterator[str]:
    """Each number of a text alone, and joined with the word behind it: "20000", "20000mah"."""
    for digits, unit in re.findall(r"(?<![\w.])(\d[\d,]*(?:\.\d+)?)[\s-]?([^\W\d_]+|%)?", text):
        number = _plain(float(digits.replace(",", "")))
        yield number
        if unit:
            yield f"{number}{unit.lower()}"


def with_words(decision: Decision, words: str) -> Decision:
    """The decision with a model's audited words above its list. What the rules had to say, they still say."""
    if len(decision.groups) == 1 and not decision.relaxations:
        return replace(decision, groups=(replace(decision.groups[0], lead=words),))
    return replace(decision, answer="\n".join(part for part in (decision.answer, words) if part))
