"""The one table of slash commands, for every front end: what each is called, takes, means and does.

A command either stands for a sentence (``/why 2`` is "why number 2?") that goes through the pipe like any other, or
for an action of the front end (``/export``). Where it has both, a screen takes the action and line mode the sentence.
"""

from __future__ import annotations

from dataclasses import dataclass

from ego_cli.errors import MisuseError


@dataclass(frozen=True, slots=True)
class Command:
    """One slash command.

    ``arguments`` is how they are written in help ("N", "[N M…]", "WORDS"). ``sentence`` holds ``{numbers}`` or
    ``{words}`` for them. ``bare`` is the sentence without arguments. ``action`` names what a front end does itself.
    """

    name: str
    arguments: str
    help: str
    sentence: str = ""
    bare: str = ""
    action: str = ""
    aliases: tuple[str, ...] = ()

    @property
    def usage(self) -> str:
        """As one types it: ``/compare N M…``."""
        return f"/{self.name} {self.arguments}".rstrip()


COMMANDS: tuple[Command, ...] = (
    Command("why", "[N]", "why product N is shown, number by number", "why number {numbers}?", "why these?"),
    Command("details", "N", "everything stored about product N, and similar ones", action="details"),
    Command("compare", "N M…", "products side by side", "compare {numbers}", action="compare"),
    Command("more", "", "the next products", bare="show more"),
    Command("like", "N", "more like product N", "more like number {numbers}"),
    Command("undo", "", "take back the last change", bare="undo"),
    Command("restore", "WORDS", "bring back something erased", "keep the {words} after all"),
    Command("over", "", "start over", bare="start over"),
    Command("basket", "", "what you have chosen so far", bare="what's in my basket?"),
    Command("memory", "", "what ego remembers about you", bare="what do you know about me?", action="memory"),
    Command("remember", "WORDS", "keep something in memory", "remember that {words}"),
    Command("forget", "WORDS", "forget it for good", "forget that {words}"),
    Command("nudges", "", "things ego would like to ask or tell", action="nudges"),
    Command("quiz", "", "a short quiz about sizes, budget and avoidances", action="quiz"),
    Command(
        "catalog",
        "[NAME]",
        "browse the catalogue, or talk about another one",
        action="catalog",
        aliases=("catalogue",),
    ),
    Command("user", "[NAME]", "who is shopping, or talk as someone else", action="user"),
    Command("usage", "", "tokens, cost and time of this session", action="usage"),
    Command("export", "[FILE]", "write the conversation: .md to read, .jsonl to replay", action="export"),
    Command("copy", "", "copy the last reply", action="copy"),
    Command("demo", "[NAME]", "watch a scripted conversation, at reading speed; Esc stops it", action="demo"),
    Command("runs", "", "evaluation runs", action="runs"),
    Command("theme", "[NAME]", "change the colours", action="theme"),
    Command("settings", "", "settings and keys", action="settings", aliases=("keys",)),
    Command("help", "", "commands and keys", action="help", aliases=("?",)),
    Command("quit", "", "leave; the conversation is kept", action="quit", aliases=("exit", "q")),
)

_BY_NAME = {name: command for command in COMMANDS for name in (command.name, *command.aliases)}


@dataclass(frozen=True, slots=True)
class Call:
    """A command as typed. ``numbers`` are its numeric arguments, ``words`` the whole rest of the line."""

    command: Command
    words: str = ""
    numbers: tuple[int, ...] = ()

    @property
    def sentence(self) -> str:
        """What the shopper would have said, or "" when only the front end can carry it out."""
        if not self.words:
            return self.command.bare
        return self.command.sentence.format(
            words=self.words.removeprefix("that "),
            numbers=" and ".join(str(number) for number in self.numbers),
        )


def is_command(line: str) -> bool:
    """True when ``line`` is meant as a slash command, known or not; "/" followed by a digit or a space is talk."""
    text = line.strip()
    return len(text) > 1 and text[0] == "/" and (text[1].isalpha() or text[1] == "?") and "\n" not in text


def parse(line: str) -> Call:
    """Read a slash command.

    Raises ``MisuseError`` with one line for an unknown name (and the nearest known one) or for wrong arguments.
    """
    name, _, rest = line.strip().lstrip("/").partition(" ")
    words = rest.strip()
    command = _BY_NAME.get(name.lower())
    if command is None:
        import difflib  # only for a slip of the pen: the screen starts without it

        near = difflib.get_close_matches(name.lower(), _BY_NAME, n=1)
        raise MisuseError(
            f"there is no command /{name}", hint=f"did you mean /{near[0]}?" if near else "try /help"
        )
    wanted = command.arguments
    if not wanted and words:
        raise MisuseError(f"/{command.name} takes nothing after it")
    numbers: tuple[int, ...] = ()
    if wanted.strip("[]").startswith("N ") or wanted.strip("[]") == "N":
        numbers = _numbers(command, words)
        if len(numbers) < (2 if "M" in wanted else 1) and not (wanted.startswith("[") and not words):
            raise MisuseError(f"/{command.name} needs the number of a product", hint=command.usage)
    elif wanted and not wanted.startswith("[") and not words:
        raise MisuseError(f"/{command.name} needs words", hint=command.usage)
    return Call(command, words, numbers)


def _numbers(command: Command, words: str) -> tuple[int, ...]:
    parts = words.replace(",", " ").replace("#", " ").replace(" and ", " ").split()
    if not all(part.isascii() and part.isdigit() and 0 < int(part) < 1000 for part in parts):
        raise MisuseError(f"/{command.name} takes numbers of products", hint=command.usage)
    return tuple(int(part) for part in parts)


def is_name(word: str) -> bool:
    """True for the whole name of a command, or one of its other names."""
    return word.strip().lower() in _BY_NAME


def complete(line: str) -> tuple[Command, ...]:
    """The commands that ``line``, typed so far, can become; empty once a name is complete and arguments follow."""
    if not line.startswith("/") or " " in line or "\n" in line:
        return ()
    typed = line[1:].lower()
    return tuple(
        command
        for command in COMMANDS
        if any(name.startswith(typed) for name in (command.name, *command.aliases))
    )
