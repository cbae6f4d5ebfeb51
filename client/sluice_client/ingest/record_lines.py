"""Records as JSON lines."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from sluice_client.errors import DataNotSupported

_PIECE_BYTES = 256 * 1024


def record_lines(records: Iterable[Any]) -> Iterator[bytes]:
    r"""Yields the records as JSON lines, in pieces of some hundred kilobytes.

    >>> b"".join(record_lines([{"day": date(2026, 1, 1), "n": 1}, {"price": Decimal("1.50")}]))
    b'{"day":"2026-01-01","n":1}\n{"price":"1.50"}\n'

    Raises:
        DataNotSupported: a record is not a mapping, or has a value that JSON lines cannot have.
    """
    piece = bytearray()
    for number, record in enumerate(records, 1):
        piece += _line(number, record)
        if len(piece) >= _PIECE_BYTES:
            yield bytes(piece)
            piece.clear()
    if piece:
        yield bytes(piece)


def _line(number: int, record: Any) -> bytes:
    if not isinstance(record, Mapping):
        raise DataNotSupported(f"record {number} is a {type(record).__name__}, not a dict")
    try:
        text = json.dumps(
            record, ensure_ascii=False, allow_nan=False, default=_json_value, separators=(",", ":")
        )
        return text.encode() + b"\n"
    except DataNotSupported as error:
        raise DataNotSupported(f"record {number}: {error}") from None
    except (ValueError, TypeError, RecursionError) as error:
        raise DataNotSupported(
            f"record {number} cannot be JSON: {error}. NaN and infinity can be sent in Arrow"
        ) from None


def _json_value(value: Any) -> Any:  # noqa: C901 - one case for each type
    match value:
        case datetime() | date() | time():
            return value.isoformat()
        case Decimal():
            if not value.is_finite():
                raise DataNotSupported(f"{value} is not a decimal")
            return format(value, "f")
        case bytes() | bytearray() | memoryview():
            return base64.b64encode(bytes(value)).decode()
        case UUID():
            return str(value)
        case Enum():
            return value.value
        case Mapping():
            return dict(value)
        case set() | frozenset():
            raise DataNotSupported("a set has no order: send a list")
        case _ if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
            return value.tolist()
        case _:
            raise DataNotSupported(f"a value is a {type(value).__name__}")
