"""A strangers' file -> records: which encoding, which form, where each record begins.

A record is a mapping of column name to cell, with the line that it started on. Files are read as streams; only a
single JSON document that hides its products under some key is held in memory whole.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import itertools
import json
import re
import sys
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from ego_cli.errors import CatalogueError, MisuseError

Record = Mapping[str, Any]

_HEAD = 256 * 1024  # bytes looked at to tell encoding and form
_SNIFF_LINES = 200  # lines looked at to tell the delimiter and the header
_LONGEST_RECORD_LINES = 400  # a quoted cell over more lines than this is a quote that never closes
_LONGEST_RECORD_CHARS = 2_000_000
_DELIMITERS = ",;\t|^~\x1f\x01¦"

csv.field_size_limit(min(sys.maxsize, 2**31 - 1))


@dataclass(frozen=True, slots=True)
class Skip:
    """A row that was not taken, and why. ``line`` is 1-based."""

    line: int
    reason: str


@dataclass(slots=True)
class Source:
    """An open product file. ``records`` yields (line, record); bad rows go to ``skip`` instead. ``context`` holds what
    stands around the products in a JSON document (a category name, say). ``position`` is bytes read so far."""

    path: Path
    format: str
    encoding: str
    records: Iterator[tuple[int, Record]]
    headed: bool = True
    context: Mapping[str, str] = field(default_factory=dict)
    position: Callable[[], int] = lambda: 0


# ------------------------------------------------------------------------------------------------------------- opening

_MAGIC = (
    (b"PK\x03\x04", "a ZIP archive or an Excel workbook", "unzip it, or save the sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old Excel or Word file", "save the sheet as CSV"),
    (b"%PDF", "a PDF", "export a CSV or JSON file instead"),
    (b"\x89PNG", "a picture", "give a CSV or JSON file"),
    (b"\xff\xd8\xff", "a picture", "give a CSV or JSON file"),
    (b"GIF8", "a picture", "give a CSV or JSON file"),
    (b"PAR1", "a Parquet file", "export it as CSV or JSON lines"),
    (b"SQLite format 3", "an SQLite database", "export the table as CSV"),
    (b"7z\xbc\xaf", "a 7z archive", "unpack it first"),
    (b"BZh", "a bzip2 file", "unpack it first"),
    (b"\xfd7zXZ", "an xz file", "unpack it first"),
    (b"\x28\xb5\x2f\xfd", "a zstd file", "unpack it first"),
)


def open_source(path: Path, skip: Callable[[Skip], None]) -> Source:
    """Open a product file of any known form.

    Raises ``MisuseError`` when there is no such file or it is a folder, ``CatalogueError`` when it is empty, binary or
    unreadable. Always one line that says what to do.
    """
    try:
        if path.is_dir():
            raise MisuseError(f"{path} is a folder", hint="name the product file in it")
        raw: BinaryIO = path.open("rb")
    except FileNotFoundError:
        raise MisuseError(f"there is no file {path}") from None
    except OSError as error:
        raise CatalogueError(f"cannot read {path}: {error.strerror or error}") from error
    buffered = io.BufferedReader(raw, _HEAD)  # type: ignore[type-var]  # BinaryIO is what open() gives
    packed = buffered.peek(4)[:2] == b"\x1f\x8b"
    stream = io.BufferedReader(_Inflated(raw, buffered, skip), _HEAD) if packed else buffered
    head = _peek(stream)
    encoding, label = _encoding_of(path, head)
    decoder = codecs.getincrementaldecoder(encoding)("ego-windows-1252" if encoding == "utf-8" else "replace")
    sample = decoder.decode(head).lstrip("\ufeff")
    if not sample.strip():
        buffered.close()
        raise CatalogueError(f"{path} is empty")
    text = io.TextIOWrapper(
        stream, encoding=encoding, errors="ego-windows-1252" if encoding == "utf-8" else "replace", newline=""
    )
    lines = _lines(text)
    form, records, headed, context = _records_of(path, sample, lines, skip)
    return Source(
        path=path,
        format=f"{form}, gzip" if packed else form,
        encoding=label,
        records=records,
        headed=headed,
        context=context,
        position=raw.tell,
    )


class _Inflated(io.RawIOBase):
    """The content of a .gz file; one that was cut short ends where it breaks, and says so."""

    def __init__(self, raw: BinaryIO, packed: io.BufferedReader, skip: Callable[[Skip], None]) -> None:
        self._raw = raw
        self._gzip = gzip.GzipFile(fileobj=packed)
        self._skip = skip
        self._broken = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._broken:
            return 0
        try:
            data = self._gzip.read1(len(buffer))
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            self._broken = True
            self._skip(Skip(0, f"the compressed file is damaged, what follows is lost: {error}"))
            return 0
        buffer[: len(data)] = data
        return len(data)


def _peek(stream: io.BufferedReader) -> bytes:
    head = stream.peek(_HEAD)
    return head[:_HEAD]


def _windows_1252(error: UnicodeError) -> tuple[str, int]:
    """Bytes that are not UTF-8 in a file that otherwise is: read just those as Windows-1252."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    bad = error.object[error.start : error.end]
    return bad.decode("cp1252", "replace"), error.end


