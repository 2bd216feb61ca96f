"""Records of one file -> products, by what its columns were understood to hold."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import Any

from ego_cli.catalog import brands
from ego_cli.catalog.product import Offer, Product
from ego_cli.catalog.reading.categories import categories_around, category_path, from_slug, without_repeats
from ego_cli.catalog.reading.cleaning import (
    NO_WORDS,
    TEXT_LIMIT,
    clean_prose,
    clean_text,
    is_null,
    listed_items,
    parse_list,
    parse_literal,
    words_of,
)
from ego_cli.catalog.reading.columns import OTHER_CODE, Column, flatten
from ego_cli.catalog.reading.details import Draft, Variant, add_bag, add_choices, add_detail, add_statement
from ego_cli.catalog.reading.names import field_of_detail, gender_of, normal_name
from ego_cli.catalog.reading.offers import AMBIGUOUS, MOST_REVIEWS, identity
from ego_cli.catalog.reading.prices import NO_PRICE, currency_code, parse_price, price_convention
from ego_cli.catalog.reading.ratings import parse_count, parse_rating
from ego_cli.catalog.reading.records import Record
from ego_cli.catalog.reading.sale import ROLES, is_line_of_totals, not_shown
from ego_cli.places import load_toml

TITLE_LIMIT = 500  # characters
_ID_LIMIT = 200  # characters
_MOST_VARIANTS = 200
_BRANDLIKE_STORE = 0.1  # share of titles that open with the store's name, above which the store is the brand
_FEWEST_TITLES = 20  # titles needed before a shop's own words can be told from brands
_NO_DETAILS: Mapping[str, str] = MappingProxyType({})


class Builder:
    """Turns the records of one file into products, by what its columns were understood to hold."""

    def __init__(
        self,
        columns: Sequence[Column],
        sample: Sequence[Record],
        currency: str | None,
        context: Mapping[str, str],
    ) -> None:
        """``folds`` tells whether rows may continue the product above them."""
        self.currency = currency
        by_role: dict[str, list[Column]] = {}
        for column in sorted(columns, key=lambda c: c.rank):
            by_role.setdefault(column.role, []).append(column)
        self._of = by_role
        self._by_name = {role: tuple(c.name for c in found) for role, found in by_role.items()}
        self._prices = [*by_role.get("price", ()), *by_role.get("price_list", ())]
        self._conventions = {
            c.name: price_convention([r.get(c.name) for r in sample], c.currency or currency)
            for c in (*self._prices, *by_role.get("price_max", ()))
        }
        self._other_codes = tuple(c.name for c in columns if c.role == "drop" and c.why == OTHER_CODE)
        self._shown = tuple((c.name, role) for role in ROLES for c in by_role.get(role, ()))
        self.folds = "group" in by_role or any(
            self._first(r, "title") is None and self._first(r, "id") is not None for r in sample
        )
        self._slugs = self._slug_columns(sample)
        self._around = categories_around(context)
        self._pair_names: dict[str, str] = {}
        titles = [clean_text(cell) for r in sample if (cell := self._first(r, "title")) is not None]
        enough = len(titles) >= _FEWEST_TITLES
        self._title_brands = brands.learn_brands(titles) if enough else brands.KNOWN_ONLY
        self._words = words_of(titles, self._texts(sample)) if enough else NO_WORDS
        self._store_is_brand = self._stores_open_titles(sample)
        worldwide = load_toml("columns.toml")["worldwide"]["codes"]
        self.worldwide_ids = any(normal_name(c.name) in worldwide for c in by_role.get("id", ()))

    def _texts(self, sample: Sequence[Record]) -> Iterator[str]:
        names = (*self._by_name.get("description", ()), *self._by_name.get("features", ()))
        for record in sample[:: max(1, len(sample) // 1000)]:
            yield from (cell for name in names if isinstance(cell := record.get(name), str))

    def _slug_columns(self, sample: Sequence[Record]) -> frozenset[str]:
        """Category columns that hold nothing but web addresses' words: ``phones-tablets``."""
        found = set()
        for column in self._of.get("category", ()):
            cells = {c for r in sample if isinstance(c := r.get(column.name), str) and c}
            if (
                cells
                and all(re.fullmatch(r"[a-z0-9&]+(?:[-/_][a-z0-9&]+)*", c) for c in cells)
                and any("-" in c for c in cells)
            ):
                found.add(column.name)
        return frozenset(found)

    def _stores_open_titles(self, sample: Sequence[Record]) -> bool:
        if "brand" in self._of or "store" not in self._of:
            return False
        pairs = [(self._first(r, "store"), self._first(r, "title")) for r in sample]
        both = [(str(store).casefold(), str(title).casefold()) for store, title in pairs if store and title]
        return bool(both) and sum(title.startswith(store) for store, title in both) >= _BRANDLIKE_STORE * len(
            both
        )

    def _first(self, record: Record, role: str) -> Any:
        for name in self._by_name.get(role, ()):
            cell = record.get(name)
            if cell is not None and cell != "" and not is_null(cell):
                return cell
        return None

    def codes(self, record: Record) -> frozenset[str]:
        """Everything that a row's children may call it by: its id and its other codes."""
        names = (*self._by_name.get("id", ()), *self._other_codes)
        return frozenset(_id_of_cell(cell) for name in names if not is_null(cell := record.get(name)))

    def not_shown(self, record: Record) -> str | None:
        """Why the shop itself does not show a row ("draft"), or None."""
        for name, role in self._shown:
            if state := not_shown(role, record.get(name)):
                return state
        return None

    def continues(self, record: Record, above: str, codes: frozenset[str]) -> bool:
        """Whether a row only adds a variant to the product above it, known by its id and its other ``codes``: same handle
        without a title, or a child that names its parent."""
        key = self._first(record, "group")
        if key is not None and _id_of_cell(key).removeprefix("id:") in codes:
            return True
        if "id" not in self._of or self._first(record, "title") is not None:
            return False
        own = self._first(record, "id")
        return own is not None and _id_of_cell(own) == above

    def id_of(self, record: Record) -> str:
        """The id that a row states, or ""."""
        own = self._first(record, "id")
        return _id_of_cell(own) if own is not None else ""

    def build(self, record: Record, title: str | None = None) -> Product | str:
        """The product of a row, or the reason why it is none. ``title`` stands in for a variant's missing one."""
        if title is None:
            self._pair_names.clear()
            cell = self._first(record, "title")
            title = clean_text(_joined(cell, " "))[:TITLE_LIMIT].rstrip() if cell is not None else ""
            if not title or is_null(title):
                return "no title"
            if not any(ch.isalnum() for ch in title):
                return "the title has no letter or digit"
            if is_line_of_totals(record, title, self._first(record, "id")):
                return "a line of totals"
        draft = Draft()
        self._fill(draft, record)
        price, price_max, currency, flags = self._price(record, draft)
        rating, count = self._rating(record)
        colours, doubts = tuple(draft.colours), list(flags)
        store = self._text(record, "store") or draft.store
        url = _link_of(self._first(record, "url"))
        brand = self._brand(record, title, draft, store)
        if colours and (told := colours_of_title(title, brand, colours)):
            colours = told
            doubts.append("colour_from_title")
        product = Product(
            id=self.id_of(record),
            title=title,
            brand=brand,
            categories=self._categories(record),
            price=price,
            price_max=price_max,
            currency=currency,
            rating=rating,
            rating_count=count,
            features=tuple(draft.features),
            description=self._description(record, title),
            details=draft.details or _NO_DETAILS,
            store=store,
            colours=colours,
            materials=tuple(draft.materials),
            sizes=tuple(draft.sizes),
            gender=draft.gender,
            ingredients=draft.ingredients,
            offers=self._offers(draft, store, price, currency, url),
            flags=tuple(doubts),
            reviews=self._reviews(record),
            url=url,
        )
        return product if product.id else replace(product, id=_made_id(product))

    # -- one field each

    def _text(self, record: Record, role: str) -> str | None:
        cell = self._first(record, role)
        if cell is None:
            return None
        text = clean_text(_joined(cell, ", "))
        return text if text and not is_null(text) else None

    def _brand(self, record: Record, title: str, draft: Draft, store: str | None) -> str | None:
        stated = self._text(record, "brand") or draft.brand
        if stated and not brands.is_no_brand(stated):
            return brands.written(stated)
        if (
            store
            and "brand" not in self._of
            and (self._store_is_brand or title.casefold().startswith(f"{store.casefold()} "))
        ):
            return brands.written(store)
        return self._title_brands.find(title)

    def _price(
        self, record: Record, draft: Draft
    ) -> tuple[float | None, float | None, str | None, tuple[str, ...]]:
        stated = currency_code(self._first(record, "currency")) if "currency" in self._of else None
        money, fallback = NO_PRICE, stated or self.currency
        for column in self._prices:
            cell = record.get(column.name)
            if cell is None or cell == "":
                continue
            money = parse_price(
                cell,
                currency=column.currency or stated or self.currency,
                convention=self._conventions[column.name],
            )
            if money.amount is not None:
                fallback = stated or column.currency or self.currency
                if column.minor:
                    money = money._replace(amount=money.amount / 100, upper=money.upper and money.upper / 100)
                break
        amount, upper = money.amount, money.upper
        if amount is None and draft.variants:
            offered = [variant.money for variant in draft.variants if variant.money.amount is not None]
            if offered:
                low = min(offered, key=lambda m: m.amount or 0.0)
                dearest = max(m.amount or 0.0 for m in offered)
                money, amount = low, low.amount
                upper = dearest if amount is not None and dearest > amount else None
        if upper is None and amount is not None:
            for column in self._of.get("price_max", ()):
                top = parse_price(
                    record.get(column.name), currency=fallback, convention=self._conventions[column.name]
                )
                if top.amount is not None and top.amount > amount:
                    upper = top.amount
        currency = (money.currency or fallback) if amount is not None else fallback
        return amount, upper, currency, (AMBIGUOUS,) if money.ambiguous else ()

    def _rating(self, record: Record) -> tuple[float | None, int]:
        stars: float | None = None
        count: int | None = None
        for column in (*self._of.get("rating", ()), *self._of.get("rating_and_count", ())):
            cell = record.get(column.name)
            if cell is None or is_null(cell):
                continue
            read, beside = parse_rating(cell, column.scale)
            if column.role == "rating_and_count" and isinstance(cell, str) and cell.strip().isdigit():
                read, beside = None, parse_count(cell)
            stars = read if stars is None else stars
            count = beside if count is None else count
        for column in self._of.get("rating_count", ()):
            cell = record.get(column.name)
            if cell is not None and (read_count := parse_count(cell)) is not None:
                count = read_count
                break
        return stars, count or 0

    def _categories(self, record: Record) -> tuple[str, ...]:
        columns = self._of.get("category")
        if not columns:
            return self._around
        paths: list[tuple[float, tuple[str, ...]]] = []
        for column in columns:
            cell = record.get(column.name)
            if cell is None or cell == "" or is_null(cell):
                continue
            path = category_path(cell)
            if column.name in self._slugs:
                path = tuple(from_slug(part) for part in path)
            if path:
                paths.append((column.level, path))
        if not paths:
            return self._around
        if len(paths) == 1 and not self._around and not self._slugs:
            return paths[0][1]
        if self._around:
            paths.append((-1.0, self._around))
        deep = [path for _, path in paths if len(path) > 2]
        if deep and len(paths) > 1:
            return max(deep, key=len)
        return without_repeats(part for _, path in sorted(paths, key=lambda p: p[0]) for part in path)

    def _description(self, record: Record, title: str) -> str:
        texts: list[str] = []
        for name in self._by_name.get("description", ()):
            cell = record.get(name)
            if cell is None or cell == "" or cell == [] or is_null(cell):
                continue
            text = clean_prose(_joined(cell, " "), self._words)
            if text and text != title and not any(text in other for other in texts):
                texts = [other for other in texts if other not in text]
                texts.append(text)
        return " ".join(texts)[:TEXT_LIMIT]

    def _reviews(self, record: Record) -> tuple[str, ...]:
        names = self._by_name.get("reviews")
        if not names:
            return ()
        found: list[str] = []
        for name in names:
            cell = record.get(name)
            if cell is None or is_null(cell):
                continue
            if isinstance(cell, str) and cell[:1] not in "[{":
                found.append(clean_text(cell))
            else:
                found += parse_list(cell)
        return tuple(text for text in found if text)[:MOST_REVIEWS]

    def _offers(
        self, draft: Draft, store: str | None, price: float | None, currency: str | None, url: str | None
    ) -> tuple[Offer, ...]:
        sellers = [each for each in draft.variants if each.seller and each.money.amount is not None]
        if sellers:
            return tuple(
                Offer(each.seller, each.money.amount, each.money.currency or currency, each.url or url)
                for each in sellers
            )
        if price is None and url is None:
            return ()
        return (Offer(store, price, currency, url),)

    # -- columns that several fields grow from

    def _fill(self, draft: Draft, record: Record) -> None:
        of = self._of
        for role in ("colour", "material", "size"):
            for column in of.get(role, ()):
                if not add_choices(draft, role, record.get(column.name)):
                    add_detail(draft, column.label, record.get(column.name))
        for name in self._by_name.get("gender", ()):
            draft.gender = draft.gender or gender_of(record.get(name))
        for name in self._by_name.get("ingredients", ()):
            draft.ingredients = draft.ingredients or _ingredients(record.get(name))
        for name in self._by_name.get("features", ()):
            cell = record.get(name)
            if cell is not None and not is_null(cell):
                draft.features += [
                    line for line in parse_list(cell, words=self._words) if line not in draft.features
                ]
        if not draft.features:
            for name in self._by_name.get("description", ()):
                if isinstance(cell := record.get(name), str) and "<li" in cell:
                    draft.features += listed_items(cell)
        for name in self._by_name.get("details", ()):
            add_bag(draft, record.get(name))
        for name in self._by_name.get("key_value", ()):
            add_statement(draft, record.get(name))
        for column in of.get("pair", ()):
            stated = record.get(column.name)
            if stated is not None and not is_null(stated):
                self._pair_names[column.name] = str(stated)
            if key := self._pair_names.get(column.name):
                add_detail(draft, key, record.get(column.partner))
        for column in of.get("detail", ()):
            add_detail(draft, column.label, record.get(column.name))
        for name in self._by_name.get("tags", ()):
            add_detail(draft, "Tags", record.get(name))
        for column in of.get("objects", ()):
            add_bag(draft, record.get(column.name))
        for name in self._by_name.get("options", ()):
            add_bag(draft, record.get(name))
        for name in self._by_name.get("variants", ()):
            self._add_variants(draft, record.get(name))
        flags: dict[str, list[str]] = {}
        for column in of.get("flag", ()):
            if column.partner and _is_one(record.get(column.name)):
                flags.setdefault(column.label, []).append(column.partner)
            elif not column.partner and (cell := record.get(column.name)) is not None and cell != "":
                draft.details.setdefault(column.label, "Yes" if _is_one(cell) else "No")
        for label, ones in flags.items():
            draft.details[label] = ", ".join(ones)

    def _add_variants(self, draft: Draft, cell: Any) -> None:
        """Sizes, colours and prices of ``[{"price": …, "size": …}]``; a seller beside a price makes it an offer."""
        if isinstance(cell, str):
            cell = parse_literal(cell)
        if isinstance(cell, dict):
            cell = [cell]
        for item in cell[:_MOST_VARIANTS] if isinstance(cell, list) else ():
            if not isinstance(item, dict):
                continue
            seller = url = None
            money = NO_PRICE
            for key, value in flatten(item).items():
                word = normal_name(key)
                if word in _words_of("price") and money.amount is None:
                    money = parse_price(value, currency=self.currency)
                elif word in _words_of("currency"):
                    money = money._replace(currency=currency_code(value))
                elif word in _words_of("store") and isinstance(value, str):
                    seller = clean_text(value)
                elif word in _words_of("url"):
                    url = _link_of(value)
                elif field_of_detail(key) in ("colour", "material", "size"):
                    add_detail(draft, key, value)
            draft.variants.append(Variant(money, seller, url))


