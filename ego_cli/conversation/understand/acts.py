"""What a shopper did with one sentence: a tuple of acts, in the order in which she said them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What an act does. The comment says which other fields it fills."""

    # wants and constraints
    NEED = "need"  # value: product type in the shopper's words; group; quantity in `number` if she said one
    CONSTRAIN = "constrain"  # attribute, operator, value/values/number, unit, polarity, hardness, group
    RELAX = "relax"  # attribute and/or value no longer required; polarity -1: an exclusion lifted ("black is fine too")
    # changes of mind
    OVERRIDE = "override"  # what follows replaces what it contradicts; attribute/value if she named what goes
    RESTORE = "restore"  # attribute and/or value to take back from the erased list
    UNDO = "undo"
    START_OVER = "start_over"
    DROP_WANT = "drop_want"  # value: the want to leave out ("leave the dress")
    # about what was shown
    RELATIVE = "relative"  # attribute ("price", "weight", any word), value: direction in her words, `number` +1/-1; target
    SORT = "sort"  # attribute "price"|"rating"|"popularity"|a field, number -1 descending / +1 ascending
    SHOW_MORE = "show_more"
    GO_BACK = "go_back"
    MORE_LIKE = "more_like"  # target
    REFER = "refer"  # target: "the second one", "I will take the first": chosen or talked about
    ASK = "ask"  # a question about shown items: attribute ("price", "battery", "waterproof"), target; number ±1 for superlatives
    COMPARE = "compare"  # target
    WHY = "why"  # target, or none: why this list
    REJECT = "reject"  # target; none: the whole last list
    # basket
    BASKET_ADD = "basket_add"  # target, number (quantity), values (options such as a size)
    BASKET_REMOVE = "basket_remove"  # target, or value: words that name the line
    BASKET_QUANTITY = "basket_quantity"  # number, target or value
    BASKET_SHOW = "basket_show"
    BASKET_CLEAR = "basket_clear"
    # feedback and memory
    FEEDBACK = "feedback"  # polarity, value: "like"|"dislike"|"bought"|"tried"|"own", target or words in `note` (outcome)
    RATE = "rate"  # number: stars 1-5, target
    REMEMBER = "remember"  # value: the words to keep
    FORGET = "forget"  # value: what to forget; "all" for everything
    RECALL = "recall"  # "what do you know about me?"; value: about what
    FACT = "fact"  # a statement about the shopper or someone else worth remembering; subject, value, polarity
    # the talk itself
    YES = "yes"
    NO = "no"
    NONE_OF_THESE = "none_of_these"
    NO_PREFERENCE = "no_preference"  # attribute if she named one
    GREET = "greet"
    THANKS = "thanks"
    BYE = "bye"
    HELP = "help"
    SHOP_QUESTION = "shop_question"  # delivery, returns, payment...; attribute names the topic
    BROWSE = "browse"  # "what do you sell?", "just looking"
    UNCLEAR = "unclear"  # words were there, nothing was understood


class Operator(StrEnum):
    """How a value constrains an attribute."""

    IS = "is"
    ANY_OF = "any_of"
    ALL_OF = "all_of"
    MIN = "min"
    MAX = "max"
    ABOUT = "about"
    LOWER_HALF = "lower_half"  # "not too expensive"
    UPPER_HALF = "upper_half"  # "something premium"
    MIDDLE = "middle"  # "mid-range"


class Hardness(StrEnum):
    """How firmly she said it."""

    ONLY = "only"  # "and only teal": never relaxed
    MUST = "must"
    PREFER = "prefer"  # "ideally", "if possible": first to be relaxed


@dataclass(frozen=True, slots=True)
class Span:
    """Where in the text, as character offsets [start, end)."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Target:
    """Which shown (or basket) items an act is about, before it is looked up in the state.

    how: "ordinal" (positions, 1-based; negative counts from the end), "last" (it/that/them), "attribute"
    (words: "the black one"), "name" (words of a title), "extreme" (words: attribute, direction in `sign`),
    "all" (the whole last list).
    """

    how: str
    positions: tuple[int, ...] = ()
    words: str = ""
    sign: int = 0


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that a sentence does.

    polarity: +1 wanted, -1 not wanted. ``value``/``values`` are in the catalogue's spelling where it knows the
    word, else in the shopper's. ``number`` carries money (in ``unit`` as an ISO code, None = the catalogue's own),
    sizes of units (canonical ``unit``: "mah", "gb", "inch", "ml"...), counts, or a direction. ``per`` is "each" or
    "all" for budgets. ``group`` is the want it belongs to within this sentence (0-based; None = no noun beside it).
    ``words`` are the shopper's own, as typed.
    """

    kind: Kind
    attribute: str | None = None
    operator: Operator | None = None
    value: str | None = None
    values: tuple[str, ...] = ()
    number: float | None = None
    unit: str | None = None
    per: str | None = None
    polarity: int = 1
    hardness: Hardness = Hardness.MUST
    target: Target | None = None
    subject: str | None = None  # None = the shopper; "mum", "husband"... for a gift or a third person
    note: str = ""
    group: int | None = None
    words: str = ""
    span: Span | None = None
    confidence: float = 1.0
    source: str = "said"  # or "model": proposed by a language model, found to hold


@dataclass(frozen=True, slots=True)
class Understanding:
    """The result of reading one message.

    ``corrected`` lists (typed, read as) pairs to say "showing results for"; ``search_words`` is the message with the
    conversation taken out, in catalogue spelling; ``unread`` is the share (0-1) of its content words that no act
    explains; ``shortened`` is true when only head and tail of a very long message were read.
    """

    text: str
    acts: tuple[Act, ...]
    search_words: str = ""
    corrected: tuple[tuple[str, str], ...] = ()
    unread: float = 0.0
    shortened: bool = False
    language: str = "en"  # "en", "pcm" or "mixed"
