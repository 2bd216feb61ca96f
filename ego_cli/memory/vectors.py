"""Sentence vectors of rows, kept in the shopper's file: made once a row and model, never mixed between models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ego_cli.memory.entry import Embedder, Entry
from ego_cli.memory.store import Store


def row_vectors(store: Store, embedder: Embedder, ids: Sequence[int]) -> Any:
    """Unit vectors of rows in the order of ``ids`` (float32 [rows, size]), by this embedder only; zeros where there is no
    such row. Missing ones are made now and kept."""
    model, size = _identity(embedder)
    known = {
        int(id_): np.frombuffer(value, dtype=np.float32)
        for id_, value in store.read(
            "SELECT entry, value FROM vector WHERE model=? AND size=?", (model, size)
        )
    }
    wanted = {id_ for id_ in ids if id_ not in known}
    rows = [row for row in store.rows() if row.id in wanted] if wanted else []
    if rows:
        made = np.asarray(embedder.encode([_text(row) for row in rows]), dtype=np.float32)
        with store.writing() as db:
            for row, value in zip(rows, made, strict=True):
                known[row.id] = value
                db.execute(
                    "INSERT OR REPLACE INTO vector SELECT ?,?,?,? WHERE EXISTS(SELECT 1 FROM entry WHERE id=?)",
                    (row.id, model, size, value.tobytes(), row.id),
                )
    nothing = np.zeros(size, dtype=np.float32)
    return (
        np.stack([known.get(id_, nothing) for id_ in ids]) if ids else np.zeros((0, size), dtype=np.float32)
    )


def _identity(embedder: Embedder) -> tuple[str, int]:
    size = int(getattr(embedder, "size", 0) or getattr(embedder, "dim", 0))
    return str(getattr(embedder, "identity", "") or f"{type(embedder).__name__}:{size}"), size


def _text(entry: Entry) -> str:
    speaker = entry.data.get("speaker")
    return f"{speaker}: {entry.text}" if speaker else entry.text
