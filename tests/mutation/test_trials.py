"""A mutant is killed by a failed test or by a limit of time, and survives otherwise."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.mutation.mutant import Mutant

REPOSITORY = Path(__file__).parents[2]
CODE = "def larger(a, b):\n    return a if a > b else b\n"
TESTS = "from service.sums.larger import larger\n\ndef test_larger():\n    assert larger(1, 2) == 2\n"


def run(folder: Path, *arguments: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY), "SLUICE_MUTATE": "service/sums"}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_survivors_are_listed_with_what_changed(tmp_path: Path) -> None:
    module = write(tmp_path / "service/sums/larger.py", CODE)
    write(tmp_path / "service/__init__.py", "")
    write(tmp_path / "tests/unit/sums/test_larger.py", TESTS)
    # pytest compares its plugins where a folder has hooks of its own.
    write(tmp_path / "tests/unit/sums/apart/conftest.py", "")
    write(tmp_path / "tests/unit/sums/apart/test_equal.py", TESTS.replace("2) == 2", "1) == 1"))
    name = "service/sums/larger.py"
    mutants = [
        Mutant(name, 2, "Gt_Lt", CODE.replace(">", "<")),
        Mutant(name, 2, "Gt_GtE", CODE.replace(">", ">=")),
        Mutant(name, 2, "Broken", CODE.replace("def larger", "def smaller")),
    ]
    write(tmp_path / "mutants", "\n".join(map(json.dumps, mutants)))
    chooser = write(tmp_path / "chooser", "#!/bin/sh\ncat mutants\n")
    chooser.chmod(0o700)

    printed = run(tmp_path, "-m", "tests.mutation", str(chooser), "--in-place")

    assert "[  1/3] killed   service/sums/larger.py:2 Gt_Lt\n" in printed
    assert "service/sums: 2 of 3 killed (0 by a limit of time), score 67%" in printed
    survivor = (
        "2. service/sums/larger.py:2 Gt_GtE\n    -    return a if a > b else b\n    +    return a if a >= b"
    )
    assert "1 survived\n\n" + survivor in printed
    assert module.read_text() == CODE


def test_a_loop_ends_at_its_limit(tmp_path: Path) -> None:
    write(tmp_path / "test_loop.py", "def test_loop():\n    while True:\n        pass\n")
    script = "from tests.mutation.trials import Trials; print(Trials(['test_loop.py'], 3, 600).outcome())"
    assert run(tmp_path, "-c", script) == "limit\n"


def test_code_that_its_tests_reject_in_a_trial_has_no_score(tmp_path: Path) -> None:
    write(
        tmp_path / "test_once.py",
        "from pathlib import Path\n\ndef test_once():\n    Path('made').mkdir()\n",
    )
    script = """
from pathlib import Path
from tests.mutation.trials import Trials
try:
    Trials.of(["test_once.py"], Path("observed.json"))
except RuntimeError as error:
    print(error)
"""
    assert run(tmp_path, "-c", script) == "a trial of the code without a mutant: killed\n"


def test_processes_that_tests_start_have_limits_of_their_own(tmp_path: Path) -> None:
    write(
        tmp_path / "test_limits.py",
        "import resource\n\ndef test_limits():\n    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]\n"
        "    resource.setrlimit(resource.RLIMIT_CPU, (1_000_000, hard))\n",
    )
    script = "from tests.mutation.trials import Trials; print(Trials(['test_limits.py'], 3, 600).outcome())"
    assert run(tmp_path, "-c", script) == "survived\n"
