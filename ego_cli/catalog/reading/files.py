"""A file of bytes -> text lines -> records: which encoding, which form.

A record is a mapping of column name to cell, with the line that it started on. Files are read as streams; only a
single JSON document that hides its products under some key is held in memory whole.
"""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ego_cli.catalog.reading import json_form
from ego_cli.catalog.reading.records import HEAD, Record, Skip
from ego_cli.errors import CatalogueError, MisuseError


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
        raw = path.open("rb", buffering=0)
        size = path.stat().st_size
    except FileNotFoundError:
        raise MisuseError(f"there is no file {path}") from None
    except OSError as error:
        raise CatalogueError(f"cannot read {path}: {error.strerror or error}") from error
    plain = io.BufferedReader(raw, HEAD)
    try:
        packed = plain.peek(4)[:2] == b"\x1f\x8b"
        stream = io.BufferedReader(_Inflated(plain, skip), HEAD) if packed else plain
        head = stream.peek(HEAD)[:HEAD]
    except OSError as error:
        raise CatalogueError(f"cannot read {path}: {error.strerror or error}") from error
    encoding, label = _encoding_of(path, head)
    decoder = codecs.getincrementaldecoder(encoding)("ego-windows-1252" if encoding == "utf-8" else "replace")
    sample = decoder.decode(head).lstrip("\ufeff")
    if not sample.strip():
        raw.close()
        raise CatalogueError(f"{path} is empty")
    text = io.TextIOWrapper(
        stream, encoding=encoding, errors="ego-windows-1252" if encoding == "utf-8" else "replace", newline=""
    )
    lines = _lines(text)
    form, records, headed, context = json_form.records_of(path, sample, lines, skip)
    return Source(
        path=path,
        format=f"{form}, gzip" if packed else form,
        encoding=label,
        records=records,
        headed=headed,
        context=context,
        position=lambda: size if raw.closed else raw.tell(),
    )


class _Inflated(io.RawIOBase):
    """The content of a .gz file; one that was cut short ends where it breaks, and says so."""

    def __init__(self, packed: io.BufferedReader[io.FileIO], skip: Callable[[Skip], None]) -> None:
        self._packed = packed  # closed with this object: a GzipFile does not close what it was given
        self._gzip = gzip.GzipFile(fileobj=packed)
        self._skip = skip
        self._broken = False

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._packed.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        if self._broken:
            return 0
        done = 0
        try:
            while done < len(buffer) and (data := self._gzip.read1(len(buffer) - done)):
                buffer[done : done + len(data)] = data
                done += len(data)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            self._broken = True
            self._skip(Skip(0, f"the compressed file is damaged, what follows is lost: {error}"))
        return done


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
