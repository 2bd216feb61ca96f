"""What a shopper says about herself and others, read from her own words by rules: text -> facts.

A message is cut into clauses. Each is brought into one canonical form (who, negated or not, plain verb) and given to the
rules of ``data/memory_rules.toml``. What no rule explains is not a fact: requests, questions, thanks and small talk
leave nothing behind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ego_cli.memory.entry import EPISODIC, ME, SEMANTIC, Fact
from ego_cli.memory.grammar import PERSON, POSSESSIVE, Grammar, Rule, load_grammar
from ego_cli.memory.things import canonical_object, read_amount, sized_thing, split_list, word_list
from ego_cli.memory.times import without_times
from ego_cli.memory.tokens import stem, terms, words_of
from ego_cli.settings import load_toml

LONGEST_MESSAGE = 4_000  # characters that are read; nobody says more about herself in one breath
LONGEST_TEXT = 200  # characters of a fact's text


_RUNS = re.compile(r"([ ,.;:!?…\"'()*–—-])(?: ?\1){2,}")  # runs of one sign say no more than one of it
# control signs and those that turn the direction of what follows; the joiner of emoji and of some scripts stays
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_SENTENCE_END = re.compile(r"(?<=[^\d\W])[.](?=\s|$)|(?<=\d)[.](?=\s|$)|[!?;\n]+|:(?=\s)|\s[-–—]+\s")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a message held: facts, the person last spoken of, and whether it was told as a statement at all."""

    facts: tuple[Fact, ...]
    spoken_of: str | None = None
    statement: bool = False


@dataclass(frozen=True, slots=True)
class _Clause:
    subject: str
    form: str  # canonical
    words: str  # as she typed it


def extract(text: str, *, people: Mapping[str, str] | None = None, spoken_of: str | None = None) -> Reading:
    """Read the facts in one message of the shopper.

    ``people`` maps folded names of known third persons to their subject ("chukwuebuka" -> "guy"); ``spoken_of`` is
    the third person of an earlier message that "he" or "she" can mean. Words after "remember that" that no rule reads
    become a note.
    """
    grammar = load_grammar()
    known = dict(people or {})
    facts: dict[str, Fact] = {}
    statement = False
    asked_to_remember = bool(grammar.remember.match(text.strip()))
    last = ME
    for words in _clauses(text, grammar):
        clause, spoken_of = _canonical(words, known, spoken_of, last, grammar)
        if clause is None:
            continue
        last = clause.subject
        statement = statement or clause.form[:1] in (PERSON, POSSESSIVE)
        for fact in _apply(clause, grammar):
            facts[fact.key + ("!" if fact.retracts else "")] = fact
            if fact.kind == "name" and fact.subject != ME:
                known[" ".join(words_of(fact.object))] = fact.subject
    if asked_to_remember and not facts:
        note = _note(grammar.remember.sub("", text.strip(), count=1))
        if note:
            facts[note.key] = note
    return Reading(tuple(facts.values()), spoken_of, statement)


def without_unseen(text: str) -> str:
    """Text without signs that nobody sees and that turn or break what is shown or stored beside them."""
    return _UNSEEN.sub("", text)


def read_row(text: str) -> Fact:
    """The fact in a row's own text ("likes brown belts", "mother wears size 38 shoe"), for rows that come without the
    newer fields. What no rule reads is a note."""
    label, colon, rest = text.partition(": ")
    as_said = [f"my {label} is {rest}"] if colon and label in ("concern", "goal") else []
    for sentence in (*as_said, text, f"I {_plain_verb(text)}", f"my {text}"):
        facts = [fact for fact in extract(sentence).facts if fact.kind != "note" and fact.text]
        if facts:
            return facts[0]
    return _note(text) or _fact_of_note(text)


def relation_in(words: str, subjects: Iterable[str]) -> tuple[str, str]:
    """Whose fact words name, and the rest of them: "my mum's size" -> ("mother", "size"), "my size" -> ("me", "size")."""
    grammar = load_grammar()
    bare = re.sub(r"(?i)^(?:my|our|the)\s+", "", words)
    if match := grammar.relation.match(f"my {bare}"):
        return _relation(match, grammar), match["rest"]
    for subject in subjects:
        if subject != ME and re.match(rf"(?i){re.escape(subject)}(?:'s)?(?:\s|$)", bare):
            return subject, re.sub(r"^(?:'s)?\s*", "", bare[len(subject) :])
    return ME, bare


