"""Constraint assembly: runs of names, words and amounts become acts, bound to the product noun beside them.

Adjectives bind to the noun of their run, what follows a noun ("in 43", "with pockets") to the noun before it; a price, an
occasion or what stands behind all nouns belongs to no single one. Words that no list knows stay, in the shopper's own
words, as feature needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from ego_cli.conversation.understand.acts import Act, Hardness, Kind, Operator, Span
from ego_cli.conversation.understand.context import Context
from ego_cli.conversation.understand.items import Item, attribute_at
from ego_cli.conversation.understand.language import language
from ego_cli.conversation.understand.lexicon import Lexicon, Name, shelves_of, stems_of
from ego_cli.conversation.understand.numbers import Amount
from ego_cli.conversation.understand.readings import Place, reading
from ego_cli.conversation.understand.scopes import Scoped
from ego_cli.conversation.understand.tokens import Token

_BANDS = {"lower_half": Operator.LOWER_HALF, "upper_half": Operator.UPPER_HALF, "middle": Operator.MIDDLE}
_SORTS = {
    "cheapest": ("price", 1),
    "dearest": ("price", -1),
    "best_rated": ("rating", -1),
    "most_popular": ("popularity", -1),
}
_OPERATORS = {"min": Operator.MIN, "max": Operator.MAX, "about": Operator.ABOUT, "is": Operator.IS}
_MODIFIERS = ("brand", "colour", "material", "gender")
_DETERMINERS = frozenset(["a", "an", "the", "some", "my"])


@dataclass(slots=True)
class _Group:
    """A want of this sentence."""

    index: int
    act: int
    clause: int
    end: int


class Assembler:
    """Turns the runs of one message into acts. ``explained`` collects the content tokens that an act accounts for."""

    def __init__(self, text: str, tokens: Sequence[Token], lexicon: Lexicon, context: Context) -> None:
        self.text = text
        self.tokens = tokens
        self.lexicon = lexicon
        self.context = context
        self.acts: list[Act] = []
        self.explained: set[int] = set()
        self.groups: list[_Group] = []
        self.pending_count: Amount | None = None
        self.subject: str | None = None
        self.taste: frozenset[int] = frozenset()  # tokens that only state a taste: their nouns are no wants

    # --- entry ---

    def assemble(self, runs: Sequence[Scoped], taste: frozenset[int]) -> list[Act]:
        """All acts of the runs, in the order in which the words stand."""
        self.taste = taste
        for position, run in enumerate(runs):
            self._run(run, runs[position - 1] if position else None)
        return self._merge_alternatives()

    # --- helpers ---

    def _slice(self, start: int, end: int) -> str:
        return self.text[self.tokens[start].start : self.tokens[end - 1].end]

    def _add(self, act: Act, start: int, end: int, run: Scoped, group: int | None) -> None:
        self.explained.update(range(start, end))
        polarity = -1 if run.mode in ("avoid", "readmit", "not_only") else 1
        kind = act.kind
        if run.mode in ("relax", "readmit", "not_only") and kind is Kind.CONSTRAIN:
            kind = Kind.RELAX
        self.acts.append(
            replace(
                act,
                kind=kind,
                polarity=polarity,
                hardness=run.hardness if act.hardness is Hardness.MUST else act.hardness,
                group=group,
                subject=self.subject,
                note=act.note or (run.joined if run.joined in ("or",) else ""),
                words=act.words or self._slice(start, end),
                span=Span(self.tokens[start].start, self.tokens[end - 1].end),
            )
        )

    def _group_for(self, run: Scoped) -> int | None:
        """The want that a run without a noun of its own belongs to."""
        same = [g for g in self.groups if g.clause == run.clause]
        if not same:
            return self.groups[-1].index if len(self.groups) == 1 else None
        return same[-1].index

    # --- one run ---

    def _run(self, run: Scoped, before: Scoped | None) -> None:
        if run.lead == "same" or run.mode == "doubt":  # "on that same range": what is held stays as it is
            self.explained.update(range(run.items[0].start, run.items[-1].end))
            return
        items = [i for i in run.items]
        while items and items[0].kind == "filler" and items[0].value not in language().graded:
            items.pop(0)
        while items and items[-1].kind == "filler":
            items.pop()
        if not items:
            return
        if items[0].kind == "cue":
            self._band(items[0], run)
            return
        if (
            len(items) == 1
            and items[0].kind == "amount"
            and items[0].amount is not None
            and items[0].amount.kind != "count"
            and items[0].amount.kind != "measure"
        ):
            self._amount(items[0].amount, run)
            return
        self._content(items, run, before)

    def _band(self, item: Item, run: Scoped) -> None:
        for name, operator in _BANDS.items():
            if name in item.classes:
                act = Act(Kind.CONSTRAIN, attribute="price", operator=operator)
                self._add(act, item.start, item.end, run, None)
                return
        for name, (attribute, direction) in _SORTS.items():
            if name in item.classes:
                self.explained.update(range(item.start, item.end))
                words = self._slice(item.start, item.end)
                span = Span(self.tokens[item.start].start, self.tokens[item.end - 1].end)
                self.acts.append(
                    Act(Kind.SORT, attribute=attribute, number=float(direction), words=words, span=span)
                )
                return

    def _amount(self, amount: Amount, run: Scoped, group: int | None = None) -> None:
        start, end = amount.start, amount.end
        if amount.kind == "size":
            owner = self._group_for(run) if group is None else group
            self._add(
                Act(Kind.CONSTRAIN, attribute="size", operator=Operator.IS, value=amount.text),
                start,
                end,
                run,
                owner,
            )
            return
        if amount.kind == "count":
            self.pending_count = amount
            self.explained.update(range(start, end))
            return
        owner = group
        if amount.kind == "measure" and owner is None:
            owner = self._group_for(run)
        per = amount.per or None
        unit = amount.unit
        if (
            amount.kind == "price"
            and owner is None
            and len({g.index for g in self.groups}) > 1
            and per is None
        ):
            owner = None
        if amount.kind == "price" and run.mode != "want":
            run = replace_mode(run)
        bounds = (
            [(amount.operator, amount.low)]
            if amount.operator != "range"
            else [("min", amount.low), ("max", amount.high)]
        )
        for operator, number in bounds:
            act = Act(
                Kind.CONSTRAIN,
                attribute=amount.attribute,
                operator=_OPERATORS[operator],
                number=number,
                unit=unit,
                per=per,
            )
            self._add(act, start, end, run, owner)

    # --- runs of names and words ---

    def _content(self, items: list[Item], run: Scoped, before: Scoped | None) -> None:
        colours_before = bool(self.acts) and self.acts[-1].attribute == "colour"
        alone = not self.groups and not self.context.categories
        short = len(self.tokens) <= _FEW_WORDS
        told = any(t.word == "am" for t in self.tokens[max(0, run.items[0].start - 3) : run.items[0].start])
        place = Place(run, self.context, alone, colours_before, short, told)
        chosen = [reading(items, k, place) for k in range(len(items))]
        if run.lead in ("for", "for my", "my"):
            person = next(
                (k for k, name in enumerate(chosen) if name is not None and name.kind == "person"), None
            )
            if person is not None:
                self.subject = chosen[person].value if chosen[person] is not None else None  # type: ignore[union-attr]
                self.explained.update(range(items[person].start, items[person].end))
                self._restate_subject()
                rest = items[person + 1 :]
                if rest:
                    self._content(rest, replace_lead(run, "for"), before)
                return
        heads = [k for k, name in enumerate(chosen) if name is not None and name.kind == "product"]
        place_word = self._preposition_before(items, heads[0]) if heads else None
        if place_word is not None and (self.groups or self.context.categories):
            heads = []
        elif place_word is not None:  # "no logos on the cap": the cap is looked for
            self._qualities(items[:place_word], chosen[:place_word], run, None, [])
            self._content(items[place_word + 1 :], replace_mode(run), before)
            return
        if run.mode in ("relax", "readmit") and len(items) == 1 and items[0].kind == "attribute":
            self._relax_attribute(items[0], run)
            return
        if heads and self._is_want(run, items, heads):
            self._need(items, chosen, heads, run)
        else:
            self._qualities(items, chosen, run, self._group_for(run), heads)

    def _preposition_before(self, items: list[Item], head: int) -> int | None:
        """ "Relaxed when on a treadmill": where the preposition stands that makes the noun a place, with content before it."""
        for k in range(head - 1, -1, -1):
            if items[k].kind == "filler" and items[k].value in _PLACES:
                return k if any(i.kind in ("word", "name", "attribute") for i in items[:k]) else None
        return None

    def _restate_subject(self) -> None:
        self.acts = [
            replace(act, subject=self.subject)
            if act.kind in (Kind.NEED, Kind.CONSTRAIN) and act.subject is None
            else act
            for act in self.acts
        ]

    def _is_want(self, run: Scoped, items: list[Item], heads: list[int]) -> bool:
        """Whether the product noun of a run is looked for, not a part, a purpose or a companion of something else."""
        if run.items[0].start in self.taste and run.mode == "want":
            return False
        if run.lead == "with" and any(g.clause == run.clause for g in self.groups):
            return False
        if run.lead == "with and":
            last = self._last_name(items, heads)
            return last is not None and last.known and not self.context.categories
        if run.lead == "with" and self.context.categories and not run.sought:
            return False
        if run.lead in ("for", "for my") and (
            any(g.clause == run.clause for g in self.groups) or run.lead == "for my"
        ):
            return False
        return True

    def _held_type(self, value: str) -> bool:
        """Whether a product word names a want that is in force."""
        named = set(stems_of(value))
        held = [*self.context.categories, *(self.acts[g.act].value or "" for g in self.groups)]
        return any(named & set(stems_of(category)) for category in held)

    def _sold_apart(self, items: list[Item], head: int) -> int | None:
        """ "Apple Watch Series 5 bands", "sugar canister": the last noun of a name says what the thing is."""
        last = len(items) - 1
        if last <= head or any(i.kind in ("filler", "attribute", "amount") for i in items[head + 1 :]):
            return None
        if items[last].end - items[last].start > 1 or self.tokens[items[last].start].stem not in _extras():
            return None
        before = items[last - 1]
        plain = last - 1 == head or not any(n.kind in ("colour", "material") for n in before.names)
        return last if plain else None

    def _last_name(self, items: list[Item], heads: list[int]) -> Name | None:
        return next((n for n in items[heads[-1]].names if n.kind == "product"), None)

    def _need(self, items: list[Item], chosen: list[Name | None], heads: list[int], run: Scoped) -> None:
        head = heads[-1]
        first = head
        while first - 1 in heads:
            first -= 1
        pre = next(
            (k for k in range(head) if items[k].kind == "filler" and items[k].value in _DESCRIBING), None
        )
        if pre is not None and any(k < pre for k in heads):
            # "glasses for reading": what stands behind the preposition describes
            head = max(k for k in heads if k < pre)
            first = head
            while first - 1 in heads:
                first -= 1
        if first < head and first and items[first - 1].kind == "word" and items[first - 1].value.isdigit():
            first = head  # "5 drawer dresser": five drawers describe the dresser
        start, end = items[first].start, items[head].end
        name = chosen[head]
        tail = self._sold_apart(items, head)
        phrase = self._slice(start, end)
        spelled = " ".join(token.word for token in self.tokens[start:end])
        value = (
            name.value
            if first == head and name is not None
            else (phrase.lower() if stems_of(phrase) == stems_of(spelled) else spelled)
        )
        if run.mode == "avoid":
            self._avoided_type(items, chosen, first, head, value, run)
            return
        if tail is not None:
            value = f"{value} {self._core([items[tail]])}"
            self.explained.update(range(items[tail].start, items[tail].end))
            items, chosen = items[:tail] + items[tail + 1 :], chosen[:tail] + chosen[tail + 1 :]
        if run.mode == "not_only":
            run_as_want = replace_mode(run)
            self._need(items[first : head + 1], chosen[first : head + 1], [head - first], run_as_want)
            self._qualities(items[:first], chosen[:first], run, self.groups[-1].index, [])
            return
        if run.mode == "relax" and not self._held_type(value):
            whole = [i for i in items if i.kind != "amount"]
            self._add(
                Act(Kind.CONSTRAIN, attribute="feature", operator=Operator.IS, value=self._core(whole)),
                whole[0].start,
                whole[-1].end,
                run,
                None,
            )
            return
        if run.mode in ("relax", "readmit"):
            kind = Kind.DROP_WANT if run.mode == "relax" else Kind.RELAX
            self.acts.append(
                Act(
                    kind,
                    attribute=None if kind is Kind.DROP_WANT else "category",
                    value=value,
                    polarity=1 if run.mode == "relax" else -1,
                    words=phrase,
                    span=Span(self.tokens[start].start, self.tokens[end - 1].end),
                )
            )
            self.explained.update(range(start, end))
            return
        if self._refines(value, run):
            self._refine(value, name, phrase, start, end)
            index = self.groups[-1].index
            self._qualities(items[:first], chosen[:first], run, index, [])
            self._qualities(items[head + 1 :], chosen[head + 1 :], run, index, [])
            return
        index = len(self.groups)
        number = None
        for item in items[:first]:
            if item.kind == "amount" and item.amount is not None and item.amount.kind == "count":
                number = item.amount.low
                self.explained.update(range(item.start, item.end))
        if number is None and self.pending_count is not None:
            number = self.pending_count.low
        self.pending_count = None
        known = name.known if name is not None else False
        self._add(
            Act(Kind.NEED, value=value, number=number, confidence=1.0 if known else 0.8),
            start,
            end,
            replace_joined(run),
            index,
        )
        self.groups.append(_Group(index, len(self.acts) - 1, run.clause, end))
        self._qualities(items[:first], chosen[:first], run, index, [k for k in heads if k < first])
        behind = items[head + 1 :]
        self._qualities(behind, chosen[head + 1 :], run, index, [k - head - 1 for k in heads if k > head])

    def _avoided_type(
        self, items: list[Item], chosen: list[Name | None], first: int, head: int, value: str, run: Scoped
    ) -> None:
        """A product noun under a negation: the type itself, something inside, or only the qualities in front of it."""
        start, end = items[first].start, items[head].end
        qualities = [k for k in range(first) if items[k].kind in ("name", "word")]
        if qualities and (self._held_type(value) or self._weighed(items[0].start)):
            # "not too tight trousers", "no small bikes" where bikes are looked for: the quality is unwanted
            if not self._held_type(value):
                self._need(
                    items[first : head + 1], chosen[first : head + 1], [head - first], replace_mode(run)
                )
            self._qualities(items[:first], chosen[:first], run, self._group_for(run), [])
            return
        if qualities and all(chosen[k] is not None and chosen[k].kind == "brand" for k in qualities):  # type: ignore[union-attr]
            self._qualities(items[:first], chosen[:first], run, self._group_for(run), [])
            return
        named = all(chosen[k] is not None and chosen[k].kind in _MODIFIERS for k in qualities)  # type: ignore[union-attr]
        if qualities and named and not self.groups and not self.context.categories:
            # "everything but yellow umbrellas", "no leather boots": umbrellas and boots are looked for
            self._need(items[first : head + 1], chosen[first : head + 1], [head - first], replace_mode(run))
            self._qualities(items[:first], chosen[:first], run, self._group_for(run), [])
            return
        if qualities:
            whole = items[qualities[0] : head + 1]
            kind = "category" if not self._others_of_its_kind(value) and not self.groups else "feature"
            act = Act(Kind.CONSTRAIN, attribute=kind, operator=Operator.IS, value=self._core(whole))
            self._add(act, whole[0].start, end, run, self._group_for(run))
            return
        inside = run.lead == "with" or self._contained(start) or not self._others_of_its_kind(value)
        act = Act(
            Kind.CONSTRAIN, attribute="feature" if inside else "category", operator=Operator.IS, value=value
        )
        self._add(act, start, end, run, self._group_for(run) if inside else None)

    def _weighed(self, start: int) -> bool:
        """ "too tight", "very heavy": the adverb shows that the negation is about the quality."""
        before = [t.word for t in self.tokens[max(0, start - 2) : start]]
        return bool({"too", "very", "so", "that", "overly"} & set(before))

    def _others_of_its_kind(self, value: str) -> bool:
        """Whether an avoided product word can be an alternative to what is looked for: of the same shelf, or nothing is."""
        held = [*self.context.categories, *(self.acts[g.act].value or "" for g in self.groups)]
        if not held:
            return True
        own = shelves_of(value)
        return not own or any(own & shelves_of(category) for category in held)

    def _refines(self, value: str, run: Scoped) -> bool:
        """ "cream …, body lotion": the narrower word for the want just named, not a second want."""
        if not self.groups or run.joined not in (",", "") or self.groups[-1].clause != run.clause:
            return False
        held = stems_of(self.acts[self.groups[-1].act].value or "")
        narrower = language().kinds.get(held, frozenset())
        return stems_of(value) in narrower or (
            held == stems_of(value)[-len(held) :] and held != stems_of(value)
        )

    def _refine(self, value: str, name: Name | None, phrase: str, start: int, end: int) -> None:
        group = self.groups[-1]
        act = self.acts[group.act]
        self.acts[group.act] = replace(
            act, value=value, words=phrase, confidence=1.0 if name and name.known else act.confidence
        )
        self.explained.update(range(start, end))

    def _contained(self, start: int) -> bool:
        """ "wey no get perfume", "without sugar": the noun is something inside, no type of product."""
        before = [t.word for t in self.tokens[max(0, start - 4) : start]]
        return bool(
            {
                "get",
                "have",
                "has",
                "contain",
                "contains",
                "without",
                "with",
                "free",
                "having",
                "use",
                "made",
                "of",
                "includes",
                "inside",
            }
            & set(before)
        ) and bool(self.groups or self.context.categories)

    def _qualities(
        self, items: list[Item], chosen: list[Name | None], run: Scoped, group: int | None, heads: list[int]
    ) -> None:
        """Values and features of a run, in order; words that stand together stay together."""
        words: list[Item] = []

        def close() -> None:
            if words:
                self._feature(list(words), run, group)
                words.clear()

        for k, item in enumerate(items):
            name = chosen[k]
            if item.kind == "amount" and item.amount is not None:
                close()
                self._amount(item.amount, run, group)
            elif (
                name is not None
                and name.kind in _MODIFIERS
                and not (
                    words
                    and k + 1 < len(items)
                    and items[k + 1].kind in ("word", "filler")
                    and not self._modifies(name)
                )
            ):
                close()
                self._named(name, item, run, group)
            elif name is not None and name.kind == "idiom":
                close()
                act = Act(Kind.CONSTRAIN, attribute="feature", operator=Operator.IS, value=name.value)
                self._add(act, item.start, item.end, run, group)
            elif name is not None and name.kind == "person" and not words:
                close()
                self.explained.update(range(item.start, item.end))
            elif item.kind in ("attribute", "name") and name is None and self._measured(items, k):
                self.explained.update(range(item.start, item.end))
            elif item.kind == "attribute":
                self._attribute_word(item, run, words, items, k)
            elif item.kind == "filler" and not words:
                if item.value in language().graded:
                    words.append(item)
            else:
                words.append(item)
        close()

    def _measured(self, items: list[Item], k: int) -> bool:
        """ "16 GB RAM", "17 inch display": the noun only says of what the amount is."""
        near = [i.amount for i in items[max(0, k - 2) : k + 2] if i.kind == "amount" and i.amount is not None]
        named = attribute_at(self.tokens, items[k].start)
        if named is None or not any(a.kind == "measure" and a.attribute == named[1] for a in near):
            return False
        return not any(i.kind == "word" for i in items[max(0, k - 2) : k + 2])

    def _modifies(self, name: Name) -> bool:
        return name.kind in ("colour", "gender", "brand")

    def _named(self, name: Name, item: Item, run: Scoped, group: int | None) -> None:
        act = Act(Kind.CONSTRAIN, attribute=name.kind, operator=Operator.IS, value=name.value)
        self._add(act, item.start, item.end, run, group)

    def _attribute_word(self, item: Item, run: Scoped, words: list[Item], items: list[Item], k: int) -> None:
        """ "battery life" is a need; "colour", "size", "brand" only name the slot of their neighbour."""
        if run.mode in ("relax", "readmit") and not words and self._stands_alone(item, items):
            self._relax_attribute(item, run)
            return
        if item.value in (
            "price",
            "colour",
            "brand",
            "size",
            "material",
            "type",
            "gender",
            "rating",
            "reviews",
            "style",
            "quantity",
            "occasion",
            "exclusions",
        ) and not (item.value in ("style",) and words):
            if run.any_of_it and not any(i.kind in ("name", "word") for i in items):
                self._relax_attribute(item, run)
            elif run.lead in ("different", "another", "other") and item.value in (
                "colour",
                "brand",
                "size",
                "style",
                "material",
            ):
                start = item.start - 1 if item.start else item.start
                span = Span(self.tokens[start].start, self.tokens[item.end - 1].end)
                self.explained.update(range(start, item.end))
                self.acts.append(
                    Act(
                        Kind.RELATIVE,
                        attribute=item.value,
                        value="different",
                        words=self._slice(start, item.end),
                        span=span,
                    )
                )
            else:
                self.explained.update(range(item.start, item.end))
            return
        words.append(item)

    def _stands_alone(self, item: Item, items: list[Item]) -> bool:
        """ "The display" against "the always-on display": nothing else of weight in its run."""
        inner = language().inner
        return not any(
            i.kind in ("word", "name") or (i.kind == "filler" and i.value in inner and i.value not in _PLAIN)
            for i in items
            if i is not item
        )

    def _relax_attribute(self, item: Item, run: Scoped) -> None:
        self.explained.update(range(item.start, item.end))
        span = Span(self.tokens[item.start].start, self.tokens[item.end - 1].end)
        self.acts.append(
            Act(
                Kind.RELAX,
                attribute=item.value,
                value=None if item.value in _SLOTS else self._slice(item.start, item.end).lower(),
                words=self._slice(item.start, item.end),
                span=span,
            )
        )

    def _core(self, items: Sequence[Item]) -> str:
        """The words of a need without the padding at its ends."""
        return " ".join(
            self._slice(item.start, item.end).lower()
            if _glued(self.tokens, item)
            else " ".join(t.word for t in self.tokens[item.start : item.end])
            for item in items
        )

    def _feature(self, items: list[Item], run: Scoped, group: int | None) -> None:
        speech = language()
        while items and items[-1].kind == "filler":
            items.pop()
        while (
            items
            and items[0].kind == "filler"
            and not (items[0].value in speech.graded and len(items) > 1 and items[1].kind != "filler")
        ):
            items.pop(0)
        if not items:
            return
        kept = [i for i in items if i.kind != "filler" or i.value in speech.inner or i.value in speech.graded]
        if not any(i.kind != "filler" for i in kept):
            return
        start, end = items[0].start, items[-1].end
        core = self._core(kept)
        note = "for" if run.lead in ("for", "for my") else ""
        key = self._detail_key(items)
        act = Act(Kind.CONSTRAIN, attribute=key or "feature", operator=Operator.IS, value=core, note=note)
        self._add(act, start, end, run, None if note and len(self.groups) > 1 else group)

    def _detail_key(self, items: list[Item]) -> str | None:
        return None

    # --- lists of alternatives ---

    def _merge_alternatives(self) -> list[Act]:
        """ "grey or white" is one wish with two values; avoided things stay apart, each is a promise of its own."""
        merged: list[Act] = []
        for act in self.acts:
            before = merged[-1] if merged else None
            if (
                act.note == "or"
                and before is not None
                and act.kind is Kind.CONSTRAIN
                and before.kind is Kind.CONSTRAIN
                and act.attribute == before.attribute
                and act.polarity == before.polarity == 1
                and act.value is not None
                and act.attribute in ("colour", "brand", "material", "size", "gender")
            ):
                values = before.values or ((before.value,) if before.value else ())
                span = Span(before.span.start, act.span.end) if before.span and act.span else before.span
                words = self.text[span.start : span.end] if span else before.words
                merged[-1] = replace(
                    before,
                    operator=Operator.ANY_OF,
                    value=None,
                    values=(*values, act.value),
                    words=words,
                    span=span,
                )
                continue
            if (
                act.note == "or"
                and act.kind is Kind.CONSTRAIN
                and not merged
                and act.value is not None
                and act.polarity == 1
            ):
                act = replace(act, operator=Operator.ANY_OF, values=(act.value,), value=None, note="add")
            merged.append(replace(act, note="") if act.note == "or" else act)
        return merged


_PLAIN = frozenset(
    ["the", "a", "an", "my", "of", "and", "on", "in", "to", "is", "be", "it", "for", "very", "at", "all"]
)
_PLAIN = frozenset("the a an my of and on in to is be it for very at all up".split())
_PLACES = frozenset("on at when while during inside under over to into between".split())
_DESCRIBING = frozenset("for in from between under over on at with near beside behind".split())
_FEW_WORDS = 6
_SLOTS = frozenset(
    [
        "price",
        "colour",
        "brand",
        "size",
        "material",
        "gender",
        "rating",
        "style",
        "type",
        "quantity",
        "occasion",
        "exclusions",
        "reviews",
    ]
)


def _same_words(name: str, phrase: str) -> bool:
    return stems_of(name) == stems_of(phrase)


def _glued(tokens: Sequence[Token], item: Item) -> bool:
    return item.end - item.start > 1 and all(t.glue for t in tokens[item.start + 1 : item.end])


@cache
def _extras() -> frozenset[str]:
    return frozenset(language().names["sold_apart"]["names"])


def replace_mode(run: Scoped) -> Scoped:
    """The run as a wish: bounds on a price are read with their negation already."""
    return Scoped(
        run.items,
        "want",
        run.hardness,
        run.clause,
        run.segment,
        run.lead,
        run.joined,
        run.any_of_it,
        run.sought,
    )


def replace_lead(run: Scoped, lead: str) -> Scoped:
    """The run with another word in front."""
    return Scoped(
        run.items,
        run.mode,
        run.hardness,
        run.clause,
        run.segment,
        lead,
        run.joined,
        run.any_of_it,
        run.sought,
    )


def replace_joined(run: Scoped) -> Scoped:
    """The run as if nothing stood before it."""
    return Scoped(
        run.items, run.mode, run.hardness, run.clause, run.segment, run.lead, "", run.any_of_it, run.sought
    )
