"""Act patterns: phrases by which a clause does something other than describe a product, as listed in ``acts.toml``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from ego_cli.conversation.understand.acts import Act, Kind, Span, Target
from ego_cli.conversation.understand.context import Context
from ego_cli.conversation.understand.items import attribute_at
from ego_cli.conversation.understand.language import Tree, language, longest, plant
from ego_cli.conversation.understand.lexicon import NameSpan
from ego_cli.conversation.understand.numbers import Amount
from ego_cli.conversation.understand.references import read_target
from ego_cli.conversation.understand.tokens import Token
from ego_cli.settings import load_toml

_ENDS = frozenset([".", "!", "?", ";", "\n", ":"])
_POINTING = frozenset(
    "yes yeah ok okay please abeg so and oh i want like think show me let us see hmm well about what how maybe".split()
)
_AFTER_ITEM = frozenset(
    "but in please abeg with instead then for though o na looks look seems is sounds if and too also , now".split()
)
_COMING = frozenset(["come", "comes", "available"])
_ASKING = frozenset(["does", "do", "is", "are", "can", "will", "una", "e"])
_QUESTION_WORDS = frozenset(["which", "how", "what", "does", "do", "is", "are", "can", "wetin", "will"])
_VALUE_ENDS = frozenset(
    ["and", "but", "or", "please", "abeg", "for", "with", "in", "under", "below", "so", "because", "if"]
)
_BASKET_WORDS = frozenset(["basket", "cart", "trolley", "bag", "order"])


def _openers() -> frozenset[str]:
    return language().grammar["openers"]


class Pattern(NamedTuple):
    """One phrase of ``acts.toml``."""

    kind: Kind
    takes: str
    where: str
    needs: str
    note: str


@dataclass(frozen=True, slots=True)
class Found:
    """Acts of patterns and the tokens that they explain."""

    acts: tuple[Act, ...]
    used: frozenset[int]


@lru_cache(maxsize=1)
def _patterns() -> Tree:
    tree: Tree = {}
    for entry in load_toml("acts.toml")["act"]:
        pattern = Pattern(
            Kind(entry["kind"]),
            entry["takes"],
            entry.get("where", "start"),
            entry.get("needs", ""),
            entry.get("note", ""),
        )
        for phrase in entry["say"]:
            plant(tree, phrase.split(), pattern)
    return tree


def find_patterns(
    text: str, tokens: Sequence[Token], names: Sequence[NameSpan], amounts: Sequence[Amount], context: Context
) -> Found:
    """All acts that whole phrases make, clause by clause."""
    reader = _Reader(text, tokens, amounts, context)
    words = [token.word for token in tokens]
    tree = _patterns()
    index = 0
    while index < len(tokens):
        advance = index + 1
        if index not in reader.used:
            match = longest(tree, words, index)
            while match is not None:
                end, patterns = match
                stop = next(
                    (
                        stop
                        for pattern in patterns
                        if (stop := reader.try_pattern(pattern, index, end)) is not None
                    ),
                    None,
                )
                if stop is not None:
                    advance = max(stop, index + 1)
                    break
                match = longest(tree, words[: end - 1], index) if end - 1 > index else None
        index = advance
    reader.point_at_items()
    reader.ask_about_shop(
        frozenset(
            i
            for span in names
            for i in range(span.start, span.end)
            if any(n.kind == "product" for n in span.names)
        )
    )
    return Found(tuple(reader.acts), frozenset(reader.used))


class _Reader:
    """Collects acts and used tokens of one message."""

    def __init__(
        self, text: str, tokens: Sequence[Token], amounts: Sequence[Amount], context: Context
    ) -> None:
        self.text = text
        self.tokens = tokens
        self.amounts = amounts
        self.context = context
        self.acts: list[Act] = []
        self.used: set[int] = set()

    # --- where a phrase stands ---

    def _clause_start(self, index: int) -> int:
        while index > 0 and self.tokens[index - 1].word not in _ENDS and self.tokens[index - 1].word != ",":
            index -= 1
        return index

    def _clause_end(self, index: int) -> int:
        while index < len(self.tokens) and self.tokens[index].word not in _ENDS:
            index += 1
        return index

    def _at_start(self, index: int) -> bool:
        begin = self._clause_start(index)
        words = [t.word for t in self.tokens[begin:index]]
        cut = max(
            (i + 1 for i, w in enumerate(words) if w in ("and", "but", "then", "also", "-", ",")), default=0
        )
        return all(word in _openers() or begin + cut + i in self.used for i, word in enumerate(words[cut:]))

    def _is_whole(self, start: int, end: int) -> bool:
        """Nothing but padding and, after a question, the asked attribute outside the phrase ("I don't know my size")."""
        padding = language().grammar["padding"] | {self.context.asked}
        outside = [t for t in (*self.tokens[:start], *self.tokens[end:]) if t.kind != "mark"]
        return all(t.word in padding or t.word in _openers() for t in outside)

    def _is_tail(self, start: int, end: int) -> bool:
        """Nothing but padding between the phrase and the end of its clause."""
        padding = language().grammar["padding"]
        rest = [t.word for t in self.tokens[end : self._clause_end(end)] if t.kind != "mark"]
        return all(word in _openers() or word in padding for word in rest)

    # --- bare references ---

    def point_at_items(self) -> None:
        """ "The second one", "that one but in blue", "the black one": a clause that opens with an item and says no more of it."""
        if not self.context.shown:
            return
        begin = 0
        for index in range(len(self.tokens) + 1):
            if (
                index < len(self.tokens)
                and self.tokens[index].word not in _ENDS
                and self.tokens[index].word != ","
            ):
                continue
            self._point(begin, index)
            begin = index + 1

    def _point(self, begin: int, end: int) -> None:
        versus = read_target(self.tokens, begin, self.context, numbers=True)
        if (
            versus is not None
            and versus[1] == end
            and {"vs", "versus"} & {t.word for t in self.tokens[begin:end]}
        ):
            self._emit(begin, end, Act(Kind.COMPARE, target=versus[0]))
            return
        start = begin
        while start < end and self.tokens[start].word in _POINTING and start not in self.used:
            start += 1
        if start >= end or any(i in self.used for i in range(begin, end)):
            return
        found = read_target(self.tokens, start, self.context)
        if found is None or found[1] > end:
            return
        target, stop = found
        behind = self.tokens[stop].word if stop < end else ""
        if behind not in _AFTER_ITEM and behind != "":
            return
        if target.how == "last" and not target.words.endswith(("one", "ones", "model", "pair", "version")):
            return
        if target.how == "name" and behind not in ("", "but", "please", "abeg", "in"):
            return
        self._emit(begin, stop, Act(Kind.REFER, target=target))

    # --- questions about the shop ---

    def ask_about_shop(self, products: frozenset[int]) -> None:
        """ "How long does shipping take?": a question with a topic of the shop and no product in it."""
        topics = {
            word: topic for topic, words in load_toml("acts.toml")["shop_topics"].items() for word in words
        }
        begin = 0
        for index in range(len(self.tokens) + 1):
            if index < len(self.tokens) and self.tokens[index].word not in _ENDS:
                continue
            clause = range(begin, index)
            asked = index < len(self.tokens) and self.tokens[index].word == "?"
            first = next(
                (
                    self.tokens[i].word
                    for i in clause
                    if self.tokens[i].word not in _openers() or self.tokens[i].word in _QUESTION_WORDS
                ),
                "",
            )
            topic = next((topics[self.tokens[i].word] for i in clause if self.tokens[i].word in topics), None)
            free = not any(i in self.used or i in products for i in clause)
            if (
                topic
                and free
                and (asked or first in _QUESTION_WORDS or first in ("una", "where", "when"))
                and len(clause) > 1
            ):
                self._emit(begin, index, Act(Kind.SHOP_QUESTION, attribute=topic))
            begin = index + 1

    # --- trying ---

    def try_pattern(self, pattern: Pattern, start: int, end: int) -> int | None:
        """The index behind what the pattern explains, or None when it does not hold here."""
        if pattern.where == "start" and not self._at_start(start):
            return None
        if pattern.where == "whole" and not self._is_whole(start, end):
            return None
        if pattern.where == "tail" and not (self._at_start(start) and self._is_tail(start, end)):
            return None
        if pattern.needs == "shown" and not self.context.shown:
            return None
        if (
            pattern.kind in (Kind.YES, Kind.NO, Kind.NO_PREFERENCE)
            and pattern.where == "whole"
            and pattern.kind is Kind.NO_PREFERENCE
        ):
            pass
        return getattr(self, f"_{pattern.takes}")(pattern, start, end)

    def _emit(self, start: int, end: int, act: Act, *, use: bool = True) -> int:
        first, last = self.tokens[start], self.tokens[max(start, end - 1)]
        self.acts.append(with_words(act, self.text, first.start, last.end))
        if use:
            self.used.update(range(start, end))
        return end

    def _nothing(self, pattern: Pattern, start: int, end: int) -> int | None:
        if pattern.kind is Kind.REJECT:
            return self._emit(
                start, end, Act(Kind.REJECT, target=Target("last", words=_join(self.tokens, start, end)))
            )
        if pattern.kind is Kind.NONE_OF_THESE and end - start == 1 and not self._is_whole(start, end):
            return None  # "neither satin nor silk"
        if pattern.kind is Kind.OVERRIDE and (
            _bare_sorry(self.tokens, start, end) or self._starts_longer_cue(start, end)
        ):
            return None
        return self._emit(start, end, Act(pattern.kind, note=pattern.note))

    def _starts_longer_cue(self, start: int, end: int) -> bool:
        """ "Never mind the colour" gives up the colour; only "never mind" by itself is a change of mind."""
        if self.tokens[end - 1].word == "no" and end < len(self.tokens) and self.tokens[end].kind == "word":
            return self.tokens[end].word not in language().grammar["openers"]  # "actually | no leather"
        match = longest(language().cues, [t.word for t in self.tokens[start : end + 6]], 0)
        return match is not None and match[0] > end - start and bool({"relax", "avoid"} & set(match[1]))

    def _target(self, pattern: Pattern, start: int, end: int) -> int | None:
        begin = end
        while begin < len(self.tokens) and self.tokens[begin].word in (
            "me",
            "please",
            "also",
            "just",
            "for",
            "to",
            "out",
            "show",
            "do",
            "you",
        ):
            begin += 1
        bare = pattern.kind in (
            Kind.COMPARE,
            Kind.WHY,
            Kind.MORE_LIKE,
            Kind.BASKET_ADD,
            Kind.BASKET_REMOVE,
            Kind.RATE,
        ) and bool(self.context.shown)
        found = read_target(self.tokens, begin, self.context, numbers=bare)
        if pattern.kind is Kind.REJECT:
            if (
                found is None
                or found[0].how == "name"
                or not self._is_tail(found[1], found[1])
                or not self.context.shown
            ):
                return None
            return self._emit(start, found[1], Act(Kind.REJECT, target=found[0]))
        if pattern.kind is Kind.RATE:
            return self._rate(start, begin, found)
        if pattern.kind is Kind.BASKET_ADD:
            return self._basket_add(start, end, begin, found)
        if pattern.kind is Kind.BASKET_REMOVE:
            return self._basket_remove(start, end, begin, found)
        if pattern.needs == "target" and found is None:
            return None
        if pattern.kind is Kind.FEEDBACK:
            if found is None or not self.context.shown or found[0].how == "name" and not self.context.shown:
                return None
            act = Act(
                Kind.FEEDBACK,
                value=pattern.note,
                polarity=1 if pattern.note == "like" else -1,
                target=found[0],
            )
            return self._emit(start, found[1], act)
        if pattern.kind is Kind.MORE_LIKE:
            if (
                found is None
                or not (self.context.shown or found[0].how == "ordinal")
                or found[0].how == "name"
                and start == end - 1
            ):
                return None
            return self._emit(start, found[1], Act(Kind.MORE_LIKE, target=found[0]))
        if found is None:
            if pattern.kind is Kind.COMPARE and not self.context.shown:
                return self._emit(start, end, Act(Kind.COMPARE))
            stop = self._clause_end(end)
            if pattern.kind is Kind.WHY and stop - end > 6:
                return None
            return self._emit(start, end, Act(pattern.kind))
        target, stop = found
        if pattern.kind is Kind.COMPARE:
            target, stop = self._second_target(target, stop)
        return self._emit(start, stop, Act(pattern.kind, target=target))

    def _second_target(self, target: Target, stop: int) -> tuple[Target, int]:
        """ "the first one with the last", "the Acer and the HP"."""
        while stop < len(self.tokens) and self.tokens[stop].word in (
            "and",
            "with",
            "to",
            "against",
            "vs",
            "versus",
            "or",
            "&",
        ):
            more = read_target(self.tokens, stop + 1, self.context, numbers=True)
            if more is None:
                break
            other, stop = more
            if target.how == other.how == "ordinal":
                target = Target(
                    "ordinal", target.positions + other.positions, f"{target.words} and {other.words}"
                )
            else:
                target = Target(
                    "name" if "name" in (target.how, other.how) else target.how,
                    target.positions,
                    f"{target.words} and {other.words}",
                )
        return target, stop

    def _rate(self, start: int, begin: int, found: tuple[Target, int] | None) -> int | None:
        stars = next((a for a in self.amounts if a.kind == "rating" and a.start >= begin), None)
        end = self._clause_end(begin)
        number = stars.low if stars is not None else None
        if (
            number is None
            and self.tokens[start].word in ("give", "i")
            and not {"rate", "score"} & {t.word for t in self.tokens[start:begin]}
        ):
            return None  # "give me items 1 and 4"
        if number is None:
            for index in range(begin, end):
                token = self.tokens[index]
                if (
                    token.number is not None
                    and 1 <= token.number <= 5
                    and (found is None or index >= found[1] or index < begin)
                ):
                    number = token.number
                    break
        if number is None:
            return None
        target = found[0] if found else Target("last", words="it")
        return self._emit(start, end, Act(Kind.RATE, number=number, target=target))

    def _basket_add(self, start: int, end: int, begin: int, found: tuple[Target, int] | None) -> int | None:
        words = [t.word for t in self.tokens[begin : self._clause_end(begin)]]
        to_basket = any(word in _BASKET_WORDS for word in words[1:]) and any(
            w in ("to", "in", "into", "for", "inside") for w in words
        )
        verb = self.tokens[start].word
        strong = verb in (
            "add",
            "put",
            "include",
            "throw",
            "pack",
            "wrap",
            "reserve",
            "order",
            "carry",
            "bag",
            "drop",
            "purchase",
        )
        quantity: float | None = None
        if begin + 1 < len(self.tokens) and self.tokens[begin + 1].word == "of":
            found = None  # "two of those": a number of pieces, read below
        if (
            found is not None
            and found[0].how == "ordinal"
            and not any(
                w in ("number", "numbers", "#", "option", "item", "first", "second", "third", "last")
                for w in found[0].words.split()
            )
        ):
            index = found[1]
            if index < len(self.tokens) and self.tokens[index].word in ("of", "more"):
                found = None
            elif not strong and verb not in ("give", "get", "buy", "take"):
                found = None
        if found is None:
            # "add two of the first", "add 3 of them", "give me two of those"
            counted = self.tokens[begin] if begin < len(self.tokens) else None
            number = None
            if counted is not None:
                number = (
                    counted.number if counted.kind == "number" else language().number_words.get(counted.word)
                )
            if number and begin + 1 < len(self.tokens) and self.tokens[begin + 1].word in ("of", "more"):
                follow = read_target(self.tokens, begin + 2, self.context, numbers=True)
                if follow is not None:
                    found, quantity = follow, float(number)
                elif self.tokens[begin + 1].word == "more":
                    found, quantity = (Target("last", words="more"), begin + 2), float(number)
        if found is None:
            return None
        target, stop = found
        shown = bool(self.context.shown)
        if (
            not shown
            and target.how in ("attribute", "name", "last")
            and not to_basket
            and not (strong and target.how == "last")
        ):
            return None
        if target.how in ("name",) and not strong and not to_basket and verb not in ("take", "will", "buy"):
            if _join(self.tokens, start, end) in ("i want", "i need", "give me", "get me", "i would like"):
                return None
        if (
            target.how == "attribute"
            and not strong
            and not to_basket
            and _join(self.tokens, start, end)
            in ("i want", "i need", "give me", "get me", "i would like", "i want to get", "i want to buy")
        ):
            return None
        if (
            target.how == "last"
            and _join(self.tokens, start, end) in ("i need", "i want", "i would like")
            and stop < len(self.tokens)
            and self.tokens[stop].word in ("to", "in", "for", "with", "but")
        ):
            return None
        stop = self._basket_tail(stop)
        for amount in self.amounts:
            if quantity is None and amount.kind == "count" and begin <= amount.start <= stop + 4:
                quantity = amount.low
        options = tuple(
            f"size={a.text}"
            for a in self.amounts
            if a.kind == "size" and a.start >= start and a.start < self._clause_end(start)
        )
        act = Act(Kind.BASKET_ADD, target=target, number=quantity, values=options)
        return self._emit(start, stop, act)

    def _basket_tail(self, stop: int) -> int:
        """Swallows "to my cart", "for my basket"."""
        index = stop
        while index < len(self.tokens) and self.tokens[index].word in (
            "to",
            "in",
            "into",
            "for",
            "inside",
            "my",
            "the",
            "our",
            "your",
            "as",
            "well",
            "too",
            "please",
            "also",
        ):
            index += 1
        if index < len(self.tokens) and self.tokens[index].word in _BASKET_WORDS | {"list"}:
            return index + 1
        return stop

    def _basket_remove(
        self, start: int, end: int, begin: int, found: tuple[Target, int] | None
    ) -> int | None:
        if not self.context.basket and not any(t.word in ("basket", "cart", "trolley") for t in self.tokens):
            return None
        stop = self._clause_end(begin)
        saying = _join(self.tokens, start, end)
        if saying in ("i do not want", "i no want", "i no need") and not any(
            t.word in ("basket", "cart", "trolley") for t in self.tokens[begin:stop]
        ):
            return None
        tail = [
            i for i in range(begin, stop) if self.tokens[i].word in ("from", "for", "out", "inside", "in")
        ]
        if found is not None and found[0].how in ("ordinal", "last", "all", "extreme"):
            return self._emit(start, self._from_basket(found[1]), Act(Kind.BASKET_REMOVE, target=found[0]))
        words_end = tail[0] if tail else stop
        words = _join(self.tokens, begin, words_end)
        words = " ".join(
            w for w in words.split() if w not in ("the", "my", "that", "a", "one", "please", "abeg")
        )
        if not words:
            return None
        return self._emit(start, stop, Act(Kind.BASKET_REMOVE, value=words))

    def _from_basket(self, stop: int) -> int:
        index = stop
        while index < len(self.tokens) and self.tokens[index].word in (
            "from",
            "for",
            "out",
            "of",
            "my",
            "the",
            "inside",
            "in",
        ):
            index += 1
        return index + 1 if index < len(self.tokens) and self.tokens[index].word in _BASKET_WORDS else stop

    def _number(self, pattern: Pattern, start: int, end: int) -> int | None:
        if not self.context.basket or end >= len(self.tokens):
            return None
        token = self.tokens[end]
        number = token.number if token.kind == "number" else language().number_words.get(token.word)
        if number is None or not 1 <= number <= 100 or number != int(number):
            return None
        after = end + 1
        if any(a.start <= end < a.end and a.kind != "count" and a.unit != "piece" for a in self.amounts):
            return None
        if after < len(self.tokens) and self.tokens[after].word in (
            "of",
            "pieces",
            "pcs",
            "instead",
            "please",
            "abeg",
            "units",
            "them",
            "pairs",
            "pair",
        ):
            after += 1
        follow = read_target(self.tokens, after, self.context) if after < len(self.tokens) else None
        if (
            after < len(self.tokens)
            and self.tokens[after].kind == "word"
            and follow is None
            and self.tokens[after].word not in ("please", "abeg", "instead", "them")
        ):
            return None
        target = follow[0] if follow else Target("last", words="it")
        return self._emit(
            start,
            follow[1] if follow else after,
            Act(Kind.BASKET_QUANTITY, number=float(number), target=target),
        )

    def _rest(self, pattern: Pattern, start: int, end: int) -> int | None:
        stop = len(self.tokens) if pattern.kind in (Kind.REMEMBER,) else self._clause_end(end)
        words = (
            self.text[self.tokens[end].start : self.tokens[stop - 1].end].strip(" .!?,:;")
            if stop > end
            else ""
        )
        phrase = _join(self.tokens, start, end)
        if pattern.kind is Kind.FORGET:
            if not words and not phrase.endswith(("me", "memory", "data", "memories", "fact", "this")):
                return None
            everything = phrase.endswith(
                ("everything", "about me", "my data", "my memory", "forget me", "my memories")
            ) or words.lower() in ("everything", "me", "about me", "all")
            first = fold_first(words)
            if (
                phrase in ("forget my", "remove my", "delete my", "erase my", "comot my", "wipe my")
                and first in _STATE_WORDS
                and not _remembered(words)
            ):
                return None
            value = "all" if everything else words
            self.used.update(range(start, stop))
            return self._emit(start, stop, Act(Kind.FORGET, value=value))
        if pattern.kind is Kind.RECALL:
            if phrase in ("what is my", "what are my", "wetin be my") and any(
                w in words.lower() for w in ("basket", "cart", "total", "order")
            ):
                return None
            return self._emit(start, stop, Act(Kind.RECALL, value=words or None))
        if pattern.kind is Kind.REMEMBER:
            if not words or (start and self.tokens[start - 1].word in ("will", "i")):
                return None  # "I'll keep in mind that …" is her own note
            return self._emit(start, end, Act(Kind.REMEMBER, value=words))
        if pattern.kind is Kind.FEEDBACK:
            if not words or (phrase in ("i got", "i have a") and not self._outcome(words)):
                return None
            outcome, polarity = self._outcome(words) or ("", 1)
            if (phrase == "i buy" and not outcome) or words.startswith("to "):
                return None
            act = Act(Kind.FEEDBACK, value=pattern.note, note=words, polarity=polarity)
            return self._emit(start, stop, act)
        return None

    def _outcome(self, words: str) -> tuple[str, int] | None:
        lowered = words.lower().replace("'", "")
        for name, polarity in (("negative", -1), ("positive", 1)):
            for phrase in load_toml("acts.toml")["outcomes"][name]:
                if phrase in lowered:
                    return phrase, polarity
        return None

    def _object(self, pattern: Pattern, start: int, end: int) -> int | None:
        """ "keep the colour after all": the object's words; the assembly finds what they mean."""
        stop = self._clause_end(end)
        words = [t.word for t in self.tokens[end:stop]]
        text = " ".join(words)
        cues = ("after all", "as before", "like before", "again", "back", "as it was", "sef", "still")
        strong = _join(self.tokens, start, end).split()[0] in (
            "restore",
            "reinstate",
            "re",
        ) or "back" in _join(self.tokens, start, end)
        if not words or not (strong or any(text.endswith(cue) or f" {cue} " in f" {text} " for cue in cues)):
            return None
        pointed = read_target(self.tokens, end, self.context) or read_target(
            self.tokens, end - 1, self.context
        )
        if pointed is not None and pointed[0].how in ("ordinal", "last") and self.context.shown:
            return self._emit(start, pointed[1], Act(Kind.REFER, target=pointed[0]))
        for cue in cues:
            text = text.removesuffix(" " + cue)
        return self._emit(start, stop, Act(Kind.RESTORE, value=text))

    def _attribute(self, pattern: Pattern, start: int, end: int) -> int | None:
        """ "change the colour to red": the slot is erased, what follows is read as its new value."""
        named = attribute_at(self.tokens, end)
        if named is None:
            return None
        stop, attribute = named
        if stop < len(self.tokens) and self.tokens[stop].word in ("to", "from", "into", "be", "for"):
            stop += 1
        elif self.tokens[start].word == "make":
            return None
        return self._emit(start, stop, Act(Kind.OVERRIDE, attribute=attribute))

    def _value(self, pattern: Pattern, start: int, end: int) -> int | None:
        """ "blue instead of black": what stands behind goes."""
        stop = end
        while (
            stop < len(self.tokens)
            and stop - end < 4
            and self.tokens[stop].kind == "word"
            and self.tokens[stop].word not in _VALUE_ENDS
        ):
            stop += 1
        if stop == end:
            return None
        value = " ".join(
            t.word for t in self.tokens[end:stop] if t.word not in ("the", "a", "an", "ones", "one")
        )
        return self._emit(start, stop, Act(Kind.OVERRIDE, value=value or None))

    def _behind(self, pattern: Pattern, start: int, end: int) -> int | None:
        """ "the last one na how much?": the target stands before the question."""
        begin = self._clause_start(start)
        if begin == start or not self._is_tail(start, end):
            return None
        found = read_target(self.tokens, begin, self.context)
        if found is None or found[1] > start or found[1] < start - 1:
            return None
        return self._emit(begin, end, Act(Kind.ASK, attribute="price", target=found[0]))

    def _like_last(self, pattern: Pattern, start: int, end: int) -> int | None:
        """ "Something similar": more like what was talked about."""
        return self._emit(start, end, Act(Kind.MORE_LIKE, target=Target("last", words="it")))

    def _available(self, pattern: Pattern, start: int, end: int) -> int | None:
        """ "does it come in black?": asked of the item; the colour itself is read as a wish behind."""
        begin = self._clause_start(start)
        found = read_target(self.tokens, begin, self.context) if begin < start else None
        attribute = "colour"
        window = [t.word for t in self.tokens[end : self._clause_end(end)]]
        if "size" in window or any(t.kind == "number" for t in self.tokens[end : end + 3]):
            attribute = "size"
        target = found[0] if found else Target("last", words="it")
        asked = [i for i in range(begin, start) if self.tokens[i].word in _ASKING]
        first = asked[-1] if asked else start
        return self._emit(first, end, Act(Kind.ASK, attribute=attribute, target=target))

    def _question(self, pattern: Pattern, start: int, end: int) -> int | None:
        from ego_cli.conversation.understand.questions import read_question

        stop = self._question_end(end)
        if pattern.note == "how quality" and not (
            end + 1 < stop and self.tokens[end + 1].word in ("is", "are", "does", "do", "was")
        ):
            return None
        if pattern.note == "target first":
            found = read_target(self.tokens, end, self.context)
            if found is None or found[0].how == "name":
                return None
        if "in" in (t.word for t in self.tokens[end:stop]) and _COMING & {
            t.word for t in self.tokens[start:stop]
        }:
            return None  # "does the strap come in brown?": read where "come in" stands
        act = read_question(self.text, self.tokens, start, end, stop, self.context)
        if act is None:
            return None
        return self._emit(start, stop, act)

    def _question_end(self, index: int) -> int:
        """A question ends with its clause or where the next question begins ("…, and how many reviews?")."""
        stop = self._clause_end(index)
        while index < stop:
            if self.tokens[index].word in (",", "and") and any(
                t.word in _QUESTION_WORDS for t in self.tokens[index + 1 : index + 3]
            ):
                return index
            index += 1
        return stop


_STATE_WORDS = frozenset(
    [
        "budget",
        "price",
        "colour",
        "earlier",
        "previous",
        "last",
        "brand",
        "size",
        "filter",
        "filters",
        "preference",
        "request",
    ]
)


def _remembered(words: str) -> bool:
    return any(w in words.lower() for w in ("memory", "remembered", "saved", "profile"))


def fold_first(words: str) -> str:
    """The first word, lower case."""
    return words.lower().split()[0] if words.split() else ""


def _bare_sorry(tokens: Sequence[Token], start: int, end: int) -> bool:
    """ "sorry", "wait", "I mean", "instead" only count where something is changed: not as the whole message."""
    return len(tokens) == end - start


def _join(tokens: Sequence[Token], start: int, end: int) -> str:
    return " ".join(token.word for token in tokens[start:end])


def with_words(act: Act, text: str, start: int, end: int) -> Act:
    from dataclasses import replace

    return replace(act, words=text[start:end], span=Span(start, end))
