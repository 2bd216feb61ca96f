"""What a sentence of ``understanding.jsonl`` promises, in a small notation, and whether acts keep it.

need:X          a product is looked for; qty=N its number          attr=V  attr~V  wanted: equal, or containing V
-attr=V  -~V    avoided, under that attribute or any               attr<=N:unit:per  >=  ~N  a bound
band:B sort:A+  rel:A-                                              relax:A relax~V readmit~V override:A override~V
kind            an act of that kind; kind:V its attribute or value; kind~V containing; kind@T its target
no:P            P does not hold                                    P|Q     one of them does
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from ego_cli.catalog.product import Product
from ego_cli.conversation.understand import Act, Context, Lexicon, Understanding, understand
from ego_cli.conversation.understand.acts import Kind
from ego_cli.conversation.understand.lexicon import stems_of

FILE = Path(__file__).with_name("understanding.jsonl")
BRANDS = (
    "Red Wing",
    "Coach",
    "Gap",
    "Guess",
    "Fossil",
    "Orange",
    "Samsung",
    "Adidas",
    "Sony",
    "Tecno",
    "Infinix",
    "Halo",
    "Nokia",
)
_BOUND = re.compile(r"([a-z ]+)(<=|>=|~|=)([\d.]+)(?::([^:]*))?(?::(.*))?$")


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """A shop with a few brands; all product words are general ones."""
    return Lexicon.build(
        Product(id=str(n), title=f"{brand} thing", brand=brand) for n, brand in enumerate(BRANDS)
    )


SCENES: dict[str, dict[str, Any]] = {
    "shown": {
        "shown": ("Acer Aspire laptop, silver", "HP Pavilion laptop, black", "Dell Vostro laptop, grey"),
        "shown_words": ("silver", "black", "grey", "Acer", "HP", "Dell"),
        "categories": ("laptops",),
    },
    "cats": {
        "categories": ("shoes",),
        "held": (
            ("colour", "black"),
            ("price", "≤ 20000"),
            ("feature", "waterproof"),
            ("feature", "pockets"),
        ),
    },
    "basket": {
        "basket": ("Oriki tote bag", "Kembo shoe"),
        "shown": ("Oriki tote bag", "Kembo shoe"),
        "categories": ("bags",),
    },
}


def context(flags: str) -> Context:
    """The scene of a sentence: "shown", "cats" (wants in force), "basket", "asked=A", "options=a,b"."""
    fields: dict[str, Any] = {"currency": "NGN"}
    for flag in filter(None, flags.split(";")):
        name, _, value = flag.partition("=")
        if name == "asked":
            fields |= {"asked": value, "categories": ("shoes",)}
        elif name == "options":
            fields["options"] = tuple(value.split(","))
        else:
            fields |= SCENES[name]
    return Context(**fields)


def rows() -> Iterator[dict[str, Any]]:
    """All sentences with what they promise."""
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line.strip():
            yield json.loads(line)


def read(row: dict[str, Any]) -> Understanding:
    """The sentence of a row, understood in its scene."""
    return understand(row["say"], lexicon(), context(row.get("scene", "")))


def broken(row: dict[str, Any]) -> list[str]:
    """The promises of a row that its acts do not keep."""
    understanding = read(row)
    return [promise for promise in row["expect"] if not holds(promise, understanding)]


def holds(promise: str, understanding: Understanding) -> bool:
    """Whether one promise is kept."""
    if promise.startswith("no:"):
        return not _holds_one(promise[3:], understanding, negated=True)
    return any(_holds_one(part, understanding) for part in promise.split("|"))


def _has(act: Act, text: str) -> bool:
    own = " ".join(filter(None, (act.value, *act.values, act.note, act.words))).lower()
    return text.lower() in own


def _same(act: Act, text: str) -> bool:
    values = [v for v in (act.value, *act.values) if v]
    return any(v.lower() == text.lower() or stems_of(v) == stems_of(text) for v in values)


def _holds_one(promise: str, understanding: Understanding, negated: bool = False) -> bool:
    acts = understanding.acts
    wanted = [a for a in acts if a.kind is Kind.CONSTRAIN and a.polarity == 1]
    avoided = [a for a in acts if a.kind is Kind.CONSTRAIN and a.polarity == -1]
    if promise == "exclude":
        return bool(avoided)
    if promise == "fixed":
        return bool(understanding.corrected)
    if promise == "band":
        return any(a.operator in ("lower_half", "upper_half", "middle") for a in wanted)
    if promise == "qty":
        return any(a.kind is Kind.NEED and a.number for a in acts)
    if promise.startswith("-"):
        attribute, sign, value = re.match(r"-([a-z ]*)([=~])(.+)", promise).groups()  # type: ignore[union-attr]
        pool = [a for a in avoided if not attribute or a.attribute == attribute]
        return any(_same(a, value) if sign == "=" else _has(a, value) for a in pool)
    if promise.startswith("need"):
        needs = [a for a in acts if a.kind is Kind.NEED]
        name = promise.partition(":")[2]
        return any(not name or set(stems_of(name)) <= set(stems_of(a.value or "")) for a in needs)
    if promise.startswith("qty="):
        return any(a.kind is Kind.NEED and a.number == float(promise[4:]) for a in acts)
    if promise.startswith("band:"):
        return any(a.operator == promise[5:] for a in wanted)
    if promise.startswith("subject="):
        return any(a.subject == promise[8:] for a in acts)
    if promise.startswith("readmit~"):
        return any(a.kind is Kind.RELAX and a.polarity == -1 and _has(a, promise[8:]) for a in acts)
    if promise.startswith("sort:"):
        return any(
            a.kind is Kind.SORT
            and a.attribute == promise[5:-1]
            and (a.number or 0) * int(promise[-1] + "1") > 0
            for a in acts
        )
    if promise.startswith("rel:"):
        name, sign = promise[4:-1], int(promise[-1] + "1")
        return any(
            a.kind is Kind.RELATIVE and name in f"{a.attribute} {a.value}" and (a.number or 0) * sign > 0
            for a in acts
        )
    if promise.startswith("target"):
        return any(a.target is not None and _target(promise[6:].lstrip("="), a) for a in acts)
    kind, _, rest = promise.replace("~", ":~", 1).replace("@", ":@", 1).partition(":")
    if kind in _ALIASES:
        return _kind(_ALIASES[kind], rest, understanding)
    bound = _BOUND.match(promise)
    if (
        bound
        and (bound.group(2) != "=" or any(a.number == float(bound.group(3)) for a in wanted))
        and not (bound.group(2) == "=" and bound.group(1) in ("size",))
    ):
        return _bound(bound, wanted)
    if "=" in promise or "~" in promise:
        attribute, sign, value = re.match(r"([a-z ]+)([=~])(.+)", promise).groups()  # type: ignore[union-attr]
        group = None
        if "@" in value:
            value, _, number = value.partition("@")
            group = int(number)
        hardness = None
        if value.rpartition(":")[2] in ("only", "prefer", "must"):
            value, _, hardness = value.rpartition(":")
        pool = [
            a
            for a in wanted
            if a.attribute == attribute and group in (None, a.group) and hardness in (None, str(a.hardness))
        ]
        return any(_same(a, value) if sign == "=" else _has(a, value) for a in pool)
    return any(a.attribute == promise for a in (*wanted, *(avoided if negated else ())))


_ALIASES = {kind.value: kind for kind in Kind} | {
    "drop": Kind.DROP_WANT,
    "rate=4": Kind.RATE,
    "basket_quantity=3": Kind.BASKET_QUANTITY,
    "basket_quantity=2": Kind.BASKET_QUANTITY,
}


def _kind(kind: Kind, rest: str, understanding: Understanding) -> bool:
    for act in understanding.acts:
        if act.kind is not kind:
            continue
        ok = True
        for part in filter(None, rest.split(":")):
            if part.startswith("@"):
                ok &= act.target is not None and _target(part[1:], act)
            elif part.startswith("~"):
                ok &= _has(act, part[1:])
            elif part.startswith("qty="):
                ok &= act.number == float(part[4:])
            elif part.startswith("size="):
                ok &= part in act.values
            elif part[-1] in "+-" and part[:-1] == act.value:
                ok &= act.polarity == int(part[-1] + "1")
            else:
                ok &= part in (act.attribute, act.value) or part == str(act.number)
        if ok:
            return True
    return False


def _target(text: str, act: Act) -> bool:
    target = act.target
    if target is None:
        return False
    if text.startswith("~"):
        return text[1:] in target.words
    if text in ("last", "all", "extreme"):
        return target.how == text
    return target.positions == tuple(int(n) for n in text.split(","))


def _bound(match: re.Match[str], wanted: list[Act]) -> bool:
    attribute, sign, number, unit, per = match.groups()
    operator = {"<=": "max", ">=": "min", "~": "about", "=": "is"}[sign]
    for act in wanted:
        if act.attribute != attribute or act.operator != operator or act.number is None:
            continue
        close = abs(act.number - float(number)) <= 0.005 * max(1.0, float(number))
        if close and (not unit or act.unit == unit) and (not per or act.per == per):
            return True
    return False
