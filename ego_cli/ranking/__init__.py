"""Candidates to an ordered list in which every number can be explained.

request       what is asked for, as values
retrieve      catalogue -> candidates: hard rules as masks, legs, fusion
score         candidates -> a sum of named terms
reasons       the stored field behind each tag
pipeline      all of it: rank, count, carries
scored        what is handed on
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ego_cli.ranking.pipeline import carries, count, rank

__all__ = ["carries", "count", "rank"]


def __getattr__(name: str) -> Any:
    """``rank``, ``count`` and ``carries`` bring numpy along: they are imported when first used."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ego_cli.ranking import pipeline

    return getattr(pipeline, name)
