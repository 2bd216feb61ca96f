"""Readings that need the whole message: unknown product types, answers to the last question, what is left unread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from ego_cli.conversation.understand.acts import Act, Hardness, Kind, Operator, Span, Target, Understanding
from ego_cli.conversation.understand.context import Context
from ego_cli.conversation.understand.framing import in_frame
from ego_cli.conversation.understand.held import with_held
from ego_cli.conversation.understand.items import Item
from ego_cli.conversation.understand.language import language
from ego_cli.conversation.understand.lexicon import Lexicon
from ego_cli.conversation.understand.tokens import READ_CHARACTERS, Token
from ego_cli.settings import load_toml

LONG_TALK = 12
"""Words from which a message has to ask for something to be a search."""
_TALK = frozenset([Kind.GREET, Kind.THANKS, Kind.OVERRIDE, Kind.FACT, Kind.YES, Kind.NO])
_IT = Target("last", words="it")
_CONTENT = frozenset(["word", "name", "attribute", "amount"])


def _reason_only(words: str) -> bool:
    """ "Gift", "birthday gift": why something is bought, not what."""
    reasons = _only_reasons()
    return words in reasons or (words.count(" ") == 1 and words.split()[1] in reasons)


@cache
def _only_reasons() -> frozenset[str]:
    return frozenset(load_toml("dialogue.toml")["padding"]["alone"])


def finish(
    text: str,
    read: str,
    tokens: Sequence[Token],
    acts: list[Act],
    explained: frozenset[int],
    items: Sequence[Item],
    lexicon: Lexicon,
    context: Context,
    corrected: tuple[tuple[str, str], ...],
    shortened: object,
) -> Understanding:
    """Everything together, in the order in which it was said."""
    del shortened
    acts = _answers(acts, tokens, read, context)
    acts = _unknown_type(acts, tokens, context, lexicon)
    acts = _without_stories(acts, tokens, context)
    acts = _without_idle_talk(acts, context)
    if not context.shown:
        acts = [_absolute(act) for act in acts]
    acts = _swapped(acts)
    acts = _one_item(sorted(acts, key=_place))
    acts = in_frame(with_held(acts, context), read, tokens, context, lexicon)
    if any(a.kind is Kind.CONSTRAIN and a.attribute == "colour" and a.polarity > 0 for a in acts):
        acts = [a for a in acts if not (a.kind is Kind.RELATIVE and a.value == "different")]
    if any(a.kind is Kind.RELATIVE and a.attribute == "price" for a in acts):
        acts = [
            a for a in acts if a.operator not in (Operator.LOWER_HALF, Operator.UPPER_HALF)
        ]  # cheaper than shown
    acts.sort(key=_place)
    content = [i for item in items if item.kind in _CONTENT for i in range(item.start, item.end)]
    unread = sum(1 for i in content if i not in explained) / len(content) if content else 0.0
    if not acts:
        acts = [Act(Kind.UNCLEAR, words=read.strip()[:200])]
    return Understanding(
        text=text,
        acts=tuple(acts),
        search_words=_search_words(acts),
        corrected=corrected,
        unread=round(unread, 3),
        shortened=len(text) > READ_CHARACTERS,
        language=_language(tokens),
    )


def _swapped(acts: list[Act]) -> list[Act]:
    """ "Swap the shoes for sandals": the new thing joins what else is looked for."""
    if not any(act.kind is Kind.DROP_WANT and act.note == "swap" for act in acts):
        return acts
    return [replace(act, note="also") if act.kind is Kind.NEED else act for act in acts]


def _place(act: Act) -> int:
    return act.span.start if act.span else 0


def _one_item(acts: list[Act]) -> list[Act]:
    """ "The second one, how much is it?": the question is about the item that was just pointed at."""
    out: list[Act] = []
    for act in acts:
        before = out[-1] if out else None
        pointed = before is not None and before.kind is Kind.REFER and before.target is not None
        if pointed and act.kind in (Kind.ASK, Kind.WHY, Kind.BASKET_ADD) and act.target == _IT:
            assert before is not None
            out[-1] = replace(act, target=before.target)
        else:
            out.append(act)
    return out


def _answers(acts: list[Act], tokens: Sequence[Token], read: str, context: Context) -> list[Act]:
    """A bare number after a question with options chooses one; bare words after a question answer it."""
    words = [
        t
        for t in tokens
        if t.kind != "mark" and t.word not in ("number", "option", "the", "please", "abeg", "no")
    ]
    if context.options and len(words) == 1:
        number = (
            words[0].number
            if words[0].kind == "number"
            else language().number_words.get(words[0].word) or language().ordinals.get(words[0].word)
        )
        if number is not None and number == int(number) and 1 <= number <= len(context.options):
            chosen = context.options[int(number) - 1]
            if (
                not any(option.lower() == words[0].word for option in context.options)
                or chosen.lower() == words[0].word
            ):
                act = Act(
                    Kind.CONSTRAIN,
                    attribute=context.asked or "feature",
                    operator=Operator.IS,
                    value=chosen,
                    words=read.strip(),
                    span=Span(0, len(read)),
                    note="option",
                )
                return [act]
    if context.options:
        said = read.strip().strip(".!").lower()
        for option in context.options:
            if option.lower() == said:
                return [
                    Act(
                        Kind.CONSTRAIN,
                        attribute=context.asked or "feature",
                        operator=Operator.IS,
                        value=option,
                        words=read.strip(),
                        span=Span(0, len(read)),
                        note="option",
                    )
                ]
    if context.asked and context.asked not in ("other", "feature", "price", "budget"):
        features = [
            a
            for a in acts
            if a.kind is Kind.CONSTRAIN
            and a.attribute == "feature"
            and a.polarity == 1
            and a.note != "verbatim"
        ]
        if (
            len(features) == 1
            and len(words) <= 4
            and all(a is features[0] or a.kind in _TALK for a in acts)
            and context.asked not in ("use_case", "style")
        ):
            return [replace(a, attribute=context.asked) if a is features[0] else a for a in acts]
    return [
        replace(a, attribute=context.asked or a.attribute)
        if a.kind is Kind.NO_PREFERENCE and a.attribute is None and context.asked
        else a
        for a in acts
    ]


def _unknown_type(acts: list[Act], tokens: Sequence[Token], context: Context, lexicon: Lexicon) -> list[Act]:
    """With no product named or in force, the first plain feature is what she looks for ("pressing iron")."""
    del lexicon
    if context.categories or context.asked:
        return acts
    if any(
        a.kind
        in (
            Kind.NEED,
            Kind.FACT,
            Kind.REMEMBER,
            Kind.FORGET,
            Kind.RECALL,
            Kind.ASK,
            Kind.SHOP_QUESTION,
            Kind.RELAX,
            Kind.BASKET_ADD,
            Kind.BASKET_REMOVE,
            Kind.DROP_WANT,
            Kind.FEEDBACK,
            Kind.RATE,
        )
        for a in acts
    ):
        return acts
    if any(a.attribute == "brand" and a.polarity > 0 for a in acts):
        return acts  # "Zuri Pro": a model of the brand, not a type
    for index, act in enumerate(acts):
        if (
            act.kind is Kind.CONSTRAIN
            and act.attribute == "feature"
            and act.polarity == 1
            and act.note == ""
            and not _reason_only(act.value or "")
            and act.operator is Operator.IS
            and len((act.value or "").split()) <= 4
        ):
            acts = list(acts)
            acts[index] = replace(
                act,
                kind=Kind.NEED,
                attribute=None,
                operator=None,
                group=0,
                confidence=0.5,
                hardness=Hardness.MUST,
            )
            return [
                replace(a, group=0)
                if a.kind is Kind.CONSTRAIN and a.group is None and a.attribute != "price"
                else a
                for a in acts
            ]
    return acts


def _without_stories(acts: list[Act], tokens: Sequence[Token], context: Context) -> list[Act]:
    """A long message that asks for nothing, names no price or size and answers no question is talk, not a search."""
    if context.categories or context.asked or context.shown or len(tokens) < LONG_TALK:
        return acts
    words = [t.word for t in tokens]
    asks = any(
        " ".join(words[i : i + n]) in language().grammar["asks"] for i in range(len(words)) for n in (1, 2, 3)
    )
    features = sum(1 for a in acts if a.kind is Kind.CONSTRAIN and a.attribute == "feature")
    sure = any(a.kind is Kind.NEED and a.confidence > 0.5 for a in acts)
    if sure and features * 4 <= len(tokens):
        return acts  # a thing and little else: a search in telegram style
    bounded = any(a.kind is Kind.CONSTRAIN and a.number is not None for a in acts)
    if asks or bounded or any(a.note == "verbatim" for a in acts):
        return acts
    return [
        a for a in acts if a.kind not in (Kind.NEED, Kind.CONSTRAIN, Kind.RELAX, Kind.SORT, Kind.RELATIVE)
    ]


def _without_idle_talk(acts: list[Act], context: Context) -> list[Act]:
    """Greetings and bare "ok" beside real acts say nothing more; "no" beside an act only where it was asked for."""
    real = [a for a in acts if a.kind not in (Kind.GREET, Kind.YES, Kind.THANKS)]
    if not real or len(real) == len(acts):
        return acts
    return [a for a in acts if a.kind not in (Kind.GREET,) and not (a.kind is Kind.YES and not context.asked)]


def _absolute(act: Act) -> Act:
    """A comparative with nothing to compare with: "a better camera" is a wish for a good one, "cheaper" for a cheap one."""
    if act.kind is not Kind.RELATIVE or act.value == "different":
        return act
    if act.attribute == "price":
        half = Operator.LOWER_HALF if (act.number or 0) < 0 else Operator.UPPER_HALF
        return replace(act, kind=Kind.CONSTRAIN, operator=half, value=None, number=None, note="")
    return replace(act, kind=Kind.CONSTRAIN, attribute="feature", operator=Operator.IS, number=None, note="")


def _search_words(acts: Sequence[Act]) -> str:
    """The message with the conversation taken out: product, values and features that are wanted."""
    words: list[str] = []
    for act in acts:
        if act.polarity < 0 or act.kind not in (Kind.NEED, Kind.CONSTRAIN):
            continue
        if act.attribute in ("price", "rating", "reviews"):
            continue
        if act.number is not None and act.kind is Kind.CONSTRAIN:
            words.append(act.words)
            continue
        words.extend(filter(None, (act.value, *act.values)))
    seen: dict[str, None] = dict.fromkeys(word for phrase in words for word in phrase.split())
    return " ".join(seen)


def _language(tokens: Sequence[Token]) -> str:
    """ "pcm", "mixed" or "en", by the share of words that only Pidgin has."""
    marks = language().pidgin_marks
    words = [t.word for t in tokens if t.kind == "word"]
    pidgin = sum(1 for w in words if w in marks)
    if not pidgin or (pidgin == 1 and words and words[0] in ("am", "pass", "reach", "fit")):
        return "en"
    if pidgin == 1 and not {
        "abeg",
        "wey",
        "dey",
        "una",
        "wetin",
        "oga",
        "wahala",
        "comot",
        "biko",
        "na",
    } & set(words):
        return "en"
    return "pcm" if pidgin / max(1, len(words)) >= 0.2 else "mixed"
