"""What a text says is *not* there: "fragrance-free", "free of parabens", "no zips or buttons", "wireless".

A keyword search sees "fragrance" in "fragrance-free". Everything that looks for a word in a product asks here first
which words of a text are affirmed and which are denied.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Told(NamedTuple):
    """A text in two parts: what it says is there, and what it says is not."""

    affirmed: str
    denied: str


_NO_AHEAD = re.compile(r"(?:^|[ \n(,/-])no")


def _may_deny(text: str) -> bool:
    """A cheap look before the real work: most texts deny nothing. (A search for each is quicker than one pattern for all.)"""
    return (
        "free" in text
        or "less" in text
        or ("no" in text and _NO_AHEAD.search(text) is not None)
        or "without" in text
        or "n't" in text
        or "n’t" in text
        or "zero" in text
        or "never" in text
        or "exclud" in text
        or "minus" in text
        or "devoid" in text
        or "neither" in text
        or ("%" in text and ("0%" in text or "0 %" in text))
    )


_WORD = r"[a-z0-9][a-z0-9'’]*"
# Words at which a list of denied things is over: a new clause begins.
_CLAUSE = (
    r"but|with|so|as|made|makes|making|is|are|was|has|have|for|that|this|these|those|it|its|you|your|they|we|while|when|because|which|who|on|plus|just|only|yet|thanks|"
    r"giving|leaving|keeps?|comes?|contains?|includ\w+|required|needed|necessary|at|than|to|after|before|if|in|by|from|even|still|will|can|does|like|per|then|since|"
    r"unless|until|leaves?|gives?|works?|and|or|nor"
)
_ITEM = rf"(?!(?:{_CLAUSE})\b){_WORD}"
_THING = rf"{_ITEM}(?:[ -]{_ITEM}){{0,3}}?"  # "artificial rose fragrance": as few words as do
_STOP = rf"(?=\s*(?:[.;:!?()\[\]\n|•,–—]|$)|\s+(?:{_CLAUSE})\b|\s*[&/]|\s+-\s)"
_OR = r"(?:\s*,?\s*(?:\bor\b|\bnor\b|\band/or\b|/)\s*)"
_ANY = r"(?:\s*,?\s*(?:\bor\b|\bnor\b|\band\b|&|\band/or\b|/)\s*|\s*,\s*)"
# "no zips or buttons"; "no parabens, sulfates or phthalates": commas go on only where an "or" follows.
_OR_LIST = rf"{_THING}(?:(?:\s*,\s*{_THING})*{_OR}{_THING})*"
# "free of parabens, sulfates and silicones"; "without latex, fur or wool".
_ANY_LIST = rf"{_THING}(?:{_ANY}{_THING}){{0,12}}"
_FREE_AFTER = re.compile(
    # "paraben and sulfate free", "alcohol, fragrance & dye-free", "sugar-free"
    rf"(?P<x>(?:{_WORD}-?\s*(?:,\s*{_WORD}-?\s*)*,?\s*(?:/|&|\band\b|\bor\b)\s*)?{_WORD})[ -]free\b"
    r"(?!\s+(?:deliver\w*|shipping|gift|gifts|sample|samples|returns?|trial|from\b|of\b|size|installation|standing|pouch|bag|case|earpiece|time|set-?up|warranty|app|to\b))"
)
_LISTS = re.compile(
    rf"(?:\bfree\s+(?:of|from)\b|\bwithout\b|\bdevoid\s+of\b|\bexclud(?:es|ing)\b|\bminus\b|\b0\s?%|"
    rf"\b(?:do|does|did|is|are|can|will)(?:\s?n[’']t|\s+not)\s+(?:contain|include|have|use)\b|\bcontains?\s+(?:no|zero)\b|\bneither\b|\bnever\s+(?:contains?|uses?)?)"
    rf"\s*(?:any\s+|the\s+|added\s+|use\s+of\s+)*(?P<x>{_ANY_LIST}){_STOP}"
)
_NO = re.compile(
    r"\b(?:no|zero)[ -](?!\d|more than|less than|fewer|matter|problem|doubt|need|other|one\b|show\b|longer\b|worries|wonder|better|\.)"
    rf"(?:added\s+|any\s+|harmful\s+)*(?P<x>{_OR_LIST}){_STOP}"
)
_NOT = re.compile(
    r"\b(?:not|isn[’']t|aren[’']t)\s+(?!only\b|just\b|to\b|sure|limited|include|contain|the\b|all\b|for\b|compatible|even|have\b|be\b|been\b|use\b)"
    rf"(?:too\s+|at all\s+|overly\s+|a\s+|an\s+)*(?P<x>{_WORD}(?:{_OR}{_WORD})*)"
)
_NON = re.compile(rf"\bnon[- ](?P<x>{_WORD}(?:-{_WORD})*)")
_LEFT_OUT = re.compile(
    rf"(?P<x>\b{_ITEM})\s+(?:is\s+|are\s+)?(?:not\s+included|sold\s+separately|excluded)\b"
)
# "-less" takes away what stands before it; these words only look so.
_LESS = re.compile(r"\b(?P<x>[a-z]{3,})less\b")
_LESS_KEEPS = frozenset(
    ["stain", "un", "end", "price", "time", "count", "effort", "regard", "need", "rest", "care", "self", "use", "bound", "limit", "age", "worth", "help", "doubt", "flaw", "rel", "ruth", "breath", "weight", "spot", "tire", "match", "harm", "taste", "speech", "home"]
)  # fmt: skip


def told(text: str) -> Told:
    """Split ``text`` (any case) into what it affirms and what it denies; both in lower case.

    >>> told("Fragrance-free lotion with glycerin")
    Told(affirmed='  lotion with glycerin', denied='fragrance')
    """
    rest = text.lower()
    if not _may_deny(rest):
        return Told(rest, "")
    denied: list[str] = []

    def take(match: re.Match[str]) -> str:
        denied.append(match["x"])
        return " " * 2

    if "free" in rest:
        rest = _FREE_AFTER.sub(take, rest)
    rest = _LISTS.sub(take, rest)
    rest = _LEFT_OUT.sub(take, rest)
    for cue, pattern in (
        ("no", _NO),
        ("zero", _NO),
        ("non", _NON),
        ("not", _NOT),
        ("n’t", _NOT),
        ("n't", _NOT),
    ):
        if cue in rest:
            rest = pattern.sub(take, rest)
    for match in _LESS.finditer(rest):  # "wireless" stays a word of its own, too
        if match["x"] not in _LESS_KEEPS:
            denied.append(match["x"])
    return Told(rest, " , ".join(denied))
