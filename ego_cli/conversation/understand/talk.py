"""What a phrase of ``acts.toml`` makes when it points at no item: talk, changes of mind, memory, things tried before.

Each function takes the page, the pattern and the tokens [start, end) of its phrase, and returns the index behind what it
explains, or None when the phrase means something else here.
"""

from __future__ import annotations

from ego_cli.conversation.understand.acts import Act, Kind, Target
from ego_cli.conversation.understand.items import attribute_at
from ego_cli.conversation.understand.language import language, longest
from ego_cli.conversation.understand.lexicon import stems_of
from ego_cli.conversation.understand.page import Page
from ego_cli.conversation.understand.pattern import Pattern
from ego_cli.conversation.understand.references import read_target
from ego_cli.settings import load_toml

_VALUE_WORDS = 4
_NEGATIONS = frozenset(["relax", "avoid", "readmit", "not_only"])
_AFTER_ALL = ("after all", "as before", "like before", "again", "back", "as it was", "sef", "still")


def nothing(page: Page, pattern: Pattern, start: int, end: int) -> int | None:
    """The phrase is the whole act."""
    if pattern.kind is Kind.REJECT and _longer_cue(page, start, end):
        return None  # "it is | not that I hate leather"
    if pattern.kind is Kind.REJECT and page.word(page.clause_start(start)) in ("if", "unless"):
        return None  # "if it is not waterproof I don't want it": a demand
    if pattern.kind is Kind.REJECT and page.phrase(start, end).endswith("not that") and _goes_on(page, end):
        return None  # "not that big": a degree
    if pattern.kind is Kind.REJECT:
        target = Target("last", words=page.phrase(start, end))
        return page.emit(start, end, Act(Kind.REJECT, target=target))
    if pattern.kind is Kind.START_OVER and _longer_cue(page, start, end):
        return None  # "scrap everything about noise"
    if pattern.kind is Kind.NONE_OF_THESE and end - start == 1 and not page.is_whole(start, end):
        return None  # "neither satin nor silk"
    if pattern.kind is Kind.OVERRIDE and (len(page.tokens) == end - start or _longer_cue(page, start, end)):
        return None
    return page.emit(start, end, Act(pattern.kind, note=pattern.note))


def _goes_on(page: Page, index: int) -> bool:
    token = page.tokens[index] if index < len(page.tokens) else None
    if token is None or token.kind != "word":
        return False
    return (
        token.word in load_toml("dialogue.toml")["answers"]["degrees"] or token.word not in language().filler
    )


def _longer_cue(page: Page, start: int, end: int) -> bool:
    """ "Never mind the colour" gives up the colour; only "never mind" by itself is a change of mind."""
    if page.word(end - 1) == "no" and end < len(page.tokens) and page.tokens[end].kind == "word":
        return page.word(end) not in language().grammar["openers"]  # "actually | no leather"
    match = longest(language().cues, page.words(start, end + 6), 0)
    return match is not None and match[0] > end - start and bool(_NEGATIONS & set(match[1]))


# --- changes of mind -----------------------------------------------------------------------------------------------------


def attribute(page: Page, pattern: Pattern, start: int, end: int) -> int | None:
    """ "Change the colour to red": the slot is erased, what follows is read as its new value."""
    named = attribute_at(page.tokens, end)
    if named is None:
        return None
    stop, name = named
    if page.word(stop) in ("to", "from", "into", "be", "for"):
        stop += 1
    elif page.word(start) == "make":
        return None
    return page.emit(start, stop, Act(pattern.kind, name))


def swapped(page: Page, pattern: Pattern, start: int, end: int) -> int | None:
    """ "Swap the shoes for sandals": the want that goes, or the value; what follows is read as what comes."""
    places = range(end + 1, min(end + 1 + _VALUE_WORDS, len(page.tokens)))
    stop = next((i for i in places if page.word(i) in ("for", "with", "to", "by")), None)
    if stop is None or attribute_at(page.tokens, end) is not None:
        return None
    said = page.phrase(end, stop)
    stems = set(stems_of(said))
    if any(stems & set(stems_of(category)) for category in page.context.categories):
        return page.emit(start, stop + 1, Act(Kind.DROP_WANT, value=said, note="swap"))
    if any(stems <= set(stems_of(text)) for _, text in page.context.held):
        return page.emit(start, stop + 1, Act(Kind.OVERRIDE, value=said))
    return None


