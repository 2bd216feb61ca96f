"""Invents shoppers with shared tastes and lets them review what their kind of person buys.

A circle is a group with one taste: the shelves that it buys from, the brands that it likes or not, and a few
favourites that most of its members own. People of one circle therefore share products and agree on stars,
which is what collaborative filtering needs to find.
"""

from __future__ import annotations

import datetime
import random

import shelves

FIRST_DAY = datetime.date(2024, 3, 1)
DAYS = 900
FAVOURITES = 46


def reviews(stock: dict[str, list[dict]]) -> list[dict]:
    words = shelves.load("review_words.toml")
    circles = shelves.load("shoppers.toml")
    found, taken = [], set()
    for catalogue, rows in stock.items():
        quality = {r["id"]: (r["rating"] or 4.2) for r in rows}
        for circle in circles[catalogue]["circle"]:
            wanted = _favourites(circle, rows)
            for n in range(circle["people"]):
                rng = shelves.dice("shopper", catalogue, circle["name"], n)
                name = _name(circles[catalogue], taken, rng)
                mood = rng.gauss(0, 0.25)
                for row in _basket(wanted, rows, rng):
                    found.append(_review(name, row, catalogue, circle, quality[row["id"]] + mood, words, rng))
    return sorted(found, key=lambda r: (r["date"], r["user"], r["product_id"]))


def _name(shop: dict, taken: set[str], rng: random.Random) -> str:
    while True:
        first, last = rng.choice(shop["first_names"]), rng.choice(shop["last_names"])
        name = rng.choice(
            [
                f"{first} {last[0]}.",
                f"{first} {last}",
                f"{first.lower()}{rng.randrange(2, 99)}",
                f"{first}_{last[0].lower()}{rng.randrange(1, 9)}",
            ]
        )
        if name not in taken:
            taken.add(name)
            return name


def _shelf(row: dict) -> str:
    return " > ".join(row["categories"]) + " | " + row["title"]


def _favourites(circle: dict, rows: list[dict]) -> list[tuple[dict, float]]:
    """The circle's products with weights: liked brands first, a long tail after."""
    rng = shelves.dice("circle", circle["name"])
    liked, shunned = set(circle.get("likes", [])), set(circle.get("dislikes", []))
    weighed = []
    for row in rows:
        pull = max((w for shelf, w in circle["shelves"].items() if shelf in _shelf(row)), default=0.0)
        if not pull or (row["price"] or 0) > circle.get("ceiling", 10**9):
            continue
        pull *= 2.5 if row["brand"] in liked else 0.5 if row["brand"] in shunned else 1.0
        if circle.get("skin"):
            types = set(row.get("skin_types", []))
            pull *= 2.0 if types & {circle["skin"], "all"} else 0.5
        weighed.append((row, pull * rng.lognormvariate(0, 0.8)))
    weighed.sort(key=lambda pair: (-pair[1], pair[0]["id"]))
    return [(row, weight / (place + 3)) for place, (row, weight) in enumerate(weighed[:FAVOURITES])]


def _basket(wanted: list[tuple[dict, float]], rows: list[dict], rng: random.Random) -> list[dict]:
    size = min(len(wanted), max(4, round(rng.lognormvariate(2.55, 0.38))))
    basket: dict[str, dict] = {}
    while len(basket) < size:
        # One purchase in twelve has nothing to do with the circle.
        row = (
            rng.choice(rows)
            if rng.random() < 0.08
            else rng.choices([r for r, _ in wanted], [w for _, w in wanted])[0]
        )
        basket[row["id"]] = row
    return list(basket.values())


def _review(
    name: str, row: dict, catalogue: str, circle: dict, quality: float, words: dict, rng: random.Random
) -> dict:
    lean = (
        0.55
        if row["brand"] in circle.get("likes", [])
        else -1.3
        if row["brand"] in circle.get("dislikes", [])
        else 0.05
    )
    stars = min(5, max(1, round(quality + lean + rng.gauss(0, 0.62))))
    if rng.random() < 0.025:
        stars = rng.choice([1, 2])
    day = FIRST_DAY + datetime.timedelta(days=rng.randrange(DAYS))
    title, text = _words(row, catalogue, stars, words, rng)
    return {
        "user": name,
        "product_id": row["id"],
        "catalogue": catalogue,
        "stars": stars,
        "date": day.isoformat(),
        "title": title,
        "text": text,
    }


def _words(row: dict, catalogue: str, stars: int, words: dict, rng: random.Random) -> tuple[str, str]:
    mood = "good" if stars >= 4 else "middling" if stars == 3 else "bad"
    plain = words[catalogue]["any"]
    shelf = " > ".join(row["categories"]) + " >"
    pools = [p for p in words[catalogue]["topic"] if any(s in shelf for s in p["shelves"])]
    # The last topic named is the narrowest one.
    about = [line for p in pools[-1:] for line in p[mood]] or plain[mood]
    short = rng.choice(plain[mood])
    roll = rng.random()
    if catalogue == "naija":
        text = (
            short
            if roll < 0.22
            else rng.choice(about)
            if roll < 0.62
            else _two(rng.choice(about), rng.choice(plain["tail_" + mood]))
        )
    else:
        text = (
            rng.choice(about)
            if roll < 0.4
            else _two(rng.choice(about), rng.choice(plain["tail_" + mood]))
            if roll < 0.8
            else _two(*rng.sample(about, 2))
            if len(about) > 1
            else short
        )
    if catalogue == "naija":
        # Phones write without capitals and full stops more often than not.
        style = rng.random()
        text = text.lower() if style < 0.14 else text.rstrip(".") if style < 0.7 else text
    return rng.choice(plain["title_" + mood]), text


def _two(first: str, second: str) -> str:
    return first.rstrip(".") + ". " + second[:1].upper() + second[1:]
