"""First pass: a message becomes tokens with offsets, spelled the way the later passes expect.

The text itself is never changed: every token keeps its character span, and only its ``word`` is normalised (case, quotes,
diacritics, elongations, contractions, plural). A message that is too long is read at its head and tail only.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from ego_cli.conversation.understand.language import language

READ_CHARACTERS = 6_000
"""How much of one message is read: half from its head, half from its tail."""

_PIECE = re.compile(
    r"(?P<number>\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
    r"|(?P<word>[^\W\d_]+(?:['’ʼ`´][^\W\d_]+)*[\u0300-\u036f]*(?:[^\W\d_][\u0300-\u036f]*)*)"
    r"|(?P<mark>\.\.\.|…|>=|<=|[^\s\w]|_)"
    r"|(?P<line>\n+)"
)
_QUOTES = str.maketrans(
    {"’": "'", "ʼ": "'", "`": "'", "´": "'", "‘": "'", "“": '"', "”": '"', "″": '"', "′": "'"}
)
_RUN = re.compile(r"(.)\1{2,}")
_LETTERS = {"ø": "o", "ł": "l", "đ": "d", "ß": "ss", "æ": "ae", "œ": "oe", "ı": "i", "ɛ": "e", "ɔ": "o"}


class Token(NamedTuple):
    """One word, number or mark.

    ``word``: normalised form; ``stem``: its singular; ``kind``: "word", "number" or "mark"; ``number``: its value when it
    is written in digits; ``capital``: typed with a capital first letter; ``glue``: what joins it to the token before: "" (a space), "+" (nothing at all), "-", "&".
    """

    word: str
    stem: str
    kind: str
    start: int
    end: int
    glue: str = ""
    number: float | None = None
    capital: bool = False


def shorten(text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The part of ``text`` that is read, and the character ranges of the original that it consists of."""
    if len(text) <= READ_CHARACTERS:
        return text, ((0, len(text)),)
    half = READ_CHARACTERS // 2
    head = text[:half].rsplit(None, 1)[0] if text[:half].strip() and " " in text[:half] else text[:half]
    tail = text[-half:]
    cut = tail.find(" ") + 1
    tail_start = len(text) - half + cut
    return head + "\n" + text[tail_start:], ((0, len(head)), (tail_start, len(text)))


@lru_cache(maxsize=20_000)
def fold(text: str) -> str:
    """Lower case without diacritics: ``Crème`` -> ``creme``, ``Ọja`` -> ``oja``."""
    text = text.translate(_QUOTES).lower()
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(_LETTERS.get(c, c) for c in decomposed if not unicodedata.combining(c))


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """The singular of an English noun, cautiously: ``dresses`` -> ``dress``, ``scarves`` -> ``scarf``."""
    irregular = language().irregular.get(word)
    if irregular is not None:
        return irregular
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes", "zes")):
        return word[:-2]
    return word[:-1]


@lru_cache(maxsize=50_000)
def _spell(word: str) -> tuple[str, ...]:
    """The canonical words for one typed word: contractions opened, drawn-out letters shortened."""
    speech = language()
    word = fold(word)
    if "'" in word:
        opened = speech.contractions_apostrophe.get(word) or speech.contractions.get(word.replace("'", ""))
        if opened:
            return tuple(opened.split())
        if word.endswith("'s") and len(word) > 3:
            return (word[:-2],) if word[:-2] not in speech.possessive_kept else (word[:-2] + "s",)
        word = word.replace("'", "")
    if _RUN.search(word):
        double, single = _RUN.sub(r"\1\1", word), _RUN.sub(r"\1", word)
        word = double if speech.is_word(double) and not speech.is_word(single) else single
    opened = speech.contractions.get(word)
    return tuple(opened.split()) if opened else (word,)


def _ends_amount(tokens: list[Token], magnitudes: Mapping[str, float]) -> bool:
    """Whether the last token is the suffix of a number ("10k")."""
    return (
        len(tokens) > 1
        and tokens[-1].word in magnitudes
        and tokens[-1].glue == "+"
        and tokens[-2].kind == "number"
    )


def tokenise(text: str) -> tuple[Token, ...]:
    """All tokens of ``text`` in order. A contraction gives several tokens with one span."""
    speech = language()
    tokens: list[Token] = []
    previous_end = -1
    joiner = ""
    matches = list(_PIECE.finditer(text))
    for index, match in enumerate(matches):
        kind = match.lastgroup or "mark"
        start, end = match.span()
        piece = match.group()
        following = matches[index + 1] if index + 1 < len(matches) else None
        touches_before = start == previous_end and bool(tokens)
        touches_after = following is not None and following.start() == end
        glue = joiner or ("+" if touches_before else "")
        joiner = ""
        previous_end = end
        if kind == "line":
            tokens.append(Token("\n", "\n", "mark", start, end))
        elif kind == "number":
            value = float(piece.replace(",", "")) if len(piece) < 40 else 0.0
            tokens.append(Token(piece, piece, "number", start, end, glue, value))
        elif kind == "word":
            for word in _spell(piece):
                tokens.append(Token(word, stem(word), "word", start, end, glue, None, piece[0].isupper()))
                glue = ""
        else:
            mark = piece.translate(_QUOTES)
            if mark in ("-", "‑", "&") and touches_before and touches_after and following is not None:
                amount_before = tokens[-1].kind == "number" or _ends_amount(tokens, speech.magnitudes)
                range_sign = amount_before and (
                    following.lastgroup == "number" or following.group() in speech.currency_symbols
                )
                if not range_sign and following.lastgroup in ("word", "number"):
                    joiner = "&" if mark == "&" else "-"
                    continue
            if mark in ("-", "‑", "–", "—", "−"):
                mark = "-"
            tokens.append(Token(mark, mark, "mark", start, end, glue))
    return tuple(tokens)
