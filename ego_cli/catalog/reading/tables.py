"""CSV and its kin -> records: delimiter, header, quotes that never close."""

from __future__ import annotations

import csv
import io
import itertools
import re
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ego_cli.catalog.reading.names import role_of_name
from ego_cli.catalog.reading.records import HEAD, Record, Skip, distinct_names

_SNIFF_LINES = 200  # lines looked at to tell the delimiter and the header
_LONGEST_RECORD_LINES = 400  # a quoted cell over more lines than this is a quote that never closes
_LONGEST_RECORD_CHARS = 2_000_000
_DELIMITERS = ",;\t|^~\x1f\x01¦"

csv.field_size_limit(min(sys.maxsize, 2**31 - 1))


class _NeverCloses(Exception):
    """A quoted cell ran on for too long."""


def table_records(
    sample: str, lines: Iterator[str], skip: Callable[[Skip], None]
) -> tuple[str, Iterator[tuple[int, Record]], bool]:
    declared = re.match(r"sep=(.)\r?\n", sample, re.I)
    sample_lines = list(io.StringIO(sample, newline=""))  # the same line ends as the file's own
    if len(sample) >= HEAD // 2 and len(sample_lines) > 1:
        sample_lines.pop()  # may be cut
    sample_lines = sample_lines[1 if declared else 0 :][:_SNIFF_LINES]
    delimiter = declared.group(1) if declared else _delimiter_of(sample_lines)
    if _quotes_with_backslash(sample_lines, delimiter):
        lines = (_BACKSLASHED.sub('""', line) for line in lines)
        sample_lines = [_BACKSLASHED.sub('""', line) for line in sample_lines]
    rows = list(_sample_rows(sample_lines, delimiter))
    width = Counter(len(row) for row in rows if row).most_common(1)[0][0] if any(rows) else 1
    skipped = 0
    while skipped < min(len(rows) - 1, 20) and _stands_above(rows[skipped], width):
        skipped += 1
    headed = _has_header(rows[skipped:])
    names = distinct_names(rows[skipped] if headed else [""] * max((len(row) for row in rows), default=1))
    leave_out = (1 if declared else 0) + sum(1 for _ in _lines_of_rows(sample_lines, delimiter, skipped))
    form = {",": "CSV", "\t": "TSV"}.get(delimiter, f"table with {delimiter!r} between cells")
    records = _table_records(lines, delimiter, names, leave_out, headed, skip)
    return form, records, headed


_BACKSLASHED = re.compile(r'(?<!\\)\\"')


def _quotes_with_backslash(lines: list[str], delimiter: str) -> bool:
    """Whether a quoted cell writes a quote as ``\\"``, as databases export it, instead of doubling it."""
    mark = re.escape(delimiter)
    inside = re.compile(rf'(?:^|{mark})"[^"\r\n]*(?<!\\)\\"(?!{mark}|\s*$)')
    return any(inside.search(line) for line in lines)


def _stands_above(row: list[str], width: int) -> bool:
    """Whether a row is a title or a note above the table, which is ``width`` cells wide."""
    return len(row) < width and 2 * sum(1 for cell in row if cell.strip()) <= width


def _sample_rows(lines: list[str], delimiter: str) -> Iterator[list[str]]:
    try:
        yield from csv.reader(lines, delimiter=delimiter)
    except csv.Error:
        for line in lines:
            yield line.rstrip("\r\n").split(delimiter)


def _lines_of_rows(lines: list[str], delimiter: str, count: int) -> Iterator[str]:
    """The physical lines that the first ``count`` rows take up."""
    reader = csv.reader(lines, delimiter=delimiter)
    for _ in itertools.islice(reader, count):
        pass
    yield from lines[: reader.line_num]


def _delimiter_of(lines: list[str]) -> str:
    """The mark that cuts most lines into the same number of cells, and into more than one."""
    best, score = ",", 0.0
    for mark in _DELIMITERS:
        if not any(mark in line for line in lines[:50]):
            continue
        widths = Counter(len(row) for row in _sample_rows(lines, mark) if row)
        total = sum(widths.values())
        width, agreeing = max(widths.items(), key=lambda item: (item[1] * (item[0] > 1), item[0]))
        if width < 2:
            continue
        value = (agreeing / total) ** 2 * (1 + min(width, 30) / 30)
        if value > score:
            best, score = mark, value
    return best


