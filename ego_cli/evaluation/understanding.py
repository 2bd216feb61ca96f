"""`ego eval understanding`: what real shoppers' turns change, against labels made by hand.

Each row of a gold file gives what was known, what the shopper said, what must hold afterwards (``expected``) and what must
be gone (``erased``). The known facts are folded into a state, the utterance is understood and folded on top, and the
outcome is compared on meaning: an expected value or one of its alternatives must occur, whatever the slot is called.

- ``recall``: expected changes that are there with the right polarity.
- ``precision``: of what the turn changed about labelled subjects, how much is right; a fact of the labels held with the
  wrong polarity or bound, and a known one that was lost without cause, count against it. Labels are minimal, so a change
  that no label speaks of is not judged there; ``precision_strict`` counts every such change as wrong.
- ``erasure_recall``: facts that had to go and went. ``erasure_precision``: facts that went and had to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ego_cli.catalog.product import Product
from ego_cli.conversation.references import resolve
from ego_cli.conversation.state import Budget, Change, Excluded, Slot, State, Want
from ego_cli.conversation.understand import Context, Lexicon, understand
from ego_cli.conversation.understand.acts import Act, Kind, Operator
from ego_cli.conversation.update import update
from ego_cli.conversation.words import stems
from ego_cli.evaluation.labelled import labelled_rows

_SAID_YES = frozenset({"yes", "any", "good", "high priority", "real", "set", "high", "best", "strong"})
_NAMED_ITEM = re.compile(
    r"(?:recommend|suggest|selected|Going back to|back to)\s+(?:the\s+|\*\*)?([A-Z][^,.*;]{3,80}?)(?:\*\*|\s+(?:as|because|for|which|it|with|since|due)\b|[,.;]|$)"
)
_MODEL = re.compile(
    r"(?<=[a-z,] )(?:the )?([A-Z][\w-]+(?: [A-Z0-9][\w'+-]*)+)"
)  # "the MSI GP65 Leopard" in a sentence
_SHOWING = (
    "recommend",
    "Going back",
    "selected",
    " offers ",
    " features ",
    " lacks ",
    " is only available",
    "supports",
)
_EMPTY = frozenset(
    {
        "the",
        "a",
        "an",
        "of",
        "to",
        "in",
        "for",
        "and",
        "or",
        "be",
        "is",
        "it",
        "so",
        "very",
        "too",
        "can",
        "that",
    }
)
_MORE = frozenset({"more", "better", "greater", "higher", "improved"})
_SHAPES = frozenset({"weight", "size", "frame"})  # "lighter" and "smaller" name these by themselves
_UNITS = {
    "miles": "mile",
    "gb": "gb",
    "in": "inch",
    "lb": "lb",
    "ah": "ah",
}  # suffixes of the labels' attribute names
_DEGREES = frozenset({"a lot", "extreme", "too much", "large", "much"})
TOLERANCE = 0.03
"""Numbers closer than this are the same: 1,000 and 1,024 gigabytes."""


@dataclass(frozen=True, slots=True)
class Held:
    """One thing that the state holds or that a turn changed, as words. ``polarity``: "want", "avoid" or "dont_care"."""

    polarity: str
    attribute: str
    text: str
    number: float | None = None
    operator: str = "is"


@dataclass(slots=True)
class RowResult:
    """How one labelled turn went."""

    row: Mapping[str, Any]
    found: list[Mapping[str, Any]] = field(default_factory=list)
    missed: list[Mapping[str, Any]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    unlabelled: list[str] = field(default_factory=list)
    erased: list[Mapping[str, Any]] = field(default_factory=list)
    kept_wrongly: list[Mapping[str, Any]] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    reference_right: bool | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """All rows and the figures over them."""

    results: tuple[RowResult, ...]

    def summary(self) -> dict[str, Any]:
        """The summary object, with the names that stay."""
        found = sum(len(r.found) for r in self.results)
        missed = sum(len(r.missed) for r in self.results)
        wrong = sum(len(r.wrong) for r in self.results)
        lost = sum(len(r.lost) for r in self.results)
        unlabelled = sum(len(r.unlabelled) for r in self.results)
        erased = sum(len(r.erased) for r in self.results)
        stayed = sum(len(r.kept_wrongly) for r in self.results)
        references = [r.reference_right for r in self.results if r.reference_right is not None]
        return {
            "rows": len(self.results),
            "precision": _share(found, found + wrong + lost),
            "recall": _share(found, found + missed),
            "erasure_precision": _share(erased, erased + lost),
            "erasure_recall": _share(erased, erased + stayed),
            "precision_strict": _share(found, found + wrong + lost + unlabelled),
            "references": _share(sum(references), len(references)),
        }


def _share(part: float, whole: float) -> float:
    return round(part / whole, 4) if whole else 0.0


def run(path: str | Path) -> Report:
    """Score a gold file. Raises ``MisuseError`` with file and line for what is not a labelled turn."""
    lexicon = Lexicon.build(())
    return Report(
        tuple(score_row(row, lexicon) for row in labelled_rows(Path(path), ("utterance", "expected")))
    )


# --- one row -----------------------------------------------------------------------------------------------------------


def score_row(row: Mapping[str, Any], lexicon: Lexicon) -> RowResult:
    """Fold what was known, then the utterance, and compare."""
    item = _shown_item(str(row.get("agent_before") or ""))

    def lookup(product_id: str) -> Product | None:
        return item if item is not None and item.id == product_id else None

    before = _known_state(row, item)
    context = _context(row, before, item)
    understanding = understand(row["utterance"], lexicon, context)
    resolved = resolve(understanding.acts, before, lookup)
    after, changes, _ = update(before, resolved, turn=2, shelf=lookup, fits=lambda slot, category: True)
    result = RowResult(row)
    now = [*_holdings(after), *_waived(changes, understanding.acts)]
    made = [*_made(changes), *_waived(changes, understanding.acts)]
    _compare(result, now, made)
    _erasures(result, before, after)
    result.reference_right = _reference(row, understanding.acts)
    return result


def _shown_item(agent_before: str) -> Product | None:
    match = _NAMED_ITEM.search(agent_before)
    match = match or _MODEL.search(agent_before)
    if match is None and not any(word in agent_before for word in _SHOWING):
        return None
    title = match.group(1) if match else agent_before[:80]
    return Product(id="shown", title=title)


def _known_state(row: Mapping[str, Any], item: Product | None) -> State:
    acts = [Act(Kind.NEED, value=str(row.get("domain", "")).replace("_", " "), group=0)]
    acts += [act for fact in row.get("known_before", ()) for act in _as_acts(fact)]
    resolved = resolve(tuple(acts), State(), _nothing)
    state, _, _ = update(State(), resolved, turn=1, shelf=_nothing, fits=lambda slot, category: True)
    if item is not None:
        from ego_cli.conversation.state import ShownList, apply

        state = apply(state, Change("shown", 1, after=ShownList(1, (item.id,), (state.wants[0].id,))))
    return state


def _nothing(product_id: str) -> Product | None:
    """A shelf without products."""
    return None


def _as_acts(fact: Mapping[str, Any]) -> Iterator[Act]:
    attribute, value, op = fact["attribute"], fact["value"], fact["op"]
    number = float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
    words = f"{attribute.replace('_', ' ')} {value}"
    operator = Operator(op) if op in ("min", "max", "about") and number is not None else Operator.IS
    if fact["polarity"] == "dont_care":
        return
    yield Act(
        Kind.CONSTRAIN,
        attribute=attribute,
        operator=operator,
        value=None if number is not None else str(value),
        number=number,
        polarity=-1 if fact["polarity"] == "avoid" else 1,
        words=words,
        unit=fact.get("currency")
        or (_UNITS.get(attribute.rpartition("_")[2]) if number is not None else None),
    )


def _context(row: Mapping[str, Any], state: State, item: Product | None) -> Context:
    held = [(slot.attribute, slot.text) for want in state.wants for slot in want.slots]
    if state.budget is not None:
        held.append(("price", state.budget.text))
    return Context(
        shown=(item.title,) if item else (),
        categories=tuple(want.category for want in state.wants),
        held=tuple(held),
    )


# --- what is held ------------------------------------------------------------------------------------------------------


def _of_slot(slot: Slot) -> Held:
    text = " ".join((*slot.values, slot.words))
    return Held("want", slot.attribute, text, slot.number, slot.operator)


def _of_budget(budget: Budget) -> Iterator[Held]:
    for operator, number in (("min", budget.minimum), ("max", budget.maximum), ("about", budget.about)):
        if number is not None:
            yield Held("want", "price", budget.words, number, operator)
    if budget.band:
        yield Held(
            "want", "price", f"{budget.words} cheaper" if budget.band == "lower_half" else budget.words
        )


def _of_excluded(excluded: Excluded) -> Held:
    return Held("avoid", excluded.attribute or "", f"{excluded.value} {excluded.words}")


def _holdings(state: State) -> Iterator[Held]:
    for want in state.wants:
        yield Held("want", "category", want.category)
        yield from (_of_slot(slot) for slot in want.slots)
        if want.budget:
            yield from _of_budget(want.budget)
    if state.budget:
        yield from _of_budget(state.budget)
    yield from (_of_excluded(excluded) for excluded in state.exclusions)
    if state.sort:
        yield Held("want", state.sort[0], f"{state.sort[0]} best")


def _made(changes: Sequence[Change]) -> Iterator[Held]:
    for change in changes:
        after = change.after
        if isinstance(after, Slot) and change.kind != "erased":
            yield _of_slot(after)
        elif isinstance(after, Budget):
            yield from _of_budget(after)
        elif isinstance(after, Excluded):
            yield _of_excluded(after)
        elif isinstance(after, Want) and change.kind == "wanted":
            yield Held("want", "category", after.category)


def _waived(changes: Sequence[Change], acts: Sequence[Act]) -> Iterator[Held]:
    """What is no longer required, said of something held or not."""
    for act in acts:
        if act.kind in (Kind.RELAX, Kind.NO_PREFERENCE):
            yield Held("dont_care", act.attribute or "", " ".join((act.value or "", *act.values, act.words)))
    for change in changes:
        if change.kind == "cleared" and isinstance(change.before, Slot):
            yield Held("dont_care", change.before.attribute, f"{change.before.text} {change.words}")


# --- comparing on meaning ----------------------------------------------------------------------------------------------


def _compare(result: RowResult, now: Sequence[Held], made: Sequence[Held]) -> None:
    labelled: set[int] = set()
    for expected in result.row["expected"]:
        touching = [held for held in now if _about(expected, held)]
        right = [
            held
            for held in touching
            if held.polarity == expected["polarity"] and _bounds_agree(expected, held)
        ]
        (result.found if right else result.missed).append(expected)
        for position, held in enumerate(made):
            if _about(expected, held):
                labelled.add(position)
                if not right and held.polarity != expected["polarity"]:
                    result.wrong.append(f"{held.polarity} {held.text.strip()}, not {expected['polarity']}")
    known = result.row.get("known_before", ())
    domain = str(result.row.get("domain", "")).replace("_", " ")
    for position, held in enumerate(made):
        if position in labelled or any(_about(fact, held) for fact in known):
            continue
        if held.attribute == "category" and set(stems(held.text)) & set(stems(domain)):
            continue  # the type that the whole dialogue is about
        result.unlabelled.append(f"{held.polarity} {held.attribute}: {held.text.strip()}")


def _texts(expected: Mapping[str, Any]) -> list[str]:
    value = expected["value"]
    values = value if isinstance(value, list) else [value]
    return [str(v) for v in (*values, *(expected.get("alt") or ()))]


def _about(expected: Mapping[str, Any], held: Held) -> bool:
    """Whether the two speak of the same thing: an expected value occurs, or for "yes" the attribute's own name."""
    attribute = str(expected["attribute"]).replace("_", " ")
    name = _content(attribute)
    own = _content(f"{held.attribute.replace('_', ' ')} {held.text}")
    if attribute == "price" or held.attribute == "price":
        return attribute.startswith("price") and held.attribute == "price"
    if expected["op"] == "relative":
        words = _content(str(expected["value"]))
        return _overlap(words, own) > 0 and (
            _overlap(name, own) > 0 or len(name - {"weight", "size", "frame"}) < len(name)
        )
    for text in _texts(expected):
        if text.lower() in _SAID_YES or (expected["op"] in ("exclude", "relax") and text.lower() in _DEGREES):
            if _overlap(name, own):
                return True
            continue
        words = _content(text)
        if not words:
            continue
        if text.replace(".", "").isdigit():
            if held.number is not None and abs(held.number - float(text)) <= TOLERANCE * max(
                1.0, float(text)
            ):
                return True
            continue
        if _overlap(words, own) >= (len(words) + 1) // 2:
            return True
    if expected["op"] in ("exclude", "relax"):
        return False
    return False


