"""What the assistant knows about a shopper, kept so that it can be trusted: with its source, for as long as it holds,
explained when it is used, and gone when she says so.

    her words ─ extract ─ store ─ recall / profile ─ a turn
                            │
              consolidate ──┤── forgetting (how rows fade), forget (for good)

memory.py       Memory, which everybody else calls; entry.py: what one memory is
extract.py      words -> facts, by the rules of data/memory_rules.toml (grammar.py); things.py: sizes, money, objects
events.py       what happened -> rows; ingest.py: events from files, and the quiz
store.py        one SQLite file per shopper; layout.py: where it lies and its tables
recall.py       what comes back for a question, packed; index.py finds it; profile.py: what bears on a request
forgetting.py   how memories fade (curve.py shows it); forget.py: forgetting for good; undoing.py: a turn taken back
consolidate.py  merging, inferring, the summary, the background thread; nudges.py: things worth saying unasked
transfer.py     out and in; schema.py: AgentMemory version 2
times.py, tokens.py, vectors.py   days in words, words as search terms, sentence vectors
"""
