"""Words: from a product's or a shopper's text to search terms, and from terms to a full-text query.

    text --(units, apostrophes, compounds)--> terms --(quoted here, nowhere else)--> FTS5 query

A *term* is a token of FTS5's ``unicode61 remove_diacritics 2`` after our own rewriting, so the same text gives the same
terms in the index and in a question. A *stem* is the singular of a term (``dresses`` and ``dress`` share one). Numbers
carry their unit (``10,000 mAh`` is the term ``10000mah``) and a decimal point is the letter ``p`` (``6.5"`` is
``6p5inch``), because unicode61 would split at it. Word lists: ``data/units.toml``, ``data/stems.toml``.
"""

from __future__ import annotations

import re
import sqlite3
import threading
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from ego_cli.settings import load_toml

TOKENIZER = "unicode61 remove_diacritics 2"
REPEATED = 120  # characters up to which a shop is likely to say the same of many products
LONGEST_TERM = 64  # characters; what is longer is cut, in products and in questions alike
MOST_QUERY_TERMS = 128  # distinct terms of one full-text query; FTS5 allows 256 nodes
LONGEST_QUERY = 20_000  # characters of a question that are read: the first and the last half of it


# --- unicode61, by asking SQLite itself -----------------------------------------------------------------------------


class _Folding(dict[int, str]):
    """Code point -> what unicode61 makes of it: a folded character, "" (a diacritic) or " " (a separator).

    Anything outside ASCII is asked of the SQLite in use, once, so we agree with whatever Unicode tables it was built with.
    """

    def __init__(self) -> None:
        super().__init__({code: chr(code).lower() if chr(code).isalnum() else " " for code in range(128)})
        self._lock = threading.Lock()
        self._oracle: sqlite3.Connection | None = None

    def __missing__(self, code: int) -> str:
        if 0xD800 <= code <= 0xDFFF:  # half a surrogate pair cannot be stored as UTF-8
            return self.setdefault(code, " ")
        with self._lock:
            return self.setdefault(code, self._ask(chr(code)))

    def _ask(self, character: str) -> str:
        if self._oracle is None:
            self._oracle = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
            self._oracle.execute(f"CREATE VIRTUAL TABLE t USING fts5(x, tokenize='{TOKENIZER}')")
            self._oracle.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, 'instance')")
        # A letter on either side tells a separator ("a", "b") from a dropped mark ("ab") and from a letter ("a?b").
        self._oracle.execute("INSERT INTO t(rowid, x) VALUES (1, ?)", (f"a{character}b",))
        found = [row[0] for row in self._oracle.execute('SELECT term FROM v ORDER BY "offset"')]
        self._oracle.execute("DELETE FROM t")
        return " " if len(found) > 1 else found[0][1:-1]


_folding = _Folding()
_ascii_folding = bytes(ord(_folding[code]) if code < 128 else 32 for code in range(256))


def tokens(text: str) -> list[str]:
    """``text`` as FTS5's ``unicode61 remove_diacritics 2`` would cut it."""
    if text.isascii():
        return text.encode("ascii").translate(_ascii_folding).decode("ascii").split()
    return text.translate(_folding).split()


# --- numbers with units ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Unit:
    """One canonical unit. One of it is ``factor`` of ``base``; without a base it is its own. See data/units.toml."""

    name: str
    base: str | None
    factor: float
    exact: bool
    rounds: bool
    dot_groups: bool


@dataclass(frozen=True, slots=True)
class Measure:
    """A number with a unit, as it stands in a text: ``text[start:end]``; ``unit`` is canonical (``mah``, ``inch``)."""

    value: float
    unit: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Units:
    by_name: dict[str, Unit]
    by_spelling: dict[str, Unit]
    number: re.Pattern[str]
    prefixed: re.Pattern[str]
    prefix_of: dict[str, str]


