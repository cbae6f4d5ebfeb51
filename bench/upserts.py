"""A hundred upserts of 1,000 keys, as deletion vectors and as equality deletes, and what a query reads then.

This measures what upserts leave for readers. Two tables have the same million rows in ten files, from the
same requests. One has format version 3, so that upserts delete by deletion vectors; the other has version 2
and gets equality deletes. Each upsert replaces a thousand keys, which are drawn from all of them, and both
tables get the same ones, in turn. Nothing compacts the tables. Then a question that needs each row is asked
of both in turn. *Read* are the bytes that the engine's process has read from files during the question,
manifests and deletes included; the first question of each table finds nothing in memory. *Files* are those
that the snapshot has: data files, and files of deletes. Both tables must have the rows that upserts leave.
"""

from __future__ import annotations

import json
import random
import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlencode
from uuid import uuid4

import orjson
import pyarrow as pa
from matplotlib.figure import Figure
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType

from bench.asked import ask
from bench.client import Client
from bench.gateway_process import GatewayProcess, gateway_process
from bench.lakehouse import Lake
from bench.measurement import Measurement, Row, spread
from bench.tpcds_lake import IS_FULL, REMARKS, SCALE, open_catalog

ROWS = max(10_000, round(1_000_000 * min(SCALE, 1.0)))
FILES = 10
UPSERTS, KEYS = (100, 1_000) if IS_FULL else (5, 100)
ROUNDS = 10 if IS_FULL else 2
SCHEMA = "bench_upserts"
WAYS: Mapping[str, int] = {"deletion vectors": 3, "equality deletes": 2}
"""How rows are deleted, and the format version that does it."""

_COLUMNS = Schema(
    NestedField(1, "id", LongType()),
    NestedField(2, "value", LongType()),
    NestedField(3, "note", StringType()),
)
_ARROW = pa.schema([("id", pa.int64()), ("value", pa.int64()), ("note", pa.string())])


@dataclass(slots=True)
class _Taken:
    """The bytes and milliseconds of upserts and of questions of one way, and the files at the end."""

    upsert_read: list[float] = field(default_factory=list)
    upsert_ms: list[float] = field(default_factory=list)
    read: list[float] = field(default_factory=list)
    question_ms: list[float] = field(default_factory=list)
    files: dict[str, int] = field(default_factory=dict)
    bytes: dict[str, int] = field(default_factory=dict)


