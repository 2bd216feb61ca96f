"""Negation and its kin: which items are wanted, avoided, no longer required or welcome again, and where that ends.

The walk goes over the items of a message once. A cue opens a mode; the mode holds until its scope ends: at the end of the
clause, at "but", at a new wish, or where no list goes on (``lists``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ego_cli.conversation.understand.acts import Hardness
from ego_cli.conversation.understand.items import Item
from ego_cli.conversation.understand.language import language
from ego_cli.conversation.understand.lists import SENTENCE_ENDS, goes_on_after_and, goes_on_after_comma
from ego_cli.conversation.understand.tokens import Token

_BANDS = frozenset(
    ["lower_half", "upper_half", "middle", "cheapest", "dearest", "best_rated", "most_popular"]
)
_QUANTIFIERS = frozenset(["any", "every", "all", "whichever"])
_OTHERS = frozenset(["different", "another", "other"])


@dataclass(slots=True)
class Scoped:
    """A run of neighbouring items under one mode.

    ``mode``: "want", "avoid", "relax", "readmit", "not_only" or "doubt". ``lead``: what stands in front ("for", "for my",
    "with", "with and", "by", "in", "same", "other", ""). ``joined``: how it hangs on the run before ("and", "or", ",", "").
    ``clause`` counts sentences, ``segment`` their comma parts. ``sought``: it is the object of a word of search.
    ``any_of_it``: "any", "every", "all" stands in front.
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
        self.items = items
        self.shown = shown
        self.runs: list[Scoped] = []
        self.run: list[Item] = []
        self.mode = "want"
        self.content = False  # something was said since the mode was opened
        self.hardness = Hardness.MUST
        self.clause = 0
        self.segment = 0
        self.lead = ""
        self.joined = ""
        self.sought = False
        self.any_of_it = False
        self.last_lead = ""
        self.last_sought = False  # the run before was the bare object of a search, and a list may go on

    # --- runs ---

    def flush(self) -> None:
        """End the run."""
        if not self.run:
            return
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
        self.last_lead = self.lead
        self.last_sought = self.sought and all(item.kind != "word" for item in self.run)
        self.run = []
        self.content = True
        self.lead, self.joined = "", ""
        self.sought = self.any_of_it = False

    def _open(self, mode: str) -> None:
        self.flush()
        self.mode = mode
        self.content = False
        self.lead = ""

    def _reset(self) -> None:
        self.mode = "want"
        self.hardness = Hardness.MUST
        self.content = self.any_of_it = False
        self.lead = ""

    def _bound(self) -> bool:
        """A mode was opened and its object has not come yet."""
        return self.mode != "want" and not self.content and not self.run

    def _here(self) -> list[Scoped]:
        """Runs of this part of the sentence, the latest first."""
        found = []
        for run in reversed(self.runs):
            if run.clause != self.clause or run.segment != self.segment:
                break
            found.append(run)
        return found

    def _said_before(self) -> bool:
        return bool(self.run) or any(run.clause == self.clause for run in self.runs)

    def _last_item(self) -> Item | None:
        content = ("name", "word", "attribute")
        return next(
            (i for run in reversed(self.runs) for i in reversed(run.items) if i.kind in content), None
        )

    # --- one item ---

    def step(self, position: int, item: Item) -> None:
        """Take in the next item."""
        if item.kind == "mark":
            self._mark(position, item)
        elif item.kind == "cue":
            self._cue(position, item)
        elif item.kind == "used":
            self.flush()
            self.sought = False
            if self._bound():
                self._reset()  # its object was read as something else ("no, I don't want that one")
        elif item.amount is not None and item.amount.kind in ("price", "rating", "reviews", "size"):
            self.flush()
            self.run.append(item)
            self.flush()
        elif item.kind == "filler":
            self._filler(item)
        else:
            if self.tokens[item.start].word == "with" and self.mode == "avoid" and self._says_quality():
                self.flush()  # "no fringe | with a hood"
                self._reset()
            self.run.append(item)

    def _filler(self, item: Item) -> None:
        word = item.value
        if word == "same" or word in _OTHERS or word in _QUANTIFIERS or word == "either":
            self.flush()
            self.any_of_it = word in _QUANTIFIERS
            if word == "same" or word in _OTHERS:
                self.lead = word
        elif word in ("by", "brand", "called") and self.run:
            self.flush()
            self.lead = word
        elif word in ("by", "from", "in", "brand", "my", "called") and not self.run:
            self.lead = "for my" if self.lead == "for" and word == "my" else word
        elif self.run:
            self.run.append(item)

    def _mark(self, position: int, item: Item) -> None:
        if item.value in SENTENCE_ENDS:
            self.flush()
            self._reset()
            self.clause += 1
            self.segment += 1
            self.sought = False
        elif item.value in ("&", "+"):
            if item.value == "&" or self.run:
                self._conjunction(position, "and")
        elif item.value == "-" and self._dash_negates(position, item):
            self._open("avoid")
        elif item.value in (",", ":", "(", ")", "/", "-", '"'):
            self.flush()
            self.segment += 1
            self.joined = {"/": "or", ",": ",", "-": ",", '"': ","}.get(item.value, "")
            self.sought = self.last_sought
            ends = self.mode != "want" and self.content and item.value != "/"
            if ends and item.value in (":", "-"):
                self._reset()  # "I won't budge on this: silk", "it can't be skipped - silk"
            elif ends and not goes_on_after_comma(self.items, position, self._last_item()):
                self._reset()

    def _dash_negates(self, position: int, item: Item) -> bool:
        """ "Sneakers -leather": a dash that touches the word behind and not the one before."""
        following = self.items[position + 1] if position + 1 < len(self.items) else None
        if following is None or following.kind in ("mark", "amount"):
            return False
        return self.tokens[item.end].glue == "+" and self.tokens[item.start].glue == ""

    # --- cues ---

    def _cue(self, position: int, item: Item) -> None:
        classes = item.classes
        words = " ".join(token.word for token in self.tokens[item.start : item.end])
        if classes == {"skip"}:
            self.flush()
        elif self._stands_behind(position, words, classes):
            return
        elif words == "no" and self.run and self.mode == "want" and self._ends_part(position):
            self.mode = "avoid"  # "palm oil no"
            self.flush()
            self._reset()
        elif words == "no" and self._interjected(position):
            self.flush()
            self._reset()
        elif words in language().scopes["denials"] and self._about_shown(position):
            self._open("want")
        elif self._opens_mode(item, words):
            return
        elif classes & _BANDS:
            self._band(item, words)
        elif "but" in classes and not classes & {"want", "prefer"}:
            self._but(position)
        elif "only" in classes:
            self._only()
        elif "prefer" in classes:
            self._prefer()
            self.sought = self.sought or "want" in classes
        elif "or" in classes:
            self._conjunction(position, "or")
        elif words == "plus" and self.run and self.tokens[item.start - 1].kind == "number":
            self.run.append(Item("word", item.start, item.end, words))  # "iPhone 8 Plus"
        elif "and" in classes and "with" not in classes:
            self._conjunction(position, "and")
        elif "with" in classes and "want" not in classes:
            self._with(position, words)
        elif "for" in classes:
            self._for(position, item)
        elif "want" in classes:
            self._want(words)

    def _opens_mode(self, item: Item, words: str) -> bool:
        classes = item.classes
        if words in language().scopes["skipping"] and {"one", "ones"} & {
            t.word for t in self.tokens[item.end : item.end + 4]
        }:
            self._open("avoid")  # "skip the leather ones"
            return True
        for mode in ("doubt", "not_only", "readmit"):
            if mode in classes:
                self._open(mode)
                return True
        if "relax" in classes and not ("avoid" in classes and item.end - item.start == 1):
            self._open("relax")
        elif "avoid" in classes:
            self._avoid(words)
        else:
            return False
        return True

    def _avoid(self, words: str) -> None:
        if self._bound():
            if self.mode == "avoid" and words in language().scopes["doubly_negative"]:
                self.mode = "readmit"  # two negations make none
            if self.mode in ("avoid", "readmit"):
                return
        self.flush()
        goes_on = words == "nor" and bool(self.runs) and self.runs[-1].mode == "relax"
        self._open("relax" if goes_on and self.runs[-1].clause == self.clause else "avoid")

    def _want(self, words: str) -> None:
        """A word of search begins an object; "that has", "like" only go on with what was begun."""
        scopes = language().scopes
        if self._bound() and words in scopes["keeps_mode"]:
            return
        bound_by_verb = self.mode != "want" and words in scopes["keeps_mode_late"]
        self.flush()
        if bound_by_verb:
            return
        if words == "just" or words in scopes["describes"]:
            if self.mode != "want":
                self._reset()
            self.lead = self.lead if words == "just" else "with"
            return
        self._reset()
        self.sought = True

    def _with(self, position: int, words: str) -> None:
        ends = (
            self.mode == "avoid" and self._says_quality()
        )  # "no zip with a hood"; but "no shoes with laces"
        self.flush()
        if ends:
            self._reset()
        after_act = position > 0 and self.items[position - 1].kind == "used"  # "start over | with a lamp"
        self.lead = "" if after_act else "with"
        self.sought = self.sought or after_act
        if words == "including":
            self.joined = "and"

    def _says_quality(self) -> bool:
        """The run at hand has content, and it is no product."""
        last = next((item for item in reversed(self.run) if item.kind in ("word", "name")), None)
        return last is not None and not any(name.kind == "product" for name in last.names)

    def _for(self, position: int, item: Item) -> None:
        """ "Good for cycling" is one wish; behind a noun or a negation "for" begins something new."""
        words = any(i.kind == "word" for i in self.run)
        noun = any(name.kind == "product" for i in self.run for name in i.names)
        if words and self.mode == "avoid":
            self.flush()
            self._reset()  # "nothing heavy for oily skin": what it is for is wanted
            self.lead = "for"
            return
        if words and not noun and not self._somebody(position + 1):
            self.run.append(Item("filler", item.start, item.end, "for"))
            return
        self.flush()
        if self.mode != "want" and self.content:
            self._reset()
        self.lead = "for"

    def _somebody(self, position: int) -> bool:
        """Whether the next name is a person's or says for whom ("for my mum", "for men")."""
        for item in self.items[position : position + 3]:
            if item.kind == "name":
                return any(name.kind in ("gender", "person") for name in item.names)
            if item.kind != "filler":
                return False
        return False

    def _but(self, position: int) -> None:
        """ "Any brand but Sony" excepts; otherwise "but" turns back to what is wanted."""
        self.flush()
        start = self.items[position].start
        recent = [token.word for token in self.tokens[max(0, start - 4) : start]]
        for mark in (",", ":", "-"):
            if mark in recent:
                recent = recent[len(recent) - recent[::-1].index(mark) :]
        if language().scopes["excepting"] & set(recent):
            self._open("avoid")
            return
        self._reset()
        self.segment += 1
        self.joined = ""

    def _only(self) -> None:
        self.flush()
        if self.mode != "want" and self.content:
            self._reset()
        if self.mode == "want":
            self.hardness = Hardness.ONLY

    def _prefer(self) -> None:
        self.flush()
        if not self._bound() or self.mode != "avoid":
            self._reset()
        self.hardness = Hardness.PREFER

    def _band(self, item: Item, words: str) -> None:
        """Price words: under "forget the" the budget itself, under "nothing too" their opposite, else a run of their own."""
        open_mode = self.mode if not self.content else "want"
        if open_mode in ("relax", "readmit"):
            item = Item("attribute", item.start, item.end, "price")
        elif open_mode == "avoid" and words in language().scopes["dear"]:
            self._reset()
            item = item._replace(classes=frozenset({"lower_half"}))
        elif open_mode == "avoid":
            self.run.append(
                Item("word", item.start, item.end, words)
            )  # "does not look cheap": a quality in her words
            return
        self.flush()
        self.run.append(item)
        self.flush()

    # --- cues behind their object ---

    def _ends_part(self, position: int) -> bool:
        return position + 1 >= len(self.items) or self.items[position + 1].kind == "mark"

    def _leads(self, position: int) -> bool:
        """Whether a phrase begins a part of the sentence ("…, if possible black")."""
        before = self.items[position - 1] if position else None
        following = self.items[position + 1] if position + 1 < len(self.items) else None
        opens = before is not None and before.kind == "mark"
        return opens and following is not None and following.kind in ("name", "word", "attribute", "amount")

    def _stands_behind(self, position: int, words: str, classes: frozenset[str]) -> bool:
        if "must_back" in classes and self._said_before():
            if words == "matter" and self.mode == "relax":
                return True  # "forget the price matter"
            self.flush()
            for run in self._here():
                run.mode = "want" if run.mode == "relax" else run.mode
            return True
        behind = words in language().scopes["preferred_behind"] and not self._leads(position)
        if behind and self._said_before():
            self._harden(Hardness.PREFER)
            return True
        if words in language().scopes["only_behind"]:
            self._harden(Hardness.ONLY)
            return True
        for cue, mode in (("relax_back", "relax"), ("readmit_back", "readmit"), ("avoid_back", "avoid")):
            if cue in classes and self._turn_back(mode):
                return True
        return False

    def _turn_back(self, mode: str) -> bool:
        """ "The brand no longer matters", "black is fine too": the runs just said get another mode."""
        self.flush()
        found = False
        for run in self._here():
            if run.mode == "want" or (run.mode == "avoid" and mode == "readmit"):
                run.mode = mode
                found = True
            if run.joined not in ("and", "or"):
                break
        return found

    def _harden(self, hardness: Hardness) -> None:
        self.flush()
        for run in self.runs:
            if run.clause == self.clause and (run.segment == self.segment or hardness is Hardness.ONLY):
                run.hardness = hardness

    # --- what is not a negation after all ---

    def _interjected(self, position: int) -> bool:
        """ "No I want …", "No, exclude that": an answer, not the negation of what follows."""
        before = self.items[position - 1] if position else None
        if before is not None and before.kind not in ("mark", "used"):
            return False
        following = self.items[position + 1] if position + 1 < len(self.items) else None
        if following is None or following.kind in ("mark", "used"):
            return True
        if following.kind == "filler":
            return following.value in language().scopes["after_interjection"]
        return following.kind == "cue" and bool(following.classes & {"avoid", "want", "relax", "prefer"})

    def _about_shown(self, position: int) -> bool:
        """ "It's not a road shoe", said of what was shown: she wants a road shoe."""
        subject = self.items[position - 1] if position else None
        if not self.shown or subject is None or subject.kind != "filler":
            return False
        before = self.items[position - 2] if position > 1 else None
        opens = before is None or before.kind in ("mark", "used") or bool(before.classes & {"but", "and"})
        return opens and subject.value in ("it", "this", "they", "these", "e")

    # --- lists ---

    def _conjunction(self, position: int, word: str) -> None:
        self.flush()
        self.joined = word
        self.sought = self.last_sought
        if self.last_lead == "with" and not self.lead:
            self.lead = "with and"
        if self.mode == "want" or not self.content or word == "or":
            return
        item = self.items[position]
        said = {token.word for token in self.tokens[item.start : item.end]}
        if said & language().scopes["adds"] or not goes_on_after_and(self.items, position, self._last_item()):
            self._reset()
            self.segment += 1
