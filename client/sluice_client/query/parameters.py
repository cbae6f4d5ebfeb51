"""Values of Python as parameters of a query."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any, TypeAlias
from uuid import UUID

from sluice_client.errors import DataNotSupported

Parameters: TypeAlias = Mapping[str, Any] | Sequence[Any]
_INT64 = range(-(2**63), 2**63)
_MAX_DIGITS = 38


def json_parameters(parameters: Parameters | None) -> dict[str, Any] | list[Any]:
    """Returns the parameters as POST /query takes them: by name for `:name`, by position for `?`.

    >>> json_parameters({"day": date(2000, 1, 1), "n": 3})
    {'day': {'value': '2000-01-01', 'type': 'DATE'}, 'n': 3}

    Raises:
        DataNotSupported: a value has a type that no parameter has.
    """
    if parameters is None:
        return {}
    if isinstance(parameters, Mapping):
        return {str(name): _parameter(str(name), value) for name, value in parameters.items()}
    if isinstance(parameters, str | bytes) or not isinstance(parameters, Sequence):
        raise DataNotSupported("parameters are a mapping for :name, or a list or tuple for ?")
    return [_parameter(str(position), value) for position, value in enumerate(parameters, 1)]


def _parameter(name: str, value: Any) -> Any:  # noqa: C901 - one case for each type
    value = _plain(value)
    match value:
        case None | bool() | str():
            return value
        case int():
            return value if value in _INT64 else _decimal(name, Decimal(value))
        case float():
            if not math.isfinite(value):
                raise DataNotSupported(
                    f"parameter {name} is {value}: write it as double('{value}') in the SQL"
                )
            return _typed(value, "DOUBLE")
        case Decimal():
            return _decimal(name, value)
        case datetime():
            return _typed(value.isoformat(), "TIMESTAMP_NTZ" if value.tzinfo is None else "TIMESTAMP")
        case date():
            return _typed(value.isoformat(), "DATE")
        case bytes() | bytearray() | memoryview():
            return _typed(base64.b64encode(bytes(value)).decode(), "BINARY")
        case UUID():
            return str(value)
        case Mapping() if set(value) == {"value", "type"}:
            return _typed(value["value"], str(value["type"]))
        case _:
            raise DataNotSupported(
                f'parameter {name} is a {type(value).__name__}: pass {{"value": …, "type": …}}, or a value'
                " of a single SQL type"
            )


def _plain(value: Any) -> Any:
    """Returns the value of an enumeration's member, and Python's own value of a number of numpy."""
    if isinstance(value, Enum):
        return value.value
    is_numpy = type(value).__module__ == "numpy" and hasattr(value, "item")
    return value.item() if is_numpy and getattr(value, "ndim", 1) == 0 else value


def _decimal(name: str, value: Decimal) -> dict[str, Any]:
    if not value.is_finite():
        raise DataNotSupported(f"parameter {name} is {value}, which no DECIMAL is")
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int), "it is finite"
    scale = max(-exponent, 0)
    precision = max(len(digits) + max(exponent, 0), scale, 1)
    if precision > _MAX_DIGITS:
        raise DataNotSupported(
            f"parameter {name} has {precision} digits; a DECIMAL has {_MAX_DIGITS} at most"
        )
    return _typed(format(value, "f"), f"DECIMAL({precision},{scale})")


def _typed(value: Any, type_name: str) -> dict[str, Any]:
    return {"value": value, "type": type_name}
