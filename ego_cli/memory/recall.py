"""What comes back for a question or a request: what bears on it first, then what it is about, in a budget of tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from itertools import chain
from typing import Any

from ego_cli.memory.entry import EPISODIC, Entry
from ego_cli.memory.forgetting import Policy
from ego_cli.memory.index import Hit, Index
from ego_cli.memory.profile import bears_on, domains_of, shares_domain
from ego_cli.memory.times import Window, local_day, windows
from ego_cli.memory.tokens import Counter, terms, words_of
from ego_cli.settings import load_toml

SEARCHED = 60  # rows that a search hands on before retention and packing
BEARING_SHARE = 0.6  # of a token budget that avoidances, sizes and budgets may take before anything else


@dataclass(frozen=True, slots=True)
class Recalled:
    """A memory that came back: its rank value, why it came, its cost in tokens and its retention (0-1).

    ``text`` is what an answer or a prompt may say of it: the row's text, with its day where it happened on one.
    """

    entry: Entry
    score: float
    why: str
    tokens: int
    retention: float
    text: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a memory. ``category`` is the product type of a request, ``scopes`` limits what may come."""

    query: str
    now: datetime
    max_tokens: int | None = None
    max_results: int | None = None
    category: str | None = None
    scopes: frozenset[str] | None = None

    @property
    def asked(self) -> str:
        """The words that say what is looked for."""
        return self.category or self.query


class Answering:
    """Turns the hits of an index into an answer, by one policy, zone and way of counting tokens."""

    def __init__(self, policy: Policy, local: tzinfo, count_tokens: Counter, *, by_meaning: bool) -> None:
        self._policy = policy
        self._local = local
        self._count = count_tokens
        self._by_meaning = by_meaning

    def answer(
        self, question: Question, index: Index, *, encode: Any = None, vectors: Any = None
    ) -> list[Recalled]:
        """The packed answer, best first."""
        now = question.now
        hits = index.search(question.query, now, encode=encode, vectors=vectors, limit=SEARCHED)
        past = _says("past", question.query)
        times = windows(question.query, now, self._local) if past else []
        first = [] if past or not _is_request(question.asked) else self._bearing(question, index, hits)
        there = {item.entry.id for item in first}
        found = []
        for hit in hits:
            if (
                hit.entry.id in there
                or not _allowed(hit.entry, question)
                or (times and not _in_time(hit.entry, times))
            ):
                continue
            retention = self._policy.retention(hit.entry, now)
            found.append(
                self._recalled(hit, self._policy.score(hit.relevance, hit.overlap, retention), retention)
            )
        found.sort(key=lambda item: (-item.score, -item.entry.id))
        found = self._with_linked(found, index, question)
        there |= {item.entry.id for item in found}
        taste = (
            self._recalled(Hit(entry, 0.0, 0.0, (), ("taste in things of this kind",)), 0.0, 1.0)
            for entry in reversed(index.entries(("like", "habit")))
            if entry.id not in there and shares_domain(entry, question.asked)
        )
        return pack(chain(first, found, taste), question.max_tokens, question.max_results)

    def _bearing(self, question: Question, index: Index, hits: Sequence[Hit]) -> list[Recalled]:
        """Avoidances, sizes and budgets that hold for the request, whether or not they share a word with it."""
        kinds = (*load_toml("memory.toml")["kinds"]["exclusions"], "requirement", "size", "budget")
        relevance = {hit.entry.id: hit for hit in hits}
        found = []
        for entry in index.entries(kinds):
            if not _holds_for(entry, question.asked) or not _allowed(entry, question):
                continue
            hit = relevance.get(entry.id) or Hit(entry, 0.0, 0.0, ())
            item = self._recalled(hit, 1.0 + hit.relevance, self._policy.retention(entry, question.now))
            why = f"{entry.kind} that bears on the request" + (f"; {item.why}" if hit.matched else "")
            found.append(replace(item, why=why))
        found.sort(
            key=lambda item: (
                -item.score,
                -item.entry.mentions,
                -item.entry.confirmed.timestamp(),
                -item.entry.id,
            )
        )
        most = question.max_tokens
        return pack(found, int(most * BEARING_SHARE) if most is not None else None, None)

    def _with_linked(self, ranked: Sequence[Recalled], index: Index, question: Question) -> list[Recalled]:
        """Put behind each row those that it names in its ``links`` (by their ``ref``) and that did not come by themselves."""
        if not any(item.entry.data.get("links") for item in ranked):
            return list(ranked)
        by_ref = {str(entry.data["ref"]): entry for entry in index.entries() if entry.data.get("ref")}
        there = {item.entry.id for item in ranked}
        found = []
        for item in ranked:
            found.append(item)
            for ref in item.entry.data.get("links") or ():
                entry = by_ref.get(str(ref))
                if entry is None or entry.id in there or not _allowed(entry, question):
                    continue
                there.add(entry.id)
                hit = Hit(entry, 0.0, 0.0, (), (f"goes with {item.entry.id}",))
                found.append(self._recalled(hit, item.score, self._policy.retention(entry, question.now)))
        return found

    def _recalled(self, hit: Hit, score: float, retention: float) -> Recalled:
        why = [f"words in common: {', '.join(hit.matched[:6])}"] if hit.matched else []
        why.extend(hit.reasons)
        if not why:
            why.append("near in meaning" if self._by_meaning else "beside a turn that matches")
        text = hit.entry.text
        if hit.entry.tier == EPISODIC:
            text = f"{text} ({local_day(hit.entry.valid_from, self._local)})"
            if speaker := hit.entry.data.get("speaker"):
                text = f"{speaker}: {text}"
        return Recalled(hit.entry, score, "; ".join(why), self._count(text), retention, text)


