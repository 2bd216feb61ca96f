"""Words compared by what they stand for: terms of the search index, in the singular."""

from __future__ import annotations

from functools import lru_cache

from ego_cli.catalog.text import stem, terms


@lru_cache(maxsize=20_000)
def stems(text: str) -> tuple[str, ...]:
    """The terms of ``text`` as the index spells them, each in the singular."""
    return tuple(stem(term) for term in terms(text))


def same_type(one: str, other: str) -> bool:
    """Whether two product types are the same or one refines the other ("boots", "chelsea boots")."""
    a, b = set(stems(one)), set(stems(other))
    return bool(a and b) and (a <= b or b <= a)
