"""How many to show, what to ask, what to give up."""

from hypothesis import given
from hypothesis import strategies as st

from ego_cli.conversation import decide
from ego_cli.conversation.asking import Recollection, price_bounds, request_for, route_of
from ego_cli.conversation.state import Budget, Excluded, Slot, State, Want
from ego_cli.ranking.request import Exclusion, Request, Requirement
from ego_cli.ranking.scored import Ranked

FACETS = {"colour": {"red": 10, "blue": 10}, "brand": {"Volt": 20}, "size": {"42": 15, "43": 5}}


def want(*slots: Slot, **values: object) -> Want:
    return Want(id=1, category="dress", slots=slots, **values)


def test_few_are_shown_while_evidence_is_thin_and_up_to_ten_when_it_is_there() -> None:
    many = Ranked(matched=500)
    lengths = [decide.how_many(many, decide.Evidence(n), groups=1) for n in range(5)]
    assert lengths == sorted(lengths) and lengths[0] <= 3 and lengths[-1] == 10
    assert decide.how_many(Ranked(matched=5), decide.Evidence(0), groups=1) == 5


def test_a_question_about_what_is_the_same_for_all_or_already_known_has_no_gain() -> None:
    gains = decide.expected_gains(State(), want(Slot("size", values=("42",))), FACETS)
    assert list(gains) == ["colour"]
    assert gains["colour"] == 1.0  # two equal halves: one bit


def test_nothing_is_asked_about_a_short_list_or_after_a_refusal() -> None:
    assert decide.question_for(State(), want(), Ranked(matched=4, facets=FACETS), 4) is None
    refused = State(refused=frozenset({"other"}))
    assert decide.question_for(refused, want(), Ranked(matched=400, facets=FACETS), 3) is None
    asked = decide.question_for(State(), want(), Ranked(matched=400, facets=FACETS), 3)
    assert asked is not None and asked.attribute == "other" and asked.gain == 1.0


@given(
    st.lists(
        st.sampled_from(["colour", "size", "brand", "feature", "material"]),
        min_size=1,
        max_size=5,
        unique=True,
    )
)
def test_relaxing_gives_up_the_softest_first_and_never_an_exclusion_or_an_only(attributes: list[str]) -> None:
    slots = tuple(
        Slot(a, values=("x",), words=f"w {a}", hardness="only" if a == "colour" else "must")
        for a in attributes
    )
    request = Request(
        requirements=tuple(
            Requirement(s.attribute, values=s.values, hard=True, words=s.words) for s in slots
        ),
        exclusions=(Exclusion("leather"),),
    )
    seen: list[Request] = []

    def count(candidate: Request) -> int:
        seen.append(candidate)
        return 0 if len(candidate.requirements) > 1 else 7

    relaxed = decide.relax(request, want(*slots), count)
    assert all(candidate.exclusions == request.exclusions for candidate in seen)
    if relaxed is not None:
        assert "colour" not in {relaxation.attribute for relaxation in relaxed.relaxations}
        assert relaxed.relaxations[-1].count == 7


def test_a_budget_in_another_currency_is_converted_with_its_rate_stated_or_refused() -> None:
    budget = Budget(maximum=60, currency="USD")
    converted = price_bounds(budget, currency="NGN", fx={"NGN_per_USD": 1500})
    assert converted.maximum == 90_000 and "₦1,500" in converted.note and "USD" in converted.note
    refused = price_bounds(budget, currency="NGN", fx={})
    assert refused.maximum is None and refused.refused


def test_a_budget_for_everything_is_split_over_the_wants_and_pieces() -> None:
    budget = Budget(maximum=60_000, per="all")
    assert price_bounds(budget, currency="NGN", fx={}, parts=3).maximum == 20_000
    assert price_bounds(Budget(maximum=30_000), currency="NGN", fx={}, parts=3).maximum == 30_000


def test_explicit_words_win_over_memory() -> None:
    leather = want(Slot("material", values=("leather",), words="leather"))
    request = request_for(
        State(wants=(leather,), exclusions=(Excluded("zip"),)),
        leather,
        bounds=price_bounds(None, currency="NGN", fx={}),
        recollection=Recollection(
            exclusions=(Exclusion("leather", source="memory"), Exclusion("wool", source="memory"))
        ),
    )
    assert [exclusion.value for exclusion in request.exclusions] == ["zip", "wool"]


def test_a_constraint_makes_it_buying() -> None:
    assert route_of(State(), want())[0] == "BROWSING"
    assert route_of(State(), want(Slot("size", values=("42",))))[0] == "BUYING"
    assert route_of(State(budget=Budget(maximum=5)), want())[0] == "BUYING"