@cache
def _units() -> _Units:
    table = load_toml("units.toml")
    by_name: dict[str, Unit] = {}
    by_spelling: dict[str, Unit] = {}
    spaced: list[str] = []
    tight: list[str] = []
    for name, entry in table["units"].items():
        unit = Unit(
            name,
            base=entry.get("base"),
            factor=float(entry.get("factor", 1)),
            exact=entry.get("exact", False),
            rounds=entry.get("rounds", False),
            dot_groups=entry.get("dot_groups", False),
        )
        by_name[name] = unit
        spaced += entry["names"]
        tight += entry.get("tight", [])
        for spelling in (*entry["names"], *entry.get("tight", [])):
            by_spelling[spelling] = unit

    def either(spellings: list[str]) -> str:
        return "|".join(re.escape(s) for s in sorted(spellings, key=len, reverse=True))

    glued = "|".join(table["glued"]["after"])
    end = rf"(?![a-z0-9])|(?={glued})"
    number = re.compile(
        r"(?P<number>\d(?<![\w.,]\d)(?:\d{0,2}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d*(?:\.\d+)?))"
        rf"(?:(?:[ \t-]{{0,2}}(?P<spaced>{either(spaced)})|(?P<tight>{either(tight)}))(?:{end}))?"
    )
    prefix_of = {spelling: name for name, spellings in table["prefixes"].items() for spelling in spellings}
    prefixed = re.compile(rf"\b(?P<prefix>{either(list(prefix_of))})[ -]{{0,2}}(?P<number>\d+)\b")
    return _Units(by_name, by_spelling, number, prefixed, prefix_of)


def unit_named(spelling: str) -> Unit | None:
    """The unit that ``spelling`` ("inches", "mAh") means, or None."""
    return _units().by_spelling.get(spelling.strip().lower())


def written(unit: str) -> str:
    """A canonical unit as people write it: "mah" -> "mAh"."""
    return str(load_toml("units.toml")["written"].get(unit, unit))


def quantity(number: float, unit: str | None) -> str:
    """An amount of a canonical unit as people write it: "20,000 mAh"."""
    return f"{number:,.6g} {written(unit)}" if unit else f"{number:,.6g}"


def in_base(value: float, unit: str) -> tuple[float, str]:
    """``value`` of canonical ``unit`` in that unit's base: (1.5, "kw") -> (1500.0, "w")."""
    known = _units().by_name.get(unit)
    if known is None or known.base is None:
        return value, unit
    return value * known.factor, known.base


def measures(text: str) -> list[Measure]:
    """Every number with a unit in ``text``, in order."""
    found = []
    line = _straight(text.lower())
    if '"' in line:
        line = _QUOTED.sub(r" \1 ", line)
    for match in _units().number.finditer(line):
        unit = _unit_of(match)
        if unit is not None:
            found.append(Measure(_value(match["number"], unit), unit.name, match.start(), match.end()))
    return found


def _unit_of(match: re.Match[str]) -> Unit | None:
    spelling = match["spaced"] or match["tight"]
    return _units().by_spelling[spelling] if spelling else None


_DOT_GROUPED = re.compile(r"[1-9]\d{0,2}\.\d{3}")


def _value(number: str, unit: Unit | None) -> float:
    if unit is not None and unit.dot_groups and _DOT_GROUPED.fullmatch(number):
        return float(number.replace(".", ""))
    return float(number.replace(",", ""))


def _spell(value: float) -> str:
    """A number as a term: 10000.0 -> "10000", 6.5 -> "6p5"."""
    text = f"{value:.4f}".rstrip("0").rstrip(".")
    return text.replace(".", "p")


def _two_digits(value: float) -> float:
    return float(f"{value:.2g}")


def measure_terms(value: float, unit: str) -> list[str]:
    """The terms under which an amount is found: itself, and what it comes to in the base unit.

    >>> measure_terms(1.7, "oz"), measure_terms(1.5, "kw")
    (['1p7oz', '50ml'], ['1p5kw', '1500w'])
    """
    known = _units().by_name[unit]
    amount, base = in_base(value, unit)
    found = [_spell(value) + unit]
    if known.exact:
        found.append(_spell(amount) + base)
    if _units().by_name[base].rounds or (known.base and not known.exact):
        found.append(_spell(_two_digits(amount)) + base)
    return list(dict.fromkeys(found))


