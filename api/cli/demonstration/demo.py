"""The demo: starts a gateway of its own, and shows one query with what it read, and one ingest."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import orjson
from rich.console import Console
from rich.table import Table

from api.bootstrap.settings import Settings
from api.cli.demonstration.demo_ingest import show_ingest
from api.cli.demonstration.demo_scans import show_scans
from api.cli.demonstration.shown_steps import Steps, shown_steps
from api.cli.demonstration.start_progress import StartProgress
from service.errors.gateway_error import CannotStart
from service.model.filters.dynamic_filter import JoinType

LOOK_EVERY_S = 0.2
STOP_WITHIN_S = 60.0

QUESTION = {
    "sql": (
        "SELECT d_moy AS month, count(*) AS returns, sum(sr_return_amt) AS amount\n"
        "  FROM store_returns JOIN date_dim ON sr_returned_date_sk = d_date_sk\n"
        " WHERE d_year = :year\n"
        " GROUP BY d_moy ORDER BY d_moy"
    ),
    "parameters": {"year": 2000},
    "catalog": "lake",
    "schema": "tpcds",
}


def run_demo(settings: Settings, console: Console) -> None:
    """Starts the gateway on a free port, asks, shows the answers, and stops it again.

    Raises:
        CannotStart: the gateway did not start; its own sentence says why.
    """
    with _gateway(settings, console) as url, httpx.Client(base_url=url, timeout=120) as client:
        question = orjson.dumps(QUESTION, option=orjson.OPT_INDENT_2).decode().replace("\\n", "\n  ")
        console.print(f"\n[bold]POST {url}/query[/]", highlight=False)
        console.print(question, highlight=False, markup=False, soft_wrap=True)
        answers = [_ask(client) for _ in range(4)]
        first, best = answers[0], min(answers, key=lambda answer: answer[1])
        plain = min((_ask(client, enabled=False) for _ in range(3)), key=lambda timed: timed[1])
        _show_answer(console, first[0])
        console.print(
            f"[bold]{first[1]:.0f} ms[/] the first time, [bold]{best[1]:.0f} ms[/] once it is warm; "
            f"{plain[1]:.0f} ms without dynamic filtering (there and back over HTTP).\n",
            highlight=False,
        )
        console.print(
            f"[bold]GET {url}{best[0]['links']['explain']}[/]: which filters pruned the scans, and what"
            " was read",
            highlight=False,
        )
        explained = client.get(best[0]["links"]["explain"]).raise_for_status().json()
        _show_filters(console, explained)
        show_scans(console, explained)
        console.print("  without dynamic filtering", highlight=False)
        show_scans(console, client.get(plain[0]["links"]["explain"]).raise_for_status().json())
        show_ingest(client, console, settings.default_catalog)
    console.print(
        "\nThe gateway has stopped. [bold]make serve[/] leaves it running, with all 24 tables, "
        "on http://127.0.0.1:8080 (see /docs there). Then ask it in another shell:\n"
        '  .venv/bin/sluice query "SELECT d_year, count(*) FROM lake.tpcds.date_dim GROUP BY 1"',
        highlight=False,
    )


def _ask(client: httpx.Client, enabled: bool = True) -> tuple[dict[str, Any], float]:
    body = {**QUESTION, "waitTimeout": "50s", "dynamicFiltering": {"enabled": enabled}}
    started = time.perf_counter()
    response = client.post("/query", json=body)
    took_ms = (time.perf_counter() - started) * 1000
    if response.is_error or response.json()["status"]["state"] != "SUCCEEDED":
        raise CannotStart(f"The demo's query failed: {response.text}")
    return response.json(), took_ms


def _show_answer(console: Console, answer: dict[str, Any]) -> None:
    table = Table(title="Returns to stores in the year 2000", title_justify="left")
    for column in answer["manifest"]["columns"]:
        table.add_column(f"{column['name']} ({column['type']})", justify="right")
    for row in answer["result"]["rows"]:
        table.add_row(*(str(value) for value in row))
    console.print(table)


def _show_filters(console: Console, explanation: dict[str, Any]) -> None:
    for filter_ in (one for one in explanation["filters"] if one["joinType"] != JoinType.NONE):
        probe, build = filter_["probe"], filter_["build"]
        found = f"{filter_['reason']}, {filter_['source']}"
        console.print(
            f"  {probe['table']}.{probe['columns'][0]} in the {filter_['values']:,} keys of "
            f"{', '.join(build['tables'])} where {build['predicate']}: {found}",
            highlight=False,
            soft_wrap=True,
        )


@contextmanager
def _gateway(settings: Settings, console: Console) -> Iterator[str]:
    log = settings.data_dir / "logs" / "demo.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    where = {"SLUICE_PORT": "0", "SLUICE_HOST": "127.0.0.1"}
    # Only this process uses the gateway.
    alone = {"SLUICE_SHUTDOWN_DELAY_S": "0", "SLUICE_LISTEN_WHEN_READY": "false"}
    # The steps of the start are read from its log.
    environment = os.environ | where | alone | {"SLUICE_LOG_LEVEL": "INFO", "SLUICE_LOG_FORMAT": "json"}
    with log.open("wb") as lines:
        process = subprocess.Popen(
            [sys.executable, "-m", "api.cli", "serve"],
            stdout=subprocess.PIPE,
            stderr=lines,
            env=environment,
        )
        try:
            with shown_steps(console) as steps:
                url = _ready_url(process, log, steps)
            yield url
        finally:
            process.terminate()
            process.wait(STOP_WITHIN_S)


def _ready_url(process: subprocess.Popen[bytes], log: Path, steps: Steps) -> str:
    assert process.stdout is not None
    progress = StartProgress(process.pid, log)
    url = process.stdout.readline().decode().strip().rpartition(" ")[2]
    while process.poll() is None:
        if _is_ready(url):
            return url
        steps.say(progress.step())
        if progress.stands_still():
            raise CannotStart(f"{progress.step()} no longer makes progress; {log} shows how far it got.")
        time.sleep(LOOK_EVERY_S)
    raise CannotStart(_last_words(log))


def _is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz", timeout=5).is_success
    except httpx.TransportError:
        return False


def _last_words(log: Path) -> str:
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.startswith("sluice: ")]
    return lines[-1].removeprefix("sluice: ") if lines else f"The gateway did not start; {log} says why."
