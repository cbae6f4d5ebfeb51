"""`sluice check`: finds what would keep a gateway with these settings from running."""

from __future__ import annotations

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from api.bootstrap.settings_loading import load_settings
from api.cli.part_checks import Finding, State
from api.cli.wiring_checks import findings

_MARKS = {
    State.OK: "[green]ok[/]",
    State.WARNING: "[yellow]warns[/]",
    State.FAILED: "[red]fails[/]",
    State.SKIPPED: "skipped",
}


def check() -> None:
    """Tries each part and prints what it found; exits with status 1 if anything fails.

    Raises:
        CannotStart: the settings are not valid, so that no part can be tried.
    """
    console = Console(stderr=True)
    settings = load_settings()
    table = Table("part", "", "what was found", box=None, pad_edge=False)
    found: list[Finding] = []
    with console.status("Checking the parts …"):
        for finding in findings(settings):
            found.append(finding)
            table.add_row(finding.part, _MARKS[finding.state], Text(finding.text))
    console.print(table)
    faults = sum(finding.state is State.FAILED for finding in found)
    if faults:
        console.print(f"sluice: {faults} of {len(found)} parts prevent the gateway from working.")
        raise typer.Exit(1)
    console.print("The gateway can start.")
