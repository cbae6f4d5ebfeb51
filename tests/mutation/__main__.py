"""`python -m tests.mutation PYTHON`: mutates packages in a copy of the tree, and prints the survivors.

PYTHON is the interpreter that has cosmic-ray. SLUICE_MUTANTS is the number of mutants of each package,
SLUICE_MUTATE the packages, SLUICE_MUTATE_SEED the seed. SLUICE_MUTATE_ONLY="3 17" tries these numbers alone.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path

from rich.console import Console

from tests.mutation.mutant import Mutant
from tests.mutation.trials import Trials

PACKAGES = os.environ.get("SLUICE_MUTATE", "service/pruning service/ingest/committing").split()
COUNT = os.environ.get("SLUICE_MUTANTS", "100")
SEED = os.environ.get("SLUICE_MUTATE_SEED", "1")
ONLY = {int(number) for number in os.environ.get("SLUICE_MUTATE_ONLY", "").split()}

FURTHER_TESTS = {
    "service/pruning": ["tests/unit/query/filtering"],
    "service/ingest/committing": ["tests/unit/ingest/test_ingest_service.py"],
}
"""Tests of a package outside its folder of `tests/unit`."""

show = partial(Console().print, highlight=False, markup=False, soft_wrap=True)


def in_a_copy(python: str) -> int:
    """Copies what git does not ignore, runs `in_place` there, and returns its exit code."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    paths = subprocess.run(listed, capture_output=True, text=True, check=True).stdout.split("\0")
    with tempfile.TemporaryDirectory(prefix="sluice-mutate-") as folder:
        for path in (path for path in paths if Path(path).is_file()):
            (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, Path(folder) / path)
        # Where this variable is set, Hypothesis chooses the same examples each time, and keeps none.
        environment = os.environ | {"CI": "true"}
        command = [sys.executable, "-m", "tests.mutation", str(Path(python).absolute()), "--in-place"]
        return subprocess.run(command, cwd=folder, env=environment, check=False).returncode


def in_place(python: str) -> int:
    """Mutates the modules of the working directory, one after the other. Returns 0, whatever survives."""
    survivors: list[str] = []
    for package in PACKAGES:
        show(f"{package}: {COUNT} mutants, seed {SEED}")
        choose = [python, "-m", "tests.mutation.choose", SEED, COUNT, package]
        chosen = subprocess.run(choose, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
        survivors += _survivors(package, [Mutant(*json.loads(line)) for line in chosen])
    show("", f"{len(survivors)} survived", "", *survivors, sep="\n")
    return 0


def _survivors(package: str, mutants: list[Mutant]) -> list[str]:
    begin_s, outcomes, survivors = time.monotonic(), Counter[str](), []
    # Its own modules have doctests.
    tests = [package, package.replace("service", "tests/unit", 1), *FURTHER_TESTS.get(package, [])]
    trials = Trials.of(tests, Path("observed.json"))
    for number, mutant in enumerate(mutants, start=1):
        if ONLY and number not in ONLY:
            continue
        original = Path(mutant.path).read_text("utf-8")
        Path(mutant.path).write_text(mutant.code, "utf-8")
        outcome = trials.outcome()
        Path(mutant.path).write_text(original, "utf-8")
        outcomes[outcome] += 1
        show(f"[{number:3}/{len(mutants)}] {outcome:8} {mutant}")
        if outcome == "survived":
            survivors.append("\n    ".join([f"{number}. {mutant}", *mutant.diff(original)]))
    total, minutes = outcomes.total(), (time.monotonic() - begin_s) / 60
    killed, score = total - len(survivors), (total - len(survivors)) / max(total, 1)
    by_limit = f"{outcomes['limit']} by a limit of time"
    show(f"{package}: {killed} of {total} killed ({by_limit}), score {score:.0%}, {minutes:.0f} minutes\n")
    return survivors


if __name__ == "__main__":
    interpreter, *how = sys.argv[1:]
    sys.exit(in_place(interpreter) if how else in_a_copy(interpreter))
