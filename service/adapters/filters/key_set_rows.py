"""Encodes kept rows as one value: a checksum, then the rows as a compressed Arrow stream."""

from __future__ import annotations

import hashlib

import pyarrow as pa

from service.adapters.filters.kept_notes import encoded_note
from service.model.filters.key_selection import KeptNote

_MARK = b"SLFR"
_DIGEST_BYTES = 16
_COMPRESSED = pa.ipc.IpcWriteOptions(compression="zstd")


def encoded_rows(note: KeptNote, rows: pa.Table) -> bytes:
    """Returns the rows as they are stored for this note."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema, options=_COMPRESSED) as writer:
        writer.write_table(rows)
    stored: bytes = sink.getvalue().to_pybytes()
    return _MARK + _digest(note, stored) + stored


def decoded_rows(note: KeptNote, value: bytes) -> pa.Table | None:
    """Returns the rows that were stored for this note; None if the value is something else, or damaged."""
    beginning = len(_MARK) + _DIGEST_BYTES
    stored = value[beginning:]
    if value[:beginning] != _MARK + _digest(note, stored):
        return None
    try:
        rows = pa.ipc.open_stream(pa.py_buffer(stored)).read_all()
        rows.validate(full=True)
    except (pa.ArrowException, OSError, ValueError):
        return None
    is_of_note = (tuple(rows.column_names), rows.num_rows) == (note.columns, note.row_count)
    return rows if is_of_note else None


def _digest(note: KeptNote, stored: bytes) -> bytes:
    """The checksum of rows and note: rows of another set, or a damaged note on these, would be wrong keys."""
    whose = encoded_note(note) or b""
    return hashlib.blake2b(whose + stored, digest_size=_DIGEST_BYTES).digest()
