"""Write results as bytes that every later version of the gateway can read.

The layout is `SLWR`, the version, and the number of results. Each result has its head, the number of its data
files and these files, and the number of its delete files and these files. Numbers are 32 bits, unsigned,
big-endian. Heads and files are JSON in UTF-8, each after its length in bytes.

Version 1 heads have no `write-schema-column-ids`: everything was written whole. Version 3 heads add a
`sort-order-id` to version 2, version 4 heads a `delete-count` to version 3, and version 5 heads an
`order-field-id` to version 4. Each is written only where a result needs it, so earlier gateways can read all
other results too.

Source: Iceberg's `DynamicWriteResultSerializer` and `WriteTarget`, and Iceberg issue 15925, which asks for
lengths beyond the 65,535 bytes of Java's `writeUTF`.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Sequence
from uuid import UUID

from service.errors.ingest_errors import CommittableUnreadable, CommittableVersionUnknown
from service.model.ingest.writing import TableKey, WriteResult, WriteTarget
from service.model.json_fields import JsonFields
from service.model.tables.tables import TableName

VERSION = 5
_WITHOUT_ORDERS = 4
_WITHOUT_DELETE_COUNTS = 3
_WITHOUT_SORT_ORDERS = 2
_MAGIC = b"SLWR"
_NUMBER = struct.Struct(">I")


def write_results_to_bytes(results: Sequence[WriteResult]) -> bytes:
    """Returns the results in the oldest version that can express all of them.

    >>> write_results_to_bytes([]).hex(" ", 4)
    '534c5752 00000002 00000000'
    """
    version = max(map(_version_of, results), default=_WITHOUT_SORT_ORDERS)
    parts = _parts(results, version)
    return b"".join((_MAGIC, _NUMBER.pack(version), _NUMBER.pack(len(results)), *parts))


def write_results_from_bytes(data: bytes) -> tuple[WriteResult, ...]:
    """Returns the results, whichever version wrote them.

    Raises:
        CommittableVersionUnknown: a newer gateway wrote them.
        CommittableUnreadable: the bytes are not write results, or end too early.
    """
    reader = _Reader(data)
    try:
        version = reader.version()
        if not 1 <= version <= VERSION:
            raise CommittableVersionUnknown(
                f"Write results of version {version}; this gateway reads {VERSION}."
            )
        results = tuple(_result(reader, version) for _ in range(reader.count()))
        reader.require_end()
    except (ValueError, RecursionError) as error:
        raise CommittableUnreadable(f"These are no write results: {error}") from error
    return results


def _version_of(result: WriteResult) -> int:
    if result.target.order_field_id is not None:
        return VERSION
    # Earlier gateways would lose deletes without rows when they write files again for a changed table.
    if result.delete_count or (result.delete_files and not result.data_files):
        return _WITHOUT_ORDERS
    return _WITHOUT_SORT_ORDERS if result.target.sort_order_id is None else _WITHOUT_DELETE_COUNTS


def _parts(results: Sequence[WriteResult], version: int) -> Iterator[bytes]:
    for result in results:
        yield from _text(json.dumps(_head(result, version), separators=(",", ":")))
        for files in (result.data_files, result.delete_files):
            yield _NUMBER.pack(len(files))
            for file in files:
                yield from _text(file)


def _text(text: str) -> tuple[bytes, bytes]:
    encoded = text.encode()
    return _NUMBER.pack(len(encoded)), encoded


def _head(result: WriteResult, version: int) -> dict[str, object]:
    target, key = result.target, result.target.key
    order = {} if version <= _WITHOUT_SORT_ORDERS else {"sort-order-id": target.sort_order_id}
    deletes = {} if version <= _WITHOUT_DELETE_COUNTS else {"delete-count": result.delete_count}
    ordered = {} if version <= _WITHOUT_ORDERS else {"order-field-id": target.order_field_id}
    return (
        order
        | deletes
        | ordered
        | {
            "table": [key.table.catalog, key.table.schema, key.table.table],
            "branch": key.branch,
            "table-uuid": None if target.table_uuid is None else str(target.table_uuid),
            "schema-id": target.schema_id,
            "spec-id": target.spec_id,
            "is-upsert": target.is_upsert,
            "equality-field-ids": target.equality_field_ids,
            "write-schema-column-ids": target.write_schema_column_ids,
            "record-count": result.record_count,
            "byte-count": result.byte_count,
        }
    )


def _result(reader: _Reader, version: int) -> WriteResult:
    head = JsonFields(json.loads(reader.text()))
    target = _target(head, version)
    data_files, delete_files = reader.texts(), reader.texts()
    return WriteResult(
        target,
        data_files,
        delete_files,
        head.integer("record-count"),
        head.integer("byte-count"),
        head.integer("delete-count") if version > _WITHOUT_DELETE_COUNTS else 0,
    )


def _target(head: JsonFields, version: int) -> WriteTarget:
    catalog, schema, table = head.texts("table")
    uuid = head.optional_text("table-uuid")
    return WriteTarget(
        key=TableKey(TableName(catalog, schema, table), head.text("branch")),
        schema_id=head.integer("schema-id"),
        spec_id=head.integer("spec-id"),
        is_upsert=head.boolean("is-upsert"),
        equality_field_ids=head.integers("equality-field-ids"),
        write_schema_column_ids=head.optional_integers("write-schema-column-ids") if version > 1 else None,
        table_uuid=None if uuid is None else UUID(uuid),
        sort_order_id=head.optional_integer("sort-order-id") if version > _WITHOUT_SORT_ORDERS else None,
        order_field_id=head.optional_integer("order-field-id") if version > _WITHOUT_ORDERS else None,
    )


class _Reader:
    """A reader from start to end, which raises ValueError wherever bytes are missing."""

    def __init__(self, data: bytes) -> None:
        self._data = memoryview(data)
        self._at = 0

    def version(self) -> int:
        if self._take(len(_MAGIC)) != _MAGIC:
            raise ValueError("they do not begin as write results do")
        return self._number()

    def count(self) -> int:
        count = self._number()
        # Each counted item begins with a number of its own, so a count that is too large is found here.
        if count * _NUMBER.size > len(self._data) - self._at:
            raise ValueError(f"{count} announced, and not there")
        return count

    def text(self) -> str:
        return str(self._take(self._number()), "utf-8")

    def texts(self) -> tuple[str, ...]:
        return tuple(self.text() for _ in range(self.count()))

    def require_end(self) -> None:
        if self._at != len(self._data):
            raise ValueError("something follows them")

    def _number(self) -> int:
        number: int = _NUMBER.unpack(self._take(_NUMBER.size))[0]
        return number

    def _take(self, size: int) -> bytes:
        end = self._at + size
        if end > len(self._data):
            raise ValueError("they end too early")
        taken, self._at = self._data[self._at : end], end
        return bytes(taken)