def value(page: Page, pattern: Pattern, start: int, end: int) -> int | None:
    """ "Blue instead of black": what stands behind goes."""
    ends = language().grammar["ends_value"]
    stop = end
    while (
        stop - end < _VALUE_WORDS
        and stop < len(page.tokens)
        and page.tokens[stop].kind == "word"
        and page.word(stop) not in ends
    ):
        stop += 1
    if stop == end:
        return None
    words = [word for word in page.words(end, stop) if word not in ("the", "a", "an", "ones", "one")]
    return page.emit(start, stop, Act(pattern.kind, value=" ".join(words) or None))


def restored(page: Page, pattern: Pattern, start: int, end: int) -> int | None:
    """ "Keep the colour after all": what was erased comes back; "go back to the first one" only points."""
    stop = page.clause_end(end)
    said = page.phrase(end, stop)
    phrase = page.phrase(start, end)
    strong = phrase.split()[0] in ("restore", "reinstate", "re") or "back" in phrase
    if not said or not (strong or any(said.endswith(cue) or f" {cue} " in f" {said} " for cue in _AFTER_ALL)):
        return None
    pointed = read_target(page.tokens, end, page.context) or read_target(page.tokens, end - 1, page.context)
    if pointed is not None and pointed[0].how in ("ordinal", "last") and page.context.shown:
        return page.emit(start, pointed[1], Act(Kind.REFER, target=pointed[0]))
    for cue in _AFTER_ALL:
        said = said.removesuffix(f" {cue}")
    return page.emit(start, stop, Act(Kind.RESTORE, value=said))


# --- memory and experience -----------------------------------------------------------------------------------------------


def rest(page: Page, pattern: Pattern, start: int, end: int) -> int | None:
    """The words that follow are what is to be kept, forgotten, recalled or what was bought and tried."""
    stop = len(page.tokens) if pattern.kind is Kind.REMEMBER else page.clause_end(end)
    said = (
        page.text[page.tokens[end].start : page.tokens[stop - 1].end].strip(" .!?,:;") if stop > end else ""
    )
    phrase = page.phrase(start, end)
    if pattern.kind is Kind.FORGET:
        return _forget(page, phrase, said, start, stop)
    if pattern.kind is Kind.RECALL:
        shop = any(word in said.lower().split() for word in ("basket", "cart", "total", "order"))
        return None if shop else page.emit(start, stop, Act(Kind.RECALL, value=said or None))
    if not said:
        return None
    if pattern.kind is Kind.REMEMBER:
        own_note = page.word(start - 1) in ("will", "i")  # "I'll keep in mind that …"
        return None if own_note else page.emit(start, end, Act(Kind.REMEMBER, value=said))
    polarity = _outcome(said)
    if (phrase in ("i got", "i have a", "i buy") and polarity is None) or said.startswith("to "):
        return None
    act = Act(Kind.FEEDBACK, value=pattern.note, note=said, polarity=polarity or 1)
    return page.emit(start, stop, act)


def _forget(page: Page, phrase: str, said: str, start: int, stop: int) -> int | None:
    """Memory is meant, not a wish of this conversation ("forget my budget" gives up the budget)."""
    if page.word(start - 1) in ("no", "not"):
        return None  # "no forget say e must get remote"
    if not said and not phrase.endswith(("me", "memory", "data", "memories", "fact", "this")):
        return None
    first = said.lower().split()[0] if said else ""
    talk = first in language().grammar["of_the_talk"] and not language().grammar["of_memory"] & set(
        said.lower().split()
    )
    if phrase.endswith(" my") and talk:
        return None
    everything = phrase.endswith(
        ("everything", "about me", "my data", "my memory", "forget me", "my memories")
    )
    whole = everything or said.lower() in ("everything", "me", "about me", "all")
    return page.emit(start, stop, Act(Kind.FORGET, value="all" if whole else said))


def _outcome(said: str) -> int | None:
    """How it went with a thing: +1, -1, or None when nothing is said of it."""
    lowered = said.lower().replace("'", "")
    outcomes = load_toml("acts.toml")["outcomes"]
    for name, polarity in (("negative", -1), ("positive", 1)):
        if any(phrase in lowered for phrase in outcomes[name]):
            return polarity
    return None