def _content(text: str) -> frozenset[str]:
    return frozenset(stem for stem in stems(text.lower()) if stem not in _EMPTY)


def _overlap(wanted: Iterable[str], own: frozenset[str]) -> int:
    return sum(1 for word in wanted if word in own or any(_akin(word, other) for other in own))


def _akin(one: str, other: str) -> bool:
    """ "stabilization" and "stable", "portability" and "portable": five letters in common from the start."""
    short, long = sorted((one, other), key=len)
    return len(short) >= 4 and long.startswith(short[: max(4, min(5, len(short)))]) and len(short) > 3


def _bounds_agree(expected: Mapping[str, Any], held: Held) -> bool:
    op = expected["op"]
    if op in ("min", "max", "about") and isinstance(expected["value"], (int, float)):
        if held.number is None:
            return False
        same = abs(held.number - float(expected["value"])) <= TOLERANCE * max(1.0, float(expected["value"]))
        return same and (held.operator == op or op == "about")
    if op == "relative" and expected["attribute"] == "price":
        return held.attribute == "price"
    return True


def _erasures(result: RowResult, before: State, after: State) -> None:
    """Facts that had to go, and known ones that went without being named."""
    now = [held for held in _holdings(after) if held.polarity == "want"]
    for erased in result.row.get("erased", ()):
        fact = {"attribute": erased["attribute"], "value": erased["value"], "op": "set"}
        still = [held for held in now if held.attribute == erased["attribute"] and _still(fact, held)]
        (result.kept_wrongly if still else result.erased).append(erased)
    gone = {erased["attribute"] for erased in result.row.get("erased", ())}
    replaced = {e["attribute"] for e in result.row["expected"]}
    everything = [*_holdings(after)]
    for fact in result.row.get("known_before", ()):
        if fact["attribute"] in gone | replaced or fact["polarity"] == "dont_care":
            continue
        held = [
            h
            for h in everything
            if h.attribute == fact["attribute"] or (fact["polarity"] == "avoid" and _about(fact, h))
        ]
        if not held and any(h.attribute == fact["attribute"] for h in _holdings(before)):
            result.lost.append(f"{fact['attribute']}: {fact['value']}")


