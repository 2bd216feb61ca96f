"""What one model call cost. Standard library only: the events of a turn carry it."""

from __future__ import annotations

import math
from dataclasses import dataclass

# English and JSON run at about four characters a token in the tokenisers of Qwen, Llama and GPT; three and a half keeps a
# budget on the safe side.
CHARACTERS_PER_TOKEN = 3.5


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call of a language model. ``estimated``: the server gave no usage, tokens were counted here.

    An answer from the cache has no tokens and no cost of its own; ``saved_tokens`` and ``saved_usd`` say what asking
    again would have taken.
    """

    purpose: str  # "read" | "rerank" | "consolidate" | "phrase" | "test"
    provider: str
    model: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = False
    cost_usd: float = 0.0
    latency_ms: float = 0.0
    retries: int = 0
    cached: bool = False
    error: str = ""
    fallback: bool = False  # made because an earlier provider of the chain had failed
    saved_tokens: int = 0
    saved_usd: float = 0.0

    @property
    def tokens(self) -> int:
        """Prompt and completion together."""
        return self.prompt_tokens + self.completion_tokens


def estimate_tokens(text: str) -> int:
    """About how many tokens a text is, for servers that do not say."""
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)
