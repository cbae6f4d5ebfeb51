"""Compiles the Java classes of the engine for a wheel; `make wheel` calls it."""

from __future__ import annotations

import typer

from api.bootstrap.settings import Settings
from api.bootstrap.wiring.preparations import compile_classes


def main() -> None:
    """Compiles against the versions that this release pins, whatever the settings of this machine are.

    Raises:
        CannotStart: a jar cannot be fetched, compiled or stored.
    """
    typer.echo(compile_classes(Settings(), is_for_wheel=True))


if __name__ == "__main__":
    main()
