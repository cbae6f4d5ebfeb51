"""Errors of a command, as one sentence each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer


@contextmanager
def one_sentence_errors() -> Iterator[None]:
    """Prints an expected error in place of its traceback, and ends the command with a status other than 0."""
    from service.errors.gateway_error import GatewayError

    try:
        yield
    except GatewayError as error:
        typer.echo(f"sluice: {error.detail}", err=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        typer.echo("sluice: interrupted", err=True)
        raise typer.Exit(130) from None
