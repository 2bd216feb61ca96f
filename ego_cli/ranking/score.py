"""The score of a product for a request: a sum of named terms, each a function that can be read alone.

The spine is the Sivle seed's formula,

    S = -BM25 + α·|C_q ∩ C_p| / |C_q| + Σβ + γ·(R - 3) + δ·ln(1 + N) - Ω

kept as it was in the profile ``sivle``. The profile ``default`` counts evidence in nats (how much rarer than chance a match is)
and holds it against single statements; see ``profiles`` for its numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ego_cli.catalog.enrich import columns_of
from ego_cli.catalog.evidence import Field, tokens_of
from ego_cli.catalog.signals import ShopSignals
from ego_cli.catalog.text import query_terms
from ego_cli.ranking.polarity import POLAR, free_of
from ego_cli.ranking.retrieve import said, sort_key
from ego_cli.ranking.scene import COVERED, Column, Rows, Scene
from ego_cli.settings import load_toml

if TYPE_CHECKING:
    from ego_cli.catalog.store import Catalogue


Term = Callable[[Scene], Column]


# --- what was asked for ----------------------------------------------------------------------------------------------


def document(scene: Scene) -> Column:
    """BM25 of all that was said, fields weighted."""
    terms = query_terms(said(scene.request))
    if not terms:
        return scene.none()
    lexical = scene.catalogue.lexical
    scores = lexical.scores(lexical.expand(terms))[scene.rows]
    return np.asarray(scene.profile.document * scores, dtype=np.float64)


def category(scene: Scene) -> Column:
    """How much of the words for the type the category path's names cover: rare words and last names count more."""
    if not scene.request.category:
        return scene.none()
    by_path = scene.index.types.category_score(scene.request.category)
    alpha = scene.profile.category if scene.request.route == "BUYING" else scene.profile.category_browsing
    return np.asarray(alpha * by_path[scene.index.types.path_of_row[scene.rows]], dtype=np.float64)


def type_(scene: Scene) -> Column:
    """How surely the product is of the named type."""
    if not scene.request.category:
        return scene.none()
    return np.asarray(
        scene.profile.type * scene.index.types.match(scene.request.category).score[scene.rows],
        dtype=np.float64,
    )


def evidence(scene: Scene) -> Column:
    """Per wish, the nats that the product's best single statement covers."""
    if not scene.wishes:
        return scene.none()
    mass = np.array([wish.mass * wish.weight for wish in scene.wishes])
    return np.asarray(scene.profile.evidence * (scene.coverage.best**1.5 @ mass), dtype=np.float64)


def spread(scene: Scene) -> Column:
    """Per wish, the nats that all statements of the product together cover."""
    if not scene.wishes:
        return scene.none()
    mass = np.array([wish.mass * wish.weight for wish in scene.wishes])
    return np.asarray(scene.profile.spread * (scene.coverage.spread @ mass), dtype=np.float64)


def facts(scene: Scene) -> Column:
    """Typed requirements met (or known to be missed) as stored facts; what is not stated counts nothing."""
    if not scene.request.requirements:
        return scene.none()
    weights = np.array([wanted.weight for wanted in scene.request.requirements])
    return np.asarray(scene.profile.fact * (scene.facts @ weights), dtype=np.float64)


def complete(scene: Scene) -> Column:
    """Everything asked for is met."""
    if not scene.wishes:
        return scene.none()
    covered = scene.coverage.best >= COVERED
    for column in range(len(scene.request.requirements)):
        covered[:, column] |= scene.facts[:, column] == 1
        covered[:, column] &= scene.facts[:, column] != -1
    return np.where(covered.all(axis=1), scene.profile.complete, 0.0)


# --- the seed's own terms --------------------------------------------------------------------------------------------


def seed_category(scene: Scene) -> Column:
    """α·|C_q ∩ C_p| / |C_q| over plain words of the category path."""
    wanted = set(tokens_of(scene.request.category))
    if not wanted:
        return scene.none()
    paths = scene.index.types.paths
    share = np.array(
        [len(wanted & {t for name in path for t in tokens_of(name)}) / len(wanted) for path in paths]
    )
    alpha = scene.profile.category if scene.request.route == "BUYING" else scene.profile.category_browsing
    return np.asarray(alpha * share[scene.index.types.path_of_row[scene.rows]], dtype=np.float64)


