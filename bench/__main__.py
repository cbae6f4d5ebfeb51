"""`python -m bench [NAME …]`: takes the named measures, or all; `report` only writes the page."""

from __future__ import annotations

import signal
import sys
import time

from rich.console import Console
from rich.table import Table

from bench.lakehouse import open_lake
from bench.measurement import Measurement, write
from bench.measures import MEASURES, save_picture
from bench.page import write_page


def main(names: list[str]) -> int:
    """Takes the measures, or all that need nothing more; returns the exit code of the process."""
    console = Console()
    unknown = [name for name in names if name not in {*MEASURES, "report"}]
    if unknown:
        console.print(
            f"There is no measure {', '.join(unknown)}; there are {', '.join(MEASURES)}, and report."
        )
        return 2
    if names != ["report"]:
        # As an exception, so that every started gateway is stopped.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        default = [name for name, measure in MEASURES.items() if not measure.is_by_name_only]
        _take([name for name in names if name != "report"] or default, console)
    write_page()
    return 0


def _take(names: list[str], console: Console) -> None:
    with open_lake() as lake:
        for name in names:
            MEASURES[name].prepare(lake)
            started = time.monotonic()
            with console.status(f"{name} …"):
                measurement = MEASURES[name].measure(lake)
            write(name, measurement)
            save_picture(name, measurement)
            _show(name, measurement, time.monotonic() - started, console)


def _show(name: str, measurement: Measurement, took_s: float, console: Console) -> None:
    table = Table(title=f"{name}: {MEASURES[name].title} ({took_s:.0f} s)", title_justify="left")
    table.add_column("figure")
    table.add_column("median (min-max)", justify="right")
    table.add_column("target")
    for row in measurement.rows:
        style = "red" if row.is_met is False else None
        table.add_row(row.label, row.text, row.verdict, style=style)
    console.print(table)
    for remark in measurement.remarks:
        console.print(remark)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
