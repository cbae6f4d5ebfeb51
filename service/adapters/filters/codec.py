"""Encodes a filter's keys as one value: a head in JSON, then the keys as a compressed Arrow stream.

The value begins with a marker, the head's checksum and the head's length; the head has the keys' checksum.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass
from datetime import datetime, timedelta

import pyarrow as pa

from service.adapters.filters.entry_head import EntryHead, Rubbish, head_of
from service.adapters.filters.key_types import Uncacheable, key_type
from service.model.filters.dynamic_filter import DynamicFilter
from service.model.filters.key_set import DynamicFilteringData, Key

HEAD_BYTES = 32 * 1024
"""The maximum length of marker and head together."""

_MARK = b"SLFK"
_PREFIX = struct.Struct(">4s16sI")
_COMPRESSED = pa.ipc.IpcWriteOptions(compression="zstd")


@dataclass(frozen=True, slots=True)
class StoredKeys:
    """Keys as stored in the cache, where they take `byte_count`."""

    data: DynamicFilteringData
    byte_count: int
    expires_at: datetime


def encode(
    wanted: DynamicFilter, data: DynamicFilteringData, created_at: datetime, time_to_live: timedelta
) -> tuple[bytes, StoredKeys]:
    """Returns the value, and the keys that `decode` will read from it.

    Raises:
        Uncacheable: a key does not have its column's type, or keys of that type are not cached.
    """
    ends = tuple((end,) for range_ in data.ranges for end in range_)
    keys = _stored_keys(wanted.key_types, (*data.values, *ends))
    checksum = _digest(keys).hex()
    head = head_of(wanted, data, len(keys), checksum, created_at, time_to_live)
    text = _described(head)
    return _PREFIX.pack(_MARK, _digest(text), len(text)) + text + keys, _stored(head, data)


def decode(value: bytes, wanted: DynamicFilter) -> StoredKeys:
    """Returns the keys that were stored for this filter.

    Raises:
        Rubbish: the value is something else, or damaged.
    """
    head, end = _head_and_end(value)
    keys = memoryview(value)[end:]
    is_asked_for = (head.shown.fingerprint, head.type_names) == (wanted.fingerprint, wanted.key_types)
    if not is_asked_for or _digest(keys).hex() != head.checksum:
        raise Rubbish
    return _stored(head, _restored(head, _restored_keys(head.type_names, keys)))


def decode_head(beginning: bytes) -> EntryHead:
    """Returns a value's head, read from its first `HEAD_BYTES`.

    Raises:
        Rubbish: the value is something else, or damaged.
    """
    return _head_and_end(beginning)[0]


def _described(head: EntryHead) -> bytes:
    """Returns the head's text; if it is too long, without the sample, which is only informative."""
    for shown in (head, head.without_sample()):
        text = shown.to_json()
        if _PREFIX.size + len(text) <= HEAD_BYTES:
            return text
    raise Uncacheable("The build side has too many tables and columns to be described in the cache.")


def _restored(head: EntryHead, rows: tuple[Key, ...]) -> DynamicFilteringData:
    """The values, and after them the ranges, each as two rows. The head says whether there is a NULL."""
    value_count = head.shown.value_count - head.shown.has_null
    values, ends = rows[:value_count], [row[0] for row in rows[value_count:]]
    if (len(values), len(ends)) != (value_count, 2 * head.shown.range_count):
        raise Rubbish
    ranges = tuple(zip(ends[::2], ends[1::2], strict=True))
    return DynamicFilteringData(
        values, head.is_filtering, head.shown.exceeds_threshold, ranges, head.shown.has_null
    )


def _stored(head: EntryHead, data: DynamicFilteringData) -> StoredKeys:
    return StoredKeys(data, head.shown.byte_count, head.shown.expires_at)


def _head_and_end(value: bytes) -> tuple[EntryHead, int]:
    if len(value) < _PREFIX.size:
        raise Rubbish
    mark, checksum, length = _PREFIX.unpack_from(value)
    end = _PREFIX.size + length
    head = value[_PREFIX.size : end]
    if mark != _MARK or end > HEAD_BYTES or _digest(head) != checksum:
        raise Rubbish
    return EntryHead.from_json(head), end


def _stored_keys(type_names: tuple[str, ...], values: tuple[Key, ...]) -> bytes:
    types = [key_type(name) for name in type_names]
    try:
        columns = list(zip(*values, strict=True)) if values else [()] * len(types)
        arrays = [kind.stored(column) for kind, column in zip(types, columns, strict=True)]
    except ValueError as error:
        raise Uncacheable("The keys have not one value for each column.") from error
    table = pa.table(arrays, names=[str(index) for index in range(len(types))])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=_COMPRESSED) as writer:
        writer.write_table(table)
    stored: bytes = sink.getvalue().to_pybytes()
    return stored


def _restored_keys(type_names: tuple[str, ...], stored: memoryview) -> tuple[Key, ...]:
    try:
        types = [key_type(name) for name in type_names]
        table = pa.ipc.open_stream(pa.py_buffer(stored)).read_all()
        table.validate(full=True)
    except (Uncacheable, pa.ArrowException, OSError, ValueError) as error:
        raise Rubbish from error
    if table.schema.types != [kind.arrow for kind in types] or any(
        column.null_count for column in table.columns
    ):
        raise Rubbish
    columns = [kind.restored(column) for kind, column in zip(types, table.columns, strict=True)]
    return tuple(zip(*columns, strict=True))


def _digest(stored: bytes | memoryview) -> bytes:
    return hashlib.blake2b(stored, digest_size=16).digest()
