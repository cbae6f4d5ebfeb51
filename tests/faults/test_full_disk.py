"""The file system of the gateway's data folder and the tables is full for a while."""

from __future__ import annotations

import errno
import os
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from io import RawIOBase
from pathlib import Path
from typing import BinaryIO

import httpx
import pytest

from tests.faults.place import TABLE, FaultPlace, a_fault_place
from tests.faults.test_faults import ASKED_FOR, CALM_S, CALM_WITHIN_S, say
from tests.faults.watch import DOCUMENTED, Watch
from tests.integration.asking import post, problem
from tests.polling import until

pytestmark = [pytest.mark.integration, pytest.mark.timeout(900)]

SIZE_MIB = 64
FULL_S = 20.0
# This is more than the memory that a body may use before it is written to disk.
LARGE_BODY = b'{"return_id": 9000000, "reason": "large"}\n' * 100_000
# This does not fit into the rest of a page.
LARGE_RESULT = "SELECT id, repeat('x', 100) AS text FROM range(20000)"


@pytest.fixture(scope="module")
def small() -> Iterator[Path]:
    """A small file system in memory, which needs root."""
    folder = Path(tempfile.mkdtemp(prefix="sluice-small-"))
    if os.geteuid() != 0:
        pytest.skip("a small file system can only be mounted by root")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SIZE_MIB}m,mode=0755", "tmpfs", str(folder)],
        check=False,
        capture_output=True,
        text=True,
    )
    if mounted.returncode != 0:
        pytest.skip(f"nothing can be mounted here: {mounted.stderr}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
        folder.rmdir()


@pytest.fixture
def place(small: Path) -> Iterator[FaultPlace]:
    with a_fault_place(small) as place:
        yield place


@contextmanager
def filled(folder: Path) -> Iterator[None]:
    """Fills the disk completely, also when others free space."""
    ballast, ended = folder / "ballast", threading.Event()

    def fill() -> None:
        with ballast.open("ab", buffering=0) as file:
            while not ended.wait(0.02):
                for size in (1024**2, 4096, 1):
                    _write_all(file, size)

    filling = threading.Thread(target=fill, daemon=True)
    filling.start()
    try:
        until(lambda: os.statvfs(folder).f_bavail == 0, 30)
        yield
    finally:
        ended.set()
        filling.join(10)
        ballast.unlink()


def _write_all(file: BinaryIO | RawIOBase, size: int) -> None:
    """Writes as many pieces of this size as there is room for."""
    try:
        while file.write(b"\0" * size) == size:
            pass
    except OSError as full:
        if full.errno != errno.ENOSPC:
            raise


@pytest.mark.skipif(not ASKED_FOR, reason="`make faults` tries it")
def test_a_full_disk_is_reported_by_codes_and_forgotten_when_there_is_room(
    place: FaultPlace, small: Path
) -> None:
    client = place.gateway.client
    with Watch(place.gateway.url, TABLE) as watch:
        until(lambda: watch.is_calm_since(time.monotonic() - CALM_S), CALM_WITHIN_S)
        began_s = time.monotonic()
        with filled(small):
            result = post(client, LARGE_RESULT, rowLimit=20_000)
            body = client.post(
                "/ingest",
                params={"table": f"lake.{TABLE}"},
                content=LARGE_BODY,
                headers={"Content-Type": "application/x-ndjson"},
            )
            until(lambda: time.monotonic() - began_s > FULL_S, FULL_S + 5)
        until(lambda: watch.is_calm_since(time.monotonic() - CALM_S), CALM_WITHIN_S)
    refusals = Counter(
        f"{answer.kind} {answer.status} {answer.code}"
        for answer in watch.since(began_s)
        if not answer.is_right
    )
    answers = {"large result": _said(result), "large body": _said(body)}
    say(f"\nfull disk: {answers}; {dict(refusals)}")
    assert place.gateway.process.poll() is None
    assert {answer.status for answer in watch.seen} <= DOCUMENTED, refusals
    assert not any(
        answer.kind in ("livez", "readyz") for answer in watch.since(began_s) if not answer.is_right
    )
    assert problem(body, 503, "STORAGE_DOWN")
    assert problem(result, 503, "STORAGE_DOWN")
    until(lambda: set(watch.accepted) <= set(place.stored()), 60)
    numbers = place.stored()
    assert len(numbers) == len(set(numbers)), "a record is there twice"


def _said(response: httpx.Response) -> str:
    body = response.json()
    return f"{response.status_code} {body.get('code', body.get('status'))}"
