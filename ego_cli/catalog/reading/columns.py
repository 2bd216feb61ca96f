"""What each column of a stranger's file holds, told by its name and by its content.

A name proposes a role; the cells confirm or refuse it; columns without a telling name are read by their cells alone.
Every decision keeps its reason for ``ego catalog inspect``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ego_cli.catalog.reading.names import NARROWEST, gender_of, label_of, normal_name, role_of_name
from ego_cli.catalog.reading.prices import currency_code, parse_price
from ego_cli.catalog.reading.profiles import Profile, is_sequence, profile
from ego_cli.catalog.reading.ratings import STARS
from ego_cli.catalog.reading.sale import is_yes_or_no
from ego_cli.errors import MisuseError
from ego_cli.places import load_toml

OTHER_CODE = "another code"

# Roles that a person may name in --map, beside those that only content can tell.
MAPPABLE = (
    "title", "id", "brand", "store", "category", "price", "price_max", "price_list", "currency", "rating",
    "rating_count", "features", "description", "colour", "material", "size", "gender", "ingredients", "reviews", "url",
    "details", "drop",
)  # fmt: skip
_ALIASES = {
    "color": "colour",
    "name": "title",
    "colours": "colour",
    "sizes": "size",
    "seller": "store",
    "count": "rating_count",
}


@dataclass(frozen=True, slots=True)
class Column:
    """One column as understood. ``role`` is what it fills; "drop" fills nothing. ``why`` is for a person.

    ``rank`` orders columns of one role (lower first); ``level`` orders category columns from broad to narrow;
    ``currency`` is what the name says; ``minor`` prices are in hundredths; ``scale`` is the top of a rating scale;
    ``label`` is the key under which a detail is stored; ``partner`` the value column of a name-value pair, or what a
    one in a column of zeros and ones adds.
    """

    name: str
    role: str
    why: str
    rank: int = 0
    level: float = NARROWEST
    currency: str | None = None
    minor: bool = False
    scale: float = STARS
    label: str = ""
    partner: str = ""


_PAIR = re.compile(
    r"(attribute|option|property|spec|feature|param\w*|characteristic)\s*(\d*)\s*(name|key|label)"
)
_MEANINGLESS = re.compile(
    r"(?:col|column|field|unnamed|var|attr|c|f|v|x|data)? ?\d*|[a-z]|unnamed \d+ level \d+"
)


def is_kept_whole(name: str) -> bool:
    """Whether a nested object of this name is a bag of details rather than a group of columns."""
    found = role_of_name(name)
    return found is not None and found.role in ("details", "options")


def flatten(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Nested objects as columns with dotted names; bags of details and lists stay whole."""
    for key, cell in record.items():
        if type(cell) is dict and not is_kept_whole(key):
            break
    else:
        return record
    flat: dict[str, Any] = {}
    _flatten_into(flat, record, "", 0)
    return flat


def _flatten_into(flat: dict[str, Any], record: Mapping[str, Any], prefix: str, depth: int) -> None:
    for key, cell in record.items():
        name = f"{prefix}{key}"
        if isinstance(cell, dict) and depth < 4 and not is_kept_whole(str(key)):
            _flatten_into(flat, cell, f"{name}.", depth + 1)
        else:
            flat[name] = cell


_CODE_NAME = re.compile(r"(?:^| )(?:id|ids|no|code|key|nr)$")


def understand(
    records: Sequence[Mapping[str, Any]], mapping: Mapping[str, str] | None = None, headed: bool = True
) -> list[Column]:
    """Decide what every column of a sample of (flat) records is, in the file's order.

    ``mapping`` is role -> column name as typed by a person; it wins. Raises ``MisuseError`` when it names what is not
    there.
    """
    cells: dict[str, list[Any]] = {}
    for row, record in enumerate(records):
        for name, cell in record.items():
            column = cells.get(name)
            if column is None:
                column = cells[name] = [None] * row
            elif len(column) < row:
                column.extend([None] * (row - len(column)))
            column.append(cell)
    for column in cells.values():
        column.extend([None] * (len(records) - len(column)))
    profiles = {name: profile(column) for name, column in cells.items()}
    chosen = _mapped(mapping or {}, list(cells))
    pairs = _name_value_pairs(list(cells))
    columns: dict[str, Column] = {}
    for name, seen in profiles.items():
        if name in chosen:
            columns[name] = _typed(name, chosen[name], seen)
        elif name in pairs:
            partner = pairs[name]
            columns[name] = Column(
                name, "pair" if partner else "drop", "names the value beside it", partner=partner
            )
        else:
            columns[name] = _by_name(name, seen) or _by_content(name, seen)
    _flag_groups(columns, profiles)
    _guess_missing(columns, profiles, headed, fixed=set(chosen))
    _only_one_identity(columns, profiles)
    return list(columns.values())


