"""Small drawings made of characters: bars, sparklines, curves, and lines whose ends meet both edges.

Meaning never rests on colour alone: every bar differs from its track in weight, every mark is a character.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.content import Content

from ego_cli.catalog.money import format_money

MUTED = "$foreground 62%"  # secondary words
FAINT = "$foreground 42%"  # what one looks up, not reads

_SPARKS = "▁▂▃▄▅▆▇█"
_BRAILLE = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))


def text(words: object, style: str = "") -> Content:
    """Plain words in a style; never read as markup."""
    return Content.styled(str(words), style) if style else Content(str(words))


def fit(line: Content | str, width: int) -> Content:
    """Cut to ``width`` cells with an ellipsis, or fill up with spaces."""
    content = Content(line) if isinstance(line, str) else line
    return content.truncate(max(width, 0), ellipsis=True, pad=True)


def cut(line: Content | str, width: int) -> Content:
    """Cut to ``width`` cells with an ellipsis; never fill."""
    content = Content(line) if isinstance(line, str) else line
    return content if content.cell_length <= width else content.truncate(max(width, 0), ellipsis=True)


def spread(left: Content | str, right: Content | str, width: int, gap: int = 2) -> Content:
    """``left`` at the left edge, ``right`` at the right one; the left gives way."""
    end = Content(right) if isinstance(right, str) else right
    if not end.cell_length:
        return cut(left, width)
    end = cut(end, width)
    room = width - end.cell_length - gap
    if room < 4:
        return cut(left, width)
    return fit(left, room) + Content(" " * gap) + end


def wrap(content: Content | str, width: int, indent: int = 0) -> list[Content]:
    """Lines of at most ``width`` cells; those after the first start ``indent`` cells in."""
    whole = Content(content) if isinstance(content, str) else content
    lines: list[Content] = []
    for paragraph in whole.split("\n", allow_blank=True):
        rest = paragraph.wrap(max(width - indent, 1)) or [Content("")]
        lines += [line.rstrip() if not lines else Content(" " * indent) + line.rstrip() for line in rest]
    return lines


def bar(share: float, width: int, style: str = "$primary", track: str = "$foreground 20%") -> Content:
    """A bar of ``width`` cells filled to ``share`` (0-1), on a thin track."""
    halves = round(max(0.0, min(1.0, share)) * width * 2)
    if share > 0:
        halves = max(halves, 1)
    full, half = divmod(halves, 2)
    filled = "━" * full + ("╸" if half else "")
    return text(filled, style) + text("─" * (width - len(filled)), track)


def sparkline(values: Sequence[float], width: int) -> str:
    """The last ``width`` values as eight heights, on the scale 0 to their maximum."""
    kept = list(values)[-width:]
    top = max(kept, default=0.0)
    if top <= 0:
        return _SPARKS[0] * len(kept)
    return "".join(_SPARKS[min(7, int(max(value, 0.0) / top * 7.999))] for value in kept)


def curve(series: Sequence[float], width: int, height: int, top: float = 1.0) -> list[str]:
    """A line plot in braille dots: ``width`` by ``height`` cells, the values evenly spread, 0 to ``top``."""
    cells = [[0] * width for _ in range(height)]
    columns, rows = width * 2, height * 4
    last: int | None = None
    for column in range(columns if series else 0):
        at = column / max(columns - 1, 1) * (len(series) - 1)
        low = int(at)
        high = min(low + 1, len(series) - 1)
        value = series[low] + (series[high] - series[low]) * (at - low)
        row = round((1 - max(0.0, min(1.0, value / top if top else 0.0))) * (rows - 1))
        between = range(min(row, last), max(row, last) + 1) if last is not None else (row,)
        for dot in between:
            cells[dot // 4][column // 2] |= _BRAILLE[dot % 4][column % 2]
        last = row
    return ["".join(chr(0x2800 + cell) for cell in line) for line in cells]


def table(rows: Sequence[Sequence[str]], width: int, header: str = "bold $accent") -> list[Content]:
    """Rows in columns that share ``width``; the first row is the header, the first column the row's name."""
    if not rows:
        return []
    count = max(len(row) for row in rows)
    natural = [max(len(row[i]) if i < len(row) else 0 for row in rows) for i in range(count)]
    first = min(natural[0], max(8, width // 4))
    each = max(6, (width - first - 2 * (count - 1)) // max(count - 1, 1))
    widths = [first, *(min(each, size) for size in natural[1:])]
    lines: list[Content] = []
    for number, row in enumerate(rows):
        parts = [
            fit(
                text(row[i] if i < len(row) else "", header if number == 0 else (MUTED if i == 0 else "")),
                size,
            )
            for i, size in enumerate(widths)
        ]
        lines.append(Content("  ").join(parts).rstrip())
    return lines


def stack(lines: Iterable[Content]) -> Content:
    """Lines one below the other."""
    return Content("\n").join(lines)


def amount(value: float | None, currency: str | None) -> str:
    """A price with its currency, as on a card."""
    if value is None:
        return "price not listed"
    return format_money(value, currency)
