"""From a shopper's sentence to acts: ``understand(text, lexicon, context)``.

No model, no state: one message goes through these passes in order, each a module of its own.

1. ``tokens``      the text as words, numbers and marks with offsets, spelled canonically; very long texts: head and tail
2. ``typos``       unknown words read as the nearest name of the catalogue
3. ``lexicon``     names by longest match: product types, brands, colours, materials, people
4. ``cues``        phrases that steer: want, avoid, no longer needed, under, or, ideally (English and Pidgin alike)
5. ``amounts``     what numbers are (``numbers``, ``money``, ``units``): prices, measures, sizes, ratings, counts
6. ``verbatim``    needs word for word behind "what matters is:"
7. ``everyday``    everyday wordings of product properties: "no sweat staying on you"
8. ``patterns``    clauses that do something else: refer, compare, basket, undo, thanks (``references``, ``questions``)
9. ``relative``    wishes against what was shown, and complaints
10. ``statements``  facts about the shopper, marked
11. ``scopes``     negation: what is wanted, avoided, given up or welcome again, and where that ends
12. ``assembly``   constraints bound to the noun beside them; what no list knows stays as a feature in her words
13. ``finish``     readings that need the whole message: unknown product types, answers to a question, what was not read

Only the message itself is read here: texts of products and reviews never come this way.
"""

from __future__ import annotations

from ego_cli.conversation.understand.acts import Act, Understanding
from ego_cli.conversation.understand.amounts import read_amounts
from ego_cli.conversation.understand.assembly import assemble
from ego_cli.conversation.understand.context import Context
from ego_cli.conversation.understand.cues import find_cues
from ego_cli.conversation.understand.everyday import find_everyday
from ego_cli.conversation.understand.finish import finish
from ego_cli.conversation.understand.items import AMOUNT_CLASSES, make_items
from ego_cli.conversation.understand.lexicon import Lexicon
from ego_cli.conversation.understand.patterns import find_patterns
from ego_cli.conversation.understand.relative import find_relative
from ego_cli.conversation.understand.scopes import scope
from ego_cli.conversation.understand.sheet import Sheet
from ego_cli.conversation.understand.statements import find_statements
from ego_cli.conversation.understand.tokens import shorten, tokenise
from ego_cli.conversation.understand.typos import correct
from ego_cli.conversation.understand.verbatim import find_verbatim

__all__ = ["Act", "Context", "Lexicon", "Understanding", "understand"]

_NO_CONTEXT = Context()


def understand(text: str, lexicon: Lexicon, context: Context = _NO_CONTEXT) -> Understanding:
    """Read one message of a shopper.

    ``text``: as typed, any length. ``lexicon``: the catalogue's names. ``context``: what the dialogue knows. Never raises
    on any text; what cannot be read comes back as an act ``UNCLEAR``.
    """
    read, shortened = shorten(text)
    tokens, corrected = correct(tokenise(read), lexicon, read)
    names = lexicon.find(tokens)
    cues = find_cues(tokens)
    amounts = read_amounts(read, tokens, cues, names, context)
    denied = {amount.denied for amount in amounts}
    cues = tuple(cue for cue in cues if cue.start not in denied)
    word_for_word = find_verbatim(read, tokens, names, amounts, lexicon, looking=bool(context.categories))
    told = find_statements(read, tokens, word_for_word.used).plain  # "my skin is dry" is no wish
    everyday = find_everyday(read, tokens, names, cues, word_for_word.used | told, lexicon, context)
    said = find_patterns(read, tokens, names, amounts, context, word_for_word.used | everyday.used)
    counted = frozenset(i for a in amounts for i in range(a.start, a.end))
    steering = frozenset(
        i
        for cue in cues
        if cue.end - cue.start > 1 and cue.classes - AMOUNT_CLASSES
        for i in range(cue.start, cue.end)
    )
    compared = find_relative(read, tokens, names, said.used | counted | steering, context)
    used = said.used | compared.used
    statements = find_statements(read, tokens, used)
    plain = statements.plain
    items = make_items(tokens, cues, names, amounts, used | plain)
    sheet = Sheet(read, tokens, lexicon, context, taste=statements.taste)
    constraints = assemble(sheet, scope(tokens, items, bool(context.shown)))
    acts: list[Act] = [
        *everyday.acts,
        *said.acts,
        *compared.acts,
        *word_for_word.acts,
        *statements.facts,
        *constraints,
    ]
    explained = used | plain | frozenset(sheet.explained) | counted
    return finish(text, read, tokens, acts, explained, items, lexicon, context, corrected, shortened)
