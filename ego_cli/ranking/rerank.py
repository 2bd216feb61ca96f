"""An optional second stage: a cross-encoder reads the wish and each of the best products together.

It comes after the hard rules and can only reorder what they let through. It is used when the configuration names a model
(extra ``[sentence-transformers]``), never by default: no gain was measured that is worth its time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ego_cli.catalog.dense import product_text
from ego_cli.catalog.product import Product
from ego_cli.errors import EgoError, MisuseError, ServiceAwayError

LOOKED_AT = 50  # products that are read
FIRST = 2  # read before it is known how fast it reads
BATCH = 10  # read between two looks at the clock from then on
BUDGET_S = 0.5  # seconds it may take; a judgement that is late, or will be, is thrown away
WEIGHT = 2.0  # score units per standard deviation of the judge's scores


class Judge(Protocol):
    """How well each text answers a query, on any scale; higher is better."""

    def __call__(self, query: str, texts: Sequence[str]) -> Sequence[float]: ...


@lru_cache(maxsize=2)
def load_judge(name: str) -> Judge:
    """A ``CrossEncoder`` by local path or hub name; imported here and nowhere else.

    Raises ``MisuseError`` without the extra, ``ServiceAwayError`` when the model cannot be loaded.
    """
    try:
        from sentence_transformers import CrossEncoder
    except ImportError as error:
        raise MisuseError(
            f"the cross-encoder {name!r} needs the extra [sentence-transformers]",
            hint="in the folder of ego: pip install '.[sentence-transformers]'",
        ) from error
    try:
        model: Any = CrossEncoder(name, device="cpu")
    except (OSError, ValueError, RuntimeError) as error:
        raise ServiceAwayError(f"cannot load the cross-encoder {name!r}: {error}") from error

    def judge(query: str, texts: Sequence[str]) -> Sequence[float]:
        pairs = [(query, text) for text in texts]
        try:
            return [float(score) for score in model.predict(pairs, show_progress_bar=False)]
        except (RuntimeError, ValueError, TypeError) as error:  # a model of another make than a judge
            raise ServiceAwayError(f"the cross-encoder {name!r} fails: {error}") from error

    return judge


def judged(
    query: str,
    products: Sequence[Product],
    judge: Judge,
    *,
    budget_s: float | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> NDArray[np.float64] | None:
    """What the judge adds to each product's score; None when it fails, is late, or finds nothing to tell them apart by.

    ``budget_s`` is ``BUDGET_S`` unless given. It gives up as soon as it has seen that the time will not do.
    """
    if not query.strip() or len(products) < 2:
        return None
    budget = BUDGET_S if budget_s is None else budget_s
    began = clock()
    scores: list[float] = []
    while len(scores) < len(products):
        some = products[len(scores) : len(scores) + (BATCH if scores else FIRST)]
        try:
            scores += judge(query, [product_text(product) for product in some])
        except EgoError:  # a second look can be done without
            return None
        if (clock() - began) * len(products) / len(scores) > budget:
            return None
    values = np.array(scores, dtype=np.float64)
    width = float(values.std())
    return WEIGHT * (values - values.mean()) / width if width > 0 else None
