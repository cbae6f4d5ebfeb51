"""The types of Spark SQL as JDBC and ODBC describe types: the answer to CommandGetXdbcTypeInfo."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from api.flight.metadata.answer_schemas import XDBC_TYPES

_NULLABLE = 1
_FULLY_SEARCHABLE, _NOT_WITH_LIKE = 3, 2
_DATETIME, _TIMESTAMP_CODE, _DATE_CODE = 9, 93, 91
_SUBCODES = {_DATE_CODE: 1, _TIMESTAMP_CODE: 3}
_DECIMAL_DIGITS, _BITS = 10, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class XdbcType:
    """A type: its name, its code in JDBC and ODBC, and what a column of it can have."""

    name: str
    code: int
    size: int | None = None
    quotes: tuple[str, str] | None = None
    parameters: tuple[str, ...] | None = None
    is_text: bool = False
    radix: int | None = None
    scales: tuple[int, int] | None = None


_LARGEST = 2**31 - 1
TYPES = (
    XdbcType(name="BOOLEAN", code=-7, size=1),
    XdbcType(name="TINYINT", code=-6, size=3, radix=_DECIMAL_DIGITS, scales=(0, 0)),
    XdbcType(name="BIGINT", code=-5, size=19, radix=_DECIMAL_DIGITS, scales=(0, 0)),
    XdbcType(name="BINARY", code=-3, size=_LARGEST, quotes=("X'", "'")),
    XdbcType(
        name="DECIMAL",
        code=3,
        size=38,
        parameters=("precision", "scale"),
        radix=_DECIMAL_DIGITS,
        scales=(0, 38),
    ),
    XdbcType(name="INT", code=4, size=10, radix=_DECIMAL_DIGITS, scales=(0, 0)),
    XdbcType(name="SMALLINT", code=5, size=5, radix=_DECIMAL_DIGITS, scales=(0, 0)),
    XdbcType(name="FLOAT", code=7, size=24, radix=_BITS),
    XdbcType(name="DOUBLE", code=8, size=53, radix=_BITS),
    XdbcType(name="STRING", code=12, size=_LARGEST, quotes=("'", "'"), is_text=True),
    XdbcType(name="DATE", code=_DATE_CODE, size=10, quotes=("DATE'", "'")),
    XdbcType(name="TIMESTAMP", code=_TIMESTAMP_CODE, size=26, quotes=("TIMESTAMP'", "'"), scales=(6, 6)),
    XdbcType(
        name="TIMESTAMP_NTZ", code=_TIMESTAMP_CODE, size=26, quotes=("TIMESTAMP_NTZ'", "'"), scales=(6, 6)
    ),
)
"""In order of their codes, then of their names."""


def xdbc_types(code: int | None = None) -> pa.Table:
    """Returns a row for each type, or for those of one code.

    >>> xdbc_types(93).column("type_name").to_pylist()
    ['TIMESTAMP', 'TIMESTAMP_NTZ']
    """
    rows = [_row(kind) for kind in sorted(TYPES, key=_order) if code in (None, kind.code)]
    return pa.Table.from_pylist(rows, schema=XDBC_TYPES)


def _order(kind: XdbcType) -> tuple[int, str]:
    return kind.code, kind.name


def _row(kind: XdbcType) -> dict[str, object]:
    prefix, suffix = kind.quotes or (None, None)
    is_number = kind.radix is not None
    least, most = kind.scales or (None, None)
    subcode = _SUBCODES.get(kind.code)
    return {
        "type_name": kind.name,
        "data_type": kind.code,
        "column_size": kind.size,
        "literal_prefix": prefix,
        "literal_suffix": suffix,
        "create_params": None if kind.parameters is None else list(kind.parameters),
        "nullable": _NULLABLE,
        "case_sensitive": kind.is_text,
        "searchable": _FULLY_SEARCHABLE if kind.is_text else _NOT_WITH_LIKE,
        "unsigned_attribute": False if is_number else None,
        "fixed_prec_scale": False,
        "auto_increment": False if is_number else None,
        "local_type_name": kind.name,
        "minimum_scale": least,
        "maximum_scale": most,
        "sql_data_type": kind.code if subcode is None else _DATETIME,
        "datetime_subcode": subcode,
        "num_prec_radix": kind.radix,
        "interval_precision": None,
    }
