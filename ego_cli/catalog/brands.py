"""Which brand a title names, and a brand's place in the market. Knowledge: ``data/brands.toml``."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from ego_cli.places import load_toml

_LONGEST_NAME = 4  # words of a brand's name
_FEWEST_TITLES = 3  # titles that a word must open before it can be a brand of this shop
_OPENING_SHARE = 0.6  # of a word's occurrences in titles, how many must be at the start
_COMPANION_SHARE = 0.8  # of the titles that a word opens, how many must go on with the same second word

_WORD = re.compile(r"[^\W_]+(?:[''’.&+-][^\W_]+)*\+?")


def brand_key(name: str) -> str:
    """The form under which brand names are compared: no case, accents or punctuation."""
    text = unicodedata.normalize("NFKD", name)
    text = "".join(ch for ch in text if not unicodedata.combining(ch)).casefold()
    return " ".join(re.findall(r"[a-z0-9]+|[^\W_]+", text.replace("'", "").replace("’", "")))


@cache
def _known() -> Mapping[str, tuple[str, int]]:
    """Key -> (how it is written, tier)."""
    table = load_toml("brands.toml")
    known = {brand_key(name): (name, int(tier)) for tier, names in table["tiers"].items() for name in names}
    for alias, name in table["aliases"].items():
        known[brand_key(alias)] = known[brand_key(name)]
    return known


@cache
def _everyday() -> frozenset[str]:
    return frozenset(brand_key(word) for word in load_toml("brands.toml")["everyday"]["words"])


def brand_tier(name: str) -> int | None:
    """1 (prestige) to 4 (mass market), or None for a brand that we do not know."""
    found = _known().get(brand_key(name))
    return found[1] if found else None


@lru_cache(maxsize=8192)
def written(name: str) -> str:
    """A brand's name the way it is usually written; an unknown one stays as it is."""
    found = _known().get(brand_key(name))
    return found[0] if found else name


@lru_cache(maxsize=8192)
def is_no_brand(name: str) -> bool:
    """Whether a brand cell says that there is none: ``Generic``, ``Unbranded``, ``15KG``."""
    null = load_toml("columns.toml")["null"]
    word = name.strip().casefold()
    return word in null["brands"] or re.fullmatch(null["brand_pattern"], word) is not None


@dataclass(frozen=True, slots=True)
class TitleBrands:
    """Finds the brand at the start of a title: one that we know, or one that this shop's titles show to be one."""

    learned: Mapping[str, str]  # key of one or two words -> how it is usually written

    def find(self, title: str) -> str | None:
        """The brand, or None where the first word does not justify one."""
        words = _WORD.findall(title[:120])[:_LONGEST_NAME]
        for count in range(len(words), 0, -1):
            key = brand_key(" ".join(words[:count]))
            if found := _known().get(key):
                if key in _everyday() and not _stands_as_name(words, count):
                    continue
                return found[0]
            if count <= 2 and (name := self.learned.get(key)):
                return name
        return None


KNOWN_ONLY = TitleBrands({})


def _stands_as_name(words: list[str], count: int) -> bool:
    following = words[count] if len(words) > count else ""
    return words[0][:1].isupper() and (not following or not following.islower())


def learn_brands(titles: Iterable[str]) -> TitleBrands:
    """Learn which first words are brands: they open several titles and seldom stand anywhere else in one."""
    different = {brand_key(title): title for title in titles}.values()
    words_of = [words for title in different if (words := _WORD.findall(title[:200]))]
    opening: Counter[str] = Counter()
    anywhere: Counter[str] = Counter()
    second: dict[str, Counter[str]] = {}
    spelling: dict[str, Counter[str]] = {}
    for words in words_of:
        keys = [brand_key(word) for word in words]
        anywhere.update(set(keys))
        if keys[0]:
            opening[keys[0]] += 1
            spelling.setdefault(keys[0], Counter())[words[0]] += 1
            if len(keys) > 1:
                second.setdefault(keys[0], Counter())[keys[1]] += 1
                spelling.setdefault(f"{keys[0]} {keys[1]}", Counter())[f"{words[0]} {words[1]}"] += 1
    table = load_toml("brands.toml")["not_brands"]
    never = frozenset(brand_key(word) for word in table["words"])
    articles = frozenset(brand_key(word) for word in table["articles"])
    learned: dict[str, str] = {}
    for word, times in opening.items():
        if times < _FEWEST_TITLES or len(word) < 2 or word[0].isdigit():
            continue
        if word in _known() and word not in _everyday():
            continue
        if word in never and word not in articles:
            continue
        companions = second.get(word, Counter())
        for companion, together in companions.items():
            pair = f"{word} {companion}"
            always = together >= _COMPANION_SHARE * times
            opens = word in articles and together >= _FEWEST_TITLES and companion not in never
            if (
                (always or opens)
                and together >= _FEWEST_TITLES
                and not companion.isdigit()
                and anywhere[companion] < 2 * together
            ):
                learned[pair] = spelling[pair].most_common(1)[0][0]
        if word in articles or word in never or times < _OPENING_SHARE * anywhere[word]:
            continue
        learned[word] = spelling[word].most_common(1)[0][0]
    return TitleBrands(learned)
