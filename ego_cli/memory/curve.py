"""How both forgetting policies behave over time and use, as a table and as a plot in text."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from ego_cli.memory.entry import DECLARED, HIGH, ME, SEMANTIC, Entry
from ego_cli.memory.forgetting import POLICIES, STABILITY_DAYS

DAYS = 180
USES = (0, 1, 3, 10)
USED_EVERY_DAYS = 7.0  # spacing of the uses before the curve begins
IMPORTANCE = 0.5
TABLE_DAYS = (0, 1, 3, 7, 14, 21, 30, 60, 90, 120, 180)
_HEIGHT, _WIDTH = 12, 61
_MARKS = "013X"


@dataclass(frozen=True, slots=True)
class Curve:
    """Retention of one kind of memory under one policy, ``days[i]`` days after the last of ``uses`` uses."""

    policy: str
    kind: str
    uses: int
    days: tuple[int, ...]
    retention: tuple[float, ...]


def curves(days: int = DAYS) -> list[Curve]:
    """All curves: each policy, each class of memory (ego-v1 knows none: once), each number of uses."""
    made = []
    for name, policy in POLICIES.items():
        for kind in STABILITY_DAYS if name == "shop-v2" else ("any",):
            for uses in USES:
                entry = _row(STABILITY_DAYS.get(kind, 1.0))
                now = entry.created
                for _ in range(uses):
                    now += timedelta(days=USED_EVERY_DAYS)
                    entry = policy.reinforced(entry, now)
                values = tuple(policy.retention(entry, now + timedelta(days=day)) for day in range(days + 1))
                made.append(Curve(name, kind, uses, tuple(range(days + 1)), values))
    return made


def table_rows(found: list[Curve]) -> list[dict[str, object]]:
    """One row a curve, one column a day."""
    return [
        {"policy": c.policy, "kind": c.kind, "uses": c.uses}
        | {f"{day} d": f"{c.retention[day]:.2f}" for day in TABLE_DAYS if day < len(c.retention)}
        for c in found
    ]


def plot(found: list[Curve], policy: str, kind: str) -> str:
    """The curves of one policy and kind, days across and retention up; a line's mark tells its number of uses."""
    chosen = [c for c in found if c.policy == policy and c.kind == kind]
    last = chosen[0].days[-1]
    grid = [[" "] * _WIDTH for _ in range(_HEIGHT + 1)]
    for mark, curve in zip(_MARKS, chosen, strict=False):
        for x in range(_WIDTH):
            value = curve.retention[round(x * last / (_WIDTH - 1))]
            grid[_HEIGHT - round(min(1.0, value) * _HEIGHT)][x] = mark
    lines = [
        f"{policy}, {kind}: "
        + ", ".join(f"{m} = {c.uses} uses" for m, c in zip(_MARKS, chosen, strict=False))
    ]
    for i, row in enumerate(grid):
        label = f"{1 - i / _HEIGHT:4.2f}" if i % 3 == 0 else "    "
        lines.append(f"{label} |{''.join(row)}".rstrip())
    lines.append("     +" + "-" * _WIDTH)
    lines.append(f"      0{'days':^{_WIDTH - 4}}{last}")
    return "\n".join(lines)


def _row(stability: float) -> Entry:
    then = datetime(2026, 1, 1, tzinfo=UTC)
    return Entry(
        id=0, tier=SEMANTIC, kind="fact", subject=ME, predicate="", object="", text="", polarity=0, words="", turn=None,
        session="", source=DECLARED, confidence=HIGH, importance=IMPORTANCE,
        stability=stability, created=then, confirmed=then, used=None, valid_from=then,
        valid_to=None,
    )  # fmt: skip
