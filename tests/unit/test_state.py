"""The state is a log: folding it is deterministic, undo gives the earlier state, and nothing is kept beside it."""

from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ego_cli.catalog.product import Product
from ego_cli.conversation import session
from ego_cli.conversation.references import Resolved, resolve
from ego_cli.conversation.state import Change, ShownList, State, apply, rebuild
from ego_cli.conversation.understand.acts import Act, Kind, Operator, Target
from ego_cli.conversation.update import update
from ego_cli.conversation.wiping import wiped

SHELF = {
    "p1": Product(id="p1", title="Red canvas sneakers", price=14500.0, sizes=("41", "42"), colours=("red",)),
    "p2": Product(id="p2", title="White leather sneakers", price=21000.0, colours=("white",)),
    "p3": Product(id="p3", title="Black suede loafers", price=30000.0, colours=("black",)),
}


def hear(state: State, *acts: Act) -> State:
    """The state after a sentence of these acts."""
    resolved = resolve(acts, state, SHELF.get)
    return update(
        state,
        resolved,
        turn=state.turn + 1,
        shelf=SHELF.get,
        fits=lambda slot, category: slot.attribute == "size",
    )[0]


def show(state: State, *ids: str) -> State:
    return apply(state, Change("shown", state.turn, after=ShownList(state.turn, ids, (1,) * len(ids))))


def need(category: str, **values: object) -> Act:
    return Act(Kind.NEED, value=category, words=category, **values)


def want(attribute: str, value: str, **values: object) -> Act:
    return Act(Kind.CONSTRAIN, attribute=attribute, operator=Operator.IS, value=value, words=value, **values)


def price(operator: Operator, number: float, **values: object) -> Act:
    return Act(
        Kind.CONSTRAIN, attribute="price", operator=operator, number=number, words=f"{number:g}", **values
    )


def substance(state: State) -> State:
    """A state without its history."""
    return replace(state, log=(), turn=0)


WORDS = st.sampled_from(["red", "black", "leather", "canvas", "zip", "waterproof"])
ATTRIBUTES = st.sampled_from(["colour", "material", "feature", "brand", "size"])
ACTS = st.one_of(
    st.builds(need, st.sampled_from(["sneakers", "dress", "phone", "chelsea boots", "boots"])),
    st.builds(want, ATTRIBUTES, WORDS, polarity=st.sampled_from([1, -1])),
    st.builds(price, st.sampled_from([Operator.MIN, Operator.MAX, Operator.ABOUT]), st.floats(1, 1e6)),
    st.builds(lambda a: Act(Kind.RELAX, attribute=a, words="no matter"), ATTRIBUTES | st.just("price")),
    st.builds(lambda v: Act(Kind.RESTORE, value=v, words="after all"), WORDS),
    st.builds(
        lambda note: Act(Kind.OVERRIDE, note=note, words="ignore my earlier"),
        st.sampled_from(["strong", "weak"]),
    ),
    st.builds(
        lambda n: Act(Kind.BASKET_ADD, target=Target("ordinal", (n,)), words="add"), st.integers(-4, 5)
    ),
    st.builds(
        lambda n: Act(Kind.RELATIVE, attribute="price", number=n, words="cheaper"),
        st.sampled_from([-1.0, 1.0]),
    ),
    st.sampled_from(
        [Act(Kind.REJECT), Act(Kind.SHOW_MORE), Act(Kind.START_OVER), Act(Kind.UNDO), Act(Kind.NO_PREFERENCE)]
    ),
)
SENTENCES = st.lists(st.lists(ACTS, min_size=1, max_size=3), max_size=8)


def converse(sentences: list[list[Act]]) -> State:
    state = State()
    for acts in sentences:
        state = show(hear(state, *acts), *SHELF)
    return state


@given(SENTENCES)
@settings(max_examples=150, deadline=None)
def test_a_state_is_what_its_log_folds_to(sentences: list[list[Act]]) -> None:
    state = converse(sentences)
    assert rebuild(state.log) == state