@cache
def _words_of(role: str) -> frozenset[str]:
    return frozenset(normal_name(name) for name in load_toml("columns.toml")["roles"][role])


def _is_one(cell: object) -> bool:
    return cell in (1, "1", True) or (
        isinstance(cell, str) and cell.strip().casefold() in ("yes", "true", "y")
    )


_WORD = re.compile(r"\w+")


@cache
def _colour_families() -> tuple[Mapping[str, str], Mapping[str, Sequence[str]]]:
    """Every colour name -> its family; and those that are always colours by their first word, the longest first."""
    family_of: dict[str, str] = {}
    plain: set[str] = set()
    for family, names in load_toml("colours.toml")["families"].items():
        plain.update(names["plain"])
        for name in (family, *names["plain"], *names.get("risky", ())):
            family_of.setdefault(name, family)
    by_first_word: dict[str, list[str]] = {}
    for name in sorted(plain, key=len, reverse=True):
        by_first_word.setdefault(_WORD.findall(name)[0], []).append(name)
    return family_of, by_first_word


def _colours_named(title: str) -> Iterator[str]:
    """The names of colours in a title in small letters, in order, none inside another."""
    _, by_first_word = _colour_families()
    if by_first_word.keys().isdisjoint(_WORD.findall(title)):
        return
    after = 0
    for word in _WORD.finditer(title):
        start = word.start()
        if start < after:
            continue
        for name in by_first_word.get(word[0], ()):
            end = start + len(name)
            if title.startswith(name, start) and not _WORD.match(title, end):
                yield name
                after = end
                break