# --- from text to clauses ----------------------------------------------------------------------------------------------


def _clauses(text: str, grammar: Grammar) -> Iterator[str]:
    text = without_unseen(text[:LONGEST_MESSAGE]).replace("’", "'").replace("‘", "'")
    text = _RUNS.sub(r"\1", re.sub(r"[^\S\n]+", " ", text))
    start = 0
    for end in [*_SENTENCE_END.finditer(text), None]:
        sentence = text[start : end.start() if end else len(text)].strip()
        asked = bool(end and "?" in end.group())
        start = end.end() if end else len(text)
        sentence = _without_opening(sentence, grammar)
        if not sentence or grammar.skip.match(sentence):
            continue
        parts = [_without_opening(part, grammar) for part in grammar.conjunction.split(sentence)]
        if asked:
            parts = parts[:-1]  # the last clause is the question
        for part in parts:
            if part and (grammar.bare.match(part) or not grammar.skip.match(part)):
                yield part


def _without_opening(sentence: str, grammar: Grammar) -> str:
    for _ in range(4):
        sentence = sentence.strip(" \t,.…\"'“”*-–()[]")
        match = grammar.opening.match(sentence)
        if not match:
            break
        sentence = sentence[match.end() :]
    return sentence.strip(' \t,."“”*-–')


def _canonical(
    words: str, people: Mapping[str, str], spoken_of: str | None, last: str, grammar: Grammar
) -> tuple[_Clause | None, str | None]:
    """Bring a clause into canonical form; also returns the third person who is spoken of from now on."""
    form = re.sub(r"\s+", " ", words).strip()
    for _ in range(3):
        shorter = grammar.tail.sub("", form)
        if shorter == form:
            break
        form = shorter
    for pattern, put in grammar.canonical:
        form = pattern.sub(put, form)
    form = re.sub(r"\s+", " ", form).strip()
    subject = ME
    if match := re.match(r"(?i)(?:i|we)\s+(.*)$", form):
        form = f"{PERSON} {_plain_verb(match.group(1)) if _of_someone(words) else match.group(1)}"
    elif match := grammar.relation.match(form):
        subject = _relation(match, grammar)
        spoken_of = subject
        form = _third_person(match["rest"], owner=bool(match["owner"]))
    elif match := re.match(r"(?i)(he|she|they|em)\s+(.*)$", form):
        if spoken_of is None or not _can_mean(match[1], spoken_of, grammar):
            return None, spoken_of
        subject = spoken_of
        form = f"{PERSON} {_plain_verb(match[2])}"
    elif match := re.match(r"(?i)(his|her|their|him)\s+(.*)$", form):
        if spoken_of is None:
            return None, spoken_of
        subject = spoken_of
        form = f"{POSSESSIVE} {match[2]}"
    elif match := re.match(r"(?i)(?:my|our)\s+(.*)$", form):
        form = f"{POSSESSIVE} {match.group(1)}"
    elif grammar.bare.match(form):
        subject = last
        verb = "be " if re.match(r"(?i)(?:not|a|big) ", form) else ""  # "not a fan of velvet"
        form = f"{PERSON} {verb}{_plain_verb(form)}"
    elif named := _named(form, people):
        subject, form = named
        spoken_of = subject
    form = re.sub(r"(?i)\b(?:my|our)\b" if subject == ME else r"(?i)\b(?:his|her|their)\b", POSSESSIVE, form)
    if subject == ME:
        form = re.sub(r"(?i)(?<![\w'])i(?![\w'])", PERSON, form)
    return _Clause(subject, form, words), spoken_of


def _of_someone(words: str) -> bool:
    """Whether a clause speaks of the speaker in the third person: "as someone who avoids wool"."""
    return re.match(r"(?i)(?:as )?someone (?:who|that) ", words) is not None


