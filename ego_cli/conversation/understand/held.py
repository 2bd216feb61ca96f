"""Acts against what the conversation holds: which held wish is given up, which want a general word means, what is replaced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from ego_cli.conversation.understand.acts import Act, Kind, Operator
from ego_cli.conversation.understand.context import Context
from ego_cli.conversation.understand.language import language
from ego_cli.conversation.understand.lexicon import stems_of
from ego_cli.settings import load_toml

_BARE_WORDS = 2
"""Words of a quantity that does not say what it measures: "16GB", "16 GB"."""
_COMMON = 4
"""Letters that two forms of one word share at least ("stable", "stability")."""


def with_held(acts: Sequence[Act], context: Context) -> list[Act]:
    """The acts with attribute, value and product type spelled as the conversation holds them."""
    out: list[Act] = []
    for act in acts:
        if act.kind is Kind.RELAX and act.polarity > 0 and act.attribute != "price":
            act = _given_up(act, context)
        elif act.kind is Kind.NEED:
            act = _same_want(act, context)
        elif act.kind is Kind.CONSTRAIN and act.polarity > 0:
            act = _held_attribute(act, context)
            replaced = _replaced(act, context)
            if replaced is not None:
                out.append(replaced)
        out.append(act)
    return _one_override(out)


def _given_up(act: Act, context: Context) -> Act:
    """ "I don't need to be able to swap the lens" gives up the held "interchangeable lens"."""
    words = _widened(f"{act.value or ''} {'' if act.attribute == 'feature' else act.attribute or ''}")
    if not words:
        return act
    best, best_share = None, 0.0
    for attribute, text in context.held:
        held = _content(f"{attribute.replace('_', ' ')} {text}")
        common = _common(words, held)
        share = (
            max(common / len(held), common / max(1, len(_content(act.value or attribute)))) if held else 0.0
        )
        if common and share > best_share:
            best, best_share = (attribute, text), share
    if best is None or best_share < 0.5:
        return act
    attribute, text = best
    numeric = text[:1] in "≥≤≈" or text[:1].isdigit()
    return replace(act, attribute=attribute, value=None if numeric else text)


def _same_want(act: Act, context: Context) -> Act:
    """ "The watch" where a smartwatch is looked for: the held type, not a new topic."""
    value = act.value or ""
    stems = stems_of(value)
    for category in context.categories:
        held = stems_of(category)
        if not stems or not held or stems == held:
            continue
        general = len(stems) == 1 and (
            held[-1] == stems[0] or (len(held) == 1 and held[0].endswith(stems[0]))
        )
        if general or stems in _same_names(held):
            return replace(act, value=category)
    return act


@lru_cache(maxsize=256)
def _same_names(stems: tuple[str, ...]) -> frozenset[tuple[str, ...]]:
    """Other names of a type: those that mean it and are meant by it."""
    found: set[tuple[str, ...]] = set()
    for entry in load_toml("synonyms.toml")["synonym"]:
        if entry["domain"] != "type":
            continue
        say = {stems_of(phrase) for phrase in entry["say"]}
        means = {stems_of(phrase) for phrase in entry["means"]}
        if stems in say and stems in means:
            found |= say & means
    return frozenset(found)


def _held_attribute(act: Act, context: Context) -> Act:
    """A quantity under the name that the conversation already has for it."""
    if act.number is None or not act.attribute or act.attribute == "price":
        return act
    bare = len(act.words.split()) <= _BARE_WORDS and not context.holds(act.attribute)
    for attribute, text in context.held:
        same_unit = act.unit is not None and text.lower().split()[-1:] == [act.unit.lower()]
        if bare and same_unit and not (set(stems_of(act.attribute)) & set(stems_of(act.words))):
            return replace(act, attribute=attribute)
        if (
            attribute != act.attribute
            and act.attribute in attribute.split("_")
            and any(c.isdigit() for c in text)
        ):
            return replace(act, attribute=attribute)
    return act


def _replaced(act: Act, context: Context) -> Act | None:
    """A wish said anew in other words ("quick wrist supplies", then "quick wrist replies") takes the place of the old one."""
    if (
        act.attribute != "feature"
        or act.operator is not Operator.IS
        or not act.value
        or act.note == "verbatim"
    ):
        return None
    loose = (
        language().free_suffix | language().grammar["loose"]
    )  # "alcohol-free" says nothing about "fragrance-free"
    new = _content(act.value) - loose
    if len(new) < 2 or act.note == "everyday":
        return None
    for attribute, text in context.held:
        old = _content(text) - loose
        common = _common(new, old)
        if len(new) == len(old) == 2 and not _same_head(act.value, text):
            continue  # "long sleeves" stays beside "long straps"
        if len(old) >= 2 and common * 2 >= max(len(new), len(old)) and not (new <= old or old <= new):
            return Act(Kind.OVERRIDE, attribute=attribute, value=text, words=act.words, span=act.span)
    return None


def _same_head(one: str, other: str) -> bool:
    heads = [stems[-1] for stems in (stems_of(one), stems_of(other)) if stems]
    return len(heads) == 2 and (heads[0] == heads[1] or _akin(heads[0], heads[1]))


def _one_override(acts: list[Act]) -> list[Act]:
    """Several ways of saying "I changed my mind" in one message are one; the strongest stays."""
    bare = [a for a in acts if a.kind is Kind.OVERRIDE and a.attribute is None and a.value is None]
    if len(bare) < 2:
        return acts
    kept = next((a for a in bare if a.note == "strong"), bare[0])
    return [a for a in acts if a is kept or a not in bare]


def _content(text: str) -> frozenset[str]:
    filler = language().filler
    return frozenset(word for word in stems_of(text) if word not in filler and len(word) > 1)


def _widened(text: str) -> frozenset[str]:
    """The content words of ``text`` and of what shops call them."""
    words = set(_content(text))
    meanings = _meanings()
    for word in tuple(words):
        words |= meanings.get(word, frozenset())
    return frozenset(words)


@lru_cache(maxsize=1)
def _meanings() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for entry in load_toml("synonyms.toml")["synonym"]:
        means = {stem for phrase in entry["means"] for stem in stems_of(phrase)}
        for phrase in entry["say"]:
            stems = stems_of(phrase)
            if len(stems) == 1:
                found.setdefault(stems[0], set()).update(means)
    return {word: frozenset(means) for word, means in found.items()}


def _common(one: frozenset[str], other: frozenset[str]) -> int:
    return sum(1 for word in other if word in one or any(_akin(word, w) for w in one))


def _akin(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return (
        len(short) > _COMMON and long[: max(_COMMON, len(short) - 2)] == short[: max(_COMMON, len(short) - 2)]
    )
