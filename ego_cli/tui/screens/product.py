"""Everything stored about one product, and the products most like it."""

from __future__ import annotations

from functools import partial

from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from ego_cli.catalog.product import Product
from ego_cli.tui.drawing import FAINT, MUTED, amount, fit, spread, stack, text, wrap
from ego_cli.tui.listing import Item, Listing, heading
from ego_cli.tui.screens.frame import FullScreen, KeyLine, Title

_LABEL = 14  # cells of a field's name
_REVIEWS = 3


def rating_line(product: Product) -> Content:
    """Stars and count, or that nobody rated."""
    if product.rating is None:
        return text("not rated yet", MUTED)
    count = f" from {product.rating_count:,} people" if product.rating_count else ""
    return text("★ ", "$accent") + text(f"{product.rating:.1f}", "bold") + text(count, MUTED)


def short_product(product: Product, width: int) -> list[Content]:
    """A product in two lines: title and price, rating and brand."""
    price = text(
        amount(product.price, product.currency), "bold $success" if product.price is not None else MUTED
    )
    brand = text(product.brand or product.store or "", FAINT)
    return [spread(text(product.title), price, width), spread(rating_line(product), brand, width)]


class Facts(Widget, can_focus=False):
    """The stored fields, each under its own name."""

    def __init__(self) -> None:
        super().__init__()
        self.product: Product | None = None

    def show(self, product: Product) -> None:
        self.product = product
        self.refresh(layout=True)

    def _lines(self, width: int) -> list[Content]:
        product = self.product
        if product is None:
            return [text("…", MUTED)]
        price = amount(product.price, product.currency)
        if product.price_max is not None and product.price_max != product.price:
            price += f" – {amount(product.price_max, product.currency)}"
        lines = wrap(text(product.title, "bold"), width)
        lines.append(text(price, "bold $success") + Content("   ") + rating_line(product))
        lines.append(Content(""))
        for name, value in self._fields(product):
            pieces = wrap(text(value), width - _LABEL)
            lines.append(fit(text(name, MUTED), _LABEL) + pieces[0])
            lines += [Content(" " * _LABEL) + piece for piece in pieces[1:]]
        for name, parts in (("features", product.features), ("reviews", product.reviews[:_REVIEWS])):
            if parts:
                lines += [Content(""), text(name, "bold $primary")]
                for part in parts:
                    lines += wrap(
                        text("• ", "$primary") + text(part if name == "features" else f"“{part}”"), width, 2
                    )
        if product.description:
            lines += [
                Content(""),
                text("description", "bold $primary"),
                *wrap(text(product.description), width),
            ]
        return lines

    @staticmethod
    def _fields(product: Product) -> list[tuple[str, str]]:
        fields = [
            ("brand", product.brand or ""),
            ("sold by", product.store or ""),
            ("found under", " › ".join(product.categories)),
            ("colours", ", ".join(product.colours)),
            ("materials", ", ".join(product.materials)),
            ("sizes", ", ".join(product.sizes)),
            ("for", product.gender or ""),
            *product.details.items(),
            ("ingredients", product.ingredients or ""),
            *(
                ("offer", f"{offer.seller or 'a seller'}  {amount(offer.price, offer.currency)}")
                for offer in product.offers
                if len(product.offers) > 1 or offer.seller not in (None, product.store)
            ),
            ("doubts", ", ".join(flag.replace("_", " ") for flag in product.flags)),
            ("address", product.url or ""),
            ("id", product.id),
        ]
        return [(name, value) for name, value in fields if value]

    def render(self) -> Content:
        return stack(self._lines(max(self.size.width, 20)))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines(max(width, 20)))


class ProductScreen(FullScreen):
    """Fields at the left, similar products at the right (below, on a narrow screen)."""

    def __init__(self, product_id: str) -> None:
        super().__init__()
        self.product_id = product_id

    def compose(self) -> ComposeResult:
        yield Title("product")
        with Horizontal(classes="halves stacked"):
            with VerticalScroll(classes="main", can_focus=True):
                yield Facts()
            with VerticalScroll(classes="beside", can_focus=False):
                yield Listing(id="similar", empty="nothing similar")
        yield KeyLine("list", "screen")

    def on_mount(self) -> None:
        self.query_one(Listing).focus()
        self._load(self.product_id)

    def _load(self, product_id: str) -> None:
        self.product_id = product_id
        self.talk.look(lambda shop: (shop.product(product_id), shop.similar(product_id)), self._show)

    def _show(self, found: tuple[Product | None, tuple[Product, ...]]) -> None:
        product, similar = found
        if not self.is_attached:
            return
        if product is None:
            self.dismiss()
            self.ego.warn("that product is no longer in the catalogue")
            return
        self.query_one(Title).remark = product.id
        self.query_one(Facts).show(product)
        self.query_one(VerticalScroll).scroll_home(animate=False)
        items = [Item(other.id, partial(short_product, other)) for other in similar]
        self.query_one(Listing).fill([heading("most like it"), *items] if items else [])

    def on_listing_opened(self, message: Listing.Opened) -> None:
        self._load(message.id)