def _typed(name: str, role: str, seen: Profile) -> Column:
    named = role_of_name(name)
    level = named.level if named else NARROWEST
    currency = named.currency if named else None
    minor = named.minor if named else False
    scale = rating_scale(seen) if role == "rating" else STARS
    return Column(name, role, "as mapped", -1, level, currency, minor, scale, label=label_of(name))


def _mapped(mapping: Mapping[str, str], names: list[str]) -> dict[str, str]:
    """Column name -> role, from a typed role -> column name."""
    by_word = {name.casefold(): name for name in names} | {normal_name(name): name for name in names}
    chosen: dict[str, str] = {}
    for role, wanted in mapping.items():
        known = _ALIASES.get(role.casefold(), role.casefold())
        if known not in MAPPABLE:
            raise MisuseError(
                f"--map does not know the field {role!r}", hint=f"fields: {', '.join(MAPPABLE)}"
            )
        name = by_word.get(wanted.casefold()) or by_word.get(normal_name(wanted))
        if name is None:
            shown = ", ".join(names[:20]) + (" …" if len(names) > 20 else "")
            raise MisuseError(f"--map {role}={wanted}: there is no such column", hint=f"columns: {shown}")
        chosen[name] = known
    return chosen


def _name_value_pairs(names: list[str]) -> dict[str, str]:
    """``Attribute 1 name`` -> ``Attribute 1 value(s)``; the value column itself -> "" (it is read with its name)."""
    normal = {normal_name(name): name for name in names}
    pairs: dict[str, str] = {}
    for word, name in normal.items():
        found = _PAIR.fullmatch(word)
        if not found:
            continue
        stem = f"{found[1]} {found[2]}".strip().replace("  ", " ")
        joined = f"{found[1]}{found[2]}"
        for tail in ("value", "values", "value s"):
            partner = normal.get(f"{stem} {tail}") or normal.get(f"{joined} {tail}")
            if partner:
                pairs[name], pairs[partner] = partner, ""
                break
    return pairs


def _by_name(name: str, seen: Profile) -> Column | None:
    named = role_of_name(name)
    if named is None:
        return None
    role, why = named.role, f"name “{name}”"
    if role == "drop":
        if seen["key_value"] > 0.6:
            return None
        return Column(name, "drop", named.why)
    if not seen.filled:
        return Column(name, "drop", "empty in every row looked at")
    kept, remark = _confirmed(role, normal_name(name), seen)
    if kept is None:
        return None if not remark else Column(name, "drop", remark)
    role = kept
    if remark:
        why = f"{why}; {remark}"
    scale = rating_scale(seen) if role in ("rating", "rating_and_count") else STARS
    return Column(
        name, role, why, named.rank, named.level, named.currency, named.minor, scale, label=label_of(name)
    )


_WEAK = {
    "type", "label", "class", "family", "segment", "section", "kind", "genre", "collection", "value", "amount", "rate", "cost", "amt",
    "item", "product", "ad", "ten", "note", "score", "rank", "key", "code", "ego", "owo", "content", "text", "body", "hang",
    "market", "platform", "designer", "company", "make", "valor", "importe", "nota", "tur", "tipo",
}  # fmt: skip


