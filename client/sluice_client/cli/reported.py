"""Ends a command with its exit code, and says on standard error what went wrong."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

import typer


@contextmanager
def reported(*, is_json: bool) -> Iterator[None]:
    """Turns exceptions into a message and an exit code.

    A reader that goes away, as `head` does, is not an error: the command ends quietly.
    """
    try:
        yield
        if _has_output():
            sys.stdout.flush()
    except typer.Exit:
        raise
    except BrokenPipeError:
        _forget_output()
        raise typer.Exit(0) from None
    except KeyboardInterrupt as pressed:
        raise _ended(pressed, is_json) from None
    except Exception as error:  # noqa: BLE001 - the outermost edge
        raise _ended(error, is_json) from None


def _ended(error: BaseException, is_json: bool) -> typer.Exit:
    from sluice_client.cli.error_text import show_error
    from sluice_client.cli.exits import exit_code

    try:
        sys.stdout.flush()
    except (AttributeError, OSError, ValueError):
        # A full disk, a reader that went away, or no stream at all.
        _forget_output()
    show_error(error, is_json=is_json)
    return typer.Exit(exit_code(error).value)


def _forget_output() -> None:
    """Lets Python flush standard output at its end without another error."""
    with suppress(AttributeError, OSError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)


def _has_output() -> bool:
    # Python has None for a stream that was closed before its start.
    stream: TextIO | None = sys.stdout
    return stream is not None
