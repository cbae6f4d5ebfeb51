"""Runs tests in a process that is forked when all packages from elsewhere are imported already."""

from __future__ import annotations

import importlib
import json
import multiprocessing
import os
import resource
import signal
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

OPTIONS = [
    *("-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--doctest-modules"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
]
"""Plugins are imported before pytest starts, so it cannot rewrite their asserts, and warns."""

_FORK = multiprocessing.get_context("fork")


@dataclass(frozen=True, slots=True)
class Trials:
    """Test files, the fastest first, and the seconds after which they are ended.

    CPU time ends a loop, however busy the machine is. Time of the clock ends a test that waits.
    """

    files: Sequence[str]
    cpu_s: int
    clock_s: float

    @classmethod
    def of(cls, tests: Sequence[str], scratch: Path) -> Trials:
        """Runs the tests once, imports the packages that they imported, and tries the code as it is.

        Raises:
            RuntimeError: A test fails without a mutant, in a trial or before.
        """
        begin_s = time.monotonic()
        if _exit_code(_observe, tests, scratch) != 0:
            raise RuntimeError(f"a test fails without a mutant: {_log(scratch).read_text('utf-8')[-3000:]}")
        clock_s = time.monotonic() - begin_s
        observed = json.loads(scratch.read_text("utf-8"))
        _import(observed["packages"])
        # A mutant may have the size of the original, and the same second: then bytecode would be stale.
        sys.dont_write_bytecode = True
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        files = sorted(observed["seconds"], key=observed["seconds"].__getitem__)
        trials = cls(files, 10 + 3 * round(observed["cpu_s"]), 30 + 5 * clock_s)
        if (outcome := trials.outcome()) != "survived":
            raise RuntimeError(f"a trial of the code without a mutant: {outcome}")
        return trials

    def outcome(self) -> str:
        """Runs the tests: the mutant `survived`, a failure `killed` it, or the tests reached a `limit`."""
        code = _exit_code(_attempt, self.files, self.cpu_s, limit_s=self.clock_s)
        return {0: "survived", None: "limit", -signal.SIGXCPU: "limit"}.get(code, "killed")


@dataclass(slots=True, eq=False)
class _Stopwatch:
    """A plugin of pytest that adds up the seconds of each file."""

    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid.partition("::")[0]] += report.duration


def _exit_code(work: Callable[..., None], *arguments: object, limit_s: float | None = None) -> int | None:
    """Returns the exit code of a process, or None if it took too long. It leaves no other process behind."""
    process = _FORK.Process(target=work, args=arguments)
    process.start()
    process.join(limit_s)
    code = process.exitcode
    assert process.pid is not None
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.join()
    return code


def _observe(tests: Sequence[str], scratch: Path) -> None:
    _leave_terminal(_log(scratch))
    stopwatch = _Stopwatch()
    code = pytest.main([*OPTIONS, *tests], plugins=[stopwatch])
    files = {name: getattr(module, "__file__", None) or "" for name, module in sys.modules.items()}
    elsewhere = [name for name, file in files.items() if not file.startswith(str(Path.cwd()))]
    observed = {"packages": elsewhere, "seconds": stopwatch.seconds, "cpu_s": time.process_time()}
    scratch.write_text(json.dumps(observed), "utf-8")
    os._exit(code)


def _attempt(files: Sequence[str], cpu_s: int) -> None:
    _leave_terminal(Path(os.devnull))
    # Processes of the tests have limits of their own, so the hard limit stays as it is.
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, resource.getrlimit(resource.RLIMIT_CPU)[1]))
    os._exit(pytest.main([*OPTIONS, *files]))


def _leave_terminal(log: Path) -> None:
    """Makes the process the first of a group, which `_exit_code` ends, and sends its output elsewhere."""
    os.setsid()
    output = os.open(log, os.O_WRONLY | os.O_CREAT, 0o600)
    for stream in (1, 2):
        os.dup2(output, stream)


def _log(scratch: Path) -> Path:
    return scratch.with_suffix(".log")


def _import(names: Sequence[str]) -> None:
    with warnings.catch_warnings(action="ignore"):
        for name in names:
            with suppress(Exception):
                importlib.import_module(name)
