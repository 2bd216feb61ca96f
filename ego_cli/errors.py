"""One tree of errors and one set of exit codes. Standard library only: everything may import this."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What the process tells its caller."""

    DONE = 0
    FAILED = 1
    MISUSE = 2
    NOTHING_FOUND = 3
    SERVICE_AWAY = 4
    INTERRUPTED = 130


class EgoError(Exception):
    """Something a person can understand and act on: one line that says what is wrong and what to do."""

    exit_code: ExitCode = ExitCode.FAILED

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class MisuseError(EgoError):
    """The command was called in a way that cannot be carried out."""

    exit_code = ExitCode.MISUSE


class NotFoundError(EgoError):
    """The thing asked for does not exist."""

    exit_code = ExitCode.NOTHING_FOUND


class CatalogueError(EgoError):
    """A product file or a stored catalogue cannot be used."""


class MemoryStoreError(EgoError):
    """A memory file cannot be read or written."""


class DamagedMemoryError(MemoryStoreError):
    """A memory file holds pages that cannot be read, or is no such file."""


class ServiceAwayError(EgoError):
    """A needed outside service (a model, a server) does not answer."""

    exit_code = ExitCode.SERVICE_AWAY
