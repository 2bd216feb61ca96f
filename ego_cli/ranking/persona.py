"""An expert's second look at a list: near-ties may change places, nothing else may.

Who looks is the caller's business (a language model, a test): ``order`` gets the expert's brief and the products and gives
an order with reasons. The persona of each domain stands in ``data/taxonomy.toml``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from ego_cli.catalog.product import Product
from ego_cli.catalog.taxonomy import classify, taxonomy
from ego_cli.ranking.request import Request
from ego_cli.ranking.scored import Ranked, Reason, Scored

LOOKED_AT = 10  # products at the head of a list
NEAR = 0.08  # two products are a near-tie when their scores differ by at most this share of the best one's
LONGEST_REASON = 80  # characters


@dataclass(frozen=True, slots=True)
class Persona:
    """Who judges, and by what."""

    name: str = "A careful shop assistant"
    criteria: str = "Judge by how well each product does what she asked for."


@dataclass(frozen=True, slots=True)
class Order:
    """An expert's order: product ids, best first, and by id the words of the product's own data that speak for it."""

    ids: tuple[str, ...]
    reasons: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


Expert = Callable[[Persona, Sequence[Scored]], Order | None]


def worth_a_look(ranked: Ranked, request: Request) -> bool:
    """Whether there is a near-tie to decide. An order that she asked for (by price, by rating) is hers."""
    return request.sort is None and any(len(run) > 1 for run in _near_ties(ranked.items[:LOOKED_AT]))


def second_look(ranked: Ranked, request: Request, expert: Expert) -> Ranked:
    """The list with its near-ties in the expert's order. What the expert adds, repeats or leaves out changes nothing."""
    if not worth_a_look(ranked, request):
        return ranked
    head = ranked.items[:LOOKED_AT]
    order = expert(persona_for([scored.product for scored in head]), head)
    if order is None:
        return ranked
    places = {product_id: place for place, product_id in reversed(list(enumerate(order.ids)))}
    looked_at = []
    for run in _near_ties(head):
        looked_at += sorted(run, key=lambda scored: places.get(scored.product.id, len(order.ids)))
    reasoned = [_with_reason(scored, order.reasons.get(scored.product.id, "")) for scored in looked_at]
    items = (*reasoned, *ranked.items[LOOKED_AT:])
    return ranked if items == ranked.items else replace(ranked, items=items)


def persona_for(products: Sequence[Product]) -> Persona:
    """The expert of the domain that most of the products belong to."""
    domains = Counter(tag.domain for product in products if (tag := classify(product)).domain)
    if not domains:
        return Persona()
    domain = taxonomy().domains[domains.most_common(1)[0][0]]
    return Persona(domain.persona, domain.criteria)


def _near_ties(items: Sequence[Scored]) -> Iterator[list[Scored]]:
    """Neighbours in runs whose scores all lie near the first of the run."""
    if not items:
        return
    margin = NEAR * abs(items[0].total)
    run: list[Scored] = []
    for scored in items:
        if run and run[0].total - scored.total > margin:
            yield run
            run = []
        run.append(scored)
    yield run


def _with_reason(scored: Scored, words: str) -> Scored:
    """The product with one more reason, when the words stand in one of its features or details."""
    words = " ".join(words.split()).strip(" .")
    if not words or len(words) > LONGEST_REASON or any(reason.tag == words for reason in scored.reasons):
        return scored
    wanted = words.casefold()
    for name, value in _stated(scored.product):
        if wanted in " ".join(value.split()).casefold():
            return replace(scored, reasons=(*scored.reasons, Reason(words, name, value)))
    return scored


def _stated(product: Product) -> Iterator[tuple[str, str]]:
    for place, feature in enumerate(product.features):
        yield f"features[{place}]", feature
    for key, value in product.details.items():
        yield f"details.{key}", value
