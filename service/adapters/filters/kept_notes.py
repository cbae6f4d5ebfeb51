"""Notes on kept rows, as JSON: whose rows they are, what was selected, and which columns they have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from service.model.filters.key_selection import Bound, ColumnSet, KeptNote, KeySelection, LiteralValue

NOTE_BYTES = 8 * 1024
"""A longer note is not stored: each query that has to collect keys of the family reads all of them."""

_TYPES: Mapping[type[Any], str] = {int: "int", str: "str", date: "date", Decimal: "decimal"}


def encoded_note(note: KeptNote) -> bytes | None:
    """Returns the note as it is stored; None if it is too long. Equal notes are equal bytes.

    >>> year = KeySelection({"year": ColumnSet(low=Bound(2001), values=None)}, frozenset({"x"}))
    >>> note = KeptNote("f", 7, year, ("k", "year"), 365)
    >>> decoded_note(encoded_note(note)) == note
    True
    """
    selection = note.selection
    columns = {name: _encoded_set(values) for name, values in selection.columns.items()}
    found = [note.fingerprint, note.snapshot_id, columns, sorted(selection.rest)]
    stored = json.dumps([*found, note.columns, note.row_count], sort_keys=True).encode()
    return stored if len(stored) <= NOTE_BYTES else None


def decoded_note(stored: bytes) -> KeptNote | None:
    """Returns a stored note; None if it is something else.

    >>> decoded_note(b"7"), decoded_note(b"")
    (None, None)
    """
    if len(stored) > NOTE_BYTES:
        return None
    try:
        fingerprint, snapshot_id, columns, rest, names, row_count = json.loads(stored)
        selected = {str(name): _decoded_set(values) for name, values in columns.items()}
        selection = KeySelection(selected, frozenset(map(str, rest)))
        return KeptNote(str(fingerprint), int(snapshot_id), selection, tuple(map(str, names)), int(row_count))
    except (ValueError, TypeError, AttributeError, ArithmeticError, RecursionError):
        return None


def _encoded_set(values: ColumnSet) -> list[Any]:
    listed = None if values.values is None else sorted(map(_encoded_value, values.values))
    return [_encoded_bound(values.low), _encoded_bound(values.high), listed, values.is_null]


def _decoded_set(stored: list[Any]) -> ColumnSet:
    low, high, listed, is_null = stored
    values = None if listed is None else frozenset(map(_decoded_value, listed))
    return ColumnSet(_decoded_bound(low), _decoded_bound(high), values, bool(is_null))


def _encoded_bound(bound: Bound | None) -> list[Any] | None:
    return None if bound is None else [_encoded_value(bound.value), bound.is_inclusive]


def _decoded_bound(stored: list[Any] | None) -> Bound | None:
    if stored is None:
        return None
    value, is_inclusive = stored
    return Bound(_decoded_value(value), bool(is_inclusive))


def _encoded_value(value: LiteralValue) -> list[str]:
    return [_TYPES[type(value)], str(value)]


def _decoded_value(stored: list[str]) -> LiteralValue:
    type_name, text = stored
    match type_name:
        case "int":
            return int(text)
        case "str":
            return str(text)
        case "date":
            return date.fromisoformat(text)
        case "decimal":
            return Decimal(text)
        case _:
            raise ValueError(type_name)
