"""`python -m tests.cluster`: starts and checks everything, prints the findings, and stops everything.

With SLUICE_CLUSTER_KEEP=1, all of it keeps running until Ctrl-C, so that it can be tried out.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table

from tests.cluster.answers import answers, callers_by_gateway
from tests.cluster.findings import Finding
from tests.cluster.footprints import footprints
from tests.cluster.ingests import ingests
from tests.cluster.place import Place, a_place, step
from tests.cluster.secrecy import secrecy
from tests.cluster.throughput import throughput

INTERRUPTED = 130


def main() -> int:
    """Returns the process's exit code, which is 0 if everything was right."""
    console = Console()
    signal.signal(signal.SIGINT, _interrupted)
    signal.signal(signal.SIGTERM, _interrupted)
    try:
        with a_place(console) as place:
            console.print(f"\nBoth gateways are behind {place.balancer.name}, {place.balancer.url}\n")
            found = _found(place, console)
            if os.environ.get("SLUICE_CLUSTER_KEEP"):
                _stay_up(place, console)
    except KeyboardInterrupt:
        console.print("All parts have ended.")
        return INTERRUPTED
    console.print("All parts have ended.")
    return 0 if all(finding.is_right is not False for finding in found) else 1


def _found(place: Place, console: Console) -> list[Finding]:
    """Runs the checks, and shows the findings so far even if a check fails with an error."""
    found: list[Finding] = []
    try:
        found.extend(_checked(place, console))
    finally:
        _show(found, console)
    return found


def _checked(place: Place, console: Console) -> Iterable[Finding]:
    with step(console, "who may use the cluster"):
        yield from secrecy(place)
    with step(console, "which caller has which gateway"):
        callers = callers_by_gateway(place)
    yield Finding("gateways that the balancer leads callers to", str(len(callers)), len(callers) == 2)
    with step(console, "answers") as say:
        for answer in answers(place, callers):
            say(answer.what)
            yield answer
    with step(console, "ingests"):
        yield from ingests(place, callers)
    yield from throughput(place, console)
    yield from footprints(place)


def _show(found: Iterable[Finding], console: Console) -> None:
    table = Table(title="A cluster against one process", title_justify="left")
    table.add_column("what")
    table.add_column("found")
    table.add_column("")
    for finding in found:
        word = "" if finding.is_right is None else "right" if finding.is_right else "WRONG"
        table.add_row(finding.what, finding.found, word, style="red" if finding.is_right is False else None)
    console.print(table)


def _stay_up(place: Place, console: Console) -> None:
    token = next(iter(place.tokens.values()))
    pages = [f"gateway-{number}  {gateway.url}" for number, gateway in enumerate(place.gateways, 1)]
    for line in (*pages, f"one process {place.alone.url}", f"files {place.folder}", f"token {token}"):
        console.print(line, highlight=False, soft_wrap=True)
    console.print("It runs until Ctrl-C.")
    threading.Event().wait()


def _interrupted(*_: object) -> None:
    # This happens only once, as the stop of all parts must not be interrupted.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
