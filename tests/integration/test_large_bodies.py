"""A body far larger than the gateway's memory limit, sent in chunks as it is generated.

`make soak` sends 2 GB (`SLUICE_SOAK_BODY_MIB`), also through Spark's executors.
"""

from __future__ import annotations

import json
import os
import resource
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from select import select
from urllib.parse import urlencode, urlsplit
from uuid import uuid4

import httpx
import psutil
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table

from tests.integration.asking import problem, rows
from tests.integration.embedded_catalog import embedded_catalog
from tests.integration.log_tables import LOG_SCHEMA, VERSION_2, named
from tests.integration.running import RunningGateway

pytestmark = pytest.mark.integration

MIB = 1024**2
BODY_MIB = int(os.environ.get("SLUICE_SOAK_BODY_MIB", "256"))
IS_SOAK = BODY_MIB >= 1024
# An ingest may use this memory beyond that of a warm gateway: a quarter of the smallest body.
ROOM_MIB = 64
# An executor's Python takes this much, whatever it reads.
EXECUTOR_MIB = 450
BUFFERED_MIB = 8
LINES = 10_000
SENDING_S = 60 + BODY_MIB
SETTINGS = {
    "SLUICE_SPARK_MASTER": "local[2]",
    "SLUICE_SPARK_DRIVER_MEMORY": "1g",
    "SLUICE_INGEST_BUFFERED_BYTES": str(BUFFERED_MIB * MIB),
    # Larger bodies are refused, by their size as sent and by their decompressed size.
    "SLUICE_INGEST_MAX_BODY_BYTES": str((BODY_MIB + 16) * MIB),
    "SLUICE_INGEST_MAX_DECOMPRESSED_BYTES": str((BODY_MIB + 16) * MIB),
}
BY_ITSELF = {"SLUICE_INGEST_EXECUTED_BODY_BYTES": str(2 * BODY_MIB * MIB)}
BY_EXECUTORS = {"SLUICE_INGEST_EXECUTED_BODY_BYTES": str(64 * MIB)}


@dataclass
class Body:
    """Lines up to a number of bytes; it counts what it has generated and sent."""

    byte_count: int
    is_packed: bool = False
    records: int = 0
    made: int = 0
    sent: int = 0
    _packer: zlib._Compress = field(default_factory=lambda: zlib.compressobj(1, wbits=31))

    def chunks(self) -> Iterator[bytes]:
        """Yields a chunk for some thousand records, and keeps none."""
        while self.made < self.byte_count:
            block = b"".join(map(_line, range(self.records, self.records + LINES)))
            self.records += LINES
            self.made += len(block)
            yield from self._sent(self._packer.compress(block) if self.is_packed else block)
        if self.is_packed:
            yield from self._sent(self._packer.flush())

    def _sent(self, chunk: bytes) -> Iterator[bytes]:
        self.sent += len(chunk)
        if chunk:
            yield chunk


def _line(number: int) -> bytes:
    return b'{"id":%d,"note":"%s","amount":%d}\n' % (number, b"%010d" % (number * 7919 % 10**10) * 9, number)


@pytest.fixture(
    scope="module",
    params=[BY_ITSELF, BY_EXECUTORS] if IS_SOAK else [BY_ITSELF],
    ids=lambda way: "by itself" if way is BY_ITSELF else "by executors",
)
def way(request: pytest.FixtureRequest) -> Mapping[str, str]:
    """The writer of the body: the gateway itself, or executors."""
    found: Mapping[str, str] = request.param
    return found


@pytest.fixture(scope="module")
def gateway_process(way: Mapping[str, str], folder: Path) -> Iterator[RunningGateway]:
    running = RunningGateway.start(folder / uuid4().hex, {**SETTINGS, **way})
    try:
        yield running
    finally:
        running.stop()


@pytest.fixture
def table(gateway_process: RunningGateway) -> Iterator[Table]:
    with closing(embedded_catalog(gateway_process.data_dir)) as lake:
        yield new_table(lake)


def new_table(lake: SqlCatalog) -> Table:
    lake.create_namespace_if_not_exists("large")
    return lake.create_table(f"large.t_{uuid4().hex}", LOG_SCHEMA, properties=VERSION_2)


def send(running: RunningGateway, table: Table, body: Body) -> httpx.Response:
    encoding = {"Content-Encoding": "gzip"} if body.is_packed else {}
    return running.client.post(
        "/ingest",
        params={"table": named(table), "writeSchema": "amount,id,note"},
        content=body.chunks(),
        headers={"Content-Type": "application/x-ndjson"} | encoding,
        timeout=SENDING_S,
    )


