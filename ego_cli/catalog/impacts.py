"""Making the arrays that ``lexical`` searches: per term, the rows that hold it and what it adds to their score."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from ego_cli.catalog.lexical import FIELDS, Rows, idf, length_norms, term_scores
from ego_cli.catalog.text import REPEATED, terms

_COLUMN_SHARE = 16  # a term that at least 1/16 of the rows hold is kept as a whole column too
_COLUMN_ROWS = 4096  # below this many rows columns gain nothing
_CHUNK_ROWS = 2048
_ROW_FROM, _TERM_FROM = 3, 32  # lowest bits of row and term in the number that says where a token stands
_LINES_KEPT = 65_536  # lines whose terms are remembered: shops repeat themselves


class _Numbering(dict[str, int]):
    """Gives each new word the next number."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


class ImpactBuilder:
    """Collects the terms of products row by row and writes the impact arrays; memory does not grow with the rows."""

    def __init__(self, folder: Path, weights: Mapping[str, float]) -> None:
        self._folder = folder
        self._weights = np.array([weights[field] for field in FIELDS], dtype=np.float64)
        self._numbering = _Numbering()
        self._read_before = lru_cache(maxsize=_LINES_KEPT)(self._read)
        self._ids = array("i")
        self._field_lengths = array("i")
        self._chunk_start = 0
        self._rows = 0
        self._lengths = array("i")
        self._df = np.zeros(1024, dtype=np.int64)
        self._chunks: list[int] = []
        self._spill: IO[bytes] = (folder / "postings.spill").open("w+b")
        # Sums of such weights are exact in float32; others are kept in float64.
        exact = bool(np.all(self._weights * 64 == np.round(self._weights * 64)))
        self._frequency = np.dtype(np.float32 if exact else np.float64)

    def add(self, fields: Sequence[Sequence[str]]) -> None:
        """The terms of the next row, one sequence a field in the order of ``FIELDS``."""
        number = self._numbering.__getitem__
        before = len(self._ids)
        for words in fields:
            self._ids.extend(map(number, words))
            self._field_lengths.append(len(words))
        self._end_row(before)

    def add_lines(self, fields: Sequence[Sequence[str]]) -> list[str]:
        """The next row as it is written: per field its lines, each read on its own. Returns what FTS5 is to hold of each
        field, terms with a blank between."""
        before = len(self._ids)
        documents = []
        for lines in fields:
            start = len(self._ids)
            read = []
            for line in lines:
                ids, terms = self._read_before(line) if len(line) <= REPEATED else self._read(line)
                self._ids.extend(ids)
                read.append(terms)
            documents.append(" ".join(read))
            self._field_lengths.append(len(self._ids) - start)
        self._end_row(before)
        return documents

    def _read(self, line: str) -> tuple[array[int], str]:
        words = terms(line)
        return array("i", list(map(self._numbering.__getitem__, words))), " ".join(words)

    def _end_row(self, before: int) -> None:
        self._lengths.append(len(self._ids) - before)
        self._rows += 1
        if self._rows - self._chunk_start == _CHUNK_ROWS:
            self._flush()

    def _flush(self) -> None:
        rows = self._rows - self._chunk_start
        ids = np.frombuffer(self._ids, dtype=np.int32)
        if ids.size == 0:
            self._chunk_start = self._rows
            self._field_lengths = array("i")
            return
        lengths = np.frombuffer(self._field_lengths, dtype=np.int32)
        # One number says term, row and field of each token: sorted, equal terms and rows stand together.
        cell = np.arange(rows * len(FIELDS), dtype=np.int64)
        cell = cell // len(FIELDS) << _ROW_FROM | cell % len(FIELDS)
        key = ids.astype(np.int64) << _TERM_FROM | np.repeat(cell, lengths)
        key.sort()
        field = key & (1 << _ROW_FROM) - 1
        key >>= _ROW_FROM
        starts = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1])))
        term = (key[starts] >> _TERM_FROM - _ROW_FROM).astype(np.int32)
        row = (key[starts] & (1 << _TERM_FROM - _ROW_FROM) - 1).astype(np.int32) + np.int32(self._chunk_start)
        frequency = np.add.reduceat(self._weights[field], starts).astype(self._frequency)
        where = np.bitwise_or.reduceat((1 << field).astype(np.uint8), starts)
        for column in (term, row, frequency, where):
            self._spill.write(column.tobytes())
        self._chunks.append(starts.size)
        if len(self._numbering) > self._df.size:
            self._df = np.concatenate(
                (self._df, np.zeros(max(self._df.size, len(self._numbering)), dtype=np.int64))
            )
        self._df[: len(self._numbering)] += np.bincount(term, minlength=len(self._numbering))
        self._ids, self._field_lengths = array("i"), array("i")
        self._chunk_start = self._rows

    def _spilled(self) -> Iterator[tuple[npt.NDArray[Any], ...]]:
        self._spill.seek(0)
        for count in self._chunks:
            yield tuple(
                np.frombuffer(self._spill.read(count * np.dtype(kind).itemsize), dtype=kind)
                for kind in (np.int32, np.int32, self._frequency, np.uint8)
            )

    def finish(self) -> dict[str, int]:
        """Write the arrays; returns the vocabulary with document frequencies."""
        self._flush()
        words = sorted(self._numbering)
        old = np.fromiter((self._numbering[word] for word in words), dtype=np.int64, count=len(words))
        new = np.empty_like(old)
        new[old] = np.arange(len(words))
        df = self._df[old]
        indptr = np.concatenate(([0], np.cumsum(df))).astype(np.int64)
        lengths = np.frombuffer(self._lengths, dtype=np.int32) if self._rows else np.zeros(0, np.int32)
        total = int(indptr[-1])
        rows = self._open("postings.rows", np.int32, total)
        frequencies = self._open("postings.frequencies", self._frequency, total)
        impacts = self._open("postings.impacts", np.float32, total)
        where = self._open("postings.fields", np.uint8, total)
        idfs = np.array([idf(int(n), self._rows) for n in df], dtype=np.float64)
        norms = length_norms(lengths)
        following = indptr[:-1].copy()
        for term, row, frequency, fields in self._spilled():
            term = new[term]
            # Within a chunk equal terms stand together, rows ascending: each goes to the next free place of its term.
            starts = np.flatnonzero(np.concatenate(([True], term[1:] != term[:-1])))
            counts = np.diff(np.concatenate((starts, [term.size])))
            place = np.repeat(following[term[starts]] - starts, counts) + np.arange(term.size)
            following[term[starts]] += counts
            rows[place] = row
            frequencies[place] = frequency
            where[place] = fields
            impacts[place] = term_scores(idfs[term], frequency.astype(np.float64), norms[row])
        self._write_columns(df, indptr, rows, impacts)
        highest = np.maximum.reduceat(impacts, indptr[:-1]) if total else np.zeros(0, dtype=np.float32)
        np.save(self._folder / "postings.highest.npy", highest)
        self._spill.close()
        (self._folder / "postings.spill").unlink()
        np.save(self._folder / "postings.indptr.npy", indptr)
        np.save(self._folder / "lengths.npy", lengths)
        (self._folder / "terms.txt").write_text("\n".join(words), encoding="utf-8")
        about = {
            "rows": self._rows,
            "weights": dict(zip(FIELDS, self._weights.tolist(), strict=True)),
            "postings": total,
        }
        (self._folder / "lexical.json").write_text(json.dumps(about), encoding="utf-8")
        return dict(zip(words, df.tolist(), strict=True))

    def _open(self, name: str, kind: npt.DTypeLike, size: int) -> npt.NDArray[Any]:
        path = self._folder / f"{name}.npy"
        if size == 0:  # an empty file cannot be mapped
            np.save(path, np.zeros(0, dtype=kind))
            return np.zeros(0, dtype=kind)
        return np.lib.format.open_memmap(path, mode="w+", dtype=kind, shape=(size,))

    def _write_columns(
        self, df: npt.NDArray[np.int64], indptr: npt.NDArray[np.int64], rows: Rows, impacts: npt.NDArray[Any]
    ) -> None:
        common = (
            np.flatnonzero(df * _COLUMN_SHARE >= self._rows)
            if self._rows >= _COLUMN_ROWS
            else np.zeros(0, np.int64)
        )
        np.save(self._folder / "columns.terms.npy", common.astype(np.int32))
        path = self._folder / "columns.impacts.npy"
        if common.size == 0:
            np.save(path, np.zeros((0, self._rows), dtype=np.float32))
            return
        columns = np.lib.format.open_memmap(
            path, mode="w+", dtype=np.float32, shape=(common.size, self._rows)
        )
        for slot, term in enumerate(common):
            here = slice(indptr[term], indptr[term + 1])
            columns[slot, rows[here]] = impacts[here]