def _allowed(entry: Entry, question: Question) -> bool:
    return question.scopes is None or not entry.scope or entry.scope in question.scopes


def _is_request(asked: str) -> bool:
    """Whether somebody looks for something, so that avoidances matter although no word is shared with them."""
    return bool(domains_of(asked)) or _says("request", asked)


def _says(what: str, text: str) -> bool:
    signs = load_toml("memory.toml")["search"][what].replace("\n", "")
    return re.search(signs, text, re.IGNORECASE) is not None


def _in_time(entry: Entry, times: Sequence[Window]) -> bool:
    """Her own doings are asked for by day ("what did I buy today"); facts and conversations only lean on it."""
    if entry.tier != EPISODIC or entry.kind == "said":
        return True
    return any(window.holds(entry.valid_from) for window in times)


def _holds_for(entry: Entry, asked: str) -> bool:
    if entry.kind == "size":
        thing = entry.predicate.partition(" ")[2]
        return not thing or thing in _sized_things(asked)
    if entry.kind == "budget":
        name = str(entry.data.get("category", ""))
        return not name or set(terms(name)) <= set(terms(asked))
    return bears_on(entry, asked)


def _sized_things(text: str) -> set[str]:
    """Words of a text and the things that share a size with them: "sneakers" need the size of shoes."""
    words = set(words_of(text))
    sizes = load_toml("memory.toml")["sizes"].items()
    return words | {
        thing for thing, others in sizes if thing != "shoe_numbers" and words & {thing, *others.split()}
    }


def pack(ranked: Iterable[Recalled], max_tokens: int | None, max_results: int | None) -> list[Recalled]:
    """Take rows in order as long as they fit; one that does not fit is skipped, and the next one may fit."""
    taken: list[Recalled] = []
    left = max_tokens if max_tokens is not None else None
    for item in ranked:
        if max_results is not None and len(taken) >= max_results:
            break
        if left is not None and item.tokens > left:
            continue
        taken.append(item)
        if left is not None:
            left -= item.tokens
    return taken