_NUMBERISH = re.compile(r"\W{0,4}\s?[\d][\d.,\s%]*\W{0,3}|\d+(?:[.,]\d+)?\s?\w{1,3}")


def _has_header(rows: list[list[str]]) -> bool:
    """Whether the first row names the columns. Names are short words; data hold numbers, links and sentences."""
    if not rows:
        return False
    first = [cell.strip() for cell in rows[0]]
    known = sum(1 for cell in first if cell and len(cell) <= 40 and role_of_name(cell) is not None)
    looks_like_data = sum(
        1 for cell in first if cell.startswith("http") or len(cell) > 60 or _NUMBERISH.fullmatch(cell)
    )
    if looks_like_data == 0 and known:
        return True
    if known > looks_like_data:
        return True
    if looks_like_data or len(rows) == 1:
        return False
    # Unknown words: a header if the cells below are of another kind than the cell above them.
    below = rows[1:50]
    for index in range(len(first)):
        cells = [row[index].strip() for row in below if index < len(row) and row[index].strip()]
        if cells and sum(
            1 for cell in cells if _NUMBERISH.fullmatch(cell) or cell.startswith("http")
        ) > 0.7 * len(cells):
            return True
    longest = max((len(cell) for row in below for cell in row), default=0)
    return len(first) > 1 and len(set(first)) == len(first) and longest > 3 * max(len(cell) for cell in first)


@dataclass(slots=True)
class _Feed:
    """Lines for csv.reader, remembering those of the record under way so that a runaway quote can be undone."""

    lines: Iterator[str]
    number: int = 0
    pending: deque[str] = field(default_factory=deque)
    again: deque[str] = field(default_factory=deque)
    chars: int = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self.again.popleft() if self.again else next(self.lines)
        self.number += 1
        self.pending.append(line)
        self.chars += len(line)
        too_long = len(self.pending) > _LONGEST_RECORD_LINES or self.chars > _LONGEST_RECORD_CHARS
        if too_long and len(self.pending) > 1:
            raise _NeverCloses
        return line

    def settle(self) -> None:
        """The record under way is complete."""
        self.pending.clear()
        self.chars = 0

    def rewind(self) -> None:
        """Give every line of the record under way but its first back."""
        while len(self.pending) > 1:
            self.again.appendleft(self.pending.pop())
            self.number -= 1
        self.settle()


def _table_records(
    lines: Iterator[str],
    delimiter: str,
    names: list[str],
    leave_out: int,
    headed: bool,
    skip: Callable[[Skip], None],
) -> Iterator[tuple[int, Record]]:
    feed = _Feed(lines)
    for _ in range(leave_out):
        next(feed, None)
    feed.settle()
    width = len(names)
    reader = csv.reader(feed, delimiter=delimiter)
    header = next(reader, None) if headed else None
    feed.settle()
    while True:
        start = feed.number + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except (_NeverCloses, csv.Error):
            feed.rewind()
            reader = csv.reader(feed, delimiter=delimiter)
            skip(Skip(start, "a quote opens and does not close"))
            continue
        if len(feed.pending) > 1 and len(row) != width:
            feed.rewind()
            reader = csv.reader(feed, delimiter=delimiter)
            skip(Skip(start, "a quote opens and does not close"))
            continue
        feed.settle()
        if row == header and len(row) > 1:
            skip(Skip(start, "the header again"))
        elif len(row) == width:
            yield start, dict(zip(names, row, strict=True))
        elif not row or not any(cell.strip() for cell in row):
            continue
        elif len(row) < width or not any(cell.strip() for cell in row[width:]):
            yield start, dict(zip(names, row, strict=False))
        else:
            skip(Skip(start, f"{len(row)} cells where {width} are expected"))