def _confirmed(role: str, word: str, seen: Profile) -> tuple[str | None, str]:
    """The role after a look at the cells, and a remark. (None, "") leaves the column to its content."""
    weak = word in _WEAK
    if seen["key_value"] > 0.6 and role not in ("description", "features", "title", "ingredients", "details"):
        return ("id", "") if role == "id" else ("key_value", "cells are “key: value”")
    if role in ("price", "price_max", "price_list"):
        if seen["objects"] > 0.5:
            return "variants", ""
        read = sum(1 for cell in seen.cells if parse_price(cell).amount is not None)
        sensible = read >= 0.8 * seen.filled if weak else seen["link"] < 0.5 and seen.length < 100
        return (role, "") if sensible else (None, "")
    if role in ("rating", "rating_count", "reviews"):
        return _rating_kind(role, word, seen)
    if role == "category":
        if seen["objects"] > 0.5 or seen["list"] > 0.5:
            return role, ""
        if seen["number"] > 0.8 or seen["link"] > 0.5:
            return None, "numbers without their names" if seen["number"] > 0.8 else ""
        kinds = load_toml("columns.toml")["export"]["types"]
        if all(isinstance(cell, str) and cell.strip().casefold() in kinds for cell in seen.cells):
            return None, "tells the kind of row in the export"
        return (
            (None, "")
            if weak and (seen.length > 60 or (seen.variety > 0.6 and seen.filled > 20))
            else (role, "")
        )
    if role == "title":
        if seen["link"] > 0.5 or seen["mapping"] > 0.5 or seen["objects"] > 0.5:
            return None, ""
        return (None, "") if weak and seen["number"] > 0.5 else (role, "")
    if role in ("brand", "store"):
        if seen["link"] > 0.5 or seen["objects"] > 0.5 or seen.length > 80 or seen["zero_one"] > 0.8:
            return None, ""
        return role, ""
    if role == "gender":
        known = sum(1 for cell in seen.cells if gender_of(cell) is not None)
        return (role, "") if known >= 0.5 * seen.filled else (None, "")
    if role == "currency":
        known = sum(1 for cell in seen.cells if currency_code(cell) is not None)
        return (role, "") if known >= 0.5 * seen.filled else (None, "")
    if role in ("published", "hidden") and not is_yes_or_no(seen.cells):
        return None, "neither yes nor no"
    if role == "url":
        return (
            (role, "")
            if seen["link"] > 0.5 or any("/" in str(cell) for cell in seen.cells[:5])
            else (None, "")
        )
    if role in ("details", "variants", "options"):
        if role != "details" and seen["objects"] < 0.5 and seen["mapping"] < 0.5:
            return None, ""
        if seen["mapping"] + seen["list"] < 0.5 and seen.length > 120:
            return "description", "running text"
        return role, ""
    if role in ("colour", "material", "size") and seen["link"] > 0.5:
        return None, ""
    return role, ""


def _rating_kind(role: str, word: str, seen: Profile) -> tuple[str | None, str]:
    if seen["rated"] >= 0.2:
        return ("rating_and_count", "cells hold ratings and their number") if role != "rating" else (role, "")
    if (
        seen["objects"] > 0.3
        or seen["list"] > 0.3
        or (seen["words"] > 0.5 and seen.length > 12 and not seen["counted"])
    ):
        if role == "rating":
            return None, ""
        return "reviews", "texts of reviews"
    top = max(seen.numbers, default=0.0)
    if role == "rating":
        if seen.numbers and len(seen.numbers) > 20 and seen.variety > 0.9 and _whole(seen.numbers):
            return None, "a place in a list, not a rating"
        if word.endswith("s") and word != "stars" and top > 10 and _whole(seen.numbers):
            return "rating_count", "whole numbers"
        return (role, "") if top <= 100 else (None, "")
    if word in ("reviews", "customer reviews") and seen.numbers and top <= 5 and not _whole(seen.numbers):
        return "rating", "numbers from 0 to 5"
    if role == "reviews" and seen["number"] > 0.8:
        return "rating_count", "whole numbers"
    return role, ""


def _whole(numbers: list[float]) -> bool:
    return all(number == int(number) for number in numbers)


_SLIPS = 0.02  # share of a column's ratings that may be typing errors


def rating_scale(seen: Profile) -> float:
    """The top of a rating column's scale: 5, 10 or 100. A lone slip among many ("44" for "4.4") does not set it."""
    numbers = sorted(seen.numbers)
    top = numbers[-1 - int(len(numbers) * _SLIPS)] if numbers else STARS
    return STARS if top <= STARS else 10.0 if top <= 10 else 100.0


