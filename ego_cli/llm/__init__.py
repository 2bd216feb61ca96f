"""One door to any OpenAI-compatible model: optional, bounded, never trusted with facts.

    prompt ─ cache ─ budget ─ provider chain ─ text ─ parsing ─ proposals (which the rules check)

providers.py   the chain: presets, keys, who may be called
prompts.py     versioned prompts of data/prompts, and how strangers' words go into them
client.py      one request: deadline, retry, next provider, circuit breaker, streaming, budgets
parsing.py     JSON out of whatever a model says
cache.py       the same request is answered once
telemetry.py, ledger.py   tokens, cost, latency: of a call, of all calls
files.py       the SQLite files of cache and ledger
"""