def _rewrite_number(match: re.Match[str]) -> str:
    return _number_terms(match["number"], match["spaced"] or match["tight"])


@lru_cache(maxsize=16_384)
def _number_terms(digits: str, spelling: str | None) -> str:
    if spelling is not None:
        unit = _units().by_spelling[spelling]
        return f" {' '.join(measure_terms(_value(digits, unit), unit.name))} "
    return digits if digits.isdigit() else f" {_spell(_value(digits, None))} "


# --- terms ----------------------------------------------------------------------------------------------------------

_QUOTES = str.maketrans(
    dict.fromkeys("’‘ʼ`´′", "'") | dict.fromkeys("“”″", '"') | {"×": "x"} | dict.fromkeys("–‑", "-")
)
_FRACTIONS = {"½": ".5", "¼": ".25", "¾": ".75"}
# Each pattern starts with the sign that it is about and looks back from there: that is how they stay fast.
_FRACTION = re.compile(r"(\d*)[ ]?([½¼¾])")
_QUOTED = re.compile(r'"(?:(?<=^")|(?<=[\s(]"))([^"\n]{0,200})"')
_APOSTROPHE = re.compile(r"'(?<=[^\W\d_]')(?=[^\W\d_])")
_SHORT_AND = re.compile(r"\b([a-z]{1,2})[ ]?&[ ]?([a-z]{1,2})\b")
_ONE_LETTER = re.compile(  # t-shirt, x-large, type-c; never a span of sizes (s-xl, xs-l)
    r"-(?:(?<=\b[a-km-rt-z]-)(?=[a-z]{2,}(?![\w-]))|(?<=[a-z][a-z]-)(?=[a-km-rt-wyz](?![\w-])))"
)
_BETWEEN_NUMBERS = re.compile(r"[x*](?:(?<=\d[x*])|(?<=\d [x*]))(?= ?\d)")
_DECIMAL_ALONE = re.compile(r"\.(?<![\w.,]\.)(?=\d)")
_DIGIT, _ASCII_DIGIT = re.compile(r"\d"), re.compile("[0-9]")


def _straight(text: str) -> str:
    """Curly quotes, primes and dashes as ASCII has them; the length stays the same."""
    return text if text.isascii() else text.translate(_QUOTES)


def has_digit(text: str) -> bool:
    """Whether there is a digit of any script."""
    return (_ASCII_DIGIT if text.isascii() else _DIGIT).search(text) is not None


@cache
def _compounds() -> dict[str, dict[str, str]]:
    """First word -> second word (singular or plural) -> the joined word."""
    table: dict[str, dict[str, str]] = {}
    for pair in load_toml("units.toml")["compounds"]["joined"]:
        first, second = pair.split()
        following = table.setdefault(first, {})
        for form in (second, second + "s", second + "es"):
            following.setdefault(form, first + form)
    return table


def _rewrite(line: str) -> str:
    """Lower case; apostrophes, short "&" names, one-letter hyphens and measures in their one spelling."""
    line = line.lower()
    if not line.isascii():
        line = _FRACTION.sub(lambda m: (m[1] or "0") + _FRACTIONS[m[2]], line)
        line = unicodedata.normalize("NFKC", line.translate(_QUOTES))
    if '"' in line:
        line = _QUOTED.sub(r" \1 ", line)
    if "&" in line:
        line = _SHORT_AND.sub(r"\1\2", line)
    if "'" in line:
        line = _APOSTROPHE.sub("", line)
    if "-" in line:
        line = _ONE_LETTER.sub("", line)
    if has_digit(line):
        units = _units()
        if "x" in line or "*" in line:
            line = _BETWEEN_NUMBERS.sub(" x ", line)
        if " ." in line:
            line = _DECIMAL_ALONE.sub("0.", line)
        if "spf" in line or " of " in line:
            line = units.prefixed.sub(_rewrite_prefixed, line)
        line = units.number.sub(_rewrite_number, line)
    return line


