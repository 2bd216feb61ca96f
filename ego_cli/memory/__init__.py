"""What the assistant knows about a shopper, kept so that it can be trusted: with its source, for as long as it holds,
explained when it is used, and gone when she says so.

    her words ─ extract ─ store ─ recall / profile ─ a turn
                            │
              consolidate ──┤── forgetting (how rows fade), forget (for good)

entry.py     what one memory is
extract.py   words -> facts, by the rules of data/memory_rules.toml
store.py     one SQLite file per shopper
memory.py    Memory: what everybody else calls
recall.py    finding and packing; profile.py: what bears on a request
forgetting.py, forget.py, consolidate.py, nudges.py, schema.py (AgentMemory version 2)
times.py, tokens.py   days in words, words as search terms
"""
