"""The description of a result beside its rows, for replicas that have not run its query."""

from __future__ import annotations

import base64
import json
import os
from dataclasses import astuple
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow as pa

from service.adapters.results.stored_result import StoredResult
from service.model.query.results import Column
from service.model.query.written_rows import Batch, Part, WrittenRows

NAME = "manifest.json"
VERSION = 1


def write_manifest(folder: Path, stored: StoredResult, expires_at: datetime) -> None:
    """Writes it at once or not at all. The file's own time says when the result expires.

    Raises:
        OSError: it cannot be written.
    """
    staged = folder / f"{NAME}.tmp"
    staged.write_text(manifest_text(stored, expires_at))
    os.utime(staged, (expires_at.timestamp(), expires_at.timestamp()))
    staged.rename(folder / NAME)


def read_manifest(folder: Path) -> StoredResult | None:
    """Returns the result in this folder, expiring by the wall clock; None if none can be read."""
    try:
        return result_of((folder / NAME).read_text())
    except (OSError, ValueError):
        return None


def manifest_text(stored: StoredResult, expires_at: datetime) -> str:
    """Returns the description of a result that expires then."""
    described = {
        "version": VERSION,
        "origin": str(stored.origin),
        "expiresAt": expires_at.isoformat(),
        "isTruncated": stored.is_truncated,
        "columns": [astuple(column) for column in stored.columns],
        "schema": base64.b64encode(stored.rows.schema.serialize().to_pybytes()).decode(),
        "parts": [[part.file, [astuple(batch) for batch in part.batches]] for part in stored.rows.parts],
    }
    return json.dumps(described)


def result_of(text: str) -> StoredResult | None:
    """Returns the described result, expiring by the wall clock; None if this version cannot read it."""
    try:
        return _result(json.loads(text))
    except (ValueError, TypeError, KeyError, pa.ArrowException):
        return None


def _result(described: dict[str, Any]) -> StoredResult | None:
    if described["version"] != VERSION:
        return None
    schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(described["schema"])))
    parts = tuple(
        Part(tuple(Batch(*numbers) for numbers in batches), file) for file, batches in described["parts"]
    )
    return StoredResult(
        origin=UUID(described["origin"]),
        columns=tuple(Column(*fields) for fields in described["columns"]),
        rows=WrittenRows(schema, parts),
        is_truncated=described["isTruncated"],
        expires_at_ms=milliseconds(datetime.fromisoformat(described["expiresAt"])),
    )


def milliseconds(moment: datetime) -> int:
    """Returns the moment as milliseconds of the epoch.

    >>> milliseconds(datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC))
    1000
    """
    return round(moment.astimezone(UTC).timestamp() * 1000)