def measure(lake: Lake) -> Measurement:
    """Returns bytes and files by way, and their ratio."""
    taken = {way: _Taken() for way in WAYS}
    for way, version in WAYS.items():
        _make_table(lake, _table(way), version)
    # Without maintenance, deletes stay as they are.
    with gateway_process(lake.environment() | {"SLUICE_MAINTENANCE_INTERVAL_S": "0"}) as gateway:
        client = Client(gateway.url)
        for way in WAYS:
            for number in range(FILES):
                _send(client, way, _rows(number * ROWS // FILES, (number + 1) * ROWS // FILES))
        expected = _upserted(gateway, client, taken)
        for turn in range(ROUNDS):
            for way in list(WAYS)[:: 1 if turn % 2 else -1]:
                _question(gateway, client, way, taken[way], expected)
        client.close()
    for way in WAYS:
        _count_files(lake, way, taken[way])
    samples = {
        way: {
            "upsert read": found.upsert_read,
            "upsert ms": found.upsert_ms,
            "read": found.read,
            "question ms": found.question_ms,
            "files": found.files,
            "bytes": found.bytes,
        }
        for way, found in taken.items()
    }
    return Measurement(_all_rows(taken), samples, REMARKS)


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws the bytes of each question, and the time of each upsert."""
    left, right = figure.subplots(1, 2)
    for way, samples in measurement.samples.items():
        left.plot([read / 1e6 for read in samples["read"]], "o-", label=way)
        right.plot(samples["upsert ms"], ".", label=way)
    left.set(xlabel="question", ylabel="MB read")
    left.set_ylim(bottom=0)
    left.legend()
    right.set(xlabel="upsert", ylabel="ms until its commit")
    right.set_ylim(bottom=0)


def _table(way: str) -> str:
    return f"{SCHEMA}.{way.replace(' ', '_')}"


def _make_table(lake: Lake, name: str, version: int) -> None:
    with open_catalog(lake) as catalog:
        catalog.create_namespace_if_not_exists(SCHEMA)
        if catalog.table_exists(name):
            catalog.drop_table(name)
        table = catalog.create_table(name, _COLUMNS, properties={"format-version": "2"})
        if version == 2:
            return
        # PyIceberg itself cannot write this version.
        path = Path(table.metadata_location.removeprefix("file://"))
        newer = path.with_name(f"00001-{uuid4()}.metadata.json")
        found = json.loads(path.read_text("utf-8"))
        newer.write_text(json.dumps(found | {"format-version": version, "next-row-id": 0}), "utf-8")
        catalog.drop_table(name)
        catalog.register_table(name, newer.as_uri())


def _rows(first: int, end: int) -> pa.Table:
    ids = range(first, end)
    notes = [f"{id_ * 2_654_435_761 % 2**61:040x}" for id_ in ids]
    return pa.table([pa.array(ids), pa.array([0] * len(ids), pa.int64()), pa.array(notes)], schema=_ARROW)


def _send(client: Client, way: str, rows: pa.Table, **more: str) -> None:
    """Sends rows, and waits for their commit.

    Raises:
        RuntimeError: they are not committed.
    """
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    asked = urlencode({"table": f"lake.{_table(way)}", **more})
    status, answer = client.post_arrow(f"/ingest?{asked}", sink.getvalue().to_pybytes())
    while status == 202:
        status, answer = client.get(f"{orjson.loads(answer)['links']['self']}?waitTimeout=50s")
    if status != 200 or orjson.loads(answer)["state"] != "COMMITTED":
        raise RuntimeError(f"{status}: {answer[:500]!r}")


def _upserted(gateway: GatewayProcess, client: Client, taken: Mapping[str, _Taken]) -> int:
    """Replaces the values of keys, the same ones in both tables; returns the sum of all values then."""
    chance, jvm, values = random.Random(1), gateway.jvm(), dict[int, int]()
    for number in range(1, UPSERTS + 1):
        keys = sorted(chance.sample(range(ROWS), KEYS))
        values |= dict.fromkeys(keys, number)
        notes = [f"{number}"] * KEYS
        rows = pa.table(
            [pa.array(keys), pa.array([number] * KEYS, pa.int64()), pa.array(notes)], schema=_ARROW
        )
        for way in list(WAYS)[:: 1 if number % 2 else -1]:
            before, began = jvm.io_counters().read_chars, time.perf_counter()
            _send(client, way, rows, mode="upsert", equalityFields="id")
            taken[way].upsert_ms.append((time.perf_counter() - began) * 1000)
            taken[way].upsert_read.append(jvm.io_counters().read_chars - before)
    return sum(values.values())


def _question(gateway: GatewayProcess, client: Client, way: str, taken: _Taken, expected: int) -> None:
    """Asks for the sum of all values.

    Raises:
        RuntimeError: the table has other rows than the upserts have left.
    """
    sql = (
        f"SELECT sum(value) AS total, count(DISTINCT id) AS ids, count(*) AS n FROM {_table(way)} "
        f"HAVING total = {expected} AND ids = {ROWS} AND n = {ROWS}"
    )
    jvm = gateway.jvm()
    before = jvm.io_counters().read_chars
    asked = ask(client, {"sql": sql, "catalog": "lake", "reuseResult": False})
    taken.read.append(jvm.io_counters().read_chars - before)
    taken.question_ms.append(asked.took_ms)
    if asked.row_count != 1:
        raise RuntimeError(f"{_table(way)} has other rows than the upserts have left.")


def _count_files(lake: Lake, way: str, taken: _Taken) -> None:
    with open_catalog(lake) as catalog:
        entries = catalog.load_table(_table(way)).inspect.files().to_pylist()
    for kind, contents in (("data files", (0,)), ("files of deletes", (1, 2))):
        # Several deletion vectors are in one file.
        sizes = {
            entry["file_path"]: entry["file_size_in_bytes"]
            for entry in entries
            if entry["content"] in contents
        }
        taken.files[kind], taken.bytes[kind] = len(sizes), sum(sizes.values())


def _all_rows(taken: Mapping[str, _Taken]) -> list[Row]:
    ours, peer = taken.values()
    rows = [
        _ratio("bytes read by a question", peer.read, ours.read),
        Row("bytes read by the first question", peer.read[0] / ours.read[0], "times"),
        Row("files", sum(peer.files.values()) / sum(ours.files.values()), "times"),
        _ratio("time of a question", peer.question_ms, ours.question_ms),
        _ratio("time of an upsert", peer.upsert_ms, ours.upsert_ms),
    ]
    rows = [replace(row, label=f"{row.label}, equality deletes to deletion vectors") for row in rows]
    for way, found in taken.items():
        rows += [
            spread(f"{way}: read by a question", [read / 1e6 for read in found.read], "MB"),
            Row(f"{way}: read by the first question", found.read[0] / 1e6, "MB"),
            *(Row(f"{way}: {kind}", count, "") for kind, count in found.files.items()),
            Row(f"{way}: bytes of files of deletes", found.bytes["files of deletes"] / 1e6, "MB"),
            spread(f"{way}: a question", found.question_ms),
            spread(f"{way}: an upsert until its commit", found.upsert_ms),
            spread(f"{way}: read by an upsert", [read / 1e6 for read in found.upsert_read], "MB"),
        ]
    return [*rows, Row("rows of each table", ROWS, "")]


def _ratio(label: str, peer: list[float], ours: list[float]) -> Row:
    ratios = [one / other for one, other in zip(peer, ours, strict=True)]
    return Row(label, statistics.median(peer) / statistics.median(ours), "times", min(ratios), max(ratios))