def _relation(match: re.Match[str], grammar: Grammar) -> str:
    """Whom the words mean: "my younger sister Ada" is "younger sister Ada", "my mum" is "mother"."""
    kept = [w for w in match["before"].lower().split() if w in word_list("telling_apart")]
    name = (match["name"] or "").strip()
    if name and words_of(name)[0] in word_list("not_names"):
        name = ""
    return " ".join([*kept, grammar.relations[match["relation"].lower()], *([name] if name else [])])


_POSSESSED = re.compile(
    r"(?i)(?:(?:shoe|shirt|dress|ring|trouser|waist|full|first|last|phone|skin|hair)\s+)?(?:name|size|birthday|favou?rite|skin|hair|"
    r"budget|address|number|email|waist|foot|feet|preference|allerg(?:y|ies)|style|religion|age|height|weight|job|best)\b"
)


def _third_person(rest: str, *, owner: bool) -> str:
    if _POSSESSED.match(rest) and re.search(r"\bbe\b", rest):
        return f"{POSSESSIVE} {rest}"
    if owner:  # "my sister's allergic to nuts": the 's is a verb
        return f"{PERSON} be {rest}"
    return f"{PERSON} {_plain_verb(rest)}"


def _plain_verb(rest: str) -> str:
    """ "really likes beads" -> "really like beads"; what does not look like a third person stays."""
    words = rest.split(" ")
    for i, word in enumerate(words[:3]):
        low = word.lower()
        if low == "has":
            words[i] = "have"
        elif low in ("is", "be", "do", "not", "never", "no", "no-longer") or low.endswith(("ly", "ss")):
            if low in ("is", "be"):
                break
            continue
        elif low in ("always", "does"):
            continue
        elif low.endswith("ies") and len(low) > 4:
            words[i] = word[:-3] + "y"
        elif low.endswith(("ches", "shes", "sses", "xes", "zes", "oes")):
            words[i] = word[:-2]
        elif low.endswith("s"):
            words[i] = word[:-1]
        break
    return " ".join(words)


_NAMED_VERB = re.compile(
    r"^(?P<name>[^\W\d_][\w'-]*?)(?P<owner>'s)?\s+(?P<rest>(?:really |also |does not |do not |never |no |always )*"
    r"(?P<verb>likes?|loves?|hates?|wears?|prefers?|needs|wants|has|be|avoids?|eats|drinks|uses|size|favou?rite|name|dislikes?|enjoys|adores|collects|plays)\b.*)$",
    re.IGNORECASE,
)


def _named(form: str, people: Mapping[str, str]) -> tuple[str, str] | None:
    match = _NAMED_VERB.match(form)
    if not match:
        return None
    name = match["name"]
    subject = people.get(" ".join(words_of(name)))
    if subject is None:
        verb = match["verb"].lower()
        if (
            not name[:1].isupper()
            or not verb.endswith("s")
            or verb in ("has",)
            or name.lower() in word_list("nobody")
        ):
            return None
        subject = name
    return subject, _third_person(match["rest"], owner=bool(match["owner"]))


def _can_mean(pronoun: str, subject: str, grammar: Grammar) -> bool:
    gender = next((grammar.pronouns[word] for word in subject.split() if word in grammar.pronouns), "any")
    return gender == "any" or pronoun.lower() in ("they", "em", gender)


# --- from clauses to facts ----------------------------------------------------------------------------------------------


def _apply(clause: _Clause, grammar: Grammar) -> Iterator[Fact]:
    form, negated = _polarity(clause.form, grammar)
    first = form[:1] if form[:1] in (PERSON, POSSESSIVE) else ""
    readings = [(form, negated)]
    if first != PERSON and re.search(r"\bbe not\b", form):
        readings.append((re.sub(r"\bbe not\b", "be", form), True))
    for candidate, is_negated in readings:
        for rule in grammar.rules[first]:
            outcome = rule.no if is_negated else rule.yes
            if outcome is None:
                continue
            match = rule.match(candidate)
            if match is None:
                continue
            made = list(_facts(match, rule, outcome, clause, grammar))
            if made:
                yield from made
                return