codecs.register_error("ego-windows-1252", _windows_1252)


def _encoding_of(path: Path, head: bytes) -> tuple[str, str]:
    """(codec, what to call it). Raises CatalogueError for bytes that are no text."""
    for magic, what, hint in _MAGIC:
        if head.startswith(magic):
            raise CatalogueError(f"{path} is {what}, not a text file", hint=hint)
    if head.startswith(codecs.BOM_UTF8):
        return "utf-8", "UTF-8 with byte-order mark"
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32", "UTF-32"
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16", "UTF-16"
    if b"\0" in head:
        even, odd = head[0::2].count(0), head[1::2].count(0)
        half = max(1, len(head) // 2)
        if odd > 0.3 * half and even < 0.05 * half:
            return "utf-16-le", "UTF-16 (little-endian, no mark)"
        if even > 0.3 * half and odd < 0.05 * half:
            return "utf-16-be", "UTF-16 (big-endian, no mark)"
        if head.count(0) > len(head) // 1000 + 3:
            raise CatalogueError(
                f"{path} is a binary file, not text", hint="give a CSV, TSV, JSON or JSON lines file"
            )
    controls = sum(head.count(bytes((code,))) for code in (*range(1, 8), *range(14, 27), *range(28, 32)))
    if controls > len(head) // 20:
        raise CatalogueError(
            f"{path} is a binary file, not text", hint="give a CSV, TSV, JSON or JSON lines file"
        )
    valid, invalid = _utf8_balance(head)
    if not invalid:
        return "utf-8", "UTF-8" if valid else "ASCII"
    if invalid > valid:
        return "cp1252", "Windows-1252"
    return "utf-8", "UTF-8, odd bytes read as Windows-1252"


def _utf8_balance(head: bytes) -> tuple[int, int]:
    """How many multi-byte characters are well-formed UTF-8, and how many bytes are not."""
    try:
        return sum(1 for ch in head.decode("utf-8") if ch > "\x7f"), 0
    except UnicodeDecodeError as error:
        if error.start >= len(head) - 3 and error.reason == "unexpected end of data":
            return _utf8_balance(head[: error.start])
    text = head.decode("utf-8", "replace")
    return sum(1 for ch in text if ch > "\x7f" and ch != "\ufffd"), text.count("\ufffd")


def _lines(text: io.TextIOWrapper) -> Iterator[str]:
    with text:
        first = True
        for line in text:
            if first:
                line, first = line.lstrip("\ufeff"), False
            yield line


# --------------------------------------------------------------------------------------------------------------- forms


def _records_of(
    path: Path, sample: str, lines: Iterator[str], skip: Callable[[Skip], None]
) -> tuple[str, Iterator[tuple[int, Record]], bool, Mapping[str, str]]:
    start = sample.lstrip()[:1]
    if start == "{" and _is_json_lines(sample):
        return "JSON lines", _json_lines(lines, skip), True, {}
    if start == "[" and _is_json(sample):
        records = _unnested(_json_values(lines, skip))
        first = list(itertools.islice(records, 1))
        if first and isinstance(first[0][1], list):
            return "JSON array of rows", _rows_as_records(itertools.chain(first, records), skip), True, {}
        return "JSON array", _mappings(itertools.chain(first, records), skip), True, {}
    if start == "{" and _is_json(sample):
        values = list(_json_values(lines, skip))
        if len(values) > 1:
            return "JSON objects", _mappings(iter(values), skip), True, {}
        if not values:
            raise CatalogueError(f"{path} starts like JSON but cannot be read", hint="is it cut short?")
        where, found, context = find_products(values[0][1])
        return (
            f"JSON, products under {where}" if where else "JSON",
            _mappings(iter(found), skip),
            True,
            context,
        )
    if start == "<":
        raise CatalogueError(
            f"{path} is a web page or XML, not a product table", hint="export CSV, TSV or JSON"
        )
    form, records, headed = _table(path, sample, lines, skip)
    return form, records, headed, {}


def _is_json(sample: str) -> bool:
    """Whether what starts with a bracket goes on as JSON (a table may have a header in brackets)."""
    return re.match(r'\s*(?:\[\s*(?:[\[{"\d\]\-tfn]|$)|\{\s*(?:"|\}|$))', sample) is not None


def _is_json_lines(sample: str) -> bool:
    """Several lines that are objects of their own, or one line that is a flat product."""
    lines = [line for line in sample.split("\n")[:50] if line.strip()]
    if len(sample) < _HEAD // 2 or len(lines) < 50:
        complete = lines
    else:
        complete = lines[:-1]
    whole = sum(1 for line in complete if _object_of(line) is not None)
    if whole >= 2:
        return True
    if whole == 1 and len(lines) == 1:
        only = _object_of(lines[0]) or {}
        return not any(_holds_objects(value) for value in only.values())
    return False


def _holds_objects(value: Any) -> bool:
    if isinstance(value, dict):
        return bool(value) and (
            all(isinstance(v, dict | list) for v in value.values())
            or any(_holds_objects(v) for v in value.values())
        )
    return isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)