def constraints(scene: Scene) -> Column:
    """4.5 for every constraint that the product's texts hold."""
    return np.asarray(
        scene.profile.constraint * (scene.coverage.spread >= COVERED).sum(axis=1), dtype=np.float64
    )


def title_constraints(scene: Scene) -> Column:
    """3.0 for every constraint that the title holds."""
    out = scene.none()
    for wish in scene.wishes:
        rows = scene.index.evidence.stating(tokens_of(wish.text), (Field.TITLE,))
        out += scene.profile.in_title * np.isin(scene.rows, rows)
    return out


# --- what is known of the product ------------------------------------------------------------------------------------


def rating(scene: Scene) -> Column:
    """γ·(R - 3), R shrunk towards what its kind gets: 5.0 from one person is not 4.8 from 2,300."""
    return np.asarray(
        scene.profile.rating * (scene.index.features.shrunk_rating[scene.rows] - 3.0), dtype=np.float64
    )


def popularity(scene: Scene) -> Column:
    """δ·ln(1 + N) of its reviews: a prior at half strength."""
    return np.asarray(scene.profile.popularity * scene.index.features.log_reviews[scene.rows])


def interactions(scene: Scene) -> Column:
    """What shoppers of this shop did with it lately (purchases, skips …), decayed."""
    if scene.signals is None or not scene.signals.popularity:
        return scene.none()
    places, scores = rows_of(scene.catalogue, scene.signals)
    found = np.searchsorted(places, scene.rows)
    found[found == len(places)] = 0
    known = places[found] == scene.rows
    value = scores[found] * known
    return np.asarray(scene.profile.interactions * np.sign(value) * np.log1p(np.abs(value)))


_rows_of_signals: WeakKeyDictionary[ShopSignals, tuple[Rows, Column]] = WeakKeyDictionary()


def rows_of(catalogue: Catalogue, signals: ShopSignals) -> tuple[Rows, Column]:
    """Popularity by catalogue row, rows ascending; looked up once for each snapshot of the signals."""
    found = _rows_of_signals.get(signals)
    if found is None:
        pairs = sorted(
            (row, score)
            for product_id, score in signals.popularity.items()
            if (row := catalogue.row_of(product_id)) is not None
        )
        found = (
            np.array([r for r, _ in pairs], dtype=np.int32),
            np.array([s for _, s in pairs], dtype=np.float64),
        )
        _rows_of_signals[signals] = found
    return found


def bad(scene: Scene) -> Column:
    """Words that speak against a product for everyone: greasy, harsh, flimsy."""
    columns = np.array(list(columns_of("bad").values()), dtype=np.int32)
    return np.asarray(
        -scene.profile.bad * scene.index.signals[np.ix_(scene.rows, columns)].sum(axis=1), dtype=np.float64
    )


# --- the conversation so far -----------------------------------------------------------------------------------------


def passed_over(scene: Scene) -> Column:
    """Shown and not taken: a soft penalty that grows slowly, because a change of mind may have been missed."""
    return _by_id(
        scene,
        {
            key: -scene.profile.passed_over * float(np.log2(1 + n))
            for key, n in scene.request.passed_over.items()
        },
    )


def erased(scene: Scene) -> Column:
    """Ω: it carries what she gave up."""
    out = scene.none()
    for value in scene.request.erased:
        tokens = tokens_of(value)
        out -= scene.profile.erased * np.isin(scene.rows, scene.index.evidence.stating(tokens))
    return out


def free(scene: Scene) -> Column:
    """Known to be free of what she avoids: good news, not a match of the word."""
    out = scene.none()
    for exclusion in scene.request.exclusions:
        if exclusion.attribute in POLAR:
            out += scene.profile.free * free_of(scene.index, exclusion.value)[scene.rows]
    return out


# --- the shopper -----------------------------------------------------------------------------------------------------


