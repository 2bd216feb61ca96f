"""Use one of a model: proposals for a sentence that the grammar left mostly unread.

A proposal becomes an act only when the shop's own lists know its value and the shopper's own words stand behind it. What
the grammar has read, it has read: a model adds, it never replaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from ego_cli.conversation.understand.acts import Act, Hardness, Kind, Operator, Span, Understanding
from ego_cli.conversation.understand.language import language
from ego_cli.conversation.understand.tokens import fold, tokenise
from ego_cli.conversation.words import stems
from ego_cli.llm.prompts import Prompt, data_block, prompt, quoted
from ego_cli.settings import load_toml

if TYPE_CHECKING:
    from ego_cli.catalog.store import Catalogue
    from ego_cli.conversation.understand import Lexicon

# A sentence is worth a call when this share of its content words is unread or guessed, and at least so many words; one
# is enough where the product type is a guess, for that spoils the whole list.
UNREAD_SHARE = 0.5
UNREAD_WORDS = 2.0

MOST_KNOWN = 40  # values of one attribute that the prompt names, the shop's most frequent first
LONGEST_MESSAGE = 600  # characters
CONFIDENCE = 0.6  # of an act that a model proposed

# Acts beside which a proposal can stand: the others have read the sentence for what it is.
_OPEN = frozenset(
    {Kind.NEED, Kind.CONSTRAIN, Kind.OVERRIDE, Kind.BROWSE, Kind.GREET, Kind.THANKS, Kind.UNCLEAR}
)
_ATTRIBUTES = ("brand", "colour", "material", "size", "gender")


class Proposal(BaseModel):
    """What a model answers. Small errors of form are put right, unknown keys ignored."""

    model_config = ConfigDict(extra="ignore")

    category: str = ""
    brand: str = ""
    colour: str = ""
    material: str = ""
    size: str = ""
    gender: str = ""
    features: tuple[str, ...] = ()
    price_min: float | None = None
    price_max: float | None = None
    exclude: tuple[str, ...] = ()
    quotes: dict[str, str] = Field(default_factory=dict)

    @field_validator("category", *_ATTRIBUTES, mode="before")
    @classmethod
    def _one_text(cls, value: Any) -> str:
        if isinstance(value, (list, tuple)):
            value = value[0] if value else ""
        return (
            str(value).strip() if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""
        )

    @field_validator("features", "exclude", mode="before")
    @classmethod
    def _texts(cls, value: Any) -> tuple[str, ...]:
        listed = value if isinstance(value, (list, tuple)) else [value]
        return tuple(item.strip() for item in listed if isinstance(item, str) and item.strip())

    @field_validator("price_min", "price_max", mode="before")
    @classmethod
    def _amount(cls, value: Any) -> float | None:
        if isinstance(value, str):
            found = _AMOUNT.search(value)
            return _value_of(found) if found else None
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return float(value) if is_number and value > 0 else None

    @field_validator("quotes", mode="before")
    @classmethod
    def _quotes(cls, value: Any) -> dict[str, str]:
        if not isinstance(value, dict):
            return {}
        return {str(key): quote for key, quote in value.items() if isinstance(quote, str)}


_AMOUNT = re.compile(r"(\d[\d,]*(?:\.\d+)?)\s*(k|m|thousand|million|grand)?\b", re.I)
_MULTIPLES = {"k": 1e3, "thousand": 1e3, "grand": 1e3, "m": 1e6, "million": 1e6}


def _value_of(found: re.Match[str]) -> float:
    return float(found[1].replace(",", "")) * _MULTIPLES.get((found[2] or "").lower(), 1.0)


def worth_asking(understanding: Understanding, lexicon: Lexicon) -> bool:
    """Whether a sentence was left unread to such a degree, and is of such a kind, that a model may be asked about it."""
    if any(act.kind not in _OPEN for act in understanding.acts):
        return False
    content = [token for token in tokenise(understanding.text[:LONGEST_MESSAGE]) if _has_content(token.word)]
    guessed_acts = guesses(understanding, lexicon)
    spans = [act.span for act in guessed_acts if act.span]
    guessed = [token for token in content if any(s.start <= token.start < s.end for s in spans)]
    words = len(guessed) + understanding.unread * len(content)
    least = 1.0 if any(act.kind is Kind.NEED for act in guessed_acts) else UNREAD_WORDS
    return words >= max(least, UNREAD_SHARE * len(content))


def guesses(understanding: Understanding, lexicon: Lexicon) -> tuple[Act, ...]:
    """Acts that stand on words which the shop does not use: a product type that it does not have, a feature of which no
    product speaks."""
    return tuple(act for act in understanding.acts if _is_guess(act, lexicon))


def _is_guess(act: Act, lexicon: Lexicon) -> bool:
    if act.kind is Kind.NEED:
        return not _known_type(act.value or "", lexicon)
    if act.kind is Kind.CONSTRAIN and act.attribute == "feature" and act.number is None:
        return not any(
            lexicon.knows(token.word) for token in tokenise(act.value or "") if _has_content(token.word)
        )
    return False


def _known_type(words: str, lexicon: Lexicon) -> str:
    """The product type that words name, in the catalogue's spelling; "" when the shop has none such."""
    names = [name for found in lexicon.find(tokenise(words)) for name in found.names]
    return next((name.value for name in reversed(names) if name.kind == "product" and name.known), "")


