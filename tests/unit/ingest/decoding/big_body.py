"""Writes a body of many records within a bound on the additional memory of this process.

Arguments: a folder, the size of the body in MiB, and the MiB allowed beyond what the imports took.
"""

from __future__ import annotations

import gzip
import json
import resource
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pyarrow as pa

from service.adapters.catalogs.iceberg_schemas import table_schema
from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.adapters.data_files.writer.write_fan import write_fan
from service.ingest.decoding.read_rows import read_rows
from service.ingest.decoding.streams.decompressed import decompressed
from service.ingest.decoding.streams.plan import ReadPlan, ReadTarget
from service.ingest.decoding.streams.rows import TargetRows
from service.ingest.write_schema.written_fields import written_fields
from service.model.ingest.record_formats import Compression, RecordFormat
from service.model.ingest.writing import Destination, TableKey, WritableTable
from service.model.tables.tables import TableName
from tests.unit.adapters.data_files.states import EVENTS, state_of, target_of

MIB = 1024**2


def make(path: Path, size: int) -> int:
    block = b"".join(
        b'{"id":%d,"name":"%s","amount":0.5}\n' % (number, b"x" * 80) for number in range(10_000)
    )
    with gzip.open(path, "wb", compresslevel=1) as file:
        count = size // len(block) + 1
        for _ in range(count):
            file.write(block)
    return count * 10_000


def write(folder: Path, body: Path) -> int:
    state = state_of(folder)
    schema = table_schema(EVENTS)
    ids = (1, 3, 4)
    key = TableKey(TableName("lake", "s", "t"))
    table = WritableTable(key, None, 2, schema, 0, (), (), state.encoded())  # type: ignore[arg-type]
    destination = Destination(table, target_of(state, ids))
    plan = ReadPlan((ReadTarget(written_fields(schema, ids)),))

    def rows() -> Iterator[tuple[Destination, pa.RecordBatch]]:
        with body.open("rb") as raw:
            stream = decompressed(raw, Compression.GZIP, 2**40)
            for row in read_rows(stream, RecordFormat.NDJSON, plan):
                assert isinstance(row, TargetRows)
                yield destination, row.rows

    return sum(
        result.record_count for result in write_fan(rows(), WriteBounds(buffered_bytes=8 * MIB, open_files=4))
    )


def main(folder: Path, size_mib: int, room_mib: int) -> None:
    pa.set_memory_pool(pa.system_memory_pool())
    made = make(folder / "small.gz", MIB)
    assert write(folder / "warm", folder / "small.gz") == made
    made = make(folder / "body.gz", size_mib * MIB)
    taken = psutil.Process().memory_info().data
    resource.setrlimit(resource.RLIMIT_DATA, (taken + room_mib * MIB,) * 2)
    written = write(folder / "t", folder / "body.gz")
    sys.stdout.write(json.dumps({"made": made, "written": written}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
