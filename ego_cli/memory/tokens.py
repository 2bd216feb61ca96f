"""Words of any script as search terms, and how many tokens of a model a text costs."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from ego_cli.settings import load_toml

# Runs of letters and digits (with marks). Han, kana and Thai have no spaces: they are cut into pairs of characters.
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?", re.UNICODE)
_UNSPACED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_SYMBOL = re.compile(r"[\u2600-\u27bf\U0001f300-\U0001faff]")  # emoji can be what someone searches for

CHARS_PER_TOKEN = 4.0  # English text and the usual byte-pair vocabularies; an estimate, not a promise
_VOWELS = frozenset("aeiou")


def fold(text: str) -> str:
    """Lower case without accents and compatibility forms: ``Ọmọlará`` and ``omolara`` meet."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.lower())
    return unicodedata.normalize("NFC", "".join(c for c in decomposed if not unicodedata.combining(c)))


def words_of(text: str) -> list[str]:
    """The folded words of a text in order; hyphens separate, a possessive 's goes, characters of unspaced scripts come in pairs."""
    folded = fold(text)
    found: list[str] = []
    for match in _WORD.finditer(folded):
        word = match.group().replace("’", "'").removesuffix("'s").replace("'", "")
        if word.isascii():
            found.append(word)
            continue
        position = 0
        for run in _UNSPACED.finditer(word):
            if run.start() > position:
                found.append(word[position : run.start()])
            characters = run.group()
            found.extend(characters if len(characters) < 2 else map("".join, itertools.pairwise(characters)))
            position = run.end()
        if position < len(word):
            found.append(word[position:])
    if not folded.isascii():
        found.extend(_SYMBOL.findall(folded))
    return found


@lru_cache(maxsize=1)
def _lists() -> tuple[frozenset[str], dict[str, str]]:
    table = load_toml("memory.toml")["search"]
    same = {
        stem(word): stem(group.split()[0])
        for group in (*table["spellings"], *table["same"])
        for word in group.split()
    }
    return frozenset(table["stop"].split()), same


def terms(text: str) -> list[str]:
    """Search terms of a text: folded words, stemmed, spelling variants united, function words left out."""
    stop, same = _lists()
    found = []
    for word in words_of(text):
        if word not in stop:
            stemmed = stem(word)
            found.append(same.get(stemmed, stemmed))
    return found


def query_terms(query: str) -> list[str]:
    """The one place where words that somebody typed become a full-text query: a list of distinct terms, in order.

    Nothing in them is syntax, so quotes, ``AND*``, ``NEAR`` and brackets are words or nothing. When only function
    words were typed, these are the terms.
    """
    return list(dict.fromkeys(terms(query) or [stem(word) for word in words_of(query)]))


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of a folded English word, after Porter (1980); words of other scripts and codes stay as they are."""
    if len(word) < 3 or not word.isascii() or not word.isalpha():
        return word
    word = _plural_and_past(word)
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    for rules, least in _SUFFIX_STEPS:
        word = _swap_longest(word, rules, least)
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _ends_cvc(word[:-1])):
            word = word[:-1]
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word


def _plural_and_past(word: str) -> str:
    if word.endswith(("sses", "ies")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        trunk = word[: -len(ending)]
        if word.endswith(ending) and _has_vowel(trunk) and len(trunk) > 1:
            if trunk.endswith(("at", "bl", "iz")):
                return trunk + "e"
            if len(trunk) > 2 and trunk[-1] == trunk[-2] and trunk[-1] not in "lsz":
                return trunk[:-1]
            return trunk + "e" if _measure(trunk) == 1 and _ends_cvc(trunk) else trunk
    return word


_SUFFIX_STEPS: tuple[tuple[tuple[tuple[str, str], ...], int], ...] = (
    (
        (
            ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"),
            ("abli", "able"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"),
            ("ization", "ize"), ("ation", "ate"), ("ator", "ate"), ("alism", "al"), ("iveness", "ive"),
            ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble"),
        ),
        0,
    ),
    (
        (("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", "")),
        0,
    ),
    (
        tuple(
            (ending, "")
            for ending in (
                "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "sion", "tion",
                "ou", "ism", "ate", "iti", "ous", "ive", "ize",
            )
        ),
        1,
    ),
)  # fmt: skip


def _swap_longest(word: str, rules: Iterable[tuple[str, str]], least: int) -> str:
    best = ("", "")
    for ending, replacement in rules:
        if len(ending) > len(best[0]) and word.endswith(ending):
            best = (ending, replacement)
    ending, replacement = best
    if not ending:
        return word
    trunk = word[: -len(ending)]
    if ending in ("sion", "tion") and not replacement:
        trunk += ending[0]
    return trunk + replacement if _measure(trunk) > least else word


def _is_vowel(word: str, at: int) -> bool:
    return word[at] in _VOWELS or (word[at] == "y" and at > 0 and word[at - 1] not in _VOWELS)


def _has_vowel(word: str) -> bool:
    return any(_is_vowel(word, i) for i in range(len(word)))


def _measure(word: str) -> int:
    """How often a vowel is followed by a consonant."""
    count, before = 0, False
    for i in range(len(word)):
        vowel = _is_vowel(word, i)
        count += before and not vowel
        before = vowel
    return count


def _ends_cvc(word: str) -> bool:
    return (
        len(word) >= 3
        and not _is_vowel(word, len(word) - 1)
        and _is_vowel(word, len(word) - 2)
        and not _is_vowel(word, len(word) - 3)
        and word[-1] not in "wxy"
    )


@lru_cache(maxsize=16_384)
def estimate_tokens(text: str) -> int:
    """About how many tokens a language model reads in ``text``.

    A word costs at least one, longer ones one for each four letters, every other sign one; characters beyond Latin
    cost one each. Meant to err on the high side, so that a packed context fits.
    """
    if not text:
        return 0
    count = 0
    for word in re.findall(r"[A-Za-z]+|\d{1,3}|[^\sA-Za-z\d]", text):
        count += max(1, round(len(word) / CHARS_PER_TOKEN + 0.25))
    return max(1, count)


Counter = Callable[[str], int]


def token_counter(tokenizer: Any = None) -> Counter:
    """A function that counts tokens: exact when a tokenizer (``encode(text)``) is at hand, else the estimate."""
    if tokenizer is None:
        return estimate_tokens

    def count(text: str) -> int:
        encoded = tokenizer.encode(text)
        return len(getattr(encoded, "ids", encoded))

    return count
