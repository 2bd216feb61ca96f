"""What to do with the ranked lists: how many to show, what to ask, what to give up when nothing fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log2

from ego_cli.conversation.asking import without
from ego_cli.conversation.events import Question, Relaxation
from ego_cli.conversation.state import State, Want
from ego_cli.conversation.understand.acts import Kind, Understanding
from ego_cli.conversation.wording import listed, say
from ego_cli.ranking.request import Request
from ego_cli.ranking.scored import Ranked
from ego_cli.settings import load_toml

# How many are shown by the number of things said about the product beside its type: a few while evidence is thin.
SHOW_BY_EVIDENCE = (3, 5, 8, 10)
# A list that is this short is shown whole.
SHOW_ALL_UP_TO = 6
# With several wants: this many each.
SHOW_PER_GROUP = 3

# A question is worth a turn when its answer is expected to tell at least this much (bits) about what is left.
MIN_GAIN = 0.5
# The answers that are offered by number.
OPTIONS = 4
# Below this number of fitting products nothing is asked: the list is short enough to read.
ASK_ABOVE = 6

# Constraints by how readily one gives them up; those not named come first. Never an exclusion, never an "only".
_FIRMNESS = ("feature", "material", "colour", "size", "gender", "brand")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known about one want: the number of constraints beside its type."""

    constraints: int

    @classmethod
    def of(cls, state: State, want: Want | None) -> Evidence:
        """Count the slots and the budget that bear on a want."""
        slots = len(want.slots) if want else 0
        budget = 1 if (want and want.budget) or state.budget else 0
        return cls(slots + budget)


def nothing_to_wait_for(state: State, understanding: Understanding) -> bool:
    """She has nothing more to say, or her answer to what was asked could not be read: asking on would bring no more. Who wishes
    for something after all has more to say."""
    kinds = {act.kind for act in understanding.acts}
    if kinds & {Kind.CONSTRAIN, Kind.NEED}:
        return False
    return "other" in state.refused or (bool(state.asked) and kinds <= {Kind.UNCLEAR})


def how_many(
    ranked: Ranked,
    evidence: Evidence,
    *,
    groups: int,
    schedule: Sequence[int] = SHOW_BY_EVIDENCE,
    exhausted: bool = False,
) -> int:
    """The length of a list. ``exhausted``: she has nothing more to say, so waiting for more evidence is no use; one who has
    said nothing yet has only left the first question open."""
    if groups > 1:
        return SHOW_PER_GROUP
    if exhausted and evidence.constraints:
        return max(schedule)
    if ranked.matched <= SHOW_ALL_UP_TO and schedule is SHOW_BY_EVIDENCE:
        return max(1, ranked.matched)
    return schedule[min(evidence.constraints, len(schedule) - 1)]


def question_for(
    state: State, want: Want | None, ranked: Ranked, shown: int, *, language: str = "en", insist: bool = False
) -> Question | None:
    """The one question worth asking, or None.

    The universal probe ("what matters most to you?") is asked, with the attributes whose answers would tell most about
    what is left as examples. Nothing is asked when the list is short and good, when she has nothing more to say, or about
    what was answered, refused or is the same for all. ``insist`` asks whatever the length of the list.
    """
    if "other" in state.refused:
        return None
    if not insist and (ranked.matched <= max(ASK_ABOVE, shown) or ranked.matched == 0):
        return None
    gains = expected_gains(state, want, ranked.facets)
    best = next(iter(gains.items()), ("other", 0.0))
    examples = [name.replace("_", " ") for name in list(gains)[:3]]
    hint = f" ({listed(examples, 'or')}, for example)" if examples else ""
    times_asked = state.asked.count("other")
    if not insist and times_asked >= 2 and best[1] < MIN_GAIN:
        return None
    return Question(
        attribute="other",
        text=say("probe", language=language, turn=times_asked, examples=hint),
        options=tuple(_common_values(_facet(ranked, best[0]))) if best[1] >= MIN_GAIN else (),
        gain=round(best[1], 3),
    )


def expected_gains(
    state: State, want: Want | None, facets: Mapping[str, Mapping[str, int]]
) -> dict[str, float]:
    """Attribute -> expected information (bits) of its answer over the fitting products, the largest first.

    The entropy of the stated values, times the share of products that have one of the few values that a person can choose
    among: an attribute that is the same for all tells nothing, one with a value of its own for each product asks too much.
    """
    held = {slot.attribute for slot in want.slots} if want else set()
    never = set(load_toml("attributes.toml")["questions"]["never"])
    gains: dict[str, float] = {}
    for facet, values in facets.items():
        attribute = facet.removeprefix("details.")
        if attribute in held or attribute in state.refused or attribute in never:
            continue
        total = sum(values.values())
        if total == 0 or len(values) < 2:
            continue
        entropy = -sum(n / total * log2(n / total) for n in values.values() if n)
        nameable = sum(sorted(values.values())[-OPTIONS:]) / total
        gains[attribute] = max(gains.get(attribute, 0.0), entropy * nameable**2)
    return dict(sorted(gains.items(), key=lambda pair: (-pair[1], pair[0])))


def _common_values(values: Mapping[str, int]) -> list[str]:
    return [value for value, _ in sorted(values.items(), key=lambda pair: (-pair[1], pair[0]))[:OPTIONS]]


def _facet(ranked: Ranked, attribute: str) -> Mapping[str, int]:
    return ranked.facets.get(attribute) or ranked.facets.get(f"details.{attribute}", {})


@dataclass(frozen=True, slots=True)
class Relaxed:
    """A request that fits something, and what was given up for it."""

    request: Request
    relaxations: tuple[Relaxation, ...]


def relax(request: Request, want: Want | None, count: Callable[[Request], int]) -> Relaxed | None:
    """Give up one constraint at a time, the softest first, until something fits; None when nothing may be given up.

    A price bound is never given up here: the reply says what the cheapest is instead. ``count`` tells how many products
    fit a request.
    """
    given_up: list[Relaxation] = []
    current = request
    while True:
        order = _softest_first(current, want)
        if not order:
            return None
        for index in order:
            candidate = without(current, index)
            fitting = count(candidate)
            if fitting:
                given_up.append(_relaxation(current, index, fitting))
                return Relaxed(candidate, tuple(given_up))
        # No single one is in the way: the softest goes and the search goes on.
        given_up.append(_relaxation(current, order[0], 0))
        current = without(current, order[0])


def _softest_first(request: Request, want: Want | None) -> list[int]:
    only = {slot.words for slot in want.slots if slot.hardness == "only"} if want else set()
    free = [i for i, r in enumerate(request.requirements) if r.hard and r.words not in only]

    def firmness(i: int) -> tuple[float, int]:
        attribute = request.requirements[i].attribute
        rank = _FIRMNESS.index(attribute) if attribute in _FIRMNESS else 0
        return (request.requirements[i].weight, rank)

    return sorted(free, key=firmness)


def _relaxation(request: Request, index: int, count: int) -> Relaxation:
    requirement = request.requirements[index]
    value = " or ".join(requirement.values) or requirement.words
    return Relaxation(requirement.attribute, value, count, requirement.words)
