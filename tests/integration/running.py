"""A gateway as its operator runs it: `sluice serve` in a process of its own, used only over HTTP."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import ssl
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import httpx
import psutil

from tests.integration.credential_watch import WatchedTransport, shown_in
from tests.polling import until

REPOSITORY = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "api.cli"]
READY_WITHIN_S = 120.0
# The test machine may be busy, and a slow engine is not a broken one.
PATIENT = {
    "SLUICE_ENGINE_PROBE_TIMEOUT_S": "30",
    "SLUICE_ENGINE_UNRESPONSIVE_S": "120",
    # There is no balancer that must notice the end of a gateway.
    "SLUICE_SHUTDOWN_DELAY_S": "0",
}
# For gateways whose tests check what was pruned: on a busy machine, facts come late, and then a query runs as
# it is written.
PRUNES_THOUGH_BUSY = {
    "SLUICE_CATALOG_FACTS_TIMEOUT_S": "20",
    "SLUICE_DYNAMIC_FILTERING_DETECTION_TIMEOUT_S": "20",
}

# This takes a core for hours. Spark's range checks for cancellation once per batch.
ENDLESS = "SELECT sum(hash(id)) AS s FROM range(0, 1000000000000, 1, 1)"
# This takes some seconds on one core: long enough to be seen running, short enough to wait for.
SLOW = "SELECT max(pmod(hash(id), 2)) AS n FROM range(0, 400000000, 1, 1)"
SLOW_ROWS = [[1]]


def environment(data_dir: Path, settings: Mapping[str, str], code: Path = REPOSITORY) -> dict[str, str]:
    """Returns this process's environment with these settings of Sluice and no others.

    All processes import the code of this folder, whatever is installed.
    """
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("SLUICE_")}
    if code != REPOSITORY:
        inherited["PYTHONPATH"] = str(code)
    return inherited | PATIENT | {"SLUICE_DATA_DIR": str(data_dir), "SLUICE_PORT": "0"} | dict(settings)


def run_sluice(
    command: str,
    data_dir: Path,
    settings: Mapping[str, str],
    *options: str,
    within_s: float = 120,
    code: Path = REPOSITORY,
) -> subprocess.CompletedProcess[str]:
    """Runs a `sluice` command to its end."""
    return subprocess.run(
        [*COMMAND, command, *options],
        cwd=code,
        env=environment(data_dir, settings, code),
        capture_output=True,
        text=True,
        timeout=within_s,
        check=False,
    )


class RunningGateway:
    """The process and a client, `client`, which sends no token."""

    def __init__(self, process: subprocess.Popen[str], data_dir: Path, log_path: Path) -> None:
        self.process = process
        self.data_dir = data_dir
        self.log_path = log_path
        self.url = ""
        self.client = httpx.Client()
        self._tokens: set[str] = set()

    @classmethod
    def start(
        cls,
        data_dir: Path,
        settings: Mapping[str, str] | None = None,
        *,
        within_s: float = READY_WITHIN_S,
        code: Path = REPOSITORY,
    ) -> Self:
        """Starts a gateway with the code of this folder, and returns once `/readyz` says yes."""
        data_dir.mkdir(parents=True, exist_ok=True)
        share_jars(data_dir)
        log_path = data_dir / f"stderr-{time.monotonic_ns()}.jsonl"
        with log_path.open("w") as log:
            process = subprocess.Popen(
                [*COMMAND, "serve"],
                cwd=code,
                env=environment(data_dir, settings or {}, code),
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        running = cls(process, data_dir, log_path)
        try:
            running._become_ready(within_s)
        except BaseException:
            running.kill()
            raise
        return running

    def _become_ready(self, within_s: float) -> None:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("sluice listens on http"), f"it said {line!r}; {self.log_tail()}"
        self.url = line.removeprefix("sluice listens on ").strip()
        self.client.close()
        self.client = self.client_with()
        until(self._is_ready_or_dead, within_s)
        assert self.process.poll() is None, self.log_tail()

    def _is_ready_or_dead(self) -> bool:
        if self.process.poll() is not None:
            return True
        try:
            return self.client.get("/readyz").status_code == 200
        except httpx.TransportError:
            return False

    def watch_password(self, name: str, password: str) -> None:
        """Looks for this password, as it is and as clients send it, in all that is written until the end."""
        for text in (f"{name}:{password}", f"\0{name}\0{password}"):
            self._tokens.add(base64.b64encode(text.encode()).decode().rstrip("="))
        self._tokens.add(password)

    def client_with(self, token: str | None = None) -> httpx.Client:
        """Makes a client with this bearer token, if given; close it after use."""
        if token is not None:
            self._tokens.add(token)
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        transport = WatchedTransport(httpx.HTTPTransport(verify=self._verify()))
        return httpx.Client(base_url=self.url, headers=headers, timeout=90, transport=transport)

    def _verify(self) -> ssl.SSLContext | bool:
        """Returns the authorities that clients trust; a gateway with HTTPS has its own."""
        return True

    def jvm(self) -> psutil.Process | None:
        """Returns Spark's JVM, if there is one."""
        return next((child for child in self.children() if _is_spark(child)), None)

    def children(self) -> list[psutil.Process]:
        """Returns all current child processes, including indirect ones."""
        try:
            return psutil.Process(self.process.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []

    def command_lines(self) -> list[str]:
        """Returns the command lines of all children, without those that have just ended."""
        lines = []
        for child in self.children():
            with contextlib.suppress(psutil.Error):
                lines.append(" ".join(child.cmdline()))
        return lines

    def own_processes(self) -> list[psutil.Process]:
        """Returns all processes with the data folder in their command line or as their working folder."""
        return [process for process in psutil.process_iter() if _belongs_to(process, str(self.data_dir))]

    def log_tail(self) -> str:
        """Returns the end of standard error, for messages of failed tests."""
        return self.log_path.read_text()[-4000:]

    def log_lines(self) -> list[dict[str, Any]]:
        """Returns the lines of standard error, each of which must be a JSON object."""
        return _parsed(self.log_path.read_text().splitlines())

    def stop(self, within_s: float = 60.0) -> int:
        """Sends SIGTERM, and returns the exit code."""
        self.process.terminate()
        return self.ended(within_s)

    def kill(self) -> None:
        """Sends SIGKILL."""
        self.process.kill()
        self.ended(10)

    def ended(self, within_s: float = 60.0) -> int:
        """Waits for the process to end, and returns its exit code."""
        try:
            return self.process.wait(within_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        finally:
            self.client.close()
            if self.process.poll() is not None and self.process.stdout is not None:
                self.process.stdout.close()
            shown = shown_in(self.data_dir, frozenset(self._tokens))
            assert not shown, f"{len(shown)} credentials of callers are shown, the first in {shown[0]}"


def share_jars(data_dir: Path) -> None:
    """Makes all data folders, and `make demo`, share one folder of jars."""
    jars = REPOSITORY / ".sluice" / "jars"
    jars.mkdir(parents=True, exist_ok=True)
    if not (data_dir / "jars").exists():
        (data_dir / "jars").symlink_to(jars)


def _is_spark(process: psutil.Process) -> bool:
    try:
        return "org.apache.spark.deploy.SparkSubmit" in process.cmdline()
    except psutil.Error:
        return False


def _belongs_to(process: psutil.Process, folder: str) -> bool:
    try:
        words = [*process.cmdline(), process.cwd()]
        return process.status() != psutil.STATUS_ZOMBIE and any(folder in word for word in words)
    except psutil.Error:
        return False


def _parsed(lines: Sequence[str]) -> list[dict[str, Any]]:
    """Returns the lines of a log; fails with all those that are not JSON."""
    parsed, others = [], []
    for line in lines:
        try:
            parsed.append(json.loads(line))
        except json.JSONDecodeError:
            others.append(line)
    assert not others, "not JSON: " + "\n".join(others)
    return parsed
