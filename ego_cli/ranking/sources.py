"""What ranking may consult besides the search index, as far as it is there: vectors, tastes, what shoppers did."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ego_cli.catalog.collaborative import Neighbours
    from ego_cli.catalog.dense import DenseIndex
    from ego_cli.catalog.signals import ShopSignals
    from ego_cli.catalog.store import Catalogue


@dataclass(frozen=True, slots=True)
class Sources:
    """Each may be missing; ranking works on what there is."""

    dense: DenseIndex | None = None
    neighbours: Neighbours | None = None
    signals: ShopSignals | None = None


NO_SOURCES = Sources()


def open_sources(catalogue: Catalogue, now: datetime, *, encoder: str | None = None) -> Sources:
    """All that this catalogue has. ``encoder``: which vectors to use, None for none (loading it takes 0.3-0.9 s: do it in the
    background). A model that cannot be loaded raises; vectors of another model are left aside."""
    from ego_cli.catalog import collaborative
    from ego_cli.catalog.signals import SignalStore

    dense = None
    if encoder is not None:
        from ego_cli.catalog.dense import DenseIndex, VectorFile, load_encoder

        if VectorFile(catalogue.path).model() is not None:
            dense = DenseIndex.open(catalogue.path, catalogue, load_encoder(encoder))
    return Sources(dense, collaborative.load(catalogue), SignalStore(catalogue.path).snapshot(now))