def failed_on_the_way(running: RunningGateway, table: Table, body: Body) -> tuple[int, str]:
    """Sends chunks until there is an answer, and returns its status and code."""
    address = urlsplit(running.url)
    with closing(HTTPConnection(address.hostname or "", address.port, timeout=SENDING_S)) as connection:
        connection.putrequest("POST", f"/ingest?{urlencode({'table': named(table)})}")
        connection.putheader("Content-Type", "application/x-ndjson")
        connection.putheader("Transfer-Encoding", "chunked")
        connection.endheaders()
        for chunk in body.chunks():
            connection.send(b"%x\r\n%b\r\n" % (len(chunk), chunk))
            if select([connection.sock], [], [], 0)[0]:
                break
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())["code"]


@contextmanager
def bounded(running: RunningGateway, room_mib: int) -> Iterator[None]:
    """Limits the process's additional memory, and asserts afterwards that its peak stayed below."""
    process = psutil.Process(running.process.pid)
    limits = resource.prlimit(process.pid, resource.RLIMIT_DATA)
    room = room_mib * MIB
    resource.prlimit(process.pid, resource.RLIMIT_DATA, (process.memory_info().data + room, limits[1]))
    # This resets the peak; see `proc_pid_clear_refs(5)`.
    Path(f"/proc/{process.pid}/clear_refs").write_text("5")
    before = process.memory_info().rss
    try:
        yield
        assert peak_bytes(process.pid) - before <= room
    finally:
        resource.prlimit(process.pid, resource.RLIMIT_DATA, limits)


def peak_bytes(pid: int) -> int:
    """Returns the peak of resident memory."""
    status = Path(f"/proc/{pid}/status").read_text()
    [line] = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024


def executor_peaks(running: RunningGateway) -> list[int]:
    """Returns the peaks of the executors' Python processes, which stay for the next task."""
    found = []
    for child in running.children():
        # A process may end during this.
        with suppress(psutil.Error, OSError, ValueError):
            if "pyspark.daemon" in " ".join(child.cmdline()):
                found.append(peak_bytes(child.pid))
    return found


def spooled(running: RunningGateway) -> list[Path]:
    found = [path for path in (running.data_dir / "spool").rglob("*") if path.is_file()]
    return [path for path in found if path.name not in ("lock", ".lock")]


def files(table: Table) -> list[Path]:
    """Returns all files on disk except metadata."""
    folder = Path(table.location().removeprefix("file://"))
    return [path for path in folder.rglob("*") if path.is_file() and "metadata" not in path.parts]


@pytest.mark.timeout(2 * SENDING_S + 120)
@pytest.mark.parametrize("is_packed", [False, True], ids=["plain", "gzip"])
def test_a_body_is_ingested_whole_within_a_fraction_of_its_size(
    gateway_process: RunningGateway, way: Mapping[str, str], table: Table, is_packed: bool
) -> None:
    small = Body(4 * MIB, is_packed)
    assert send(gateway_process, table, small).status_code == 200
    whole = Body(BODY_MIB * MIB, is_packed, records=small.records)
    with bounded(gateway_process, ROOM_MIB):
        answer = send(gateway_process, table, whole)
        assert answer.status_code == 200, answer.text
    peaks = executor_peaks(gateway_process)
    assert peaks or way is BY_ITSELF
    assert all(peak <= EXECUTOR_MIB * MIB for peak in peaks), peaks
    [commit] = answer.json()["commits"]
    assert commit["addedRecords"] == whole.records - small.records
    assert len(files(table)) == commit["addedDataFiles"] + 1
    assert not spooled(gateway_process)
    last = whole.records - 1
    sums = "count(*), count(DISTINCT id), min(id), max(id), sum(amount), sum(length(note)), count(kind)"
    assert rows(gateway_process.client, f"SELECT {sums} FROM {named(table)}") == [
        [whole.records, whole.records, 0, last, last * whole.records // 2, 90 * whole.records, 0]
    ]


@pytest.mark.timeout(2 * SENDING_S + 120)
def test_a_body_beyond_the_setting_is_refused_as_soon_as_it_is(
    gateway_process: RunningGateway, table: Table
) -> None:
    body = Body(4 * BODY_MIB * MIB)
    with bounded(gateway_process, ROOM_MIB):
        assert failed_on_the_way(gateway_process, table, body) == (413, "BODY_TOO_LARGE")
    # The bytes in sockets at the time of the answer are included.
    assert body.sent < (BODY_MIB + 48) * MIB
    check_that_nothing_is_left(gateway_process, table)


@pytest.mark.timeout(2 * SENDING_S + 120)
def test_a_body_that_unfolds_beyond_the_setting_is_refused_and_leaves_nothing(
    gateway_process: RunningGateway, table: Table
) -> None:
    body = Body((BODY_MIB + 32) * MIB, is_packed=True)
    with bounded(gateway_process, ROOM_MIB):
        problem(send(gateway_process, table, body), 422, "INGEST_INVALID")
    check_that_nothing_is_left(gateway_process, table)


def check_that_nothing_is_left(running: RunningGateway, table: Table) -> None:
    assert table.refresh().current_snapshot() is None
    assert not files(table)
    assert not spooled(running)
    assert send(running, table, Body(MIB)).status_code == 200
