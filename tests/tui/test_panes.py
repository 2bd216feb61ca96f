"""What single panes of the inspector print, without a screen."""

from __future__ import annotations

from ego_cli.conversation.events import Card
from ego_cli.conversation.state import Budget, Erased, State
from ego_cli.ranking.scored import Ranked
from ego_cli.tui.inspector.ranking import Ranking
from ego_cli.tui.inspector.understood import ErasedPane
from ego_cli.tui.snapshot import Snapshot

CARD = Card(1, "p1", "Voltara power bank", "₦15,500", 15_500, "NGN", "not rated yet")


def printed(pane: ErasedPane | Ranking, snapshot: Snapshot) -> str:
    return "\n".join(line.content.plain for line in pane.body(snapshot, 100))


def test_a_price_that_was_given_up_has_its_currency() -> None:
    gone = Erased(Budget(maximum=20_000, turn=1, words="under 20k"), None, 2, "forget the price")
    snapshot = Snapshot(state=State(erased=(gone,), turn=2), cards=(CARD,))
    assert "≤ ₦20,000" in printed(ErasedPane(), snapshot)


def test_what_left_products_out_is_written_as_people_write_it() -> None:
    counts = {"capacity: 20000 mah": 7, "edition: 2024 film": 2, "exclusion: leather": 1}
    words = printed(Ranking(), Snapshot(ranked=(Ranked(filtered=counts),)))
    assert "capacity: 20,000 mAh 7" in words and "edition: 2024 film 2" in words
