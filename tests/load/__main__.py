"""`python -m tests.load LOCUST`: runs a gateway and locust's callers, and prints a table of the results.

SLUICE_LOAD_SECONDS sets the duration, SLUICE_LOAD_CALLERS the number of callers. The picture, the numbers and
their summary are written to `.sluice/load`.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType
from rich.console import Console
from rich.table import Table

from tests.integration.asking import ask
from tests.integration.embedded_catalog import embedded_catalog
from tests.integration.lakehouse import make, make_star
from tests.integration.running import REPOSITORY, RunningGateway
from tests.load.ledger import Ledger
from tests.load.memory import MemoryWatch, is_flat, thirds
from tests.load.summary import Summary, summary_of
from tests.polling import until

MINUTES = float(os.environ.get("SLUICE_LOAD_SECONDS", "1800")) / 60
CALLERS = int(os.environ.get("SLUICE_LOAD_CALLERS", "12"))
WARM_AFTER_MINUTES = 10
"""In a shorter run, memory still grows to its stable size."""

KEY_PARTS = 10
RESULTS = REPOSITORY / ".sluice" / "load"
USERS = Path(__file__).parent / "users.py"
HEAP = "1g"
MAINTENANCE = {
    "SLUICE_MAINTENANCE_INTERVAL_S": "120",
    "SLUICE_MAINTENANCE_OPERATIONS": '["compact", "expire"]',
    "SLUICE_MAINTENANCE_SNAPSHOT_AGE_H": "0",
    "SLUICE_MAINTENANCE_SNAPSHOTS_KEPT": "300",
    "SLUICE_MAINTENANCE_MIN_SNAPSHOT_AGE_H": "0",
}
"""Expires snapshots every two minutes, where an operator does so every day: otherwise the tables' metadata grows."""

SETTINGS = {"SLUICE_SPARK_MASTER": "local[2]", "SLUICE_SPARK_DRIVER_MEMORY": HEAP} | MAINTENANCE
EVENTS = Schema(NestedField(1, "id", LongType()), NestedField(2, "form", StringType()))
KEYED = Schema(NestedField(1, "id", LongType()), NestedField(2, "turn", LongType()))


@dataclass(frozen=True, slots=True)
class Outcome:
    """The results of the load."""

    requests: list[dict[str, str]]
    ledger: Ledger
    memory: MemoryWatch
    faults: list[str]

    @property
    def summary(self) -> Summary:
        """The results in figures."""
        return summary_of(CALLERS, self.requests, self.ledger, self.memory)


