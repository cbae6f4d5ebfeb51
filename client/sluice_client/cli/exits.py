"""The exit code of each outcome. docs/how-to/command-line.md has them."""

from __future__ import annotations

from enum import IntEnum

from sluice_client.cli.source import InSource
from sluice_client.errors import (
    ConnectionFailed,
    DataNotSupported,
    NotAllowed,
    NotAuthenticated,
    TooBusy,
    Unavailable,
    UnexpectedAnswer,
)


class ExitCode(IntEnum):
    """How a command ended."""

    FINE = 0
    FAILED = 1
    """The query or the ingest failed, or another answer of the gateway is an error."""
    WRONG_USAGE = 2
    NOT_ALLOWED = 3
    """The gateway does not accept the credentials, or the caller may not do this."""
    NOT_REACHED = 4
    """There is no gateway at the address, or it is busy or not ready."""
    INTERRUPTED = 130


class WrongUsage(Exception):
    """The arguments, or a file that they name, cannot be used."""


class Failed(Exception):
    """The command did not succeed, for a reason that its message says."""


def exit_code(error: BaseException) -> ExitCode:
    """Returns the exit code for an exception.

    >>> exit_code(WrongUsage()), exit_code(KeyboardInterrupt())
    (<ExitCode.WRONG_USAGE: 2>, <ExitCode.INTERRUPTED: 130>)
    """
    match error:
        case InSource():
            return exit_code(error.error)
        case KeyboardInterrupt():
            return ExitCode.INTERRUPTED
        case WrongUsage() | DataNotSupported():
            return ExitCode.WRONG_USAGE
        case NotAuthenticated() | NotAllowed():
            return ExitCode.NOT_ALLOWED
        case ConnectionFailed() | TooBusy() | Unavailable():
            return ExitCode.NOT_REACHED
        case UnexpectedAnswer() if type(error) is UnexpectedAnswer:
            # A proxy, another server, or an answer that is damaged.
            return ExitCode.NOT_REACHED
        case _:
            return ExitCode.FAILED