def _polarity(form: str, grammar: Grammar) -> tuple[str, bool]:
    """Take adverbs and the negation off the front of "§ really do not like …"."""
    if not form.startswith(PERSON):
        return form, False
    negated = False
    for _ in range(6):
        if match := grammar.negation.match(form):
            negated = not negated or match.group().strip().endswith("never")
            form = f"{PERSON} {form[match.end() :]}"
        elif match := re.match(rf"(?i){PERSON} be (?:not|no-longer|never)\s+", form):
            negated = True
            form = f"{PERSON} be {form[match.end() :]}"
        elif match := grammar.adverbs.match(form, 2):
            form = f"{PERSON} {form[match.end() :]}"
        elif form.lower().startswith(f"{PERSON} be ") and (match := grammar.adverbs.match(form, 5)):
            form = f"{PERSON} be {form[match.end() :]}"
        else:
            break
    return form, negated


def _facts(
    match: re.Match[str], rule: Rule, outcome: str, clause: _Clause, grammar: Grammar
) -> Iterator[Fact]:
    shape = grammar.outcomes[outcome]
    groups = {key: value.strip() for key, value in match.groupdict().items() if value and value.strip()}
    groups |= rule.preset
    said = _mine_again(groups.get("object", ""))
    item = groups.get("item") or groups.get("item2") or ""
    verb = grammar.plain.get(stem(groups.get("verb", "").lower()), groups.get("verb", ""))
    if shape["kind"] == "budget":
        yield from _budget(said, item, clause)
        return
    if shape["kind"] == "size":
        item = sized_thing(said, item)
    for value in split_list(said) if rule.each else [said]:
        cleaned = _clean(value, grammar, keep_articles=shape["kind"] in ("name", "address", "city"))
        if not cleaned:
            continue
        if shape["kind"] == "purchase":
            cleaned = without_times(cleaned)
        yield _fact(shape, clause, cleaned, item.lower(), verb, groups.get("outcome", ""), grammar)


def _fact(
    shape: Mapping[str, Any],
    clause: _Clause,
    said: str,
    item: str,
    verb: str,
    outcome: str,
    grammar: Grammar,
) -> Fact:
    subject = clause.subject
    canonical = canonical_object(said)
    named = _one_of(canonical) if shape["slot"].startswith("is|") else canonical
    if shape["slot"].startswith("has|"):
        named = " ".join(word for word in canonical.split() if not _is_count(word)) or canonical
    item_name = item if shape["slot"].startswith("works") else canonical_object(item) if item else ""
    slot = f"{subject}|" + shape["slot"].format(object=named, item=item_name)
    retracts = bool(shape.get("retracts"))
    polarity = int(shape.get("polarity", 0))
    text = " ".join(
        shape["text"].format(object=said, item=item, verbs=_third(verb), outcome=_mine_again(outcome)).split()
    )
    kind = shape["kind"].format(item=item)
    words = clause.words
    data: dict[str, Any] = {"outcome": _mine_again(outcome)} if outcome else {}
    if kind == "attribute":
        data["name"] = _attribute_name(item, canonical)
        slot = f"{subject}|attribute|{data['name']}"
    if shape.get("tier") == EPISODIC:
        slot = f"{slot}|{' '.join(terms(words))}"
    return Fact(
        kind=kind,
        subject=subject,
        predicate=shape["slot"].split("|", 1)[0] if not item else f"{shape['slot'].split('|', 1)[0]} {item}",
        object=said,
        text=_of(subject, text, kind)[:LONGEST_TEXT],
        key=f"{slot}|{polarity}|{canonical}",
        slot=slot,
        polarity=polarity,
        words=words,
        retracts=retracts,
        scope=grammar.verbs.get(stem(verb), "") if verb else "",
        tier=shape.get("tier", SEMANTIC),
        data=data,
    )


def _one_of(value: str) -> str:
    """ "vegan" and "vegetarian" fill one slot, "vegan" and "nurse" do not."""
    for name, values in load_toml("memory.toml")["one_of"].items():
        if value in {canonical_object(word) for word in values.split()}:
            return str(name)
    return value


