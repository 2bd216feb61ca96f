"""Wishes against what was shown ("lighter", "better battery life") and complaints, which are wishes too ("too heavy")."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from ego_cli.conversation.understand.acts import Act, Kind, Target
from ego_cli.conversation.understand.context import Context
from ego_cli.conversation.understand.items import attribute_at
from ego_cli.conversation.understand.language import Tree, language, longest, plant
from ego_cli.conversation.understand.lexicon import NameSpan, stems_of
from ego_cli.conversation.understand.page import Found, with_words
from ego_cli.conversation.understand.references import read_target
from ego_cli.conversation.understand.tokens import Token

_LAST = Target("last", words="it")
_LONGEST_NOUN = 4  # words: "automatic workout detection mode"


class Fault(NamedTuple):
    """What a complaint is about and the wish behind it: "heavy" -> weight, -1, "lighter"."""

    word: str
    attribute: str
    sign: int
    wish: str


@lru_cache(maxsize=1)
def _comparatives() -> Tree:
    tree: Tree = {}
    for phrase, (attribute, sign) in language().names["comparatives"].items():
        plant(tree, phrase.split(), (phrase, attribute, int(sign)))
    return tree


@lru_cache(maxsize=1)
def _faults() -> Tree:
    tree: Tree = {}
    for phrase, (attribute, sign, wish) in language().names["complaints"].items():
        plant(tree, phrase.split(), Fault(phrase, attribute, int(sign), wish))
    return tree


@lru_cache(maxsize=1)
def _bad() -> Tree:
    tree: Tree = {}
    for phrase in language().names["bad"]["words"]:
        plant(tree, phrase.split(), phrase)
    return tree


def find_relative(
    text: str, tokens: Sequence[Token], names: Sequence[NameSpan], taken: frozenset[int], context: Context
) -> Found:
    """Relative wishes and complaints outside the tokens that are ``taken`` already."""
    finder = _Finder(text, tokens, names, taken, context)
    index = 0
    while index < len(tokens):
        end = None
        if index not in taken:
            end = (
                finder.too(index)
                or finder.bad(index)
                or finder.not_enough(index)
                or finder.comparative(index)
            )
        index = end or index + 1
    return Found(tuple(finder.acts), frozenset(finder.used))


class _Finder:
    def __init__(
        self,
        text: str,
        tokens: Sequence[Token],
        names: Sequence[NameSpan],
        taken: frozenset[int],
        context: Context,
    ) -> None:
        self.text = text
        self.tokens = tokens
        self.words = [token.word for token in tokens]
        self.products = {
            i
            for span in names
            for i in range(span.start, span.end)
            if any(n.kind == "product" for n in span.names)
        }
        self.taken = taken
        self.shown = bool(context.shown)
        self.types = {stem for category in context.categories for stem in stems_of(category)}
        self.context = context
        self.acts: list[Act] = []
        self.used: set[int] = set()

    # --- helpers ---

    def _class(self, name: str) -> frozenset[str]:
        return language().grammar[name]

    def _at(self, index: int) -> str:
        return self.words[index] if 0 <= index < len(self.words) else ""

    def _before(self, index: int, count: int) -> set[str]:
        return set(self.words[max(0, index - count) : index])

    def _emit(self, start: int, end: int, act: Act) -> None:
        self.acts.append(with_words(act, self.text, self.tokens[start].start, self.tokens[end - 1].end))
        self.used.update(range(start, end))

    def _wish(self, start: int, end: int, attribute: str, value: str, sign: int, *, complaint: bool) -> int:
        target = _LAST if self.shown else None
        note = "complaint" if complaint else ""
        self._emit(
            start,
            end,
            Act(Kind.RELATIVE, attribute, value=value, number=float(sign), target=target, note=note),
        )
        if complaint and self.shown and attribute != "price":  # what costs less may be on the list
            self._emit(start, end, Act(Kind.REJECT, target=_LAST, note="complaint"))
        return end

    # --- complaints ---

    def too(self, index: int) -> int | None:
        """ "Too heavy", "e too cost", "a bit too big for me"; "very"/"so" only of a shown item."""
        word = self.words[index]
        if word not in ("too", "very", "so") or self._before(index, 3) & {
            "not",
            "no",
            "never",
            "without",
            "nothing",
            "avoid",
        }:
            return None
        match = longest(_faults(), self.words, index + 1)
        if match is None:
            return None
        end, faults = match
        fault: Fault = faults[0]
        of_item = bool(self._before(index, 3) & self._class("pronouns"))
        if word != "too" and not (self.shown and of_item and end not in self.products):
            return None
        if not self.shown and not of_item and index > 0:
            return None
        follows = self._at(end)
        if fault.word in ("much", "high", "hard", "little") and follows not in (
            "",
            "for",
            ".",
            ",",
            "!",
            "?",
            "abeg",
            "o",
            "money",
            "and",
            "now",
            "please",
        ):
            return None
        if follows in ("for", "to") and self._at(end + 1) in ("me", "us"):
            end += 2
        return self._wish(index, end, fault.attribute, fault.wish, fault.sign, complaint=True)

    def bad(self, index: int) -> int | None:
        """ "The battery is rubbish", "the zip feels flimsy", "battery life sucks", "the sound no good"."""
        if not self.shown or self._before(index, 5) & {"mind", "care", "bother"}:
            return None  # "I don't mind if it's heavy"
        if self.words[index] in self._class("copulas"):
            found = longest(_bad(), self.words, index + 1)
            fault = self._plain_fault(index + 1)
        elif index and self.words[index] in ("sucks", "no", "not"):
            found, fault = longest(_bad(), self.words, index), None
        else:
            return None
        if found is None and fault is None:
            return None
        begin = index
        while begin > 0 and index - begin < _LONGEST_NOUN and self._noun_word(begin - 1):
            begin -= 1
        noun = " ".join(self.words[begin:index])
        of_whole = (
            not noun or noun in ("one", "ones", "they") or all(w in language().filler for w in noun.split())
        )
        if found is not None and of_whole:
            if not noun and self._at(begin - 1) not in ("it", "that", "this", "they", "e"):
                return None
            self._emit(begin, found[0], Act(Kind.REJECT, target=_LAST, note="complaint"))
            return found[0]
        if found is not None:
            return self._wish(begin, found[0], noun, f"better {noun}", 1, complaint=True)
        assert fault is not None
        value = fault.wish if of_whole else f"{fault.wish} {noun}"
        attribute = fault.attribute if of_whole or fault.attribute == "price" else noun
        return self._wish(begin, index + 2, attribute, value, fault.sign, complaint=True)

    def _plain_fault(self, index: int) -> Fault | None:
        if self._at(index) not in language().names["faults"]["words"]:
            return None
        match = longest(_faults(), self.words, index)
        if match is None:
            word = self.words[index]
            return Fault(word, "quality", 1, f"less {word}")
        return match[1][0]  # type: ignore[no-any-return]

    def _noun_word(self, index: int) -> bool:
        return (
            self.tokens[index].kind == "word"
            and self.words[index] not in self._class("before_noun")
            and index not in self.taken
        )

    def not_enough(self, index: int) -> int | None:
        """ "Not light enough", "I am not sure that is big enough"."""
        if self._at(index + 1) != "enough" or not self._before(index, 8) & {
            "not",
            "no",
            "never",
            "hardly",
            "nor",
        }:
            return None
        if self.tokens[index].kind != "word" or self.words[index] in language().grammar["pronouns"]:
            return None
        match = longest(_faults(), self.words, index)
        target = _LAST if self.shown else None
        if match is None or match[0] != index + 1:
            word = self.words[index]
            act = Act(Kind.RELATIVE, word, value=f"more {word}", number=1.0, target=target, note="complaint")
        else:
            fault: Fault = match[1][0]
            act = Act(
                Kind.RELATIVE,
                fault.attribute,
                value=_more(fault.word),
                number=float(-fault.sign),
                target=target,
                note="complaint",
            )
        self._emit(index, index + 2, act)
        return index + 2

    # --- comparatives ---

    def comparative(self, index: int) -> int | None:
        """ "Cheaper", "better battery life", "more breathable", "easier to clean", "lighter than the first"."""
        found = self._head(index)
        if found is None:
            return None
        end, head, attribute, sign = found
        if self._at(index - 1) in ("not", "never") and attribute != "price":
            return None  # "not louder than a fan" wants nothing louder
        if any(i in self.taken for i in range(index, end)):
            return None
        if self._at(end) == "than" and end + 1 < len(self.tokens):
            return self._than(index, end, head, attribute, sign)
        noun_end = self._noun_end(index, end, head, attribute)
        noun = self.words[end:noun_end]
        if not noun and (not attribute or (end < len(self.tokens) and self.tokens[end].kind == "number")):
            return None
        if noun and noun[0] == "to":
            noun = noun[1:]
        value = " ".join(self.words[index:noun_end]) if noun else head
        if noun and attribute != "price":
            colour = head.endswith(("coloured", "colour"))
            own_weight = head in ("lighter", "heavier") and noun[0] in ("framed", "weight", "frame")
            attribute = "colour" if colour else attribute if own_weight else " ".join(noun)
        return self._of_item(index, noun_end, attribute, value, sign)

    def _of_item(self, start: int, end: int, attribute: str, value: str, sign: int) -> int:
        """ "A bigger version of the first": the item that it is measured against."""
        index = end + 1 if self._at(end) in ("version", "one", "option", "model") else end
        found = read_target(self.tokens, index + 1, self.context) if self._at(index) == "of" else None
        if found is None:
            return self._wish(start, end, attribute, value, sign, complaint=False)
        self._emit(
            start, found[1], Act(Kind.RELATIVE, attribute, value=value, number=float(sign), target=found[0])
        )
        return found[1]

    def _head(self, index: int) -> tuple[int, str, str, int] | None:
        """The comparative at ``index``: end, words, attribute, direction."""
        match = longest(_comparatives(), self.words, index)
        word = self.words[index]
        if match is not None and not (index in self.products and not self.shown):
            end, meanings = match
            head, attribute, sign = meanings[0]
            if head == "better" and not self._wished(index):
                return None
            return end, head, attribute, sign
        if word in ("more", "less") and index + 1 < len(self.words) and self.tokens[index + 1].kind == "word":
            following = self.words[index + 1]
            if (
                following in self._class("no_adjective")
                or following in language().filler
                or index + 1 in self.products
            ):
                return None
            endings = tuple(self._class("adjective_endings"))
            adjective = following in language().names["adjectives"]["names"] or following.endswith(endings)
            alone = not self.shown and self._at(index - 1) in (
                "or",
                "and",
                "any",
                "show",
                "no",
                "see",
                "me",
                "some",
                "has",
                "have",
            )
            if alone and not adjective:
                return None
            return index + 1, word, "", 1 if word == "more" else -1
        if (
            self.shown
            and word.endswith("er")
            and len(word) > 5
            and word not in self._class("no_comparative")
            and index not in self.products
            and word[:-2] in language().english
            and self._wished(index)
        ):
            return index + 1, word, word, 1
        return None

    def _wished(self, index: int) -> bool:
        """ "Better" is a wish before its noun, not in "I like this one better" or "that is better"."""
        follows = self._at(index + 1)
        if follows == "than":
            return True
        return follows not in ("", ".", "if", "one", "to", ",", "!") and self._at(index - 1) not in (
            "is",
            "are",
            "one",
            "looks",
            "much",
        )

    def _than(self, index: int, end: int, head: str, attribute: str, sign: int) -> int | None:
        if self.tokens[end + 1].kind == "number":
            return None
        found = read_target(self.tokens, end + 1, self.context, numbers=True)
        behind = found[1] if found else end + 1
        target = found[0] if found else (_LAST if self.shown else None)
        self._emit(
            index,
            behind,
            Act(Kind.RELATIVE, attribute or head, value=head, number=float(sign), target=target),
        )
        return behind

    def _noun_end(self, index: int, end: int, head: str, attribute: str) -> int:
        """Where the noun of a comparative ends: "better battery life", "smaller wheels", "easier to clean"."""
        if head in self._class("takes_verb") and self._at(end) == "to" and end + 1 < len(self.tokens):
            return min(end + 2, len(self.tokens))
        if attribute and head not in self._class("takes_noun"):
            return end
        stop = end
        while (
            stop < len(self.tokens)
            and stop - end < _LONGEST_NOUN
            and self.tokens[stop].kind == "word"
            and self.words[stop] not in self._class("ends_noun")
            and stop not in self.taken
            and not self._is_the_want(index, stop)
        ):
            stop += 1
        return stop

    def _is_the_want(self, index: int, noun: int) -> bool:
        """Whether a product noun is what is looked for ("a bigger bag"), not a part of it ("with a longer cable")."""
        if noun not in self.products or self.tokens[noun].stem in language().names["parts"]["names"]:
            return False
        if attribute_at(self.tokens, noun) is not None:
            return False
        other_product = any(i < index for i in self.products)
        if self.tokens[noun].stem in self.types or not (self.types or other_product):
            return True
        return not self._before(index, 3) & self._class("having")


def _more(adjective: str) -> str:
    """The comparative of an adjective: "light" -> "lighter"."""
    if len(adjective) > 6:
        return f"more {adjective}"
    if adjective.endswith("e"):
        return adjective + "r"
    if len(adjective) == 3 and adjective[-1] not in "wyx" and adjective[-2] in "aeiou":
        return adjective + adjective[-1] + "er"
    return adjective[:-1] + "ier" if adjective.endswith("y") else adjective + "er"
