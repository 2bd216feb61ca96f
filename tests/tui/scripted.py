"""A shop assistant that reads from a script: every event of a turn is made by hand, so screens look the same each time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from ego_cli.catalog.product import Product
from ego_cli.conversation.events import (
    Card,
    Decided,
    Decision,
    Event,
    MemoryUse,
    ModelCall,
    ModelCalled,
    Notice,
    Question,
    RankedEvent,
    Recalled,
    Relaxation,
    Reply,
    ReplyDelta,
    ShownGroup,
    StateChanged,
    TurnDone,
    TurnStarted,
    Understood,
)
from ego_cli.conversation.state import Budget, Change, Erased, Excluded, Slot, State, Want
from ego_cli.conversation.understand.acts import Understanding
from ego_cli.errors import EgoError
from ego_cli.ranking.scored import Ranked, Reason, Scored
from ego_cli.tui.engine import Browse, MemoryPage, MemoryRow, QuizQuestion, Run, Shelf, Window

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

VOLTARA = Product(
    id="p1",
    title="Voltara 20000mAh 22.5W Fast-Charge Power Bank",
    brand="Voltara",
    categories=("Phones & Tablets", "Accessories", "Power Banks"),
    price=18_500,
    currency="NGN",
    rating=4.6,
    rating_count=1_204,
    features=("20000mAh keeps going through long outages", "22.5W fast charge, two USB-A and one USB-C"),
    description="A slim power bank with a display that shows the charge left.",
    details={"Capacity": "20000 mAh", "Output": "22.5 W", "Weight": "410 g", "Ports": "3"},
    colours=("white", "black"),
    store="Ikeja Gadgets",
)
KOLO = Product(
    id="p2",
    title="Kolo Slim 20000mAh Power Bank, White",
    brand="Kolo",
    categories=("Phones & Tablets", "Accessories", "Power Banks"),
    price=16_900,
    currency="NGN",
    rating=4.3,
    rating_count=358,
    features=("Slim, fits a pocket", "Two devices at once"),
    details={"Capacity": "20000 mAh", "Output": "12 W", "Weight": "380 g", "Ports": "2"},
    colours=("white",),
)
SUREPLUG = Product(
    id="p3",
    title="SurePlug Titan 30000mAh Power Bank with Torch and Three Built-in Cables for Phones",
    brand="SurePlug",
    categories=("Phones & Tablets", "Accessories", "Power Banks"),
    price=19_950,
    currency="NGN",
    rating=None,
    features=("Built-in torch", "Three cables built in"),
    details={"Capacity": "30000 mAh", "Output": "18 W", "Ports": "4"},
    colours=("white", "blue"),
)
PRODUCTS = (VOLTARA, KOLO, SUREPLUG)

SCORED = (
    Scored(
        VOLTARA,
        24.6,
        {
            "words": 8.1,
            "category": 12.0,
            "price fit": 4.5,
            "rating": 1.5,
            "popularity": 0.9,
            "colour": 0.6,
            "shown before": -1.0,
            "memory": -2.0,
        },
        {"lexical": 1, "dense": 4},
        (
            Reason("Under your ₦20,000", "price", "18500"),
            Reason("Keeps going through outages", "features[0]", "20000mAh keeps going through long outages"),
            Reason("4.6 from 1,204 people", "rating", "4.6"),
        ),
    ),
    Scored(
        KOLO,
        22.1,
        {
            "words": 7.4,
            "category": 12.0,
            "price fit": 4.8,
            "rating": 1.1,
            "popularity": 0.4,
            "shown before": -3.6,
        },
        {"lexical": 2, "dense": 1, "collaborative": 7},
        (Reason("Under your ₦20,000", "price", "16900"), Reason("White", "colours", "white")),
    ),
    Scored(
        SUREPLUG,
        17.3,
        {"words": 6.0, "category": 12.0, "price fit": 0.3, "popularity": -1.0},
        {"lexical": 5},
        (
            Reason("30000 mAh", "details.Capacity", "30000 mAh"),
            Reason("Built-in torch", "features[0]", "Built-in torch"),
        ),
    ),
)


def card(position: int, scored: Scored, against: str = "") -> Card:
    """The card of a scored product, as the reply stage words it."""
    product = scored.product
    return Card(
        position=position,
        id=product.id,
        title=product.title,
        price=f"₦{product.price:,.0f}" if product.price else "price not listed",
        amount=product.price,
        currency=product.currency,
        rating=f"{product.rating} from {product.rating_count:,} people"
        if product.rating
        else "not rated yet",
        reasons=scored.reasons,
        against_budget=against
        or (f"₦{20_000 - product.price:,.0f} under your budget" if product.price else ""),
    )


POWER_BANK = Want(
    id=1,
    category="power bank",
    slots=(
        Slot("capacity", "min", number=20000, unit="mAh", turn=2, words="make it bigger"),
        Slot("colour", values=("white",), turn=2, words="white one", hardness="prefer"),
        Slot("feature", values=("laptop charging",), turn=2, words="charge my laptop", source="model"),
    ),
    turn=1,
    words="power bank",
)
STATE_ONE = State(
    wants=(
        Want(
            id=1,
            category="power bank",
            slots=(Slot("capacity", number=10000, unit="mAh", turn=1, words="10000mAh"),),
            turn=1,
        ),
    ),
    budget=Budget(maximum=20_000, turn=1, words="no pass 20k"),
    turn=1,
)
STATE_TWO = State(
    wants=(POWER_BANK,),
    budget=Budget(maximum=20_000, turn=1, words="no pass 20k"),
    exclusions=(
        Excluded("leather", "material", turn=1, words="I no want leather"),
        Excluded("fragrance", source="memory", turn=1),
    ),
    erased=(
        Erased(
            Slot("capacity", number=10000, unit="mAh", turn=1, words="10000mAh"),
            1,
            2,
            "actually make it bigger",
        ),
    ),
    turn=2,
)
QUESTION = Question("ports", "Shall it charge a laptop too?", ("yes", "no", "no preference"), 0.21)
RANKED = Ranked(
    items=SCORED,
    candidates=214,
    matched=9,
    filtered={"price": 120, "colour: teal": 4, "exclusion: leather": 81},
    facets={"brand": {"Voltara": 3, "Kolo": 2}},
)
DECISION = Decision(
    route="BUYING",
    route_reason="a size and a budget were given",
    groups=(ShownGroup(1, "power bank", SCORED, 9),),
    question=QUESTION,
    relaxations=(Relaxation("colour", "teal", 14),),
)
TIMINGS = {
    "understand": 0.9,
    "state": 0.1,
    "recall": 0.4,
    "retrieve": 1.3,
    "rank": 0.8,
    "decide": 0.2,
    "reply": 0.1,
    "remember": 0.1,
    "total": 3.9,
}
USES = (
    MemoryUse("m1", "avoids fragrance", "exclusion", 1.0),
    MemoryUse("m2", "likes white gadgets", "brand affinity", 0.62),
)
MEMORY = MemoryPage(
    rows=(
        MemoryRow(
            "m1",
            "avoids fragrance",
            "avoidance",
            1.0,
            40,
            6,
            True,
            "",
            "high",
            "declared",
            lambda: (1.0,) * 180,
        ),
        MemoryRow(
            "m2",
            "likes white gadgets",
            "preference",
            0.62,
            21,
            3,
            False,
            "",
            "medium",
            "inferred",
            lambda: tuple((1 + 0.9 * t / 60) ** -0.5 for t in range(180)),
        ),
        MemoryRow(
            "m3", "shoe size EU 42", "size", 1.0, 90, 2, True, "", "high", "declared", lambda: (1.0,) * 180
        ),
        MemoryRow(
            "m4",
            "mum cannot stand perfume",
            "avoidance",
            0.91,
            12,
            1,
            False,
            "mum",
            "high",
            "declared",
            lambda: tuple((1 + 0.9 * t / 365) ** -0.5 for t in range(180)),
        ),
        MemoryRow(
            "m5",
            "looked at inverters for a two-room flat in Surulere",
            "episode",
            0.28,
            33,
            0,
            False,
            "",
            "low",
            "episode",
            lambda: tuple((1 + 0.9 * t / 14) ** -0.5 for t in range(180)),
        ),
    ),
    policy="shop-v2",
    summary="Buys gadgets for a flat with frequent outages; careful with money; avoids fragrance.",
)
CALLS = (
    ModelCall("read", "dashscope", "qwen-flash", 312, 48, False, 0.00008, 412.0),
    ModelCall("phrase", "gemini", "gemini-flash-lite", 540, 96, True, 0.0002, 1310.0, fallback=True),
)


def turn_done(
    turn: int,
    text: str,
    *,
    state: State = STATE_TWO,
    lead: str = "Understood: at least 20000 mAh, white. Three of nine:",
    decision: Decision = DECISION,
    ranked: tuple[Ranked, ...] = (RANKED,),
    calls: tuple[ModelCall, ...] = (),
    memory: tuple[MemoryUse, ...] = USES,
    tail: str = "",
    notices: tuple[Notice, ...] = (),
    timings: Mapping[str, float] = TIMINGS,
) -> TurnDone:
    """A whole turn from a few hand-made values."""
    cards = tuple(card(n, scored) for n, scored in enumerate(decision.shown, start=1))
    tail = tail or (decision.question.text if decision.question else "")
    reply = Reply("\n".join(part for part in (lead, tail) if part), lead, cards, tail)
    changes = (Change("set", turn, "capacity"),)
    return TurnDone(
        turn,
        text,
        state,
        Understanding(text, ()),
        changes,
        decision,
        reply,
        ranked,
        memory,
        calls,
        timings,
        notices,
    )


def events(done: TurnDone, *, streamed: Sequence[str] = ()) -> Iterator[Event]:
    """The events of a turn in the order in which the engine yields them."""
    yield TurnStarted(done.turn, done.text, NOON)
    yield Understood(done.understanding)
    yield StateChanged(done.state, done.changes)
    yield Recalled(done.memory)
    for number, ranked in enumerate(done.ranked):
        yield RankedEvent(number, ranked)
    yield Decided(done.decision)
    for call in done.calls:
        yield ModelCalled(call)
    for piece in streamed:
        yield ReplyDelta(piece)
    yield from done.notices
    yield done


FIRST = turn_done(
    1,
    "abeg I need power bank 10000mAh wey no pass 20k",
    state=STATE_ONE,
    lead="9 fit. The best three:",
    memory=(),
    decision=replace(DECISION, relaxations=(), question=None),
)
SECOND = turn_done(
    2, "actually make it bigger, white one", calls=CALLS, timings={**TIMINGS, "understand": 1.4, "total": 5.2}
)


@dataclass
class ScriptedEngine:
    """Answers each message with the next of ``script``; keeps what it was asked."""

    script: Sequence[TurnDone | Exception | float] = (FIRST, SECOND)
    heard: list[str] = field(default_factory=list)
    beside: str = ""
    deeds: list[tuple[str, ...]] = field(default_factory=list)
    catalogue: str = "naija"
    user: str = "ada"
    model: str = ""
    token_budget: int = 60_000
    page: MemoryPage = MEMORY
    past: tuple[TurnDone, ...] = ()
    waiting: tuple[str, ...] = ("How is the SurePlug torch that you bought three weeks ago?",)
    closed: bool = False
    pieces: tuple[str, ...] = ()  # words above the list, as a model streams them
    pause: float = 0.0  # seconds between them

    def turn(self, text: str, cancel: threading.Event | None = None) -> Iterator[Event]:
        self.heard.append(text)
        step = self.script[min(len(self.heard) - 1, len(self.script) - 1)]
        if isinstance(step, Exception):
            yield TurnStarted(len(self.heard), text, NOON)
            raise step
        if isinstance(step, float):  # a slow stage that cannot be interrupted, such as a hanging model
            yield TurnStarted(len(self.heard), text, NOON)
            time.sleep(step)
            step = FIRST
        for event in events(replace(step, text=text, turn=len(self.heard)), streamed=self.pieces):
            if isinstance(event, ReplyDelta):
                time.sleep(self.pause)
            yield event

    def reply(self, decision: Decision) -> Reply:
        return Reply("", "", tuple(card(n, scored) for n, scored in enumerate(decision.shown, start=1)))

    def history(self) -> tuple[TurnDone, ...]:
        return self.past

    def state(self) -> State:
        return self.past[-1].state if self.past else State()

    def nudges(self) -> tuple[str, ...]:
        return self.waiting

    def memories(self) -> MemoryPage:
        return self.page

    def pin(self, entry: str, pinned: bool) -> None:
        self.deeds.append(("pin", entry, str(pinned)))
        self.page = replace(
            self.page, rows=tuple(replace(r, pinned=pinned) if r.id == entry else r for r in self.page.rows)
        )

    def edit(self, entry: str, text: str) -> None:
        self.deeds.append(("edit", entry, text))
        self.page = replace(
            self.page, rows=tuple(replace(r, text=text) if r.id == entry else r for r in self.page.rows)
        )

    def forget(self, entry: str) -> int:
        self.deeds.append(("forget", entry))
        self.page = replace(self.page, rows=tuple(r for r in self.page.rows if r.id != entry))
        return 1

    def quiz(self) -> tuple[QuizQuestion, ...]:
        return (
            QuizQuestion("skin", "What is your skin type?", ("oily", "dry", "combination", "sensitive")),
            QuizQuestion(
                "avoid", "Is there anything you avoid?", ("fragrance", "nuts", "leather"), many=True
            ),
            QuizQuestion("city", "Which city do you live in?"),
        )

    def answer_quiz(self, answers: Mapping[str, str]) -> int:
        self.deeds.append(("quiz", *(f"{key}={value}" for key, value in answers.items())))
        return len(answers)

    def catalogues(self) -> tuple[tuple[str, int], ...]:
        return (("naija", 1_240), ("boutique", 936))

    def users(self) -> tuple[str, ...]:
        return ("ada", "me")

    def runs(self) -> tuple[Run, ...]:
        return (
            Run(
                "r2",
                "shop · plain · naija",
                "2026-03-01 11:40",
                140,
                200,
                {"hit_rate_at_10": 0.95, "mrr": 0.81, "mttc": 2.1, "technical_score": 0.93},
                {
                    "turns to the product": (3, 2, 2, 5, 1, 2, 2, 3, 1, 2),
                    "response (ms)": (3.1, 2.9, 4.0, 3.3, 2.8, 3.0),
                },
            ),
            Run(
                "r1",
                "shop · wire · naija",
                "2026-03-01 10:02",
                200,
                200,
                {"hit_rate_at_10": 0.99, "mrr": 0.9, "mttc": 1.8, "technical_score": 0.97},
                {},
            ),
        )

    def play_run(self, advance: Callable[[int, int], None]) -> None:
        for done in range(1, 4):
            advance(done, 3)
        self.deeds.append(("run",))

    def work(self) -> str:
        return self.beside

    def settings(self) -> tuple[tuple[str, str], ...]:
        return (
            ("catalog", self.catalogue),
            ("user", self.user),
            ("memory.policy", "shop-v2"),
            ("llm", "rules only"),
        )

    def close(self) -> None:
        self.closed = True


class ScriptedShop:
    """Three power banks and the shelves above them."""

    def product(self, product_id: str) -> Product | None:
        return next((product for product in PRODUCTS if product.id == product_id), None)

    def products(self, ids: Sequence[str]) -> tuple[Product, ...]:
        return tuple(product for id in ids for product in PRODUCTS if product.id == id)

    def similar(self, product_id: str, limit: int = 5) -> tuple[Product, ...]:
        return tuple(product for product in PRODUCTS if product.id != product_id)[:limit]

    def shelves(self) -> tuple[Shelf, ...]:
        return (
            Shelf(("Phones & Tablets",), 310),
            Shelf(("Phones & Tablets", "Accessories"), 122),
            Shelf(("Phones & Tablets", "Accessories", "Power Banks"), 3),
            Shelf(("Home",), 240),
            Shelf(("Home", "Kitchen"), 96),
        )

    def browse(self, browse: Browse) -> Window:
        found = tuple(
            product
            for product in PRODUCTS
            if browse.words.lower() in product.title.lower()
            and product.categories[: len(browse.path)] == browse.path
            and all(value in ((product.brand or ""), *product.colours) for value in browse.facets.values())
        )
        brands = {product.brand or "": 1 for product in found}
        colours: dict[str, int] = {}
        for product in found:
            for colour in product.colours:
                colours[colour] = colours.get(colour, 0) + 1
        return Window(found, len(found), {"brand": brands, "colour": colours})

    def close(self) -> None:
        pass


def broken(words: str = "the memory file is locked") -> EgoError:
    """What a failing stage raises."""
    return EgoError(words, hint="close the other ego")
