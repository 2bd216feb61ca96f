"""The cache: what it is keyed by, how it ends, and that forgetting leaves nothing of it."""

from __future__ import annotations

import stat
from dataclasses import replace

import pytest
from asking import ASK

from ego_cli.llm.cache import DAY_S, Cache, Kept, cache_file, clear_cache
from ego_cli.settings import Provider

LOCAL = Provider(name="local", base_url="http://127.0.0.1:1/v1", model="small")
HELLO = Kept("hello", 4, 1, 0.001)


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def test_the_same_request_finds_its_answer() -> None:
    cache = Cache("ada")
    cache.put(LOCAL, ASK, HELLO)
    assert Cache("ada").get(LOCAL, ASK) == HELLO


@pytest.mark.parametrize(
    ("provider", "asked"),
    [
        (replace(LOCAL, name="other"), ASK),
        (replace(LOCAL, model="big"), ASK),
        (LOCAL, replace(ASK, version=2)),
        (LOCAL, replace(ASK, messages=(("user", "say goodbye"),))),
    ],
)
def test_another_provider_model_version_or_input_does_not(provider: Provider, asked: object) -> None:
    cache = Cache("ada")
    cache.put(LOCAL, ASK, HELLO)
    assert cache.get(provider, asked) is None  # type: ignore[arg-type]


def test_nobody_gets_what_was_said_to_somebody_else() -> None:
    Cache("ada").put(LOCAL, ASK, HELLO)
    assert Cache("bisi").get(LOCAL, ASK) is None


def test_an_answer_expires() -> None:
    clock = Clock()
    cache = Cache("ada", days=2, clock=clock)
    cache.put(LOCAL, ASK, HELLO)
    clock.now += 1.9 * DAY_S
    assert cache.get(LOCAL, ASK) == HELLO
    clock.now += 0.2 * DAY_S
    assert cache.get(LOCAL, ASK) is None


def test_above_its_size_the_longest_unused_answers_go_first() -> None:
    clock = Clock()
    cache = Cache("ada", megabytes=0.003, clock=clock)
    prompts = [replace(ASK, version=number) for number in range(5)]
    for asked in prompts:
        clock.now += 1
        cache.put(LOCAL, asked, Kept("x" * 600, 1, 1, 0.0))
        cache.get(LOCAL, prompts[0])
    left = [number for number, asked in enumerate(prompts) if cache.get(LOCAL, asked)]
    assert left == [0, 2, 3, 4]


def test_forgetting_deletes_every_byte_of_one_shopper_only() -> None:
    Cache("ada").put(LOCAL, ASK, Kept("loves teal", 1, 1, 0.0))
    Cache("bisi").put(LOCAL, ASK, HELLO)
    assert clear_cache("ada")
    assert not any(b"teal" in path.read_bytes() for path in cache_file("ada").parent.iterdir())
    assert Cache("bisi").get(LOCAL, ASK) == HELLO
    assert not clear_cache("ada")


def test_the_file_is_its_owners_alone_and_no_name_is_a_path() -> None:
    Cache("../../ada").put(LOCAL, ASK, HELLO)
    path = cache_file("../../ada")
    assert path.parent.name == "llm" and stat.S_IMODE(path.stat().st_mode) == 0o600
