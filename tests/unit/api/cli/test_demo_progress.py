"""The progress of a start or a load is shown, and a start that makes none is given up."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

from rich.console import Console

from api.bootstrap.wiring.preparations import Progress
from api.cli.demonstration.demo_progress import progress_bar
from api.cli.demonstration.shown_steps import shown_steps
from api.cli.demonstration.start_progress import FIRST_STEP, StartProgress
from service.adapters.demo_data.tpcds.loader import Step


def said(step: str) -> str:
    return json.dumps({"event": "starting", "step": step}) + "\n"


def test_the_step_is_the_last_one_that_the_log_names(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.touch()
    progress = StartProgress(os.getpid(), log)
    assert progress.step() == FIRST_STEP
    with log.open("a") as lines:
        lines.write(said("Starting PostgreSQL") + "no JSON\n" + said("Starting Spark")[:20])
        lines.flush()
        assert progress.step() == "Starting PostgreSQL"
        lines.write(said("Starting Spark")[20:] + json.dumps({"event": "other"}) + "\n")
        lines.flush()
        assert progress.step() == "Starting Spark"


def test_a_start_that_neither_writes_nor_computes_stands_still(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.touch()
    goes_on = StartProgress(os.getpid(), log, still_after_s=60)
    goes_on.step()
    assert not goes_on.stands_still()
    # No process has this id, so no CPU time is used.
    still = StartProgress(2**22 + 1, log, still_after_s=0)
    still.step()
    assert still.stands_still()


def test_without_a_terminal_steps_are_lines() -> None:
    output = io.StringIO()
    with shown_steps(Console(file=output, force_terminal=False)) as steps:
        for step in ("Starting PostgreSQL", "Starting PostgreSQL", "Starting Spark"):
            steps.say(step)
    assert output.getvalue().splitlines() == ["Starting PostgreSQL … 0 s", "Starting Spark … 0 s"]


def test_without_a_terminal_a_load_says_its_tables_rows_and_percent() -> None:
    output = io.StringIO()
    with progress_bar(Console(file=output, force_terminal=False, width=120)) as report:
        report(Progress("item", Step.WRITING, tables_done=3, tables_total=6, rows_done=1234))
        report(Progress("item", Step.DONE, tables_done=4, tables_total=6, rows_done=2000))
    assert output.getvalue().splitlines() == ["TPC-DS: 3 of 6 tables (50 %), 1,234 rows; item writing"]
