"""Negation and its kin: which items are wanted, avoided, no longer required or welcome again, and where that ends.

The walk goes over the items of a message once. A cue opens a mode; the mode holds until its scope ends: at the end of the
clause, at "but", at a new wish, or at a comma after which no list goes on ("no heels, red dress" against "no leather, suede
or plastic").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ego_cli.conversation.understand.acts import Hardness
from ego_cli.conversation.understand.items import Item
from ego_cli.conversation.understand.language import language
from ego_cli.conversation.understand.tokens import Token

_SENTENCE_ENDS = frozenset([".", "!", "?", ";", "\n", "…", "..."])
_BACK_PREFER = frozenset(
    [
        "would be nice",
        "would be great",
        "would be good",
        "would be a plus",
        "would be a bonus",
        "a plus",
        "a bonus",
        "nice to have",
        "if possible",
        "if you can",
        "if you have it",
        "if available",
        "if e dey",
        "if e possible",
        "i guess",
        "maybe",
    ]
)
_DENIALS = frozenset(["is not", "are not", "does not have", "does not", "do not have", "not"])
_DEAR = frozenset(["expensive", "pricey", "costly", "overpriced", "dear"])
_SKIPPING = frozenset(
    "skip the;remove the;remove that;drop the;lose the;comot the;comot that;leave the;take off the".split(";")
)
_BACK_ONLY = frozenset(
    [
        "nothing else",
        "do not offer me anything else",
        "deal breaker",
        "non negotiable",
        "a must",
        "no other",
        "no substitutes",
        "no other one",
    ]
)


@dataclass(slots=True)
class Scoped:
    """A run of neighbouring items under one mode.

    ``mode``: "want", "avoid", "relax", "readmit". ``lead``: the word class in front ("for", "with", "by", ""). ``joined``:
    how it hangs on the run before ("and", "or", ",", ""). ``clause`` counts sentences, ``segment`` their comma parts.
    """

    items: list[Item]
    mode: str
    hardness: Hardness
    clause: int
    segment: int
    lead: str = ""
    joined: str = ""
    any_of_it: bool = False
    sought: bool = False

    def under(self, mode: str) -> Scoped:
        """The same run under another mode."""
        return replace(self, mode=mode)


def scope(tokens: Sequence[Token], items: Sequence[Item], shown: bool = False) -> list[Scoped]:
    """Runs of content with their modes. ``shown``: a list is on the screen, so that "it" may be one of its items."""
    walker = _Walker(tokens, items, shown)
    for position, item in enumerate(items):
        walker.step(position, item)
    walker.flush()
    return walker.runs


class _Walker:
    def __init__(self, tokens: Sequence[Token], items: Sequence[Item], shown: bool) -> None:
        self.tokens = tokens
        self.context_shown = shown
        self.items = items
        self.runs: list[Scoped] = []
        self.run: list[Item] = []
        self.mode = "want"
        self.hardness = Hardness.MUST
        self.clause = 0
        self.segment = 0
        self.lead = ""
        self.last_lead = ""
        self.last_sought = False  # the run before was the bare object of a search, and a list may go on
        self.joined = ""
        self.sought = False
        self.any_of_it = False
        self.content = False  # content seen since the mode was opened

    # --- building ---

    def flush(self) -> None:
        if self.run:
            self.runs.append(
                Scoped(
                    self.run,
                    self.mode,
                    self.hardness,
                    self.clause,
                    self.segment,
                    self.lead,
                    self.joined,
                    self.any_of_it,
                    self.sought,
                )
            )
            self.last_sought = self.sought and all(item.kind != "word" for item in self.run)
            self.run = []
            self.sought = False
            self.content = True
            self.joined = ""
            self.last_lead = self.lead
            self.lead = ""
            self.any_of_it = False

    def _open(self, mode: str) -> None:
        self.flush()
        self.mode = mode
        self.content = False

    def _words(self, item: Item) -> str:
        return " ".join(t.word for t in self.tokens[item.start : item.end])

    # --- one item ---

    def step(self, position: int, item: Item) -> None:
        if item.kind == "mark":
            self._mark(position, item)
        elif item.kind == "cue":
            self._cue(position, item)
        elif item.kind == "used":
            self.flush()
            self.sought = False
            if self.mode != "want" and not self.content:
                self._reset()  # its object was read as something else ("no, I don't want that one")
        elif (
            item.kind == "amount"
            and item.amount is not None
            and item.amount.kind in ("price", "rating", "reviews", "size")
        ):
            self.flush()
            self.run.append(item)
            self.flush()
        elif item.kind == "filler":
            self._filler(item)
        else:
            self.run.append(item)

    def _filler(self, item: Item) -> None:
        word = item.value
        if word == "same":
            self.flush()
            self.lead = "same"
            return
        if word in ("any", "every", "all", "whichever", "either", "different", "another", "other"):
            self.flush()
            self.any_of_it = word in ("any", "every", "all", "whichever")
            self.lead = word if word in ("different", "another", "other") else self.lead
            return
        if word in ("by", "from", "in", "brand", "my", "called"):
            if word in ("in", "from") and self.run:
                self.run.append(item)
                return
            if self.run and word != "my":
                self.flush()
            if not self.run:
                self.lead = word if not (self.lead == "for" and word == "my") else "for my"
            else:
                self.run.append(item)
            return
        if word == "have" and self.any_of_it:
            return
        if self.run:
            self.run.append(item)

    def _mark(self, position: int, item: Item) -> None:
        if item.value in _SENTENCE_ENDS:
            self.flush()
            self._reset()
            self.clause += 1
            self.segment += 1
            self.sought = False
            return
        if item.value in (",", ":", "(", ")", "/", "-") or item.value == '"':
            if item.value == "-" and self._dash_negates(position, item):
                self._open("avoid")
                return
            self.flush()
            self.segment += 1
            self.joined = "or" if item.value == "/" else ","
            self.sought = self.last_sought
            if item.value == ":" or item.value in "()":
                self.joined = ""
            if (
                self.mode != "want"
                and self.content
                and item.value != "/"
                and not self._list_goes_on(position)
            ):
                self._reset()
        elif item.value == "&":
            self._conjunction(position, "and")
        elif item.value == "+" and self.run:
            self._conjunction(position, "and")

    def _dash_negates(self, position: int, item: Item) -> bool:
        """ "sneakers -leather": a dash that touches the word behind and not the one before."""
        following = self.items[position + 1] if position + 1 < len(self.items) else None
        if following is None or following.kind in ("mark", "amount"):
            return False
        behind = self.tokens[item.end].glue == "+" if item.end < len(self.tokens) else False
        return behind and self.tokens[item.start].glue == ""

    def _cue(self, position: int, item: Item) -> None:
        classes = item.classes
        words = self._words(item)
        if "skip" in classes and len(classes) == 1:
            self.flush()
            return
        if "must_back" in classes and self._run_or_runs():
            self.flush()
            self._matters()
            return
        if words == "no" and self._interjected(position):
            self.flush()
            self._reset()
            return
        if words in _DENIALS and self._about_shown(position):
            self._open("want")
            self.sought = False
            return
        if "doubt" in classes:
            self._open("doubt")
            return
        if "relax_back" in classes and self._back("relax"):
            return
        if "readmit_back" in classes and self._back("readmit"):
            return
        if "not_only" in classes:
            self._open("not_only")
        elif "readmit" in classes:
            self._open("readmit")
        elif words in _SKIPPING and {"one", "ones"} & {t.word for t in self.tokens[item.end : item.end + 4]}:
            self._open("avoid")  # "skip the leather ones"
        elif "relax" in classes and not ("avoid" in classes and len(words.split()) == 1):
            self._open("relax")
        elif "avoid" in classes:
            self._avoid(words, item)
        elif classes & {
            "lower_half",
            "upper_half",
            "middle",
            "cheapest",
            "dearest",
            "best_rated",
            "most_popular",
        }:
            self._band(position, item, words)
        elif "but" in classes and "want" not in classes and "prefer" not in classes:
            self._but(position)
        elif "only" in classes:
            self._only(words)
        elif "prefer" in classes and (words not in _BACK_PREFER or not self._run_or_runs()):
            self._prefer()
            if "want" in classes:
                self.sought = True
        elif words in _BACK_PREFER:
            self.flush()
            self._harden(Hardness.PREFER)
        elif "or" in classes:
            self._conjunction(position, "or")
        elif words == "plus" and self._model_before(item):
            self.run.append(Item("word", item.start, item.end, words))
        elif "and" in classes and "with" not in classes:
            self._conjunction(position, "and")
        elif "with" in classes and "want" not in classes:
            self.flush()
            after_act = position > 0 and self.items[position - 1].kind == "used"
            self.lead = "" if after_act else "with"
            self.sought = self.sought or after_act
            if words == "plus" or words == "including":
                self.joined = "and"
        elif "for" in classes:
            if (
                self.run
                and not self._somebody(position + 1)
                and any(i.kind == "word" for i in self.run)
                and not any(i.kind == "name" and any(n.kind == "product" for n in i.names) for i in self.run)
            ):
                self.run.append(Item("filler", item.start, item.end, "for"))
            else:
                self.flush()
                if self.mode != "want" and self.content:
                    self._reset()
                self.lead = "for"
        elif "want" in classes:
            self._want(words)

    def _matters(self) -> None:
        """ "…, nor battery life, performance and size are important": the last part is wanted after all."""
        for run in reversed(self.runs):
            if run.clause != self.clause or run.segment != self.segment:
                break
            if run.mode == "relax":
                run.mode = "want"

    def _somebody(self, position: int) -> bool:
        """Whether the next name is a person's or says for whom ("for my mum", "for men")."""
        for item in self.items[position : position + 3]:
            if item.kind == "name":
                return any(name.kind in ("gender", "person") for name in item.names)
            if item.kind != "filler":
                return False
        return False

    def _model_before(self, item: Item) -> bool:
        """ "iPhone 8 Plus": part of a name."""
        before = self.tokens[item.start - 1] if item.start else None
        return before is not None and before.kind == "number" and bool(self.run)

    def _interjected(self, position: int) -> bool:
        """ "No I want …", "No, exclude that": an answer, not the negation of what follows."""
        before = self.items[position - 1] if position else None
        if before is not None and before.kind not in ("mark", "used"):
            return False
        following = self.items[position + 1] if position + 1 < len(self.items) else None
        if following is None:
            return True
        if following.kind == "filler":
            return following.value in (
                "i",
                "it",
                "that",
                "this",
                "you",
                "we",
                "they",
                "thanks",
                "please",
                "sorry",
                "the",
                "something",
            )
        return following.kind in ("mark", "used") or (
            following.kind == "cue" and bool(following.classes & {"avoid", "want", "relax", "prefer"})
        )

    def _about_shown(self, position: int) -> bool:
        """ "It's not a road shoe", said of what was shown: she wants a road shoe."""
        if not self.context_shown or not position:
            return False
        subject = self.items[position - 1]
        if subject.kind != "filler" or subject.value not in ("it", "this", "they", "these", "e"):
            return False
        before = self.items[position - 2] if position > 1 else None
        return (
            before is None
            or before.kind in ("mark", "used")
            or (before.kind == "cue" and bool(before.classes & {"but", "and"}))
        )

    def _run_or_runs(self) -> bool:
        return bool(self.run) or any(run.clause == self.clause for run in self.runs)

    # --- modes ---

    def _reset(self) -> None:
        self.mode = "want"
        self.hardness = Hardness.MUST
        self.content = False
        self.any_of_it = False
        self.lead = ""

    def _avoid(self, words: str, item: Item) -> None:
        self.flush()
        if self.mode == "avoid" and not self.content:
            if words in ("without", "dislike", "hate", "avoid"):
                self.mode = "readmit"  # two negations make none
            return
        if self.mode == "readmit" and not self.content:
            return
        if (
            words == "nor"
            and self.runs
            and self.runs[-1].mode == "relax"
            and self.runs[-1].clause == self.clause
        ):
            self.mode, self.content = "relax", False
            return
        self.mode = "avoid"
        self.content = False
        self.lead = ""

    def _want(self, words: str) -> None:
        if self.mode in ("avoid", "relax", "readmit") and not self.content and not self.run:
            self.flush()
            if words in (
                "that is",
                "that are",
                "which is",
                "that has",
                "that have",
                "which has",
                "having",
                "like",
                "to have",
                "want",
                "need",
                "see",
                "show",
                "buy",
                "wey get",
                "wey be",
                "bring",
                "have",
                "get",
                "wey",
                "try",
                "order",
                "offer",
                "carry",
            ):
                return
            if words in ("is there", "are there"):
                return
        if self.mode != "want" and words in (
            "that is",
            "that are",
            "which is",
            "which are",
            "like",
            "see",
            "get",
            "buy",
            "carry",
            "list",
            "order",
            "that can",
            "offer",
            "want",
            "need",
            "needs",
        ):
            self.flush()
            return
        self.flush()
        if words == "just":
            if self.mode != "want":
                self._reset()
            return
        if words in (
            "that is",
            "that are",
            "which is",
            "which are",
            "that has",
            "that have",
            "which has",
            "which have",
            "having",
            "wey get",
            "wey be",
            "wey dey",
            "wey",
            "wey fit",
            "that can",
            "comes with",
            "come with",
            "featuring",
            "equipped with",
            "just",
            "like",
            "offers",
        ):
            if self.mode != "want":
                self._reset()
            self.lead = "with"
            return
        self._reset()
        self.sought = True

    def _but(self, position: int) -> None:
        self.flush()
        start = self.items[position].start
        recent = [token.word for token in self.tokens[max(0, start - 4) : start]]
        for mark in (",", ":", "-"):
            if mark in recent:
                recent = recent[len(recent) - recent[::-1].index(mark) :]
        if {"any", "every", "all", "anything", "everything"} & set(recent):
            self.mode, self.content = "avoid", False
            return
        self._reset()
        self.segment += 1
        self.joined = ""

    def _only(self, words: str) -> None:
        if words in _BACK_ONLY:
            self.flush()
            self._harden(Hardness.ONLY)
            return
        self.flush()
        if self.mode != "want" and self.content:
            self._reset()
        if self.mode == "want":
            self.hardness = Hardness.ONLY

    def _prefer(self) -> None:
        self.flush()
        if self.mode == "avoid" and not self.content:
            self.hardness = Hardness.PREFER
            return
        self._reset()
        self.hardness = Hardness.PREFER

    def _harden(self, hardness: Hardness) -> None:
        for run in self.runs:
            if (
                run.clause == self.clause
                and run.segment == self.segment
                or (hardness is Hardness.ONLY and run.clause == self.clause)
            ):
                run.hardness = hardness

    def _back(self, mode: str) -> bool:
        """A cue behind its object: "the brand no longer matters", "black is fine too"."""
        self.flush()
        found = False
        for run in reversed(self.runs):
            if run.clause != self.clause or run.segment != self.segment:
                break
            if run.mode == "want" or run.mode == "avoid" and mode == "readmit":
                run.mode = mode
                found = True
            if run.joined not in ("and", "or"):
                break
        return found

    def _band(self, position: int, item: Item, words: str) -> None:
        if self.mode in ("relax", "readmit") and not self.content:
            self.run.append(Item("attribute", item.start, item.end, "price"))
            self.flush()
            return
        if self.mode == "avoid" and not self.content and words in _DEAR:
            self._reset()  # "nothing too pricey" is a wish for the lower half
            self.run.append(item._replace(classes=frozenset({"lower_half"})))
            self.flush()
            return
        if self.mode == "avoid" and not self.content:
            # "not cheap", "does not look cheap": a wish about quality, kept in her words
            self.run.append(Item("word", item.start, item.end, words))
            return
        self.flush()
        self.run.append(item)
        self.flush()

    # --- lists ---

    def _conjunction(self, position: int, word: str) -> None:
        self.flush()
        self.joined = word
        self.sought = self.last_sought
        if self.last_lead == "with" and not self.lead:
            self.lead = "with and"
        if self.mode == "want" or not self.content:
            if self.mode == "want":
                self.segment += 0
            return
        following = self._next_content(position)
        if word == "or":
            return
        if (
            following is None
            or not self._same_kind(following)
            or self._determined(position)
            or self._praised(position)
        ):
            self._reset()
            self.joined = word
            self.segment += 1

    def _next_content(self, position: int) -> Item | None:
        for item in self.items[position + 1 :]:
            if item.kind == "mark" and item.value in _SENTENCE_ENDS:
                return None
            if item.kind in ("name", "word", "attribute"):
                return item
            if item.kind in ("cue", "amount", "used"):
                return None
        return None

    def _determined(self, position: int) -> bool:
        """ "no heels and a red dress": an article begins something new."""
        for item in self.items[position + 1 : position + 3]:
            if item.kind == "filler" and item.value in (
                "a",
                "an",
                "some",
                "i",
                "it",
                "make",
                "show",
                "please",
                "my",
                "the",
                "one",
                "is",
            ):
                return True
            if item.kind != "filler":
                break
        return False

    def _praised(self, position: int) -> bool:
        """ "No lag and flexible storage": an adjective of praise begins a wish."""
        praise = language().graded | frozenset(language().names["adjectives"]["names"])
        for item in self.items[position + 1 : position + 3]:
            if item.kind in ("filler", "word"):
                return item.value in praise
        return False

    def _same_kind(self, item: Item) -> bool:
        last = next(
            (
                i
                for run in reversed(self.runs)
                for i in reversed(run.items)
                if i.kind in ("name", "word", "attribute")
            ),
            None,
        )
        if last is None:
            return False
        if item.kind == "name" and last.kind == "name":
            kinds = {n.kind for n in item.names}
            before = {n.kind for n in last.names}
            if not kinds & before:
                return False
            after = self._after(item)
            return not (
                kinds <= {"colour", "material", "gender", "brand"}
                and after is not None
                and after.kind == "name"
                and any(n.kind == "product" for n in after.names)
            )
        return item.kind != "name" or last.kind != "name"

    def _after(self, item: Item) -> Item | None:
        index = self.items.index(item) + 1
        return self.items[index] if index < len(self.items) else None

    def _list_goes_on(self, position: int) -> bool:
        """Whether the negated list goes on behind a comma: its items are of one kind and an "or"/"nor" ends it, or they
        are bare words of the same kind to the end of the clause."""
        following = self._next_content(position)
        if following is None:
            ahead = self.items[position + 1] if position + 1 < len(self.items) else None
            return ahead is not None and ahead.kind == "cue" and bool({"or"} & ahead.classes)
        direct = self.items[position + 1 : position + 2]
        if direct and direct[0].kind == "filler":
            return False
        if not self._same_kind(following):
            return False
        closed = False
        index = position + 1
        width = 0
        while index < len(self.items):
            item = self.items[index]
            if item.kind == "mark":
                if item.value in _SENTENCE_ENDS:
                    break
                width = 0
            elif item.kind == "cue":
                if "or" in item.classes:
                    closed = True
                elif "and" in item.classes:
                    closed = (
                        closed
                        or following.kind != "name"
                        or not any(n.kind in ("colour", "product") for n in following.names)
                    )
                else:
                    break
                width = 0
            elif item.kind in ("name", "word", "attribute"):
                width += 1
                if width > 2:
                    return closed
            elif item.kind == "filler":
                return closed
            else:
                break
            index += 1
        if closed:
            return True
        return following.kind == "word" or all(n.kind == "material" for n in following.names)