def main(locust: str) -> int:
    """Returns the process's exit code, which is 0 if everything was right."""
    console = Console()
    folder = Path(tempfile.mkdtemp(prefix="sluice-load-"))
    console.print(f"{CALLERS} callers for {MINUTES:g} minutes …")
    try:
        outcome = _taken(locust, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    _show(outcome, console)
    _save(outcome)
    console.print(f"The picture is {RESULTS / 'load.png'}.", highlight=False)
    return 1 if outcome.faults else 0


def _taken(locust: str, folder: Path) -> Outcome:
    gateway = RunningGateway.start(folder / "data", SETTINGS)
    try:
        with closing(embedded_catalog(gateway.data_dir)) as lake:
            _make_tables(lake)
            ledger_path = folder / "ledger.jsonl"
            ledger_path.touch()
            with MemoryWatch(gateway) as memory:
                code = _loaded(locust, gateway.url, folder, ledger_path)
            ledger = Ledger.read(ledger_path)
            requests = list(csv.DictReader((folder / "locust_stats.csv").read_text().splitlines()))
            faults = [*_failures(code, requests), *_lost(gateway, lake, ledger), *_grown(memory)]
        assert gateway.stop() == 0
    finally:
        if gateway.process.poll() is None:
            gateway.kill()
    return Outcome(requests, ledger, memory, faults)


def _make_tables(lake: SqlCatalog) -> None:
    make_star(lake)
    lake.create_namespace("load")
    make(lake, "load.events", EVENTS)
    make(lake, "load.keyed", KEYED)


def _loaded(locust: str, url: str, folder: Path, ledger: Path) -> int:
    how = ["--headless", "--only-summary", "--csv", str(folder / "locust"), "--stop-timeout", "90"]
    much = ["--users", str(CALLERS), "--spawn-rate", "4", "--run-time", f"{round(MINUTES * 60)}s"]
    environment = os.environ | {"LOAD_LEDGER": str(ledger)}
    with (folder / "locust.log").open("w") as log:
        command = [locust, "--locustfile", str(USERS), "--host", url, *how, *much]
        return subprocess.run(command, env=environment, stdout=log, stderr=log, check=False).returncode


def _failures(code: int, requests: list[dict[str, str]]) -> Iterator[str]:
    failed = [
        f"{request['Name']}: {request['Failure Count']}"
        for request in requests
        if request["Failure Count"] != "0"
    ]
    if failed or code != 0:
        yield f"answers that were wrong, or errors that are none of the refusals: {failed}, exit code {code}"


def _lost(gateway: RunningGateway, lake: SqlCatalog, ledger: Ledger) -> Iterator[str]:
    def numbers() -> list[int]:
        found: list[int] = lake.load_table("load.events").scan().to_arrow()["id"].to_pylist()
        return found

    until(lambda: ledger.accepted <= set(numbers()), 120)
    yield from ledger.faults(numbers(), list(_turns(gateway)))


def _turns(gateway: RunningGateway) -> Iterator[tuple[int, int]]:
    """Yields keys with their turns, in parts that each fit into the first chunk of an answer."""
    for part in range(KEY_PARTS):
        sql = f"SELECT id, turn FROM lake.load.keyed WHERE id % {KEY_PARTS} = {part}"
        answer = ask(gateway.client, sql)
        assert answer["result"]["nextChunkLink"] is None, "more keys than KEY_PARTS is made for"
        yield from ((key, turn) for key, turn in answer["result"]["rows"])


def _grown(memory: MemoryWatch) -> Iterator[str]:
    if MINUTES >= WARM_AFTER_MINUTES:
        for name in ("gateway", "JVM"):
            if not is_flat(memory.mib[name]):
                yield f"the memory of the {name} grows: {_thirds(memory, name)}"


def _thirds(memory: MemoryWatch, name: str) -> str:
    second, last = thirds(memory.mib[name])
    return f"{second:,.0f} MiB, then {last:,.0f}"


def _show(outcome: Outcome, console: Console) -> None:
    summary = outcome.summary
    table = Table(title=f"{CALLERS} callers for {MINUTES:g} minutes", title_justify="left")
    for name in ("request", "count", "refused", "wrong", "median, ms", "95 %, ms"):
        table.add_column(name, justify="left" if name == "request" else "right")
    for kind in summary.kinds:
        counts = (f"{count:,}" for count in (kind.count, kind.refused, kind.wrong))
        table.add_row(kind.name, *counts, f"{kind.p50_ms:,.0f}", f"{kind.p95_ms:,.0f}")
    console.print(table)
    parts = Table(title="Resident memory in MiB, and time of cores", title_justify="left")
    for name in ("part", "start", "5 min", "end", "an hour", "CPU, s", "cores"):
        parts.add_column(name, justify="left" if name == "part" else "right")
    for name, part in summary.parts.items():
        warm = "" if part.after_5_min_mib is None else f"{part.after_5_min_mib:,.0f}"
        memory = (f"{part.start_mib:,.0f}", warm, f"{part.end_mib:,.0f}", f"{part.mib_per_hour:+,.0f}")
        parts.add_row(name, *memory, f"{part.cpu_s:,.0f}", f"{part.cores:.2f}")
    console.print(parts)
    ledger = outcome.ledger
    console.print(
        f"acknowledged: {len(ledger.accepted):,} records, {len(ledger.accepted_turns):,} keys upserted"
    )
    console.print(f"refusals: {_counted(ledger.refusals)}")
    console.print(
        f"for docs/operations/sizing.md: {summary.as_row('mixture', HEAP)}", highlight=False, soft_wrap=True
    )
    for fault in outcome.faults:
        console.print(f"WRONG: {fault}", style="red")


def _counted(refusals: Mapping[str, int]) -> str:
    return ", ".join(f"{count} × {what}" for what, count in sorted(refusals.items())) or "none"


def _save(outcome: Outcome) -> None:
    RESULTS.mkdir(parents=True, exist_ok=True)
    memory = outcome.memory
    content = {
        "minutes": MINUTES,
        "callers": CALLERS,
        "requests": outcome.requests,
        "refusals": outcome.ledger.refusals,
        "faults": outcome.faults,
        "moments_s": memory.moments_s,
        "mib": memory.mib,
        "cpu_s": memory.cpu_s,
    }
    (RESULTS / "summary.json").write_text(json.dumps(outcome.summary.as_json(), indent=1))
    (RESULTS / "load.json").write_text(json.dumps(content, indent=1))
    figure = Figure(figsize=(8, 4))
    axes = figure.subplots()
    for name, values in memory.mib.items():
        axes.plot([moment / 60 for moment in memory.moments_s], values, label=name)
    axes.set(xlabel="minutes", ylabel="resident memory, MiB", title=f"{CALLERS} callers, mixed load")
    axes.set_ylim(bottom=0)
    axes.legend()
    figure.tight_layout()
    figure.savefig(RESULTS / "load.png", dpi=110)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