def brand(scene: Scene) -> Column:
    """Brands that she came to like, or not."""
    out = scene.none()
    for name, affinity in scene.request.personal.brand_affinity.items():
        out += scene.profile.brand * affinity * np.isin(scene.rows, scene.index.facets.rows("brand", name))
    return out


def price_range(scene: Scene) -> Column:
    """Inside what she usually pays for such things; falls off outside."""
    usual = scene.request.personal.price_range
    if usual is None:
        return scene.none()
    price = scene.values("price")
    low, high = usual
    off = np.maximum(np.maximum(np.log(np.maximum(low, 1e-9) / price), np.log(price / max(high, 1e-9))), 0.0)
    return np.where(np.isfinite(price), scene.profile.price_range * np.maximum(1.0 - off, -1.0), 0.0)


def suitability(scene: Scene) -> Column:
    """Right for her skin, hair … as she stated it."""
    out = scene.none()
    for attribute, value in scene.request.personal.attributes.items():
        for word in value.lower().replace(",", " ").split():
            has = scene.signal(attribute, word)
            out += scene.profile.suitability * scene.domain_weight(attribute) * has
    return out


def concern(scene: Scene) -> Column:
    """Does something for what troubles her or what she wants to reach."""
    out = scene.none()
    for name in concerns_named((*scene.request.personal.concerns, *scene.request.personal.goals)):
        out += scene.profile.concern * scene.domain_weight("concern") * scene.signal("concern", name)
    return out


def tag(scene: Scene) -> Column:
    """Answers to her profile's preference tags: fit, comfort, durability, style, warmth …"""
    out = scene.none()
    weights = {"fit", "comfort", "durability", "style", "warmth"}
    for name in dict.fromkeys(t.lower() for t in scene.request.personal.tags):
        weight = scene.domain_weight(name if name in weights else "style")
        out += scene.profile.tag * weight * scene.signal("tag", name)
    return out


def tried(scene: Scene) -> Column:
    """What she thought of this very product."""
    return _by_id(scene, {key: scene.profile.tried * s for key, s in scene.request.personal.tried.items()})


# --- life in Nigeria: shown in the breakdown, never hidden -----------------------------------------------------------


def _local(scene: Scene, type_: str, has: Column) -> Column:
    if scene.catalogue.currency != "NGN":
        return scene.none()
    return np.asarray(scene.profile.local * scene.domain_weight(type_) * has)


def power(scene: Scene) -> Column:
    """Keeps going without mains."""
    return _local(scene, "power", scene.signal("power", "keeps going").astype(np.float64))


def data(scene: Scene) -> Column:
    """Spares mobile data."""
    return _local(scene, "data", scene.signal("data", "saves data").astype(np.float64))


def value_brand(scene: Scene) -> Column:
    """A value brand that people trust."""
    return _local(
        scene, "value_brand", (scene.index.features.brand_tier[scene.rows] == 4).astype(np.float64) * 0.5
    )


def seller(scene: Scene) -> Column:
    """A seller with few bad orders."""
    score = scene.index.features.seller_score[scene.rows].astype(np.float64)
    trusted = float(load_toml("claims.toml")["naija"]["trusted_seller"])
    return _local(scene, "seller", np.where(score >= trusted, 1.0, 0.0))


def delivery(scene: Scene) -> Column:
    """Comes soon, or is paid on delivery."""
    return _local(scene, "delivery", scene.signal("delivery", "fast delivery").astype(np.float64))


# --- vectors and likeness --------------------------------------------------------------------------------------------


def dense(scene: Scene) -> Column:
    """Near in meaning to all that was said: the less of it products say in words, the more this counts."""
    if scene.similarity is None:
        return scene.none()
    return np.asarray(scene.profile.dense * (1.0 - scene.answered) * scene.similarity, dtype=np.float64)


def collaborative(scene: Scene) -> Column:
    """Liked by people who liked what she liked."""
    out = scene.none()
    for row, nearness in scene.neighbours.items():
        place = scene.place_of.get(row)
        if place is not None:
            out[place] = scene.profile.collaborative * min(nearness, 1.0)
    return out