def _has_content(word: str) -> bool:
    return word[:1].isalpha() and len(word) > 2 and word not in language().filler


def reading_prompt(understanding: Understanding, catalogue: Catalogue) -> Prompt:
    """What is sent: the message, what was understood, and the shop's own words for things."""
    known = {
        attribute: _most_frequent(catalogue.facets.values(attribute))
        for attribute in ("category", *_ATTRIBUTES)
    }
    read = [
        f"{act.attribute or act.kind}: {act.value or act.number}"
        for act in understanding.acts
        if _says_something(act)
    ]
    return prompt(
        "read",
        known=data_block({attribute: values for attribute, values in known.items() if values}),
        understood=quoted("; ".join(read)) or "nothing",
        message=quoted(understanding.text, LONGEST_MESSAGE),
    )


def _most_frequent(counts: Mapping[str, int]) -> list[str]:
    return sorted(counts, key=lambda value: (-counts[value], value))[:MOST_KNOWN]


def _says_something(act: Act) -> bool:
    return act.kind in (Kind.NEED, Kind.CONSTRAIN) and bool(act.value or act.number)


# --- from proposals to acts --------------------------------------------------------------------------------------------


def checked(
    proposal: Proposal, understanding: Understanding, lexicon: Lexicon, catalogue: Catalogue
) -> tuple[Act, ...]:
    """The proposals that hold: known to the shop, said by the shopper, and not read already."""
    said = _Said(understanding.text, proposal.quotes)
    held = {act.attribute for act in understanding.acts if act.kind is Kind.CONSTRAIN}
    guessed = guesses(understanding, lexicon)
    acts: list[Act] = []
    if not any(act.kind is Kind.NEED and act not in guessed for act in understanding.acts):
        acts += _need(proposal, said, lexicon)
    for attribute in _ATTRIBUTES:
        value = getattr(proposal, attribute)
        if value and attribute not in held:
            acts += _constraint(attribute, value, said, catalogue)
    if "price" not in held:
        acts += _prices(proposal, said)
    have = {
        stem
        for act in understanding.acts
        for value in (act.value or "", *act.values)
        for stem in stems(value)
    }
    for feature in proposal.features:
        if not set(stems(feature)) <= have:
            acts += _feature(feature, said, lexicon)
    for thing in proposal.exclude:
        if not set(stems(thing)) <= have:
            acts += _exclusion(thing, said)
    return tuple(acts)


