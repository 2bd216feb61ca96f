"""Products side by side, field by field; what is best in a row is marked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from ego_cli.catalog.product import Product
from ego_cli.tui.drawing import FAINT, MUTED, amount, fit, stack, text, wrap
from ego_cli.tui.screens.frame import FullScreen, KeyLine, Title

_LABEL = 14
_GAP = 2


def rows_of(products: Sequence[Product]) -> list[tuple[str, list[str], int | None]]:
    """Field name, a value for each product, and which of them is best where that is a matter of numbers."""
    prices = [product.price for product in products]
    ratings = [product.rating for product in products]
    rows: list[tuple[str, list[str], int | None]] = [
        ("price", [amount(product.price, product.currency) for product in products], _best(prices, min)),
        (
            "rating",
            [
                f"{p.rating:.1f} ({p.rating_count:,})" if p.rating is not None else "not rated"
                for p in products
            ],
            _best(ratings, max),
        ),
        ("brand", [product.brand or "" for product in products], None),
        ("colours", [", ".join(product.colours) for product in products], None),
        ("materials", [", ".join(product.materials) for product in products], None),
        ("sizes", [", ".join(product.sizes) for product in products], None),
    ]
    names = dict.fromkeys(name for product in products for name in product.details)
    rows += [(name, [product.details.get(name, "") for product in products], None) for name in names]
    rows.append(("features", ["\n".join(product.features) for product in products], None))
    return [row for row in rows if any(row[1])]


def _best(values: Sequence[float | None], pick: Callable[[Iterable[float]], float]) -> int | None:
    known = [value for value in values if value is not None]
    if len(known) < 2 or len(set(known)) == 1:
        return None
    return values.index(pick(known))


class Sheet(Widget):
    """The table."""

    def __init__(self) -> None:
        super().__init__()
        self.products: tuple[Product, ...] = ()

    def show(self, products: tuple[Product, ...]) -> None:
        self.products = products
        self.refresh(layout=True)

    def _lines(self, width: int) -> list[Content]:
        if not self.products:
            return [text("…", MUTED)]
        each = max((width - _LABEL) // len(self.products) - _GAP, 10)
        lines = self._row("", [text(f"{n}  {p.title}", "bold") for n, p in enumerate(self.products, 1)], each)
        for name, values, best in rows_of(self.products):
            cells = [
                text(value or "not stated", ("bold $success" if n == best else "") if value else FAINT)
                + (text(" ✓", "bold $success") if n == best else Content(""))
                for n, value in enumerate(values)
            ]
            lines.append(text("─" * min(width, _LABEL + len(values) * (each + _GAP)), "$foreground 14%"))
            lines += self._row(name, cells, each)
        return lines

    @staticmethod
    def _row(name: str, cells: Sequence[Content], each: int) -> list[Content]:
        columns = [wrap(cell, each) for cell in cells]
        height = max(map(len, columns))
        return [
            fit(text(name if y == 0 else "", MUTED), _LABEL - 1)
            + Content(" ")
            + Content(" " * _GAP).join(
                [fit(column[y] if y < len(column) else "", each) for column in columns]
            )
            for y in range(height)
        ]

    def render(self) -> Content:
        return stack(self._lines(self.size.width))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines(width))


class CompareScreen(FullScreen):
    """Up to five products side by side."""

    MOST = 5

    def __init__(self, ids: Sequence[str]) -> None:
        super().__init__()
        self.ids = tuple(ids)[: self.MOST]

    def compose(self) -> ComposeResult:
        yield Title("compare")
        with VerticalScroll(classes="main"):
            yield Sheet()
        yield KeyLine("screen")

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()
        self.talk.look(lambda shop: shop.products(self.ids), self._show)

    def _show(self, products: tuple[Product, ...]) -> None:
        if self.is_attached:
            self.query_one(Title).remark = f"{len(products)} products"
            self.query_one(Sheet).show(products)
