"""The outcome of a write as the row that clients of SQL read."""

from __future__ import annotations

import pyarrow as pa

from service.model.writes.writes import WriteKind, WriteRecord

_CALLED = pa.schema(
    [
        pa.field("maintenance_id", pa.string(), nullable=False),
        pa.field("table_name", pa.string(), nullable=False),
    ]
)
_SCHEMA = pa.schema([("rows_affected", pa.int64()), ("snapshot_id", pa.int64())])


def outcome_rows(record: WriteRecord) -> pa.Table:
    """Returns one row; a statement without a snapshot has no rows and no columns.

    The row of a CALL has the id of the maintenance, which is that of the query.
    """
    if record.write.kind is WriteKind.CALL:
        called = {"maintenance_id": str(record.query_id), "table_name": str(record.write.table)}
        return pa.Table.from_pylist([called], schema=_CALLED)
    if not record.write.has_snapshot:
        return pa.table({})
    outcome = record.outcome
    row = {"rows_affected": outcome.rows_affected, "snapshot_id": outcome.snapshot_id}
    return pa.Table.from_pylist([row], schema=_SCHEMA)
