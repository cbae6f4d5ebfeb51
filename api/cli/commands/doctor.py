"""`sluice doctor`: why does it not work here?"""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from types import FrameType

import orjson
import typer
from rich.console import Console

from api.bootstrap.logs import configure_logging
from api.bootstrap.settings import LogFormat, LogLevel, Settings
from api.bootstrap.settings_loading import load_settings
from api.bootstrap.shown_settings import secrets_of, without_secrets
from api.cli.doctor.report import as_document, as_table, worst_of
from api.cli.part_checks import Finding, State, tried
from api.cli.wiring_doctor import doctor_checks, system_clock
from service.ports.clock import Clock

STOP_WITHIN_S = 60.0


def doctor(*, is_json: bool, has_engine: bool) -> None:
    """Tries every part for real, prints what it found, and exits with status 1 if anything failed."""
    configure_logging(LogLevel.ERROR, LogFormat.CONSOLE)
    # Failures are findings already, and stopping the parts at the end causes no errors worth logging.
    logging.disable(logging.CRITICAL)
    progress = Console(stderr=True)
    with _terminated_in_order(), progress.status("Checking the parts …") as status:

        def begin(part: str) -> None:
            if progress.is_terminal:
                status.update(f"Checking {part} …")
            else:
                progress.print(f"{part} …", highlight=False, markup=False)

        findings = examine(load_settings, system_clock(), has_engine=has_engine, on_begin=begin)
    _print(findings, is_json=is_json)
    if worst_of(findings) is State.FAILED:
        raise typer.Exit(1)


def examine(
    load: Callable[[], Settings],
    clock: Clock,
    *,
    has_engine: bool,
    on_begin: Callable[[str], None] = lambda _: None,
) -> list[Finding]:
    """Returns what was found of each part, without secrets. All that was started for it is stopped again."""
    loaded: list[Settings] = []

    def loading() -> Settings:
        loaded.append(load())
        return loaded[0]

    stack = ExitStack()
    try:
        found = list(tried(doctor_checks(loading, clock, stack, has_engine=has_engine), on_begin=on_begin))
    finally:
        _close(stack)
    secrets = secrets_of(loaded[0]) if loaded else ()
    return [
        replace(
            finding, text=without_secrets(finding.text, secrets), cure=without_secrets(finding.cure, secrets)
        )
        for finding in found
    ]


def _print(findings: Sequence[Finding], *, is_json: bool) -> None:
    if is_json:
        typer.echo(orjson.dumps(as_document(findings), option=orjson.OPT_INDENT_2).decode())
        return
    console = Console()
    console.print(as_table(findings))
    counts = (f"{sum(finding.state is state for finding in findings)} {state}" for state in State)
    console.print(f"sluice: {', '.join(counts)}.", highlight=False)


def _close(stack: ExitStack) -> None:
    # In a thread: a part that hangs may also hang when it is stopped, and the report must be printed.
    closing = threading.Thread(target=stack.close, name="doctor-stop", daemon=True)
    closing.start()
    closing.join(STOP_WITHIN_S)


@contextmanager
def _terminated_in_order() -> Iterator[None]:
    """Lets SIGTERM end the command as Ctrl-C does, so that all that was started is stopped."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