def like(scene: Scene) -> Column:
    """Shares kind, statements and price level with the products she pointed at."""
    if not scene.request.like:
        return scene.none()
    out = scene.none()
    for product_id in scene.request.like:
        row = scene.catalogue.row_of(product_id)
        if row is not None:
            out += scene.profile.like * likeness(scene, row)
    return out / len(scene.request.like)


def likeness(scene: Scene, row: int) -> Column:
    """0..1: the share of one product's statements (by rarity) that each candidate makes too, with its path and price level."""
    evidence_ = scene.index.evidence
    tokens = evidence_.tokens_of_row(row)
    place = np.zeros(len(evidence_.id_of), dtype=np.int16)
    place[tokens] = np.arange(1, len(tokens) + 1)
    found = evidence_.occurrences(scene.rows, place)
    owner, which = np.divmod(np.unique(found.row * (len(tokens) + 1) + found.token), len(tokens) + 1)
    rarity = evidence_.idf[tokens]
    share = np.bincount(owner, rarity[which - 1], len(scene.rows)) / max(float(rarity.sum()), 1e-9)
    same_path = scene.index.types.path_of_row[scene.rows] == scene.index.types.path_of_row[row]
    same_kind = scene.index.types.tag_of_row[scene.rows] == scene.index.types.tag_of_row[row]
    return np.asarray(0.6 * share + 0.25 * same_path + 0.15 * same_kind)


def _by_id(scene: Scene, scores: Mapping[str, float]) -> Column:
    out = scene.none()
    for product_id, score in scores.items():
        place = scene.place_of_id(product_id)
        if place is not None:
            out[place] = score
    return out


def concerns_named(texts: tuple[str, ...]) -> list[str]:
    """Concerns of ``data/claims.toml`` that a shopper's own words ("my skin is dry") speak of."""
    found: dict[str, None] = {}
    for text in texts:
        tokens = set(tokens_of(text))
        for name, entry in load_toml("claims.toml")["concern"].items():
            if any(tokens.issuperset(tokens_of(words)) for words in (name, *entry["says"])):
                found[name] = None
    return list(found)


TERMS: Mapping[str, Term] = MappingProxyType(
    {
        "document": document, "category": category, "type": type_, "evidence": evidence, "spread": spread, "facts": facts,
        "complete": complete, "seed_category": seed_category, "constraints": constraints, "title_constraints": title_constraints,
        "rating": rating, "popularity": popularity, "interactions": interactions, "bad": bad, "passed_over": passed_over,
        "erased": erased, "free": free, "brand": brand, "price_range": price_range, "suitability": suitability,
        "concern": concern, "tag": tag, "tried": tried, "power": power, "data": data, "value_brand": value_brand,
        "seller": seller, "delivery": delivery, "dense": dense, "collaborative": collaborative, "like": like,
    }
)  # fmt: skip


def score(scene: Scene) -> tuple[Column, Mapping[str, Column]]:
    """Total and terms of every candidate."""
    parts = {name: TERMS[name](scene) for name in scene.profile.terms}
    total = np.sum(list(parts.values()), axis=0) if parts else scene.none()
    return total, parts


def order(scene: Scene, total: Column) -> NDArray[np.int64]:
    """Places of the candidates, best first: by score, or by what she asked to sort by; ties by score, then by row."""
    if scene.request.sort is None:
        return np.lexsort((scene.rows, -total))
    key = sort_key(scene.catalogue, scene.index, scene.request.sort)[scene.rows]
    return np.lexsort((scene.rows, -total, key, beside_the_point(scene)))


RELEVANT = 0.75  # share of the best candidate's coverage from which a product takes part in a sorted list


def beside_the_point(scene: Scene) -> NDArray[np.bool_]:
    """Candidates that answer much less of the wish than the best does: in a sorted list they come last."""
    if not scene.wishes:
        return np.zeros(len(scene.rows), dtype=bool)
    met = np.maximum(scene.coverage.spread, 0)
    if len(scene.request.requirements):
        met[:, : len(scene.request.requirements)] = np.maximum(
            met[:, : len(scene.request.requirements)], scene.facts == 1
        )
    share = met.mean(axis=1)
    return np.asarray(share < RELEVANT * share.max(initial=0.0))