def colours_of_title(title: str, brand: str | None, colours: tuple[str, ...]) -> tuple[str, ...]:
    """The colours that a title names when none of a colour column's is among them; else nothing.

    Shops let a picture's pixels choose the column; the title was written by a person.
    """
    family_of, _ = _colour_families()
    if brand and title.casefold().startswith(brand.casefold()):
        title = title[len(brand) :]
    told = tuple(dict.fromkeys(_colours_named(title.casefold())))
    if not told:
        return ()
    families = {family_of[name] for name in told}
    for colour in colours:
        family = family_of.get(colour.casefold())
        if family is None or family in families or family in ("multicolour", "transparent"):
            return ()
    return tuple(name[:1].upper() + name[1:] for name in told)


def _joined(cell: Any, between: str) -> str:
    if isinstance(cell, str):
        if cell[:1] in "[(" and isinstance(literal := parse_literal(cell), list | tuple):
            return between.join(parse_list(list(literal)))
        return cell
    if isinstance(cell, list | tuple):
        return between.join(parse_list(cell))
    if isinstance(cell, dict):
        return parse_list([cell])[0] if parse_list([cell]) else ""
    return str(cell)


def _ingredients(cell: Any) -> str | None:
    """The list of ingredients as one line; anything that is no list of them is unknown."""
    if cell is None or is_null(cell):
        return None
    text = clean_text(_joined(cell, ", "))
    return text if any(ch.isalpha() for ch in text) and not is_null(text) else None


