"""Shows what the scans of the demo's queries read of the total."""

from __future__ import annotations

from typing import Any

from rich.console import Console

LEVELS = {"partitions": "partitions", "manifests": "manifests", "dataFiles": "data files", "bytes": "bytes"}


def show_scans(console: Console, explanation: dict[str, Any]) -> None:
    """Prints a line for each level of each scan. For a table in memory, only its files are known."""
    for scan in explanation["scans"]:
        console.print(f"  {scan['table']}", highlight=False)
        for level, name in LEVELS.items():
            share = scan[level]
            if not share["total"]:
                continue
            console.print(f"    {name:11}{share['selected']:>12,} of {share['total']:,}", highlight=False)
        rows = scan["rows"]
        console.print(f"    {'rows':11}{rows['read']:>12,} of {rows['total']:,}", highlight=False)