def _by_content(name: str, seen: Profile) -> Column:
    """A column whose name says nothing (or something that its cells refuse)."""
    label, word = label_of(name), normal_name(name)
    if not seen.filled:
        return Column(name, "drop", "empty in every row looked at")
    if seen["image"] > 0.5:
        return Column(name, "drop", "pictures, not words")
    if seen["link"] > 0.6:
        return Column(name, "link", "content: links")
    if seen["mapping"] > 0.5:
        return Column(name, "details", "content: keys with values", label=label)
    if seen["objects"] > 0.5:
        return Column(name, "objects", "content: nested objects", label=label)
    if seen["rated"] > 0.5:
        return Column(name, "rating_and_count", "content: ratings")
    if seen["counted"] > 0.5:
        return Column(name, "rating_count?", "content: numbers of ratings")
    if seen["priced"] > 0.5:
        return Column(name, "price?", "content: amounts of money", label=label)
    if seen["key_value"] > 0.6:
        return Column(name, "key_value", "content: “key: value”")
    if seen["time"] > 0.6:
        return Column(name, "drop", "a time stamp")
    if seen["code"] > 0.6 or (_CODE_NAME.search(word) and seen["words"] < 0.5):
        return Column(name, "drop", "a code without meaning to a shopper")
    if is_sequence(seen.numbers, seen.rows):
        return Column(name, "drop", "numbers the rows")
    if seen.distinct == 1 and seen.filled >= 20 and "." not in name:
        return Column(name, "drop", "the same in every row")
    if seen["zero_one"] > 0.9:
        return Column(name, "flag", "content: zeros and ones", label=label)
    if _MEANINGLESS.fullmatch(word):
        return Column(name, "unnamed", "a name without meaning", label=label)
    if seen.length > 300:
        return Column(name, "description", "content: long text", rank=90)
    return Column(name, "detail", "kept as a detail", label=label)


def _flag_groups(columns: dict[str, Column], profiles: Mapping[str, Profile]) -> None:
    """Columns of zeros and ones that belong together (skin types) become one detail."""
    groups = load_toml("columns.toml")["flags"]
    for group, names in groups.items():
        members = [
            c for c in columns.values() if normal_name(c.name) in names and profiles[c.name]["zero_one"] > 0.9
        ]
        if len(members) >= 2:
            for column in members:
                columns[column.name] = Column(
                    column.name, "flag", f"one of “{group}”", label=group, partner=label_of(column.name)
                )


def _guess_missing(
    columns: dict[str, Column], profiles: Mapping[str, Profile], headed: bool, fixed: set[str]
) -> None:
    """Fill the roles that no name filled from what the cells look like."""

    def has(*roles: str) -> bool:
        return any(column.role in roles for column in columns.values())

    def free() -> list[Column]:
        return [
            c
            for c in columns.values()
            if c.role in ("unnamed", "detail", "price?", "link") and c.name not in fixed
        ]

    def give(column: Column, role: str, why: str) -> None:
        columns[column.name] = replace(
            column, role=role, why=why, scale=rating_scale(profiles[column.name]), rank=80
        )

    for column in list(columns.values()):
        if column.role == "price?":
            if has("price"):
                first = next(c for c in columns.values() if c.role == "price")
                dearer = _is_dearer(profiles[column.name], profiles[first.name])
                give(
                    column,
                    "drop" if dearer else "detail",
                    "content: the price before" if dearer else "another amount",
                )
            else:
                give(column, "price", "content: amounts of money")
        elif column.role == "rating_count?":
            give(column, "drop" if has("rating_count") else "rating_count", column.why)
    if not has("title"):
        short = [c for c in columns.values() if c.role == "description" and profiles[c.name].length < 150]
        likely = {c.name: _title_likeness(profiles[c.name], c, list(columns)) for c in (*free(), *short)}
        best = max(likely, key=lambda name: likely[name], default="")
        if likely.get(best, 0) > 0:
            give(columns[best], "title", "content: short texts that differ from row to row")
    if not has("url"):
        links = [c for c in columns.values() if c.role == "link"]
        if links:
            best_link = max(links, key=lambda c: profiles[c.name].variety)
            if profiles[best_link.name].variety > 0.5 or profiles[best_link.name].filled < 5:
                give(best_link, "url", "content: a link of its own in each row")
    for column in list(columns.values()):
        if column.role == "link":
            give(column, "drop", "a link beside the product's own")
    _guess_numbers(columns, profiles, has, give)
    unnamed = [c for c in columns.values() if c.role == "unnamed"]
    for column in unnamed:
        seen = profiles[column.name]
        if not has("id") and not headed and seen.variety > 0.95 and seen.words < 1.5 and seen.length >= 3:
            give(column, "id", "content: a code of its own in each row")
        elif seen["list"] > 0.5 and not has("features"):
            give(column, "features", "content: lists")
        elif seen["words"] > 0.5 and seen.length > 80 and not has("description"):
            give(column, "description", "content: the longest texts")
        elif seen["words"] > 0.5 and not has("category") and seen.variety <= 0.7 and seen.filled >= 3:
            give(column, "category", "content: few different words")
        elif seen["words"] > 0.5:
            give(column, "features" if seen.words > 3 else "detail", "content: words")
        else:
            give(column, "drop", "neither name nor content says what it is")