def _object_of(line: str) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _json_lines(lines: Iterator[str], skip: Callable[[Skip], None]) -> Iterator[tuple[int, Record]]:
    loads = json.loads
    for number, line in enumerate(lines, 1):
        if line.isspace():
            continue
        try:
            value = loads(line)
        except (ValueError, RecursionError) as error:
            skip(Skip(number, f"not valid JSON: {_short(error)}"))
            continue
        value = _unwrap(value)
        if isinstance(value, dict):
            yield number, value
        else:
            skip(Skip(number, "not a JSON object"))


def _short(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at column {error.colno}"
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)[:80]


def _unwrap(value: Any) -> Any:
    """``{"product": {…}}``, ``{"node": {…}}`` and ``{"_source": {…}}`` hold one product each."""
    for _ in range(3):
        if not isinstance(value, dict):
            return value
        if isinstance(inner := value.get("_source"), dict) or (len(value) == 1 and isinstance(inner := next(iter(value.values())), dict) and len(inner) > 1):
            value = inner
        else:
            return value
    return value


def _mappings(
    values: Iterable[tuple[int, Any]], skip: Callable[[Skip], None]
) -> Iterator[tuple[int, Record]]:
    for line, value in values:
        value = _unwrap(value)
        if isinstance(value, dict):
            yield line, value
        elif isinstance(value, str) and value.strip():
            yield line, {"title": value}
        else:
            skip(Skip(line, "not a JSON object"))