_ID_PREFIX = re.compile(
    r"(?i)\s*(?:sku|id|asin|item|code|ref|product id|model)\s*(?:no\.?|#)?\s*[:=]\s*(?=\S)"
)


def _id_of_cell(cell: Any) -> str:
    if isinstance(cell, str) and cell.isalnum() and cell.isascii():
        return cell[:_ID_LIMIT]
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    text = clean_text(_joined(cell, "-"))
    text = _ID_PREFIX.sub("", text, count=1) if not text.casefold().startswith("id:") else text
    return re.sub(r"(?<=\d)\.0$", "", text)[:_ID_LIMIT]


def _link_of(cell: Any) -> str | None:
    if cell is None:
        return None
    text = clean_text(_joined(cell, " ")).split(" ")[0]
    if text.startswith("//"):
        text = f"https:{text}"
    elif text.startswith("www."):
        text = f"https://{text}"
    return text[:2000] if re.match(r"https?://[^\s<>\"]+$", text) else None


def _made_id(product: Product) -> str:
    """An id for a row that has none: the same row gets the same one at the next load. Sizes may share one page."""
    key = f"{product.url} {product.title}" if product.url else f"{identity(product):x}"
    return hashlib.blake2b(key.casefold().encode("utf-8", "replace"), digest_size=6).hexdigest()
