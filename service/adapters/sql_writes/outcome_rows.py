"""The outcome of a write as the row that clients of SQL read."""

from __future__ import annotations

import pyarrow as pa

from service.model.writes.writes import WriteRecord

_SCHEMA = pa.schema([("rows_affected", pa.int64()), ("snapshot_id", pa.int64())])


def outcome_rows(record: WriteRecord) -> pa.Table:
    """Returns one row; a statement without a snapshot has no rows and no columns."""
    if not record.write.has_snapshot:
        return pa.table({})
    outcome = record.outcome
    row = {"rows_affected": outcome.rows_affected, "snapshot_id": outcome.snapshot_id}
    return pa.Table.from_pylist([row], schema=_SCHEMA)
