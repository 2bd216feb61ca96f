"""Sentences by situation from ``data/replies.toml``: which wording, in which register."""

from __future__ import annotations

from collections.abc import Sequence

from ego_cli.settings import load_toml


def say(situation: str, *, language: str = "en", turn: int = 0, **facts: object) -> str:
    """The sentence for a situation with its facts filled in; wordings are taken in turn by ``turn``."""
    entry = load_toml("replies.toml")[situation]
    wordings = entry.get("pcm" if language == "pcm" else "en") or entry["en"]
    text: str = wordings[turn % len(wordings)]
    return text.format(**facts)


def listed(words: Sequence[str], conjunction: str = "and") -> str:
    """ "a", "a and b", "a, b and c"."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {conjunction} {words[-1]}"


def plural(count: int, noun: str) -> str:
    """ "1 row", "3 rows"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
