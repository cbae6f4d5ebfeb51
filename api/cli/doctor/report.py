"""The report of findings, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from rich.table import Table
from rich.text import Text

from api.cli.part_checks import Finding, State

FORMAT = 1
_STYLES = {State.OK: "green", State.WARNING: "yellow", State.FAILED: "red", State.SKIPPED: "dim"}


def worst_of(findings: Sequence[Finding]) -> State:
    """Returns FAILED if any check failed, else WARNING if any warns, else OK; skipped ones do not count."""
    states = {finding.state for finding in findings}
    return next((state for state in (State.FAILED, State.WARNING) if state in states), State.OK)


def as_table(findings: Sequence[Finding]) -> Table:
    """Returns a table with a line for each part."""
    table = Table("part", "state", "ms", "what was found", "what to do", box=None, pad_edge=False)
    table.columns[2].justify = "right"
    for column in table.columns[3:]:
        # A path that is cut off would be useless.
        column.overflow = "fold"
    for finding in findings:
        state = Text(finding.state, style=_STYLES[finding.state])
        table.add_row(
            Text(finding.part), state, str(finding.elapsed_ms), Text(finding.text), Text(finding.cure)
        )
    return table


def as_document(findings: Sequence[Finding]) -> dict[str, Any]:
    """Returns plain JSON values. Fields may be added; a field that changes its meaning raises `version`."""
    return {
        "version": FORMAT,
        "sluice": version("sluice-gateway"),
        "state": worst_of(findings),
        "counts": {state.value: sum(finding.state is state for finding in findings) for state in State},
        "checks": [
            {
                "part": finding.part,
                "state": finding.state,
                "detail": finding.text,
                "cure": finding.cure or None,
                "elapsedMs": finding.elapsed_ms,
            }
            for finding in findings
        ],
    }
