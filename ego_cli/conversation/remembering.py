"""Where a turn and the shopper's memory meet: what memory brings to a request, and what is said about memory itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from ego_cli.catalog.money import exchange_rate
from ego_cli.conversation.asking import Recollection
from ego_cli.conversation.events import MemoryUse, Question
from ego_cli.conversation.state import State, Want
from ego_cli.conversation.talk import Desk, Said
from ego_cli.conversation.understand.acts import Act, Kind
from ego_cli.conversation.words import stems
from ego_cli.errors import MemoryStoreError
from ego_cli.ranking.request import Exclusion, Personal, Requirement
from ego_cli.settings import load_toml

if TYPE_CHECKING:
    from ego_cli.memory.entry import Entry
    from ego_cli.memory.memory import Memory
    from ego_cli.memory.profile import Profile

# Acts that are about memory itself; their answer needs the memory at once.
ABOUT_MEMORY = frozenset({Kind.REMEMBER, Kind.FORGET, Kind.RECALL, Kind.FACT})

# A size that memory holds is a wish, not a condition: she may shop for somebody else without saying so.
REMEMBERED_WEIGHT = 0.6


def recollect(
    memory: Memory | None,
    state: State,
    want: Want | None,
    *,
    currency: str | None,
    fx: Mapping[str, float],
    tags: tuple[str, ...] = (),
) -> Recollection:
    """What bears on a want: avoidances as rules; sizes, budgets, brands, products tried and concerns as signals.

    A want for somebody else reads that person's facts only.
    """
    if memory is None:
        return Recollection(Personal(tags=tags))
    category = want.category if want else None
    profile = memory.profile(category or None, want.subject if want else None)
    exclusions = tuple(Exclusion(a.value, words=a.words, source="memory") for a in profile.avoidances)
    sizes = _sizes(profile, want)
    personal = Personal(
        brand_affinity=profile.brand_affinity,
        price_range=_price_range(profile, currency, fx),
        tried=MappingProxyType({t.product_id: t.sentiment for t in profile.tried if t.product_id}),
        attributes=profile.attributes,
        concerns=profile.concerns,
        goals=profile.goals,
        tags=(*tags, *profile.likes),
    )
    wishes = tuple(
        Requirement("feature", values=(text,), weight=REMEMBERED_WEIGHT, words=text)
        for text in profile.requirements
    )
    return Recollection(
        personal, exclusions, (*sizes, *wishes), tuple(_use(entry) for entry in profile.entries)
    )


def _sizes(profile: Profile, want: Want | None) -> tuple[Requirement, ...]:
    if want is None or any(slot.attribute == "size" for slot in want.slots):
        return ()
    asked = set(stems(want.category))
    return tuple(
        Requirement("size", values=(size,), weight=REMEMBERED_WEIGHT, words=f"{thing} size {size}".strip())
        for thing, size in profile.sizes.items()
        if not thing or set(stems(thing)) & asked
    )


def _price_range(
    profile: Profile, currency: str | None, fx: Mapping[str, float]
) -> tuple[float, float] | None:
    if profile.price_range is None:
        return None
    low, high, own = profile.price_range
    rate = exchange_rate(own, currency, fx) if own and currency else 1.0
    return None if rate is None else (low * rate, high * rate)


# Uses that count as having taken part in an answer, and so make a memory fade more slowly.
REINFORCED = frozenset({"exclusion", "requirement", "size", "price range", "taste", "product tried"})

_HOW = {
    "avoidance": "exclusion",
    "allergy": "exclusion",
    "reaction": "exclusion",
    "dislike": "exclusion",
    "requirement": "requirement",
    "size": "size",
    "budget": "price range",
    "tried": "product tried",
    "like": "taste",
    "concern": "concern",
    "goal": "goal",
}


def _use(entry: Entry) -> MemoryUse:
    return MemoryUse(str(entry.id), entry.text, _HOW.get(entry.kind, "context"))


def about_memory(memory: Memory | None, desk: Desk, acts: Sequence[Act], heard: Sequence[Entry]) -> Said:
    """The answer to acts that are about memory. ``heard`` are the rows that this sentence made or confirmed."""
    if memory is None:
        asked = any(act.kind is not Kind.FACT for act in acts)
        named = tuple(act.value or act.words for act in acts if act.kind is Kind.FORGET)
        return Said(desk.tell("memory_off") if asked else "", forgotten=named)
    for act in acts:
        if act.kind is Kind.FORGET:
            return _forget(memory, desk, act)
        if act.kind is Kind.RECALL:
            return _recall(memory, desk, act)
    if heard:
        facts = "; ".join(entry.text for entry in heard)
        return Said(f"{desk.tell('noted')} ({facts})")
    if any(act.kind is Kind.REMEMBER for act in acts):
        return Said(desk.tell("not_noted"))
    return Said()


def memory_is_off(error: MemoryStoreError) -> str:
    """What she is told once when her memory's file cannot be used."""
    return f"Memory is off: {error}"


def _forget(memory: Memory, desk: Desk, act: Act) -> Said:
    if act.value == "all" and act.note != "confirmed" and not _means_memory(act.words):
        return Said(question=Question("forget_all", desk.tell("forget_all_sure")))
    asked = act.value or act.words
    gone = memory.forgotten(asked)
    named = ("all",) if gone.everything else (asked, *gone.texts)
    if not gone.count:
        return Said(desk.tell("forgotten_none"), forgotten=named)
    return Said(desk.tell("forgotten", count=_memories(gone.count)), forgotten=named)


def _memories(count: int) -> str:
    return "1 memory" if count == 1 else f"{count:,} memories"


def _means_memory(words: str) -> bool:
    """ "Forget everything you know about me" says what it means; a bare "forget everything" may mean the search."""
    return bool(set(stems(words)) & set(stems(load_toml("replies.toml")["forget_all_sure"]["unless"])))


def _recall(memory: Memory, desk: Desk, act: Act) -> Said:
    if act.value:
        found = [recalled.entry for recalled in memory.recall(act.value)]
    else:
        found = memory.facts()
    if not found:
        return Said(desk.tell("known_nothing"))
    lines = [f"- {entry.text}" for entry in found]
    return Said("\n".join([desk.tell("known"), *lines]))
