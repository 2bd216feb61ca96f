"""Wishes in everyday words: properties of ``data/concepts.toml``, where the catalogue knows one of their page words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from ego_cli.catalog.concepts import BREAKS, GAP, Concept, Said, negations, root, said_at
from ego_cli.conversation.understand.acts import Act, Span
from ego_cli.conversation.understand.context import Context
from ego_cli.conversation.understand.cues import Cue
from ego_cli.conversation.understand.language import language
from ego_cli.conversation.understand.lexicon import Lexicon, NameSpan
from ego_cli.conversation.understand.page import ENDS, Found
from ego_cli.conversation.understand.phrases import feature
from ego_cli.conversation.understand.tokens import Token
from ego_cli.settings import load_toml

_GIVEN_UP = frozenset(["relax", "readmit", "not_only", "doubt", "avoid"])
_GIVEN_UP_BEHIND = frozenset(["relax_back", "readmit_back"])


@cache
def _classes() -> Mapping[str, frozenset[str]]:
    return {name: frozenset(words) for name, words in load_toml("dialogue.toml")["everyday"].items()}


def find_everyday(
    text: str,
    tokens: Sequence[Token],
    names: Sequence[NameSpan],
    cues: Sequence[Cue],
    taken: frozenset[int],
    lexicon: Lexicon,
    context: Context,
) -> Found:
    """A wish for every property said in everyday words; what is asked, given up or denied is left to the other passes, and
    so are the tokens that are ``taken``: what is said word for word, and facts about her."""
    acts: list[Act] = []
    used: set[int] = set()
    words = [token.word for token in tokens]
    products = [span for span in names if any(name.kind == "product" for name in span.names)]
    index = 0
    while index < len(tokens):
        said = said_at(words, index) if index not in taken else None
        if said is None or _as_printed(said, words) or not _known(said.concept, lexicon):
            index += 1
            continue
        end = said.places[-1] + 1
        named = [span for span in products if index <= span.start < end]
        sought = bool(named) and not context.categories and len(named) == len(products)  # "a washing machine"
        asked = bool(context.shown) and _asks(words, index)
        if said.denies and words[index + 1 : index + 2] == ["for"] and words[index] in negations():
            index += 1  # "not for oily skin": a purpose that is turned down
            continue
        if said.denies and _of_compound(tokens, said):
            index += 1
            continue
        denied = any(word in negations() for word in words[max(0, index - 2) : index])
        if sought or asked or denied or _owned(words, named, said) or _given_up(words, cues, index, end):
            index += 1
            continue
        span = Span(tokens[index].start, tokens[end - 1].end)
        own = text[span.start : span.end]
        # "Not heavy" as it stands would be a promise of absence; other words are evidence of their own.
        acts.append(feature(own, span, value=said.concept.name if said.denies else own, note="everyday"))
        apart = {
            place for name in names for place in range(name.start, name.end)
        }  # "wash cotton in the machine"
        between = {p for p in range(index, end) if tokens[p].kind == "word" and p not in apart}
        used |= between | set(said.places)
        index = end
    return Found(tuple(acts), frozenset(used))


def _of_compound(tokens: Sequence[Token], said: Said) -> bool:
    """ "No noise cancelling", "no stain protection": what is turned down is named by the next word."""
    end = said.places[-1] + 1
    behind = tokens[end].word if end < len(tokens) and tokens[end].kind == "word" else ""
    return behind.endswith(tuple(_classes()["namers"])) and behind not in language().filler | {"during"}


def _owned(words: Sequence[str], named: Sequence[NameSpan], said: Said) -> bool:
    """ "My washing machine is broken", "I don't have a washing machine": a thing of hers, no property of what is sought."""
    return any(
        all(span.start <= place < span.end for place in said.places)
        and any(word in _classes()["determiners"] for word in words[max(0, span.start - 1) : span.start])
        for span in named
    )


def _given_up(words: Sequence[str], cues: Sequence[Cue], start: int, end: int) -> bool:
    """ "I don't care if it goes in the washer", "machine wash doesn't matter"."""
    for cue in cues:
        before = cue.end <= start <= cue.end + GAP + 1 and cue.classes & _GIVEN_UP
        if before and not any(word in BREAKS | _classes()["lists"] for word in words[cue.end : start]):
            return True
        if cue.start <= start < cue.end and "readmit" in cue.classes:
            return True  # "I don't mind hand washing" denies nothing of the thing
        if end <= cue.start <= end + 1 and cue.classes & _GIVEN_UP_BEHIND:
            return True
    return False


def _as_printed(said: Said, words: Sequence[str]) -> bool:
    """One word, or words that pages print themselves: the plain reading keeps them whole ("tumble dry low")."""
    roots = {root(words[place]) for place in said.places}
    printed = any(roots <= {root(word) for word in page} for page in said.concept.phrases)
    return not said.denies and (len(said.places) == 1 or printed)


def _known(concept: Concept, lexicon: Lexicon) -> bool:
    return any(all(lexicon.knows(word) for word in phrase) for phrase in concept.phrases)


def _asks(words: Sequence[str], index: int) -> bool:
    """Whether the sentence around ``index`` is a question: about what is shown, not a wish."""
    return next((word for word in words[index:] if word in ENDS), "") == "?"