class _Said:
    """The message, and where in it a proposal's words stand."""

    def __init__(self, text: str, quotes: Mapping[str, str]) -> None:
        self.text = text
        self._folded = fold(text)
        self._quotes = quotes

    def words_for(self, key: str, value: str) -> Span | None:
        """The span behind a proposal: its quote, if the message has it word for word, else the value itself."""
        for words in (self._quotes.get(key, ""), self._quotes.get(value, ""), value):
            folded = fold(" ".join(words.split()))
            if folded and (found := re.search(rf"(?<!\w){re.escape(folded)}(?!\w)", self._folded)):
                return Span(found.start(), found.end())
        return None

    def at(self, span: Span) -> str:
        return self.text[span.start : span.end]


def _act(kind: Kind, said: _Said, span: Span, **values: Any) -> Act:
    return Act(
        kind,
        hardness=Hardness.PREFER,
        words=said.at(span),
        span=span,
        confidence=CONFIDENCE,
        source="model",
        **values,
    )


def _need(proposal: Proposal, said: _Said, lexicon: Lexicon) -> Iterator[Act]:
    span = said.words_for("category", proposal.category)
    known = _known_type(proposal.category, lexicon)
    if span is not None and known:
        yield _act(Kind.NEED, said, span, value=known)


def _constraint(attribute: str, value: str, said: _Said, catalogue: Catalogue) -> Iterator[Act]:
    known = _spelled(value, catalogue.facets.values(attribute))
    span = said.words_for(attribute, value)
    if known and span is not None:
        yield _act(
            Kind.CONSTRAIN,
            said,
            span,
            attribute=attribute,
            operator=Operator.IS,
            value=known,
            values=(known,),
        )


def _spelled(value: str, counts: Mapping[str, int]) -> str:
    """The catalogue's spelling of a value, or ""."""
    wanted = set(stems(value))
    return next((known for known in counts if wanted and set(stems(known)) == wanted), "")


def _prices(proposal: Proposal, said: _Said) -> Iterator[Act]:
    """A bound is taken only when its number stands in the message."""
    spans = {_value_of(found): Span(found.start(), found.end()) for found in _AMOUNT.finditer(said.text)}
    for operator, value in ((Operator.MIN, proposal.price_min), (Operator.MAX, proposal.price_max)):
        if value is not None and value in spans:
            yield _act(Kind.CONSTRAIN, said, spans[value], attribute="price", operator=operator, number=value)


def _feature(feature: str, said: _Said, lexicon: Lexicon) -> Iterator[Act]:
    """Free words only weigh, so a word for what she said is welcome where the catalogue uses it."""
    span = said.words_for("features", feature)
    if span is not None and all(lexicon.knows(word) for word in re.findall(r"[^\W\d_]{3,}", fold(feature))):
        yield _act(
            Kind.CONSTRAIN,
            said,
            span,
            attribute="feature",
            operator=Operator.IS,
            value=feature,
            values=(feature,),
        )


def _exclusion(thing: str, said: _Said) -> Iterator[Act]:
    """An exclusion hides products, so the thing itself must be in her words, within a quote that says more than its name."""
    span = said.words_for("exclude", thing)
    if (
        span is None
        or not set(stems(thing)) <= set(stems(said.at(span)))
        or not _negations().search(fold(said.text))
    ):
        return
    yield _act(Kind.CONSTRAIN, said, span, value=thing, values=(thing,), polarity=-1)


@cache
def _negations() -> re.Pattern[str]:
    words = load_toml("prompts", "read.toml")["check"]["negations"]
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, words))})\b")


def merged(understanding: Understanding, acts: Sequence[Act], lexicon: Lexicon) -> tuple[Act, ...]:
    """The grammar's acts with a model's beside them. A guess goes when a proposal stands on the same words, and "unclear"
    when something was understood after all."""
    kinds = {act.kind for act in acts}
    guessed = guesses(understanding, lexicon)

    def stays(act: Act) -> bool:
        if act.kind is Kind.UNCLEAR or (act.kind is Kind.NEED and act in guessed and Kind.NEED in kinds):
            return False
        return not (act in guessed and any(_overlap(act.span, new.span) for new in acts))

    return (*(act for act in understanding.acts if stays(act)), *acts)


def _overlap(one: Span | None, other: Span | None) -> bool:
    return one is not None and other is not None and one.start < other.end and other.start < one.end
