"""Keys of several columns in Arrow, as `TupleStream.java` reads them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from service.model.filters.key_set import Key
from service.model.filters.keys import are_of_types, converted, digits_of


def tuples_in_arrow(type_names: Sequence[str], keys: Sequence[Key]) -> pa.Table:
    """Returns the keys as values of these types of Iceberg; those that the types cannot hold are left out.

    Numbers, days, moments and booleans are 64 bits, as Iceberg counts them.

    >>> from datetime import date
    >>> tuples_in_arrow(["int", "date"], [(7, date(1970, 1, 2)), (2**40, date(1970, 1, 3))]).to_pylist()
    [{'0': 7, '1': 1}]

    Raises:
        ValueError: there is no such type of keys.
    """
    rows: Sequence[tuple[Any, ...]] = keys
    if not are_of_types(type_names, keys):
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
        case "int" | "long":
            return pa.array(values, pa.int64())
        case "boolean":
            return pa.array(values, pa.bool_()).cast(pa.int64())
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