def _rows_as_records(
    rows: Iterator[tuple[int, Any]], skip: Callable[[Skip], None]
) -> Iterator[tuple[int, Record]]:
    """A JSON array of arrays whose first row names the columns."""
    _, header = next(rows)
    names = _distinct([str(name) for name in header])
    for line, row in rows:
        if isinstance(row, list):
            yield line, dict(zip(names, row, strict=False))
        else:
            skip(Skip(line, "not a row"))


_GAP = re.compile(r"[\s,]*")
_NEXT_OBJECT = re.compile(r"\}\s*,\s*(?=\{)")


def _json_values(lines: Iterator[str], skip: Callable[[Skip], None]) -> Iterator[tuple[int, Any]]:
    """The elements of a top-level array, or the values of a file that is one after another, as (line, value)."""
    decode = json.JSONDecoder().raw_decode
    buffer, line, inside, ended = "", 1, False, False
    chunk = 64 * 1024
    while True:
        at = _GAP.match(buffer).end()  # type: ignore[union-attr]  # matches the empty string
        line += buffer.count("\n", 0, at)
        buffer = buffer[at:]
        if not inside and buffer.startswith("["):
            buffer, inside = buffer[1:], True
            continue
        if inside and buffer.startswith("]"):
            buffer, inside = buffer[1:], False
            continue
        if buffer:
            try:
                value, end = decode(buffer)
            except (ValueError, RecursionError) as error:
                if not ended and not isinstance(error, RecursionError) and _may_be_cut(error, buffer):
                    pass  # more of it follows
                else:
                    skip(Skip(line, f"not valid JSON: {_short(error)}"))
                    found = _NEXT_OBJECT.search(buffer)
                    if found is None:
                        return
                    line += buffer.count("\n", 0, found.end())
                    buffer = buffer[found.end() :]
                    continue
            else:
                if end < len(buffer) or ended:
                    yield line, value
                    line += buffer.count("\n", 0, end)
                    buffer = buffer[end:]
                    continue
        if ended:
            return
        more = "".join(itertools.islice(_chunks(lines, chunk), 1))
        chunk = min(chunk * 2, 64 * 1024 * 1024)
        ended = not more
        buffer += more


def _may_be_cut(error: Exception, buffer: str) -> bool:
    """Whether a failure may only mean that the rest has not been read yet."""
    return (
        not isinstance(error, json.JSONDecodeError)
        or error.pos >= len(buffer) - 20
        or "Unterminated" in error.msg
    )


def _chunks(lines: Iterator[str], size: int) -> Iterator[str]:
    held: list[str] = []
    total = 0
    for line in lines:
        held.append(line)
        total += len(line)
        if total >= size:
            yield "".join(held)
            held, total = [], 0
    if held:
        yield "".join(held)


