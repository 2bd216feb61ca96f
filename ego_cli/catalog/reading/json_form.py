"""JSON in all its shapes -> records."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ego_cli.catalog.reading import tables
from ego_cli.catalog.reading.cleaning import parse_literal
from ego_cli.catalog.reading.records import HEAD, Record, Skip, distinct_names
from ego_cli.errors import CatalogueError


def records_of(
    path: Path, sample: str, lines: Iterator[str], skip: Callable[[Skip], None]
) -> tuple[str, Iterator[tuple[int, Record]], bool, Mapping[str, str]]:
    start = sample.lstrip()[:1]
    if (start == "{" and _is_json_lines(sample)) or (start not in "{[<" and _mostly_objects(sample)):
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
    if start == "{":
        raise CatalogueError(f"{path} starts like JSON but cannot be read as such")
    if start == "<":
        raise CatalogueError(
            f"{path} is a web page or XML, not a product table", hint="export CSV, TSV or JSON"
        )
    form, records, headed = tables.table_records(sample, lines, skip)
    return form, records, headed, {}


def _is_json(sample: str) -> bool:
    """Whether what starts with a bracket goes on as JSON (a table may have a header in brackets)."""
    return re.match(r'\s*(?:\[\s*(?:[\[{"\d\]\-tfn]|$)|\{\s*(?:"|\}|$))', sample) is not None


def _is_json_lines(sample: str) -> bool:
    """Whether lines are objects of their own; a lone line may be a document that holds the products."""
    lines = [line for line in sample.split("\n")[:50] if line.strip()]
    whole = [_object_of(line) is not None for line in lines]
    return (
        sum(whole) >= 2
        or (whole[0] and (len(lines) > 1 or len(sample) >= HEAD // 2))
        or (len(lines) > 1 and any(whole) and all(line.lstrip().startswith("{") for line in lines))
    )


def _mostly_objects(sample: str) -> bool:
    """Whether the lines are objects although something else ("# exported …") stands above them."""
    lines = [line for line in sample.split("\n")[:50] if line.strip()]
    return 2 * sum(line.lstrip()[:1] == "{" and _object_of(line) is not None for line in lines) > len(lines)


def _object_of(line: str) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = _loosely(line)
    return value if isinstance(value, dict) else None


_LOOSE_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])')


def _without_loose_commas(text: str) -> str:
    """``{"a": 1,}`` as JSON wants it, as long as before."""
    return _LOOSE_COMMA.sub(lambda found: found[1] or " ", text)


def _loosely(line: str) -> Any:
    """An object that JSON refuses and its writer's language does not: a last comma, Python's quotes; None if it is none."""
    return parse_literal(_without_loose_commas(line)) if line.rstrip().endswith("}") else None


def _json_lines(lines: Iterator[str], skip: Callable[[Skip], None]) -> Iterator[tuple[int, Record]]:
    loads = json.loads
    for number, line in enumerate(lines, 1):
        if line.isspace():
            continue
        try:
            value = loads(line)
        except (ValueError, RecursionError) as error:
            if (value := _loosely(line)) is None:
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
        if isinstance(inner := value.get("_source"), dict):
            value = {"_id": value["_id"], **inner} if "_id" in value else inner
        elif len(value) == 1 and isinstance(inner := next(iter(value.values())), dict) and len(inner) > 1:
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
    names = distinct_names([str(name) for name in header])
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
        gap = _GAP.match(buffer)
        at = gap.end() if gap else 0
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
                elif (mended := _without_loose_commas(buffer)) != buffer:
                    buffer = mended
                    continue
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


_TELLING = re.compile(r"(?i)title|name|nom\b|nombre|titel|bezeichnung|名")
_SELLING = re.compile(
    r"(?i)price|cost|amount|prix|precio|preis|prezzo|preco|offer|rating|sku|asin|brand|image|url"
)


# Lists inside a product that look like products themselves.
_PART_OF_PRODUCT = re.compile(
    r"(?i)(?:variants?|variations?|options?|offers?|skus?|images?|reviews?|comments?|related\w*|similar\w*|filters?|"
    r"facets?|brands?|breadcrumbs?)(?:\[\])*$"
)
_PART_DISCOUNT = 0.3


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
    best, score = "", _likeness([document])
    for where, items in lists.items():
        value = _likeness(items) * min(len(items), 1000) ** 0.25
        if _PART_OF_PRODUCT.search(where):
            value *= _PART_DISCOUNT
        if value > score:
            best, score = where, value
    if not best:
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
        names = distinct_names([str(name) for name in columns])
        return [dict(zip(names, row, strict=False)) for row in data]
    values = list(document.values())
    if len(values) < 2 or not any(_TELLING.search(str(key)) for key in document):
        return None
    if all(isinstance(v, dict) for v in values):
        keys = list(values[0])
        flat = not any(
            isinstance(cell, dict | list) for v in values for cell in itertools.islice(v.values(), 3)
        )
        if keys and flat and all(set(v) == set(keys) for v in values):
            return [{name: column[key] for name, column in document.items()} for key in keys]
        return None
    lists = all(isinstance(v, list) and v and not isinstance(v[0], dict) for v in values)
    if lists and len({len(v) for v in values}) == 1:
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
                _collect(item, f"{where}[]", lists, context_of, context, depth + 1)


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
