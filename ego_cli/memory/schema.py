"""AgentMemory version 2, exactly as the Podium seed gives it: a view of the rows, and rows from such a view.

Names are the seed's (camelCase), because the JSON is the contract. What the seed has no place for (likes, habits, other
people's facts) travels as attributes named in words ("likes jazz": "yes", "mother: shoe_size": "38").
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from ego_cli.errors import MemoryStoreError
from ego_cli.memory.entry import ME, Entry, Fact, as_utc, stamp
from ego_cli.memory.extract import read_row
from ego_cli.memory.things import canonical_object
from ego_cli.settings import load_toml

if TYPE_CHECKING:
    from ego_cli.memory.memory import Memory

Confidence = Literal["high", "medium", "low"]
Source = Literal["quiz", "declared", "inferred"]
_CONFIDENCES: Mapping[str, Confidence] = {level: level for level in get_args(Confidence)}
_SOURCES: Mapping[str, Source] = {source: source for source in get_args(Source)}
_YES = "yes"  # value of an attribute that is a whole fact by its name

_SIGNALS = {"goal": "goals", "concern": "concerns"}


class _Part(BaseModel):
    model_config = ConfigDict(extra="allow")  # a newer schema's fields survive the round trip


class Attribute(_Part):
    value: str
    confidence: Confidence
    source: Source
    lastConfirmed: str


class MemorySignal(_Part):
    text: str
    confidence: Confidence
    firstMentioned: str
    lastConfirmed: str
    mentionCount: int


class ProductMemory(_Part):
    name: str
    brand: str
    productId: str | None
    sentiment: Literal["positive", "negative", "neutral"]
    outcome: str | None
    dateSurfaced: str


class PriceBounds(_Part):
    min: float
    max: float
    lastUpdated: str


class PriceRange(_Part):
    overall: PriceBounds | None
    byCategory: dict[str, PriceBounds]


class AgentMemory(_Part):
    """The structured memory of one shopper."""

    schemaVersion: Literal[2] = 2
    attributes: dict[str, Attribute]
    goals: list[MemorySignal]
    concerns: list[MemorySignal]
    avoidances: list[MemorySignal]
    productsTried: list[ProductMemory]
    priceRange: PriceRange | None
    lastConversationDate: str


def _identity() -> tuple[str, ...]:
    return tuple(load_toml("memory.toml")["kinds"]["identifying"])


# --- rows -> view ----------------------------------------------------------------------------------------------------------


def to_podium(memory: Memory) -> AgentMemory:
    """The view of all live rows."""
    exclusions = set(load_toml("memory.toml")["kinds"]["exclusions"])
    attributes: dict[str, Attribute] = {}
    signals: dict[str, list[MemorySignal]] = {"goals": [], "concerns": [], "avoidances": []}
    tried: list[ProductMemory] = []
    overall: PriceBounds | None = None
    by_category: dict[str, PriceBounds] = {}
    for row in memory.facts():
        if row.kind in ("purchase", "want"):
            continue  # events and wishes of a day are no profile
        if row.subject == ME and (row.kind in _SIGNALS or row.kind in exclusions):
            signals[_SIGNALS.get(row.kind, "avoidances")].append(_signal(row))
        elif row.kind == "tried":
            tried.append(_product(row))
        elif row.kind == "budget" and row.subject == ME:
            bounds = PriceBounds(
                min=float(row.data.get("min", 0.0)),
                max=float(row.data.get("max", 0.0)),
                lastUpdated=_when(row, "lastUpdated", row.confirmed),
                **_extra(row),
            )
            category = str(row.data.get("category_as_given") or row.data.get("category", ""))
            if category:
                by_category[category] = bounds
            else:
                overall = bounds
        else:
            attributes[_attribute_name(row)] = Attribute(
                value=_attribute_value(row),
                confidence=_confidence(row),
                source=_SOURCES.get(row.source, "inferred"),
                lastConfirmed=_when(row, "lastConfirmed", row.confirmed),
                **_extra(row),
            )
    has_prices = (
        overall is not None or bool(by_category) or memory.store.meta("podium_price_range") == "empty"
    )
    last = memory.store.meta("last_conversation")
    return AgentMemory(
        attributes=attributes,
        goals=signals["goals"],
        concerns=signals["concerns"],
        avoidances=signals["avoidances"],
        productsTried=tried,
        priceRange=PriceRange(overall=overall, byCategory=by_category) if has_prices else None,
        lastConversationDate=memory.store.meta("podium_last")
        or (_javascript(datetime.fromisoformat(last)) if last else ""),
    )


def _attribute_name(row: Entry) -> str:
    given = row.data.get("attribute")
    if given:
        return str(given)
    if row.kind in _identity():
        name = row.kind
    elif row.kind == "size":
        name = f"{row.predicate.partition(' ')[2]}_size".lstrip("_")
    elif row.kind in ("attribute", "measure"):
        name = str(row.data.get("name") or row.predicate.partition(" ")[2])
    elif row.predicate.startswith("favourite"):
        name = row.predicate
    elif row.kind == "budget":
        name = "budget"
    else:
        return row.text
    return name if row.subject == ME else f"{row.subject}: {name}"


def _attribute_value(row: Entry) -> str:
    single = row.kind in (*_identity(), "size", "attribute", "measure", "budget") or row.predicate.startswith(
        "favourite"
    )
    return row.object if single or "attribute" in row.data else _YES


def _signal(row: Entry) -> MemorySignal:
    plain = row.kind in _SIGNALS or row.text == f"avoids {row.object}"
    short = row.object if plain else row.text  # "never wears black" says more than "black"
    return MemorySignal(
        text=str(row.data.get("signal") or short),
        confidence=_confidence(row),
        firstMentioned=_when(row, "firstMentioned", row.created),
        lastConfirmed=_when(row, "lastConfirmed", row.confirmed),
        mentionCount=row.mentions,
        **_extra(row),
    )


def _product(row: Entry) -> ProductMemory:
    return ProductMemory(
        name=str(row.data.get("name") or row.object),
        brand=str(row.data.get("brand") or ""),
        productId=row.data.get("productId"),
        sentiment="positive" if row.polarity > 0 else "negative" if row.polarity < 0 else "neutral",
        outcome=row.data.get("outcome"),
        dateSurfaced=_when(row, "dateSurfaced", row.valid_from),
        **_extra(row),
    )


def _confidence(row: Entry) -> Confidence:
    return _CONFIDENCES.get(row.confidence, "low")


def _extra(row: Entry) -> dict[str, Any]:
    extra = row.data.get("podium_extra")
    return dict(extra) if isinstance(extra, Mapping) else {}


def _when(row: Entry, field: str, moment: datetime) -> str:
    """A moment as text: as it was given, as long as it still is that moment."""
    given = row.data.get("given")
    text = given.get(field) if isinstance(given, Mapping) else None
    if isinstance(text, str) and _moment(text) == moment:
        return text
    return _javascript(moment)


def _javascript(moment: datetime) -> str:
    return as_utc(moment).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def _moment(text: str) -> datetime | None:
    try:
        return as_utc(datetime.fromisoformat(text))
    except ValueError:
        return None


# --- view -> rows ----------------------------------------------------------------------------------------------------------


def from_podium(memory: Memory, text: str) -> int:
    """Put an AgentMemory into the rows; returns how many facts it held. ``MemoryStoreError`` names the first bad field."""
    try:
        view = AgentMemory.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        raise MemoryStoreError(
            f"not an AgentMemory v2: {'.'.join(map(str, first['loc']))}: {first['msg']}"
        ) from error
    rows: list[dict[str, Any]] = []
    for name, attribute in view.attributes.items():
        fact = _attribute_fact(name, attribute.value)
        given = {"lastConfirmed": attribute.lastConfirmed}
        rows.append(_row(fact, attribute, given, source=attribute.source, confidence=attribute.confidence))
    for kind, signals in (("goal", view.goals), ("concern", view.concerns), ("avoidance", view.avoidances)):
        for signal in signals:
            given = {"firstMentioned": signal.firstMentioned, "lastConfirmed": signal.lastConfirmed}
            fact = _signal_fact(kind, signal.text)
            row = _row(fact, signal, given, confidence=signal.confidence, mentions=signal.mentionCount)
            row["data"]["signal"] = signal.text
            rows.append(row)
    for product in view.productsTried:
        rows.append(_row(_product_fact(product), product, {"dateSurfaced": product.dateSurfaced}))
    if view.priceRange is not None:
        for category, bounds in [("", view.priceRange.overall), *view.priceRange.byCategory.items()]:
            if bounds is not None:
                rows.append(_row(_budget_fact(category, bounds), bounds, {"lastUpdated": bounds.lastUpdated}))
    memory.import_rows(rows)
    with memory.store.writing() as db:
        if view.priceRange is not None and view.priceRange.overall is None and not view.priceRange.byCategory:
            memory.store.set_meta(db, "podium_price_range", "empty")
        last = _moment(view.lastConversationDate)
        if last is not None:
            memory.store.set_meta(db, "last_conversation", stamp(last))
        memory.store.set_meta(db, "podium_last", view.lastConversationDate)
    return len(rows)


def _row(fact: Fact, part: _Part, given: Mapping[str, str], **fields: Any) -> dict[str, Any]:
    times = {field: _moment(text) for field, text in given.items()}
    confirmed = times.get("lastConfirmed") or times.get("lastUpdated") or times.get("dateSurfaced")
    first = times.get("firstMentioned") or confirmed
    data: dict[str, Any] = {**fact.data, "given": dict(given)}
    if part.model_extra:
        data["podium_extra"] = dict(part.model_extra)
    row: dict[str, Any] = {
        name: getattr(fact, name)
        for name in ("kind", "subject", "predicate", "object", "text", "key", "slot", "polarity", "scope")
    }
    row |= {"words": fact.words, "data": data, **fields}
    if confirmed is not None:
        row["confirmed"] = stamp(confirmed)
    if first is not None:
        row["created"] = row["valid_from"] = stamp(first)
    return row


def _attribute_fact(name: str, value: str) -> Fact:
    if value == _YES:
        fact = read_row(name)
        if fact.kind != "note" and fact.text == name:
            return fact
    owner, _, own = name.rpartition(": ")
    subject = owner or ME
    plain = own or name
    sized = plain.removesuffix("_size") if plain.endswith("_size") or plain == "size" else None
    if plain in _identity():
        return _made(plain, subject, plain, value, f"{subject}|{plain}", name)
    if sized is not None:
        thing = "" if plain == "size" else sized
        return _made("size", subject, f"size {thing}".strip(), value, f"{subject}|size|{thing}", name)
    if plain.startswith("favourite "):
        item = canonical_object(plain.removeprefix("favourite "))
        return _made("like", subject, plain, value, f"{subject}|favourite|{item}", name, polarity=1)
    return _made("attribute", subject, f"attribute {plain}", value, f"{subject}|attribute|{plain}", name)


def _made(
    kind: str, subject: str, predicate: str, value: str, slot: str, name: str, polarity: int = 0
) -> Fact:
    label = name.rpartition(": ")[2].replace("_", " ")
    text = f"{label} is {value}" if subject == ME else f"{subject}'s {label} is {value}"
    data = {"attribute": name}
    return Fact(
        kind,
        subject,
        predicate,
        value,
        text,
        f"{slot}|{polarity}|{canonical_object(value)}",
        slot,
        polarity,
        data=data,
    )


def _signal_fact(kind: str, text: str) -> Fact:
    exclusions = load_toml("memory.toml")["kinds"]["exclusions"]
    if kind == "avoidance":
        fact = read_row(text)
        if fact.kind in exclusions:
            return fact
    canonical = canonical_object(text)
    slot = f"{ME}|{'attitude' if kind == 'avoidance' else kind}|{canonical}"
    polarity = -1 if kind == "avoidance" else 0
    shown = f"avoids {text}" if kind == "avoidance" else f"{kind}: {text}"
    return Fact(kind, ME, kind, text, shown, f"{slot}|{polarity}|{canonical}", slot, polarity)


def _product_fact(product: ProductMemory) -> Fact:
    polarity = {"positive": 1, "negative": -1, "neutral": 0}[product.sentiment]
    slot = f"{ME}|tried|{product.productId or canonical_object(product.name)}"
    data = {
        "name": product.name,
        "brand": product.brand,
        "productId": product.productId,
        "outcome": product.outcome,
    }
    text = f"{product.name}: {product.outcome or product.sentiment}"
    return Fact(
        "tried",
        ME,
        "tried",
        product.name,
        text,
        f"{slot}|{polarity}|{product.outcome or ''}",
        slot,
        polarity,
        data=data,
    )


def _budget_fact(category: str, bounds: PriceBounds) -> Fact:
    name = canonical_object(category) if category else ""
    slot = f"{ME}|budget|{name}"
    text = (
        f"budget for {category} is {bounds.min:,.0f} to {bounds.max:,.0f}"
        if category
        else f"budget is {bounds.min:,.0f} to {bounds.max:,.0f}"
    )
    data = {"min": bounds.min, "max": bounds.max, "category": name, "category_as_given": category}
    return Fact(
        "budget", ME, f"budget {name}".strip(), f"{bounds.min:g}-{bounds.max:g}", text,
        f"{slot}|{bounds.min:g}|{bounds.max:g}", slot, data=data,
    )  # fmt: skip


__all__ = ["AgentMemory", "from_podium", "to_podium"]