def terms(text: str) -> list[str]:
    """The search terms of ``text``, in order, repeats kept."""
    words = tokens(_rewrite(text))
    if len(text) > LONGEST_TERM and max(map(len, words), default=0) > LONGEST_TERM:
        words = [word[:LONGEST_TERM] for word in words]
    return _join_compounds(words)


def _rewrite_prefixed(match: re.Match[str]) -> str:
    name = _units().prefix_of[match["prefix"]]
    return f" {name}{match['number']} " if name == match["prefix"] else f" {match['number']}{name} "


def _join_compounds(words: list[str]) -> list[str]:
    compounds = _compounds()
    if compounds.keys().isdisjoint(words):
        return words
    joined: list[str] = []
    done = 0
    for here, (word, following) in enumerate(pairwise(words)):
        if word in compounds and here >= done and (whole := compounds[word].get(following)):
            joined += words[done:here]
            joined.append(whole)
            done = here + 2
    return joined + words[done:] if done else words


@lru_cache(maxsize=65_536)
def cached_terms(text: str) -> tuple[str, ...]:
    """``terms`` for short texts that many products share, such as "Machine wash"."""
    return tuple(terms(text))


def query_terms(text: str) -> list[str]:
    """The distinct terms of a question, in order; of a very long one the head and the tail are read."""
    if len(text) > LONGEST_QUERY:
        half = LONGEST_QUERY // 2
        text = f"{text[:half]} {text[-half:]}"
    return list(dict.fromkeys(terms(text)))


# --- stems ----------------------------------------------------------------------------------------------------------


@cache
def _stem_lists() -> tuple[frozenset[str], dict[str, str], dict[str, str]]:
    table = load_toml("stems.toml")
    return frozenset(table["keep"]["words"]), table["singular"], table["spelling"]


@lru_cache(maxsize=65_536)
def stem(term: str) -> str:
    """The singular of ``term`` in one spelling; the term itself where that would be a guess."""
    keep, singular, spelling = _stem_lists()
    if term in spelling:
        return spelling[term]
    if term in singular:
        return spelling.get(singular[term], singular[term])
    if term in keep or len(term) < 4 or not term.endswith("s") or not term.isalpha():
        return term
    single = _without_s(term)
    return spelling.get(single, single)


def _without_s(term: str) -> str:
    if term.endswith(("ss", "us", "is")):
        return term
    if term.endswith("ies"):
        return term[:-3] + "y" if len(term) > 4 else term[:-1]
    if term.endswith(("sses", "ches", "shes", "xes")):
        return term[:-2]
    return term[:-1]


# --- the one place where a full-text query is written ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FullTextQuery:
    """``match`` goes to ``MATCH``; "" means that nothing in the text can be searched for, and the caller must say so."""

    match: str
    terms: tuple[str, ...]
    unread: int = 0  # distinct terms left out because there were too many


def full_text_query(wanted: str | Iterable[str], *, fields: Sequence[str] = ()) -> FullTextQuery:
    """An FTS5 query for any of the terms of a text, or for any of the given terms, in ``fields`` or anywhere.

    Every term is quoted by us, so no word, sign or field name of a shopper's can act as an operator. Never raises.
    """
    found = (
        query_terms(wanted)
        if isinstance(wanted, str)
        else list(dict.fromkeys(t for term in wanted for t in tokens(term)))
    )
    half = MOST_QUERY_TERMS // 2
    kept = found if len(found) <= MOST_QUERY_TERMS else found[:half] + found[-half:]
    if not kept:
        return FullTextQuery("", ())
    alternatives = " OR ".join(f'"{term}"' for term in kept)
    match = f"{{{' '.join(fields)}}} : ({alternatives})" if fields else alternatives
    return FullTextQuery(match, tuple(kept), len(found) - len(kept))
