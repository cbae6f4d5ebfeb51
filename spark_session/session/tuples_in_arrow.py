"""Keys of several columns in Arrow, as `TupleStream.java` reads them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from service.model.filters.key_set import Key
from service.model.filters.keys import converted, digits_of


def tuples_in_arrow(type_names: Sequence[str], keys: Iterable[Key]) -> pa.Table:
    """Returns the keys as values of these types of Iceberg; those that the types cannot hold are left out.

    Numbers, days, moments and booleans are 64 bits, as Iceberg counts them.

    >>> from datetime import date
    >>> tuples_in_arrow(["int", "date"], [(7, date(1970, 1, 2)), (2**40, date(1970, 1, 3))]).to_pylist()
    [{'0': 7, '1': 1}]

    Raises:
        ValueError: there is no such type of keys.
    """
    rows = [values for key in keys if None not in (values := tuple(map(converted, type_names, key)))]
    columns: list[Sequence[Any]] = list(zip(*rows, strict=True)) or [() for _ in type_names]
    return pa.table(
        {
            str(place): _array(type_name, column)
            for place, (type_name, column) in enumerate(zip(type_names, columns, strict=True))
        }
    )


def _array(type_name: str, values: Sequence[Any]) -> pa.Array:
    match type_name:
        case "int" | "long" | "boolean":
            return pa.array(map(int, values), pa.int64(), size=len(values))
        case "date":
            return pa.array(values, pa.date32()).cast(pa.int32()).cast(pa.int64())
        case "timestamp":
            return pa.array(values, pa.timestamp("us")).cast(pa.int64())
        case "timestamptz":
            return pa.array(values, pa.timestamp("us", "UTC")).cast(pa.int64())
        case "string":
            return pa.array(values, pa.string())
    digits = digits_of(type_name)
    if digits is None:
        raise ValueError(type_name)
    return pa.array(values, pa.decimal128(sum(digits), digits[1]))