def _unnested(values: Iterator[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
    """Elements that hold lists of products themselves (``[{"category": …, "products": […]}]``) are opened."""
    for line, value in values:
        if isinstance(value, dict):
            for key, inner in value.items():
                if (
                    isinstance(inner, list)
                    and len(inner) > 0
                    and all(isinstance(item, dict) for item in inner)
                    and _likeness(inner) > _likeness([value])
                    and re.fullmatch(r"(?i)products?|items?|results?|data|records?|listings?|hits|edges", key)
                ):
                    outer = {k: v for k, v in value.items() if isinstance(v, str | int | float)}
                    label = next(
                        (outer[k] for k in ("category", "name", "title", "label") if k in outer), None
                    )
                    for item in inner:
                        item = _unwrap(item)
                        yield line, {"category": label, **item} if label is not None else item
                    break
            else:
                yield line, value
        else:
            yield line, value


# ------------------------------------------------------------------------------------------ products in a document

_TELLING = re.compile(r"(?i)title|name|nom\b|nombre|titel|bezeichnung|名")
_SELLING = re.compile(
    r"(?i)price|cost|amount|prix|precio|preis|prezzo|preco|offer|rating|sku|asin|brand|image|url"
)


def _likeness(items: list[Any]) -> float:
    """How much a list looks like products: its keys name and sell something. 0 for anything without names."""
    keys: Counter[str] = Counter()
    sample = [_unwrap(item) for item in items[:50]]
    for item in sample:
        if isinstance(item, dict):
            keys.update(str(key) for key in item)
    often = [key for key, count in keys.items() if count * 2 >= len(sample)]
    if not any(_TELLING.search(key) for key in often):
        return 0.0
    return 1.0 + sum(1 for key in often if _SELLING.search(key)) + min(len(often), 20) / 20


def find_products(document: Any) -> tuple[str, list[tuple[int, Any]], Mapping[str, str]]:
    """Where a JSON document keeps its products: (path, (number, product) pairs, words that stand around them).

    Knows a list under any key, lists under sibling keys or repeated parents (the key or the parent's name becomes
    the category), objects keyed by id, and tables written by column or as header and rows.
    """
    table = _column_table(document)
    if table is not None:
        return "columns", list(enumerate(table, 1)), {}
    lists: dict[str, list[Any]] = {}
    context_of: dict[str, dict[str, str]] = {}
    _collect(document, "", lists, context_of, {}, 0)
    best, score = "", 0.0
    for where, items in lists.items():
        value = _likeness(items) * min(len(items), 1000) ** 0.25
        if value > score:
            best, score = where, value
    if not score:
        return "", [(1, document)], {}
    return best, list(enumerate(lists[best], 1)), context_of[best]


def _column_table(document: Any) -> list[dict[str, Any]] | None:
    """pandas' other shapes: ``{"columns": […], "data": [[…]]}``, ``{"title": {"0": …}}`` and ``{"title": [… ]}``."""
    if not isinstance(document, dict) or not document:
        return None
    columns, data = document.get("columns"), document.get("data")
    if (
        isinstance(columns, list)
        and isinstance(data, list)
        and data
        and all(isinstance(row, list) for row in data)
    ):
        names = _distinct([str(name) for name in columns])
        return [dict(zip(names, row, strict=False)) for row in data]
    values = list(document.values())
    if len(values) < 2 or not any(_TELLING.search(str(key)) for key in document):
        return None
    if all(isinstance(v, dict) for v in values):
        keys = list(values[0])
        scalar = all(
            not isinstance(cell, dict | list) for v in values for cell in itertools.islice(v.values(), 3)
        )
        if keys and scalar and all(set(v) == set(keys) for v in values):
            return [{name: column[key] for name, column in document.items()} for key in keys]
    if all(isinstance(v, list) for v in values) and len({len(v) for v in values}) == 1 and values[0]:
        if not any(isinstance(v[0], dict) for v in values):
            return [dict(zip(document, row, strict=True)) for row in zip(*values, strict=True)]
    return None


def _collect(
    value: Any,
    where: str,
    lists: dict[str, list[Any]],
    context_of: dict[str, dict[str, str]],
    context: dict[str, str],
    depth: int,
) -> None:
    if depth > 8:
        return
    if isinstance(value, dict):
        here = {k: v for k, v in value.items() if isinstance(v, str) and 0 < len(v) < 200}
        inner = {**context, **here} if depth == 0 or here else context
        groups = {
            k: v
            for k, v in value.items()
            if isinstance(v, list) and v and all(isinstance(i, dict) for i in v)
        }
        keyed = [v for v in value.values() if isinstance(v, dict)]
        if len(groups) > 1 and _alike([v[0] for v in groups.values()]):  # {"phones": […], "laptops": […]}
            path = f"{where}.*" if where else "*"
            for key, items in groups.items():
                lists.setdefault(path, []).extend({"category": key, **_as_dict(item)} for item in items)
            context_of[path] = inner
            return
        if len(keyed) > 1 and len(keyed) == len(value) and _alike(keyed):  # {"B00X": {…}, "B00Y": {…}}
            path = f"{where}.*" if where else "*"
            lists.setdefault(path, []).extend({"id": k, **v} for k, v in value.items())
            context_of[path] = inner
        for key, item in value.items():
            if isinstance(item, dict | list):
                _collect(item, f"{where}.{key}" if where else str(key), lists, context_of, inner, depth + 1)
    elif isinstance(value, list) and value:
        if all(isinstance(item, dict) for item in value):
            label = None
            if "[]" in where:
                label = next(
                    (context[k] for k in ("category", "name", "title", "label") if k in context), None
                )
            found = [_as_dict(_unwrap(item)) for item in value]
            if label is not None:
                found = [{"category": label, **item} for item in found]
            lists.setdefault(where, []).extend(found)
            context_of.setdefault(where, context)
        for item in value:
            if isinstance(item, dict | list):
                _collect(
                    item, f"{where}[]", lists, context_of, context if len(value) > 1 else context, depth + 1
                )


def _as_dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _alike(objects: list[dict[str, Any]]) -> bool:
    """Whether objects share most of their keys, as products of one list do."""
    sets = [set(item) for item in objects[:20]]
    common, union = set.intersection(*sets), set.union(*sets)
    return (
        len(common) >= 2
        and len(common) >= 0.4 * len(union)
        and any(_TELLING.search(str(key)) for key in common)
    )


# --------------------------------------------------------------------------------------------------------------- tables


class _NeverCloses(Exception):
    """A quoted cell ran on for too long."""


def _table(
    path: Path, sample: str, lines: Iterator[str], skip: Callable[[Skip], None]
) -> tuple[str, Iterator[tuple[int, Record]], bool]:
    declared = re.match(r"sep=(.)\r?\n", sample, re.I)
    sample_lines = sample.splitlines(keepends=True)
    if len(sample) >= _HEAD // 2 and len(sample_lines) > 1:
        sample_lines.pop()  # may be cut
    sample_lines = sample_lines[1 if declared else 0 :][:_SNIFF_LINES]
    delimiter = declared.group(1) if declared else _delimiter_of(sample_lines)
    rows = list(_sample_rows(sample_lines, delimiter))
    width = Counter(len(row) for row in rows if row).most_common(1)[0][0] if any(rows) else 1
    skipped = 0
    while (
        skipped < min(len(rows) - 1, 20) and sum(1 for cell in rows[skipped] if cell.strip()) * 2 <= width - 1
    ):
        skipped += 1  # a title or notes above the table
    headed = _has_header(rows[skipped:])
    names = _distinct(rows[skipped] if headed else [""] * max(len(row) for row in rows))
    leave_out = (1 if declared else 0) + sum(1 for _ in _lines_of_rows(sample_lines, delimiter, skipped))
    form = {",": "CSV", "\t": "TSV"}.get(delimiter, f"table with {delimiter!r} between cells")
    records = _table_records(lines, delimiter, names, leave_out, headed, skip)
    return form, records, headed


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
    from ego_cli.catalog.columns import role_of_name  # columns know names; this module knows forms

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


def _distinct(names: list[str]) -> list[str]:
    """Column names, each once: the empty ones are numbered, repeated ones are counted."""
    seen: Counter[str] = Counter()
    distinct = []
    for number, name in enumerate(names, 1):
        name = " ".join(name.split()) or f"column {number}"
        seen[name] += 1
        distinct.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return distinct


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
        if len(self.pending) > _LONGEST_RECORD_LINES or self.chars > _LONGEST_RECORD_CHARS:
            if len(self.pending) > 1:
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
    if headed:
        next(reader, None)
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
        if len(row) == width:
            yield start, dict(zip(names, row, strict=True))
        elif not row or not any(cell.strip() for cell in row):
            continue
        elif len(row) < width or not any(cell.strip() for cell in row[width:]):
            yield start, dict(zip(names, row, strict=False))
        else:
            skip(Skip(start, f"{len(row)} cells where {width} are expected"))
