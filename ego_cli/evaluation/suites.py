"""Suites of sessions, made reproducibly from a seed over any catalogue.

Five of the protocol's kind (standard, buying-heavy, browsing-heavy, override-heavy, long-tail) and ``lively``, whose
customers change their minds in many ways, refuse, mistype, exclude and point at what was shown.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ego_cli.catalog.product import Product
from ego_cli.errors import CatalogueError, NotFoundError
from ego_cli.evaluation import cards
from ego_cli.evaluation.cards import Constraint, Session
from ego_cli.evaluation.customers import CHANGES

SESSIONS = 200
MOST_RIVALS = 300  # products of a shelf that a customer can recognise in a list
SHELF_LOOK = 40  # products of a shelf that are looked at for something to exclude


@dataclass(frozen=True, slots=True)
class Suite:
    """``mix``: sessions per scenario, out of 200. ``popular``: targets drawn by review count, else uniformly."""

    mix: Mapping[str, int]
    popular: bool = True


_STANDARD = {"buying": 80, "browsing": 80, "override": 30, "boundary": 10}
SUITES: Mapping[str, Suite] = {
    "standard": Suite(_STANDARD),
    "buying-heavy": Suite({"buying": 140, "browsing": 40, "override": 10, "boundary": 10}),
    "browsing-heavy": Suite({"buying": 40, "browsing": 140, "override": 10, "boundary": 10}),
    "override-heavy": Suite({"buying": 40, "browsing": 40, "override": 110, "boundary": 10}),
    "long-tail": Suite(_STANDARD, popular=False),
    "lively": Suite(
        {
            "mind_change": 50,
            "refusal": 25,
            "two_wants": 25,
            "typos": 25,
            "budget": 25,
            "exclusion": 25,
            "reference": 25,
        }
    ),
}


def make_suite(
    name: str, products: Sequence[Product], *, seed: int = 0, part: str = "test", sessions: int = SESSIONS
) -> list[Session]:
    """The sessions of a suite over ``products`` (any order gives the same sessions).

    ``part`` splits targets as it splits wordings: what is tuned on one part is measured on the other. Raises
    ``NotFoundError`` for an unknown suite and ``CatalogueError`` when no product gives a card.
    """
    if name not in SUITES:
        raise NotFoundError(f"there is no suite called {name!r}", hint="use " + ", ".join(SUITES))
    suite = SUITES[name]
    dice = random.Random(f"{name}|{seed}|{part}")
    pool = sorted((p for p in products if p.title and any(cards.category_of(p))), key=lambda p: p.id)
    if not pool:
        raise CatalogueError("no product of this catalogue has a title and a category to ask for")
    shelves = _Shelves(pool)
    mine = [p for p in pool if part_of(p.id) == part]
    targets = _draw(mine if len(mine) >= sessions else pool, sessions, popular=suite.popular, dice=dice)
    return [
        _make_session(f"{name}-{i:03}", scenario, target, shelves, random.Random(f"{name}|{seed}|{part}|{i}"))
        for i, (scenario, target) in enumerate(
            zip(_scenarios(suite.mix, sessions, dice), targets, strict=True)
        )
    ]


def part_of(product_id: str) -> str:
    """Which half of the targets a product belongs to."""
    return "test" if hashlib.blake2b(product_id.encode(), digest_size=1).digest()[0] % 2 else "tuning"


def read_products(catalogue: str | Path) -> list[Product]:
    """All products of a stored catalogue (by name) or of a file in any readable form.

    A file is read, not indexed: an agent that is timed builds its own index.
    """
    path = Path(catalogue).expanduser()
    if path.is_file() and path.suffix != ".db":
        from ego_cli.catalog import readers

        return readers.collapsed(readers.read_products(path))
    from ego_cli.catalog.store import open_catalogue

    return list(open_catalogue(catalogue))


def _scenarios(mix: Mapping[str, int], sessions: int, dice: random.Random) -> list[str]:
    """``sessions`` scenario names in the proportions of ``mix`` (largest remainders first), shuffled."""
    whole = sum(mix.values())
    shares = {name: count * sessions / whole for name, count in mix.items()}
    counts = {name: math.floor(share) for name, share in shares.items()}
    rest = sorted(shares, key=lambda name: counts[name] - shares[name])
    for name in rest[: sessions - sum(counts.values())]:
        counts[name] += 1
    names = [name for name, count in counts.items() for _ in range(count)]
    dice.shuffle(names)
    return names


def _draw(products: Sequence[Product], count: int, *, popular: bool, dice: random.Random) -> list[Product]:
    """``count`` products without repetition while they last; weighted by review count where ``popular``.

    Weighted sampling without replacement by exponential keys (Efraimidis and Spirakis, 2006).
    """
    weighed = popular and any(p.rating_count for p in products)
    weights = [float(p.rating_count) if weighed else 1.0 for p in products]
    keys = sorted(
        (-math.log(1 - dice.random()) / weight, i) for i, weight in enumerate(weights) if weight > 0
    )
    drawn: list[Product] = []
    for _, i in keys:
        if len(drawn) == count:
            break
        if len(cards.make_card(products[i]).constraints) >= cards.ENOUGH:
            drawn.append(products[i])
    if not drawn:
        raise CatalogueError("no product of this catalogue says enough about itself to be asked for")
    drawn += dice.choices(drawn, k=count - len(drawn))
    dice.shuffle(drawn)
    return drawn


class _Shelves:
    """Products by parent and leaf category."""

    def __init__(self, pool: Sequence[Product]) -> None:
        self.pool = pool
        self._by_category: dict[tuple[str, str], list[Product]] = defaultdict(list)
        for product in pool:
            self._by_category[cards.category_of(product)].append(product)

    def beside(self, target: Product) -> list[Product]:
        """The other products of the target's shelf."""
        return [p for p in self._by_category[cards.category_of(target)] if p.id != target.id]