def _still(fact: Mapping[str, Any], held: Held) -> bool:
    """Whether the very fact is held: its number, or every one of its words."""
    value = fact["value"]
    if isinstance(value, (int, float)):
        return held.number is not None and abs(held.number - value) <= TOLERANCE * max(1.0, abs(value))
    words = _content(str(value))
    return bool(words) and words <= _content(held.text)


def _reference(row: Mapping[str, Any], acts: Sequence[Act]) -> bool | None:
    """Whether the turn was read as being about the item that the label names; None when it names none."""
    refers = row.get("refers_to")
    if not refers:
        return None
    targets = [act for act in acts if act.target is not None]
    if refers.get("reject"):
        return any(act.kind in (Kind.REJECT, Kind.NONE_OF_THESE) for act in acts)
    if refers["how"] == "last":
        return any(act.target is not None and act.target.how in ("last", "all") for act in targets) or any(
            act.kind in (Kind.RELATIVE, Kind.ASK) for act in acts
        )
    return bool(targets)


def jsonable(result: RowResult) -> dict[str, Any]:
    """One row for ``--json``: what was missed, wrong, kept or lost."""
    return {
        "dialogue": result.row.get("dialogue"),
        "turn": result.row.get("turn"),
        "utterance": result.row["utterance"],
        "found": len(result.found),
        "missed": result.missed,
        "wrong": result.wrong,
        "unlabelled": result.unlabelled,
        "kept_wrongly": result.kept_wrongly,
        "lost": result.lost,
        "reference_right": result.reference_right,
    }