def _is_count(word: str) -> bool:
    return word.isdigit() or word in word_list("counts")


def _of(subject: str, text: str, kind: str) -> str:
    if subject == ME or not text:
        return text
    possessed = kind in ("name", "budget", "attribute", "measure", "phone", "email") or text.startswith(
        "favourite"
    )
    if possessed:
        return f"{subject}'s {text}"
    return f"{subject} is {text}" if kind == "allergy" else f"{subject} {text}"


# "be" that stands for "is", not the plain verb after "to", "can", "should"…
_COPULA = re.compile(
    "".join(
        f"(?<!{word} )"
        for word in ("to", "can", "not", "will", "could", "would", "should", "must", "may", "might")
    )
    + r"\bbe\b"
)


def _third(verb: str) -> str:
    if not verb:
        return ""
    if verb.endswith(("ch", "sh", "ss", "x", "z", "o")):
        return verb + "es"
    return verb[:-1] + "ies" if verb.endswith("y") and verb[-2:-1] not in "aeiou" else verb + "s"


def _mine_again(text: str) -> str:
    """Canonical words back as people write them."""
    text = text.replace(POSSESSIVE, "my").replace(PERSON, "I")
    text = re.sub(r"\b(that|which|who|they|these|those) be\b", r"\1 are", text)
    return _COPULA.sub("is", text)


def _budget(said: str, item: str, clause: _Clause) -> Iterator[Fact]:
    amount = read_amount(said)
    if amount is None:
        return
    value, currency = amount
    item = canonical_object(item)
    slot = f"{clause.subject}|budget|{item}"
    text = f"budget for {item} is {said}" if item else f"budget is {said}"
    yield Fact(
        kind="budget",
        subject=clause.subject,
        predicate=f"budget {item}".strip(),
        object=said,
        text=_of(clause.subject, text, "budget"),
        key=f"{slot}|{value:g}|{currency or ''}",
        slot=slot,
        words=clause.words,
        data={"max": value, "currency": currency, "category": item},
    )


def _attribute_name(item: str, value: str) -> str:
    """ "my skin is oily" and "my skin is dark" are two attributes: the value says which."""
    for name, values in load_toml("memory.toml")["attributes"].items():
        if name.startswith(item.split(" ")[0]) and set(value.split()) & set(terms(values)):
            return str(name)
    return item.replace(" ", "_") or "age"


_ARTICLE = re.compile(
    r"(?i)^(?:an?|the|some|any|those|these|all|every|wearing|using|most|many|lots of|plenty of|various|certain|other)\s+"
)
_REASON = re.compile(
    r"(?i)\s*,?\s+(?:because|since|due to|out of|for \w+ (?:reasons?|purposes?)|so that|as (?:it|they|i|he|she)|for that reason|although|even though|unless)\b.*$"
)


def _clean(value: str, grammar: Grammar, *, keep_articles: bool = False) -> str:
    value = value.strip(" \t,.'\"“”")
    for _ in range(3):
        shorter = grammar.tail.sub("", value).strip(" ,")
        if shorter == value:
            break
        value = shorter
    if keep_articles:
        return value
    if grammar.pointing.match(value) or re.search(r"(?i)\bones?$", value):
        return ""
    value = _REASON.sub("", value)
    bare = grammar.anything.sub("", value, count=1).strip() or value
    while match := _ARTICLE.match(bare):
        bare = bare[match.end() :]
    bare = bare.strip(" ,")
    if not words_of(bare) or grammar.pointing.match(bare) or grammar.empty.fullmatch(bare):
        return ""
    return bare[:LONGEST_TEXT]


def _note(text: str) -> Fact | None:
    text = text.strip(" \t,:.!")
    text = re.sub(r"(?i)^that\s+", "", text)
    return _fact_of_note(text) if words_of(text) else None


def _fact_of_note(text: str) -> Fact:
    slot = f"{ME}|note|{canonical_object(text)}"
    return Fact("note", ME, "note", text, text[:LONGEST_TEXT], f"{slot}|0", slot, words=text)
