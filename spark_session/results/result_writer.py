"""Runs a planned frame whose tasks write its rows to their place; few rows come back as they are."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import DataFrame

from service.errors.query_errors import NoRoomForResult, QueryEnded, QueryFailed, ResultStoreDown
from service.model.query.written_rows import Batch, Part, WrittenRows
from spark_session.java.own_classes import java_instance
from spark_session.results.arrow_rows import arrow_table
from spark_session.results.arrow_schema import arrow_schema, sendable_schema
from spark_session.results.result_bounds import cut

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway

    from service.ports.engine.query_engine import Statement

REFUSED = (
    "The object store of results refuses Spark's executors. Ask the operator: their credentials are wrong, or"
    " may not read, write and delete below results_url, or there is no such bucket."
)


class ResultWriter:
    """Asks `ResultWriter.java` in the driver's JVM."""

    def __init__(self, gateway: JavaGateway) -> None:
        self._java = java_instance(gateway, "sluice.stored.ResultWriter")

    def limited(self, frame: DataFrame, rows: int) -> DataFrame:
        """Returns the frame with a limit that suits `write`: on each partition alone, if that is faster."""
        by_part = self._java.limitedByPart(frame._jdf, rows)
        return frame.limit(rows) if by_part is None else DataFrame(by_part, frame.sparkSession)

    def write(self, frame: DataFrame, statement: Statement) -> tuple[pa.Table | WrittenRows, bool]:
        """Runs the frame; returns its rows within the statement's bounds, and whether some were left out.

        They are in files of the statement's place if they are many. At least one row is kept: an empty answer
        would hide that there is one. When this fails, files may be left there.

        Raises:
            PySparkException: it failed, or was canceled.
            NoRoomForResult: the place is full.
            ResultStoreDown: the place is in an object store that does not answer, or refuses.
            QueryFailed: the place cannot be written.
        """
        place = statement.place
        assert place is not None
        has_large_types = bool(frame.sparkSession._jconf.arrowUseLargeVarTypes())
        schema = arrow_schema(frame.schema, prefers_large_types=has_large_types)
        written = self._java.write(
            frame._jdf,
            place.address,
            json.dumps(dict(place.properties)),
            sendable_schema(frame.schema).json(),
            has_large_types,
            statement.row_limit,
            statement.byte_limit,
            place.batch_rows,
            place.batch_bytes,
            place.inline_bytes,
            place.driver_bytes,
        )
        found = json.loads(written.description())
        if "failure" in found:
            raise failure_of(found["failure"])
        return result_of(found, bytes(written.inline()), schema, statement)


def failure_of(name: str) -> QueryEnded:
    """Returns the error for a failure of `Part.java`."""
    match name:
        case "NO_ROOM":
            return NoRoomForResult()
        case "STORE_DOWN":
            return ResultStoreDown()
        case "STORE_REFUSES":
            return ResultStoreDown(REFUSED)
    return QueryFailed("The result could not be kept: its folder cannot be written.")


def result_of(
    found: Mapping[str, Any], inline: bytes, schema: pa.Schema, statement: Statement
) -> tuple[pa.Table | WrittenRows, bool]:
    """Returns the rows that `WrittenResult.java` describes, and whether some were left out."""
    parts = [_part(part["file"], part["batches"], inline) for part in found["parts"]]
    before = WrittenRows(schema, tuple(parts))
    edge = _edge(found.get("edge"), inline, before, statement)
    row_count = before.row_count + (0 if edge is None else edge.num_rows)
    is_truncated = row_count < found["rows"]
    if all(part.file is None for part in parts):
        batches = [batch for part in parts for batch in batches_of(part, schema)]
        rows = arrow_table(batches, schema) if edge is None else arrow_table([*batches, edge], schema)
        return rows, is_truncated
    return (before if edge is None else WrittenRows(schema, (*parts, inline_part(edge)))), is_truncated


def batches_of(part: Part, schema: pa.Schema) -> list[pa.RecordBatch]:
    """Returns the batches of an inline part."""
    return [_read(part.inline[batch.offset : batch.offset + batch.length], schema) for batch in part.batches]


def inline_part(rows: pa.RecordBatch) -> Part:
    """Returns one batch as a part of its own."""
    message = rows.serialize().to_pybytes()
    return Part((Batch(0, len(message), rows.num_rows, rows.nbytes),), inline=message)


def _part(file: str | None, numbers: Sequence[Sequence[int]], inline: bytes) -> Part:
    batches = tuple(Batch(*fields) for fields in numbers)
    if file is not None:
        return Part(batches, file)
    start, last = batches[0].offset, batches[-1]
    own = tuple(
        Batch(batch.offset - start, batch.length, batch.row_count, batch.byte_count) for batch in batches
    )
    return Part(own, inline=inline[start : last.offset + last.length])


def _edge(
    numbers: Sequence[int] | None, inline: bytes, before: WrittenRows, statement: Statement
) -> pa.RecordBatch | None:
    """Returns the rows within the limits of the batch that crosses them, if there are any."""
    if numbers is None:
        return None
    batch = Batch(*numbers)
    rows = _read(inline[batch.offset : batch.offset + batch.length], before.schema)
    left = cut(
        pa.Table.from_batches([rows]),
        statement.row_limit - before.row_count,
        statement.byte_limit - before.byte_count,
        at_least=0 if before.row_count else 1,
    )
    # The batch is cut, not the table: without columns, a table forgets how many rows it has.
    return rows.slice(0, left.num_rows) if left.num_rows else None


def _read(message: bytes, schema: pa.Schema) -> pa.RecordBatch:
    return pa.ipc.read_record_batch(pa.py_buffer(message), schema)
