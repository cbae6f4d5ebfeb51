"""The bytes that a query has read at its end."""

from __future__ import annotations

from service.model.query.query import QueryRecord


def read_bytes(record: QueryRecord) -> int | None:
    """Returns the bytes that its scans selected; None if it did not succeed, as they may not have run."""
    if record.error is not None or not record.state.is_final:
        return None
    return sum(scan.metrics.bytes.selected for scan in record.scans)