@given(SENTENCES, st.lists(ACTS, min_size=1, max_size=3))
@settings(max_examples=150, deadline=None)
def test_undo_after_any_turn_gives_the_earlier_state(sentences: list[list[Act]], last: list[Act]) -> None:
    before = converse(sentences)
    after = show(hear(before, *last), *SHELF)
    kinds = {act.kind for act in last}
    changed = {change.kind for change in after.log[len(before.log) :]} - {
        "turn", "shown", "passed-over", "reconsidered", "focused", "more", "pending", "activated",
    }  # fmt: skip
    if not changed or Kind.UNDO in kinds:
        return  # nothing of substance was done: undo would reach further back
    undone = hear(after, Act(Kind.UNDO, words="undo"))
    ignored = {"seen": before.seen, "pending": before.pending}
    assert substance(replace(undone, **ignored)) == substance(replace(before, **ignored))


@given(SENTENCES)
@settings(max_examples=60, deadline=None)
def test_a_conversation_survives_being_saved(
    tmp_path_factory: pytest.TempPathFactory, sentences: list[list[Act]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EGO_HOME", str(tmp_path_factory.mktemp("home")))
        state = converse(sentences)
        session.save("ada", "naija", state, datetime.now(UTC))
        assert session.load("ada", "naija") == state
        assert session.load("ada", "boutique") is None


def wordless(value: Any) -> Any:
    """A value of the state without quotations."""
    if isinstance(value, tuple):
        return tuple(map(wordless, value))
    if not is_dataclass(value):
        return value
    return {f.name: wordless(getattr(value, f.name)) for f in fields(value) if f.name != "words"}


def quoted(state: State) -> str:
    """All that a saved conversation would hold."""
    return str([session.encode(change) for change in state.log])


@given(SENTENCES)
@settings(max_examples=100, deadline=None)
def test_a_wiped_conversation_goes_on_without_its_past(sentences: list[list[Act]]) -> None:
    state = converse(sentences)
    left = wiped(state)
    assert rebuild(left.log) == left
    assert wordless(replace(left, log=())) == wordless(replace(state, log=(), erased=()))
    assert hear(left, Act(Kind.UNDO, words="undo")).wants == left.wants  # there is nothing to go back to


def test_what_was_forgotten_is_in_no_saved_conversation() -> None:
    state = hear(State(), need("sneakers"), want("colour", "red"), want("brand", "Kolibri", polarity=-1))
    state = show(
        hear(state, want("material", "leather"), Act(Kind.BASKET_ADD, target=Target("ordinal", (1,)))), "p1"
    )
    left = wiped(state, ["avoids Kolibri", "likes leather"])
    assert "olibri" in quoted(state) and "olibri" not in quoted(left) and "leather" not in quoted(left)
    assert [slot.text for slot in left.wants[0].slots] == ["red"] and left.last_shown == ("p1",)
    nothing = wiped(state, everything=True)
    assert (nothing.wants, nothing.exclusions, nothing.basket) == ((), (), state.basket)


def test_a_new_value_replaces_and_the_old_one_is_on_the_erased_list() -> None:
    state = hear(State(), need("sneakers"), want("colour", "white"))
    state = hear(state, Act(Kind.OVERRIDE, note="weak", words="actually"), want("colour", "red"))
    assert [slot.values for slot in state.wants[0].slots] == [("red",)]
    assert [(erased.slot.text, erased.by) for erased in state.erased] == [("white", "red")]


def test_restoring_takes_back_the_erased_value_and_only_that() -> None:
    state = hear(State(), need("sneakers"), want("colour", "white"), want("feature", "light"))
    state = hear(state, want("colour", "red"))
    state = hear(state, Act(Kind.RESTORE, attribute="colour", value="white", words="white after all"))
    assert {slot.text for slot in state.wants[0].slots} == {"white", "light"}


def test_ignoring_the_budget_clears_one_slot() -> None:
    state = hear(State(), need("sneakers"), want("colour", "white"), price(Operator.MAX, 20000))
    state = hear(state, Act(Kind.RELAX, attribute="price", words="ignore the budget"))
    assert state.budget is None
    assert [slot.text for slot in state.wants[0].slots] == ["white"]


def test_a_new_topic_keeps_budget_and_size_and_drops_colour() -> None:
    state = hear(
        State(), need("sneakers"), want("size", "42"), want("colour", "white"), price(Operator.MAX, 20000)
    )
    state = hear(state, need("boots"))
    assert [want.category for want in state.wants] == ["boots"]
    assert [slot.attribute for slot in state.wants[0].slots] == ["size"]
    assert state.budget is not None and state.budget.maximum == 20000


def test_cheaper_is_measured_against_what_is_talked_about() -> None:
    state = show(hear(State(), need("sneakers")), "p3", "p2", "p1")
    state = apply(state, Change("focused", state.turn, after=("p2",)))
    state = hear(state, Act(Kind.RELATIVE, attribute="price", number=-1, words="cheaper"))
    assert state.budget is not None and 14500 < (state.budget.maximum or 0) < 21000


def test_a_needed_size_is_asked_for_and_the_answer_completes_the_basket() -> None:
    state = show(hear(State(), need("sneakers")), "p1", "p2")
    state = hear(state, Act(Kind.BASKET_ADD, target=Target("ordinal", (1,)), words="add the first"))
    assert state.basket == () and state.pending is not None and state.pending.options == ("41", "42")
    state = hear(state, want("size", "42"))
    assert [(line.product_id, dict(line.options), line.quantity) for line in state.basket] == [
        ("p1", {"size": "42"}, 1)
    ]


def test_several_matches_add_nothing() -> None:
    state = show(hear(State(), need("sneakers")), "p1", "p2")
    state = hear(
        state, Act(Kind.BASKET_ADD, target=Target("attribute", words="sneakers"), words="add the sneakers")
    )
    assert state.basket == () and state.pending is not None and state.pending.kind == "which"


def test_the_last_of_a_list_and_what_is_out_of_range() -> None:
    state = show(hear(State(), need("sneakers")), "p1", "p2", "p3")
    last, ninth = resolve(
        [Act(Kind.REFER, target=Target("ordinal", (-1,))), Act(Kind.REFER, target=Target("ordinal", (9,)))],
        state,
        SHELF.get,
    )
    assert last == Resolved(last.act, ids=("p3",))
    assert (ninth.ids, ninth.problem, ninth.size) == ((), "out of range", 3)


def test_restoring_a_value_lifts_its_exclusion() -> None:
    state = hear(State(), need("sneakers"), want("colour", "black"))
    state = hear(state, want("colour", "black", polarity=-1))
    state = hear(state, Act(Kind.RESTORE, value="black", words="keep the black after all"))
    assert [slot.text for slot in state.wants[0].slots] == ["black"] and state.exclusions == ()


def test_cheaper_never_raises_a_budget() -> None:
    state = show(hear(State(), need("sneakers"), price(Operator.MAX, 10_000)), "p3", "p2", "p1")
    state = hear(state, Act(Kind.RELATIVE, attribute="price", number=-1, words="cheaper"))
    assert state.budget is not None and state.budget.maximum == 10_000


def test_a_noun_beside_a_wish_means_the_want_of_that_name() -> None:
    state = show(hear(State(), need("sneakers", group=0), need("loafers", group=1)), "p1", "p3")
    the_sneakers = Act(Kind.REFER, target=Target("name", words="sneakers"), words="the sneakers")
    state = hear(state, the_sneakers, want("colour", "white"))
    assert [(w.category, [slot.text for slot in w.slots]) for w in state.wants] == [
        ("sneakers", ["white"]),
        ("loafers", []),
    ]
