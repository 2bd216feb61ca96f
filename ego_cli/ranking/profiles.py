"""Named sets of weights for the terms of ``score``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ego_cli.ranking.retrieve import POPULARITY_EXPONENT


@dataclass(frozen=True, slots=True)
class Profile:
    """Weights of the terms, in score units (nats in the default profile)."""

    name: str
    terms: tuple[str, ...]
    document: float = 0.35  # per unit of BM25 of all that was said
    category: float = 5.0  # names of the category path covered by the words for the type
    category_browsing: float = 5.0  # the same while browsing
    type: float = 4.0  # how surely it is of the type
    evidence: float = 0.9  # per nat of a wish covered by one statement
    spread: float = 0.25  # per nat of a wish covered by all statements together
    constraint: float = 4.5  # sivle: a constraint found anywhere
    in_title: float = 3.0  # sivle: a constraint found in the title
    complete: float = 1.5  # all that was asked for is met
    fact: float = 2.5  # a typed requirement met as a stored fact (missed: taken off)
    rating: float = 0.5  # per star above 3
    popularity: float = POPULARITY_EXPONENT  # per unit of ln(1 + reviews)
    interactions: float = 0.3  # per unit of popularity from what shoppers here did
    passed_over: float = 4.0  # per time shown and not taken: never a ban
    erased: float = 3.0  # Ω: carries what was given up
    free: float = 0.8  # known to be free of something avoided
    bad: float = 0.8  # one word that speaks against a product for everyone
    brand: float = 1.2  # brand affinity of 1
    price_range: float = 1.0  # inside the range she usually pays
    suitability: float = 1.5  # for her skin, hair ...
    concern: float = 0.9
    tag: float = 0.35  # a preference tag of her profile
    tried: float = 3.0  # sentiment of 1 about the product itself
    local: float = 0.3  # power, data, value brand, seller, delivery (naira shops)
    dense: float = 20.0  # per unit of cosine and of what words leave unanswered
    collaborative: float = 1.5  # for what all who liked hers liked
    like: float = 14.0  # per unit of likeness to the product named


_DEFAULT_TERMS = (
    "document", "category", "type", "evidence", "spread", "facts", "complete", "rating", "popularity", "interactions",
    "passed_over", "erased", "free", "bad", "brand", "price_range", "suitability", "concern", "tag", "tried",
    "power", "data", "value_brand", "seller", "delivery", "dense", "collaborative", "like",
)  # fmt: skip

PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        "default": Profile("default", _DEFAULT_TERMS),
        # The seed's published numbers; γ and δ were not published: 0.5 and 0.35 are ours.
        "sivle": Profile(
            "sivle",
            (
                "document",
                "seed_category",
                "constraints",
                "title_constraints",
                "complete",
                "rating",
                "popularity",
                "passed_over",
                "erased",
            ),
            document=1.0,
            category=12.0,
            category_browsing=9.0,
            complete=5.0,
            rating=0.5,
            popularity=0.35,
            passed_over=0.0,
            erased=8.0,
        ),
    }
)
