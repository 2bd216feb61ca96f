"""The rules of ``data/memory_rules.toml``, compiled."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from ego_cli.memory.things import MONEY, SIZE
from ego_cli.memory.tokens import stem
from ego_cli.settings import load_toml

# Signs that no shopper types stand for "the person" and "the person's" in canonical clauses.
PERSON, POSSESSIVE = "§", "¶"

_NEGATION = (
    r"(?:do not|can not|will not|did not|never|no-longer|no|nor|not|hardly ever|hardly|rarely|barely|seldom|"
    r"(?:have|had|would|could) (?:never|not)|do never|be no-longer going to)"
)


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern and the outcomes it has for a plain and for a negated clause; ``each`` splits lists, ``preset`` fills groups."""

    source: str
    yes: str | None
    no: str | None
    each: bool
    preset: Mapping[str, str]

    def match(self, form: str) -> re.Match[str] | None:
        """Match a canonical clause. A rule is compiled when it is first tried: most sentences meet theirs early."""
        return _compiled(self.source).match(form)


@dataclass(frozen=True, slots=True)
class Grammar:
    """Everything that reading needs, made once a process."""

    skip: re.Pattern[str]
    opening: re.Pattern[str]
    remember: re.Pattern[str]
    pointing: re.Pattern[str]
    empty: re.Pattern[str]
    anything: re.Pattern[str]
    tail: re.Pattern[str]
    adverbs: re.Pattern[str]
    negation: re.Pattern[str]
    canonical: tuple[tuple[re.Pattern[str], str], ...]
    relation: re.Pattern[str]
    relations: Mapping[str, str]  # any word for a relation -> the canonical one
    pronouns: Mapping[str, str]  # canonical relation -> "he", "she" or "any"
    conjunction: re.Pattern[str]
    bare: re.Pattern[str]  # a verb that takes its person from the clause before
    rules: Mapping[str, tuple[Rule, ...]]  # by first sign of the clause
    outcomes: Mapping[str, Mapping[str, Any]]
    verbs: Mapping[str, str]  # stem of a verb -> the domain that its object is limited to
    plain: Mapping[str, str]  # stem of a verb -> the verb


@cache
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source, re.IGNORECASE)


@lru_cache(maxsize=1)
def load_grammar() -> Grammar:
    """The grammar of the shipped rules."""
    table = load_toml("memory_rules.toml")
    talk = {key: value.replace("\n", "") for key, value in table["talk"].items()}
    fill = {
        "{size}": SIZE,
        "{money}": MONEY,
        "{habit}": "(?:" + "|".join(table["verbs"]["habit"].split()) + ")",
        "{passing}": _alternatives(table["passing"]["states"]),
        "{passing_thing}": _alternatives(table["passing"]["things"]),
    }
    relations: dict[str, str] = {}
    pronouns: dict[str, str] = {}
    for pronoun, group in table["people"].items():
        for canonical, others in group.items():
            pronouns[canonical] = pronoun
            relations |= dict.fromkeys([canonical, *others.split()], canonical)
    by_length = sorted(relations, key=len, reverse=True)
    rules: dict[str, list[Rule]] = {PERSON: [], POSSESSIVE: [], "": []}
    for entry in table["rule"]:
        pattern = entry["pattern"]
        first = PERSON if pattern.startswith("^S ") else POSSESSIVE if pattern.startswith("^P ") else ""
        rules[first].append(
            Rule(
                _signs(_filled(pattern, fill)),
                entry.get("yes"),
                entry.get("no"),
                entry.get("each", False),
                entry.get("set", {}),
            )
        )
    verbs = {
        stem(verb): "" if domain == "any" else domain
        for domain in ("any", "beauty", "food", "fashion")
        for verb in table["verbs"][domain].split()
    }
    plain = {
        stem(verb): verb
        for names in ("habit", "any", "beauty", "food", "fashion")
        for verb in table["verbs"][names].split()
    }
    bare = talk["bare"]
    speaker = r"(?:i|we|he|she|they|him|her|im|em|my|his|their|our|na)"
    return Grammar(
        skip=re.compile(talk["skip"], re.IGNORECASE),
        opening=re.compile(talk["opening"] + r"(?:\s*[,:.…-]+\s*|\s+(?=\S))", re.IGNORECASE),
        remember=re.compile(talk["remember"], re.IGNORECASE),
        pointing=re.compile(talk["pointing"] + r"\b", re.IGNORECASE),
        empty=re.compile(talk["empty"], re.IGNORECASE),
        anything=re.compile("^" + table["words"]["anything"].replace("\n", "") + r"\s+", re.IGNORECASE),
        tail=re.compile(r"[\s,]+" + talk["tail"] + r"$", re.IGNORECASE),
        adverbs=re.compile(talk["adverbs"] + r"\s+", re.IGNORECASE),
        negation=re.compile(rf"^{PERSON} {_NEGATION}\s+", re.IGNORECASE),
        canonical=tuple((re.compile(e["pattern"], re.IGNORECASE), e["put"]) for e in table["canonical"]),
        relation=re.compile(
            rf"^(?:my|our)\s+(?P<before>(?:[\w-]+\s+){{0,3}}?)(?P<relation>{'|'.join(map(re.escape, by_length))})"
            rf"(?P<owner>'s|s')?(?=\s|$)\s*(?P<name>(?-i:[A-Z][\w'-]+)\s+)?(?P<rest>.*)$",
            re.IGNORECASE,
        ),
        relations=relations,
        pronouns=pronouns,
        conjunction=re.compile(
            rf"(?:\s*,\s*|\s+)(?:and|but|so|while|because|since|as(?=\s+(?:i|we|he|she|they)\b)|although|though|also|plus|then|which is why)\s+(?:(?:now|these days|nowadays|today)\s+)?(?={speaker}(?:'|\s))"
            rf"|\s*,\s*(?={speaker}(?:'|\s))|\s*,\s*(?=(?:what|which|how|where|do you|can you|could you|should i|would you|is there|are there|show me|give me|any)\b)"
            rf"|\s*,?\s+(?:and|but|so|or)\s+(?={bare}\b)",
            re.IGNORECASE,
        ),
        bare=re.compile(rf"(?:{bare})\b", re.IGNORECASE),
        rules={first: tuple(list_) for first, list_ in rules.items()},
        outcomes=table["outcome"],
        verbs=verbs,
        plain=plain,
    )


def _alternatives(words: str) -> str:
    return "(?:" + words.replace("\n", "") + ")"


def _filled(pattern: str, fill: Mapping[str, str]) -> str:
    for name, value in fill.items():
        pattern = pattern.replace(name, value)
    return pattern


def _signs(pattern: str) -> str:
    """Patterns write S and P for readability; only our signs can match them."""
    return re.sub(r"\bP\b(?!<)", POSSESSIVE, re.sub(r"\bS\b", PERSON, pattern)).replace(
        rf"{PERSON}\b", PERSON
    )
