"""The catalogue to look around in: shelves, facets with counts, and a search that answers as one types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets._input import Input

from ego_cli.tui import keys
from ego_cli.tui.drawing import FAINT, MUTED, spread, text
from ego_cli.tui.engine import Browse, Shelf, Window
from ego_cli.tui.listing import Item, Listing, heading
from ego_cli.tui.screens.frame import FullScreen, KeyLine, Title
from ego_cli.tui.screens.product import ProductScreen, short_product

_VALUES = 6  # values of one facet that are listed
_SEPARATOR = "\x1f"  # between the parts of an entry's id


def _counted(words: str, count: int, style: str, width: int) -> list[Content]:
    """Words at the left, a count at the right."""
    return [spread(text(words, style), text(f"{count:,}", FAINT), width)]


class CatalogueScreen(FullScreen):
    """Shelves and facets at the left, search and products at the right."""

    BINDINGS = keys.bindings("browser")

    def __init__(self) -> None:
        super().__init__()
        self.asked = Browse()
        self.shelves: tuple[Shelf, ...] = ()
        self._serial = 0

    def compose(self) -> ComposeResult:
        yield Title("catalogue")
        with Horizontal(classes="halves"):
            with VerticalScroll(classes="shelves", can_focus=False):
                yield Listing(id="shelves", empty="…")
                yield Listing(id="facets")
            with Vertical(classes="main"):
                yield Input(placeholder="type to search this catalogue", id="search", compact=True)
                with VerticalScroll(can_focus=False):
                    yield Listing(id="products", empty="nothing here fits; c drops all filters")
        yield KeyLine("browser", "list", "screen")

    def on_mount(self) -> None:
        self.query_one(Input).focus()
        self.talk.look(lambda shop: shop.shelves(), self._show_shelves)
        self._ask()

    # --- asking and showing

    def _ask(self) -> None:
        self._serial += 1
        serial, asked = self._serial, self.asked
        self.talk.look(lambda shop: shop.browse(asked), lambda window: self._show(serial, window))

    def _show(self, serial: int, window: Window) -> None:
        if serial != self._serial or not self.is_attached:
            return  # something newer was typed meanwhile
        self.query_one(Title).remark = f"{window.total:,} products"
        products = self.query_one("#products", Listing)
        products.fill([Item(p.id, partial(short_product, p)) for p in window.products], keep=products.current)
        if products.items and isinstance(products.parent, VerticalScroll):
            products.parent.scroll_home(animate=False)
        facets = self.query_one("#facets", Listing)
        facets.fill(self._facet_items(window.facets), keep=facets.current)

    def _facet_items(self, facets: Mapping[str, Mapping[str, int]]) -> list[Item]:
        items: list[Item] = []
        for attribute, values in facets.items():
            if not values:
                continue
            items.append(heading(attribute.removeprefix("details."), gap=True))
            chosen = self.asked.facets.get(attribute)
            ordered = sorted(values.items(), key=lambda pair: (pair[0] != chosen, -pair[1], pair[0]))
            for value, count in ordered[:_VALUES]:
                line = partial(_counted, f"{'✓' if value == chosen else ' '} {value}", count, "")
                items.append(Item(f"{attribute}{_SEPARATOR}{value}", line))
        return items

    def _show_shelves(self, shelves: tuple[Shelf, ...]) -> None:
        if not self.is_attached:
            return
        self.shelves = shelves
        path = self.asked.path
        whole = sum(shelf.products for shelf in shelves if len(shelf.path) == 1)
        items = [Item(_SEPARATOR, partial(_counted, "everything", whole, "" if path else "bold $accent"))]
        for shelf in shelves:
            parent = shelf.path[:-1]
            if path[: len(parent)] == parent:
                items.append(Item(_SEPARATOR.join(shelf.path), partial(self._shelf, shelf)))
        self.query_one("#shelves", Listing).fill(items, keep=_SEPARATOR.join(path) or _SEPARATOR)

    def _shelf(self, shelf: Shelf, width: int) -> list[Content]:
        open_ = self.asked.path[: len(shelf.path)] == shelf.path
        inside = any(
            len(other.path) > len(shelf.path) and other.path[: len(shelf.path)] == shelf.path
            for other in self.shelves
        )
        mark = ("▾ " if open_ else "▸ ") if inside else "  "
        style = "bold $accent" if shelf.path == self.asked.path else ""
        left = text("  " * (len(shelf.path) - 1) + mark, MUTED) + text(shelf.path[-1], style)
        return [spread(left, text(f"{shelf.products:,}", FAINT), width, gap=1)]

    # --- choosing

    def on_input_changed(self, event: Input.Changed) -> None:
        self.asked = replace(self.asked, words=event.value.strip())
        self._ask()

    def on_input_submitted(self) -> None:
        self.query_one("#products", Listing).focus()

    def on_listing_opened(self, message: Listing.Opened) -> None:
        match message.listing.id:
            case "products":
                self.app.push_screen(ProductScreen(message.id))
            case "shelves":
                path = tuple(part for part in message.id.split(_SEPARATOR) if part)
                self.asked = replace(self.asked, path=path[:-1] if path == self.asked.path else path)
                self._show_shelves(self.shelves)
                self._ask()
            case _:
                attribute, _, value = message.id.partition(_SEPARATOR)
                facets = dict(self.asked.facets)
                if facets.get(attribute) == value:
                    del facets[attribute]
                else:
                    facets[attribute] = value
                self.asked = replace(self.asked, facets=MappingProxyType(facets))
                self._ask()

    def action_search(self) -> None:
        self.query_one(Input).focus()

    def action_clear(self) -> None:
        self.asked = Browse()
        with self.prevent(Input.Changed):
            self.query_one(Input).value = ""
        self._show_shelves(self.shelves)
        self._ask()
