"""What a text says is not there."""

import pytest

from ego_cli.catalog.denials import told

DENIED = {
    "Fragrance-free lotion": "fragrance",
    "paraben and sulfate free": "paraben sulfate",
    "alcohol, fragrance & dye-free toner": "alcohol fragrance dye",
    "Free from parabens, sulfates and silicones, made with oats": "parabens sulfates silicones",
    "without latex, fur or wool": "latex fur wool",
    "No zips or buttons": "zips buttons",
    "Non-greasy": "greasy",
    "non stick pan": "stick",
    "does not contain alcohol or perfume": "alcohol perfume",
    "It's not greasy": "greasy",
    "zero sugar, full taste": "sugar",
    "wireless mouse": "wire",
    "sleeveless": "sleeve",
    "batteries not included": "batteries",
    "contains no parabens": "parabens",
}
AFFIRMED = [
    "contains fragrance",
    "may contain traces of nuts",
    "not only black",
    "free delivery",
    "No. 1 choice",
    "stainless steel",
    "no 5 scent",
]


@pytest.mark.parametrize("text", DENIED)
def test_a_denied_thing_is_denied(text: str) -> None:
    denied = told(text).denied
    assert all(word in denied for word in DENIED[text].split())


@pytest.mark.parametrize("text", DENIED)
def test_a_denied_thing_is_not_affirmed(text: str) -> None:
    affirmed = told(text).affirmed.split()
    assert not set(DENIED[text].split()) & set(affirmed)


@pytest.mark.parametrize("text", AFFIRMED)
def test_what_only_looks_like_a_denial_is_none(text: str) -> None:
    assert told(text).denied == ""


def test_a_denial_ends_with_its_clause() -> None:
    assert "canvas" in told("no zip, black canvas bag").affirmed
    assert "oats" in told("free from parabens and made with oats").affirmed
    assert "nuts" in told("no added sugar; contains nuts").affirmed


def test_a_long_text_is_read_in_time_that_grows_with_its_length_only() -> None:
    assert told("free of " + "a b c, " * 3000).denied