def _make_session(
    session_id: str, scenario: str, target: Product, shelves: _Shelves, dice: random.Random
) -> Session:
    card = cards.make_card(target)
    beside = shelves.beside(target)
    changes = scenario in {"override", "mind_change"}
    old = _old_preference(target, beside or shelves.pool, dice) if changes else None
    other = cards.category_of(dice.choice(shelves.pool)) if scenario == "two_wants" else None
    seen = dice.sample(beside, k=min(len(beside), MOST_RIVALS)) if scenario == "reference" else []
    return Session(
        id=session_id,
        scenario=scenario,
        target=target.id,
        card=card,
        facts=cards.facts_of(target),
        currency=target.currency or "USD",
        profile=_profile(target, dice),
        old=old,
        change_turn=dice.choice((3, 4)) if old else 0,
        change=dice.choice(CHANGES) if scenario == "mind_change" else "override" if old else "",
        other=other,
        unwanted=_unwanted(target, beside, dice) if scenario == "exclusion" else None,
        rivals={p.id: cards.facts_of(p) for p in seen},
        seed=dice.randrange(2**31),
    )


def _old_preference(target: Product, others: Sequence[Product], dice: random.Random) -> Constraint | None:
    """A constraint of another product that the target does not meet."""
    text = cards.searchable_text(target).casefold()
    for other in dice.sample(others, k=min(len(others), SHELF_LOOK)):
        untrue = [
            c
            for c in cards.make_card(other).constraints
            if _value(c.text) not in text and c.attribute != "budget"
        ]
        if untrue:
            return untrue[0]
    return None


def _value(constraint: str) -> str:
    return constraint.partition(": ")[2].casefold() or constraint.casefold()


def _unwanted(target: Product, beside: Sequence[Product], dice: random.Random) -> str | None:
    """A material, else a brand, that stands on the shelf and that the target is free of."""
    own = cards.searchable_text(target).casefold()
    looked = dice.sample(beside, k=min(len(beside), SHELF_LOOK))
    materials = Counter(
        m for p in looked for m in cards.material_words(cards.searchable_text(p)) if m not in own
    )
    if materials:
        return materials.most_common(1)[0][0]
    brands = Counter(p.brand for p in looked if p.brand and p.brand.casefold() not in own)
    return brands.most_common(1)[0][0] if brands else None


def _profile(target: Product, dice: random.Random) -> dict[str, object]:
    """A user profile of the protocol's shape; its tags lean, loosely, towards what the target says of itself."""
    text = cards.searchable_text(target)
    likely = {tag: 0.6 if pattern.search(text) else 0.25 for tag, pattern in cards.tag_words().items()}
    tags = [tag for tag, chance in likely.items() if dice.random() < chance]
    frequency = dice.choice(cards.profile_values("purchase_frequency"))
    return {
        "average_prior_rating": round(dice.uniform(3.2, 4.9), 1),
        "preference_tags": tags,
        "purchase_frequency": frequency,
        "rating_style": dice.choice(cards.profile_values("rating_style")),
        "summary": f"A {frequency} buyer who cares about {', '.join(tags) or 'nothing in particular'}.",
    }