def _guess_numbers(columns: dict[str, Column], profiles: Mapping[str, Profile], has: Any, give: Any) -> None:
    """Bare numbers under names without meaning: ratings, then counts, then the price."""
    numeric = [c for c in columns.values() if c.role == "unnamed" and profiles[c.name]["number"] > 0.8]
    for column in numeric:
        numbers = profiles[column.name].numbers
        if not has("rating", "rating_and_count") and max(numbers) <= 5 and not _whole(numbers):
            give(column, "rating", "content: numbers from 0 to 5")
    if has("price"):
        return
    rest = [c for c in numeric if columns[c.name].role == "unnamed" and not _is_code(profiles[c.name])]
    rest = [c for c in rest if max(profiles[c.name].numbers) > 5]
    if rest:
        give(
            max(rest, key=lambda c: _money_likeness(profiles[c.name])),
            "price",
            "content: numbers of a price's size",
        )
    for column in rest:
        if (
            columns[column.name].role == "unnamed"
            and not has("rating_count")
            and _whole(profiles[column.name].numbers)
        ):
            give(column, "rating_count", "content: whole numbers")


def _is_code(seen: Profile) -> bool:
    """Whole numbers of one length that never repeat are article numbers."""
    lengths = {len(str(int(number))) for number in seen.numbers}
    return (
        _whole(seen.numbers)
        and seen.variety > 0.95
        and len(lengths) == 1
        and min(lengths) >= 5
        and seen.filled > 3
    )


def _money_likeness(seen: Profile) -> float:
    cents = sum(1 for cell in seen.cells if re.search(r"[.,]\d\d$", str(cell))) / max(1, seen.filled)
    round_ends = sum(1 for n in seen.numbers if n >= 10 and n % 10 in (0, 5, 9)) / max(1, len(seen.numbers))
    return 2 * cents + round_ends + min(seen.variety, 0.5)


def _is_dearer(one: Profile, other: Profile) -> bool:
    mean = [
        sum(money.amount or 0 for cell in seen.cells if (money := parse_price(cell))) / max(1, seen.filled)
        for seen in (one, other)
    ]
    return mean[0] > mean[1]


def _title_likeness(seen: Profile, column: Column, order: list[str]) -> float:
    if (
        not seen.filled
        or seen["words"] < 0.5
        or seen["link"] > 0.2
        or seen.length > 200
        or seen["key_value"] > 0.5
    ):
        return 0.0
    if seen.variety < 0.5 and seen.filled > 5:
        return 0.0
    length = min(seen.words, 6) / 6
    place = 1 - order.index(column.name) / (2 * len(order))
    return seen.variety * length * place * (0.5 if column.role == "detail" else 1.0)


def _only_one_identity(columns: dict[str, Column], profiles: Mapping[str, Profile]) -> None:
    """Of several codes the first that tells the rows apart is the id; the others are dropped or serve as group."""
    title = next((c for c in columns.values() if c.role == "title"), None)
    wanted = profiles[title.name].distinct if title else 1
    ids = sorted((c for c in columns.values() if c.role == "id"), key=lambda c: c.rank)
    good = [c for c in ids if profiles[c.name].distinct >= 0.9 * wanted or c.why == "as mapped"]
    for column in ids:
        if good and column is good[0]:
            continue
        reason = OTHER_CODE if good else "does not tell the products apart"
        columns[column.name] = replace(column, role="drop", why=reason)
    groups = load_toml("columns.toml")["roles"]["group"]
    for column in list(columns.values()):
        if normal_name(column.name) in groups and column.role in ("drop", "detail", "key_value"):
            columns[column.name] = replace(column, role="group", why="ties variants together")
