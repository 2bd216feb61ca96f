"""Typing mistakes: words of four letters and more that neither the catalogue nor the language knows, read as the nearest name.

Tokens with digits are never touched. Names (product types, brands, colours, materials) come before other words.
"""

from __future__ import annotations

from collections.abc import Sequence

from ego_cli.catalog.text import unit_named
from ego_cli.conversation.understand.language import language
from ego_cli.conversation.understand.lexicon import Lexicon, skeleton
from ego_cli.conversation.understand.tokens import Token, stem

MINIMUM_LETTERS = 4
SOUND_FROM = 8
"""Letters from which a word may be read as a name that sounds the same ("headfones")."""
SHORT_UNTIL = 6
"""Letters below which a word is only read as one that the catalogue's texts contain."""
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def correct(
    tokens: Sequence[Token], lexicon: Lexicon, text: str
) -> tuple[tuple[Token, ...], tuple[tuple[str, str], ...]]:
    """The tokens with mistakes put right, and (typed, read as) pairs."""
    corrected: list[tuple[str, str]] = []
    out: list[Token] = []
    for index, token in enumerate(tokens):
        fixed = None
        if (
            token.kind == "word"
            and len(token.word) >= MINIMUM_LETTERS
            and token.word.isascii()
            and not _glued_to_digits(tokens, index)
        ):
            fixed = _fix(token.word, lexicon)
        if fixed is None:
            out.append(token)
        else:
            corrected.append((text[token.start : token.end], fixed))
            out.append(token._replace(word=fixed, stem=stem(fixed)))
    return (tuple(out), tuple(corrected)) if corrected else (tuple(tokens), ())


def _glued_to_digits(tokens: Sequence[Token], index: int) -> bool:
    token = tokens[index]
    before = token.glue in ("+", "-") and index > 0 and tokens[index - 1].kind == "number"
    behind = (
        index + 1 < len(tokens)
        and tokens[index + 1].glue in ("+", "-")
        and tokens[index + 1].kind == "number"
    )
    return before or behind


def _fix(word: str, lexicon: Lexicon) -> str | None:
    speech = language()
    if (
        speech.is_word(word)
        or lexicon.knows(word)
        or word in lexicon.name_words
        or stem(word) in lexicon.name_words
        or unit_named(word)
    ):
        return None
    if (
        word in speech.english
        or stem(word) in speech.english
        or word in speech.pidgin_words
        or word in speech.pidgin_marks
    ):
        return None
    if _inflected(word, lexicon):
        return None
    return _nearest(word, lexicon)


_SUFFIXES = (
    "ing",
    "ed",
    "er",
    "est",
    "ly",
    "ness",
    "able",
    "less",
    "ful",
    "ish",
    "ers",
    "ings",
    "y",
    "es",
    "s",
)


def _inflected(word: str, lexicon: Lexicon) -> bool:
    """ "browsing", "lightest": a form of an English word, with its final e dropped or its last letter doubled."""

    def known(root: str) -> bool:
        return root in language().english or root in lexicon.name_words

    for suffix in _SUFFIXES:
        if not word.endswith(suffix) or len(word) - len(suffix) < 4:
            continue
        root = word[: -len(suffix)]
        if known(root) or known(root + "e"):
            return True
        if len(root) > 3 and root[-1] == root[-2] and known(root[:-1]):
            return True
        if root.endswith("i") and known(root[:-1] + "y"):
            return True
    return False


def _nearest(word: str, lexicon: Lexicon) -> str | None:
    near = {
        w for w in _edits(word) if w[:1] == word[0]
    }  # whoever mistypes a name seldom mistypes how it begins
    if len(word) < SHORT_UNTIL:  # a short word is near to too much: only to what the catalogue says
        near = {w for w in near if lexicon.knows(w)}
    names = [w for w in near if w in lexicon.name_words and len(w) >= MINIMUM_LETTERS - 1]
    plural = [w for w in near if stem(w) in lexicon.name_words and len(w) >= MINIMUM_LETTERS]
    if names or plural:
        return _best(word, [*names, *plural], lexicon)
    speech = language()
    own = [w for w in near if speech.is_word(w) and len(w) >= MINIMUM_LETTERS]
    known = [w for w in near if w in lexicon.vocabulary and len(w) >= MINIMUM_LETTERS]
    if own and not known:
        return _best(word, own, lexicon)
    if known:
        return _best(word, known, lexicon)
    if len(word) >= SOUND_FROM:
        same = lexicon.by_skeleton.get(skeleton(stem(word)), ())
        close = [w for w in same if abs(len(w) - len(stem(word))) <= 1 and w[0] == word[0]]
        if close:
            return _best(word, close, lexicon)
    return None


def _best(word: str, candidates: Sequence[str], lexicon: Lexicon) -> str:
    """The first letter is seldom wrong; then what the catalogue has most of; then the alphabet, so that it is always the same."""
    return min(
        set(candidates),
        key=lambda w: (
            w[0] != word[0],
            sorted(w) != sorted(word),
            w[-2:] != word[-2:],
            -lexicon.vocabulary.get(w, 0),
            abs(len(w) - len(word)),
            w,
        ),
    )


def _edits(word: str) -> set[str]:
    """Every string one deletion, swap, replacement or insertion away."""
    cuts = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    found = {a + b[1:] for a, b in cuts if b}
    found.update(a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1)
    for a, b in cuts:
        for letter in _ALPHABET:
            found.add(a + letter + b)
            if b:
                found.add(a + letter + b[1:])
    found.discard(word)
    return found
