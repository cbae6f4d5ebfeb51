"""Log tables and files of records, for tests of sources and streams."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.types import LongType, NestedField, StringType

LOG_SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "kind", StringType()),
    NestedField(3, "note", StringType()),
    NestedField(4, "amount", LongType()),
)
VERSION_2 = {"format-version": "2"}


def named(table: Table) -> str:
    """Returns the table's name as in a request."""
    return ".".join(("lake", *table.name()))


def ids(table: Table) -> list[int]:
    """Returns the ids of all current rows."""
    table.refresh()
    return sorted(table.scan(selected_fields=("id",)).to_arrow()["id"].to_pylist())


def lines(records: Iterable[Mapping[str, Any]]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def put(inbox: Path, name: str, content: bytes, age: timedelta = timedelta()) -> None:
    """Moves a complete file into place, as a stream's producer must, with a time `age` ago."""
    hidden = inbox / f".{name}"
    hidden.write_bytes(content)
    if age:
        os.utime(hidden, (time.time() - age.total_seconds(),) * 2)
    os.rename(hidden, inbox / name)  # noqa: PTH104
