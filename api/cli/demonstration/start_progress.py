"""Follows the start of another gateway process, and notices when it hangs."""

from __future__ import annotations

import time
from pathlib import Path

import orjson
import psutil

STILL_AFTER_S = 90.0
LEAST_CPU_S = 0.5
FIRST_STEP = "Starting the gateway"


class StartProgress:
    """Follows a start by its log and its CPU. A busy machine makes it slow, which is not a reason to give up.

    A start hangs if it writes nothing and computes next to nothing for a minute and a half.
    """

    def __init__(self, process_id: int, log: Path, still_after_s: float = STILL_AFTER_S) -> None:
        self._process_id = process_id
        self._log = log
        self._still_after_s = still_after_s
        self._read_to = 0
        self._step = FIRST_STEP
        self._seen_cpu_s = 0.0
        self._moved_s = time.monotonic()

    def step(self) -> str:
        """Returns the step that the process logged last, and notes whether the start has moved on."""
        new = self._new_lines()
        self._step = next((step for line in reversed(new) if (step := _step_in(line))), self._step)
        cpu_s = self._cpu_s()
        if new or cpu_s - self._seen_cpu_s >= LEAST_CPU_S:
            self._seen_cpu_s, self._moved_s = cpu_s, time.monotonic()
        return self._step

    def stands_still(self) -> bool:
        """Whether nothing has moved for too long."""
        return time.monotonic() - self._moved_s > self._still_after_s

    def _new_lines(self) -> list[str]:
        with self._log.open("rb") as lines:
            lines.seek(self._read_to)
            # A line that is being written is complete at the next look.
            whole = lines.read().rpartition(b"\n")[0]
        self._read_to += len(whole) + 1 if whole else 0
        return whole.decode(errors="replace").splitlines()

    def _cpu_s(self) -> float:
        try:
            process = psutil.Process(self._process_id)
            every = [process, *process.children(recursive=True)]
        except psutil.Error:
            return self._seen_cpu_s
        return sum(_cpu_s_of(process) for process in every)


def _cpu_s_of(process: psutil.Process) -> float:
    try:
        used = process.cpu_times()
    except psutil.Error:
        return 0.0
    return float(used.user + used.system)


def _step_in(line: str) -> str:
    try:
        said = orjson.loads(line)
    except orjson.JSONDecodeError:
        return ""
    return str(said["step"]) if isinstance(said, dict) and said.get("event") == "starting" else ""
