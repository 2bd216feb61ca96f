"""Exact field-weighted BM25: FTS5's own numbers, served from precomputed impacts.

FTS5 scores every matching row of an OR query in its virtual machine. We keep, per term, the rows that hold it and what it
adds to their score (its *impacts*), as arrays mapped from disk, and add them up with numpy. The formula is that of
``fts5_aux.c`` (SQLite), with its idf floor for terms that more than half of the rows hold, its average length over all
fields, and its order of operations, so that ranks and ties are the same:

    idf(t)      = ln((N - n + 0.5) / (n + 0.5)), at least 1e-6
    score(d, t) = idf(t) * f * (k1 + 1) / (f + k1 * (1 - b + b * |d| / avg))      f = sum of field weight x occurrences

A search adds float32 impacts into one accumulator, finds a lower bound of the k-th best sum, and rescores in float64 only the
rows that can reach it. It tries with the rarer terms alone first (MaxScore); if these do not settle it, it adds the terms
that many rows hold too, each a whole column at once. Rounding is bounded, so the result is exact.
"""

from __future__ import annotations

import json
import math
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ego_cli.catalog import text

Rows = npt.NDArray[np.int32]
Scores = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

FIELDS = ("title", "category", "features", "details", "store", "description")
K1, B, IDF_FLOOR = 1.2, 0.75, 1e-6  # constants of fts5_aux.c

STEM_WEIGHT = 0.7  # what another form of a word counts, against the form that was asked for
COMPOUND_WEIGHT = 0.8  # "bluetooth" + "speaker" for an unknown "bluetoothspeaker", or the other way round
UNIT_WEIGHT = 0.8  # "20000mah" for a bare "20000"

_RARE_POSTINGS = 16_384  # up to so many postings together, rare terms are tried alone
