"""The server's abilities: the answer to CommandGetSqlInfo, for every known id.

Source: the enumeration SqlInfo of https://arrow.apache.org/docs/format/FlightSql.html
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import pyarrow as pa

from api.bootstrap.version import version_of
from api.flight.metadata.answer_schemas import SQL_INFO, SQL_INFO_VALUE
from api.flight.metadata.sql_words import (
    DATE_FUNCTIONS,
    KEYWORDS,
    NUMERIC_FUNCTIONS,
    STRING_FUNCTIONS,
    SYSTEM_FUNCTIONS,
)

NO_LIMIT = 0


@dataclass(frozen=True, slots=True)
class Long:
    """A number that drivers expect with 64 bits."""

    value: int


Info = str | bool | Long | int | tuple[str, ...] | Mapping[int, tuple[int, ...]] | None
"""None is a text that is not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InfoBounds:
    """Bounds of this gateway that drivers may ask for."""

    max_sql_bytes: int
    max_prepared_statements: int
    prepared_statement_ttl_ms: int


def infos(bounds: InfoBounds) -> Mapping[int, Info]:
    """Returns the value of each id."""
    no_limits = {number: Long(NO_LIMIT) for number in (*range(541, 556), *range(557, 562))}
    values_by_id = _SERVER | {100: bounds.prepared_statement_ttl_ms, 101: NO_LIMIT} | _SYNTAX | no_limits
    values_by_id |= {557: Long(bounds.max_sql_bytes), 558: Long(bounds.max_prepared_statements)}
    return MappingProxyType(dict(sorted(values_by_id.items())))


def sql_info(known: Mapping[int, Info], asked: Iterable[int] = ()) -> pa.Table:
    """Returns a row for each asked id that is known; for all if none is asked.

    >>> bounds = InfoBounds(max_sql_bytes=10, max_prepared_statements=5, prepared_statement_ttl_ms=7)
    >>> sql_info(infos(bounds), [0, 8, 77]).to_pylist()
    [{'info_name': 0, 'value': 'Sluice'}, {'info_name': 8, 'value': 0}]
    """
    ids = [number for number in (tuple(asked) or known) if number in known]
    children: list[list[object]] = [[] for _ in range(SQL_INFO_VALUE.num_fields)]
    members, offsets = [], []
    for number in ids:
        member, value = _member(known[number])
        members.append(member)
        offsets.append(len(children[member]))
        children[member].append(value)
    fields = [SQL_INFO_VALUE.field(index) for index in range(SQL_INFO_VALUE.num_fields)]
    values = pa.UnionArray.from_dense(
        pa.array(members, pa.int8()),
        pa.array(offsets, pa.int32()),
        [pa.array(child, field.type) for child, field in zip(children, fields, strict=True)],
        [field.name for field in fields],
    )
    return pa.Table.from_arrays([pa.array(ids, pa.uint32()), values], schema=SQL_INFO)


def _member(info: Info) -> tuple[int, object]:
    """Returns the place of a value's member in the union, and the value as Arrow takes it."""
    match info:
        case bool():
            return 1, info
        case Long():
            return 2, info.value
        case int():
            return 3, info
        case tuple():
            return 4, list(info)
        case Mapping():
            return 5, [(kind, list(others)) for kind, others in info.items()]
        case _:
            return 0, info


_SERVER: dict[int, Info] = {
    0: "Sluice",
    1: version_of(),
    2: pa.__version__,
    3: True,  # is read only
    4: True,  # SQL
    5: False,  # Substrait
    6: None,
    7: None,
    8: 0,  # no transactions
    9: True,  # queries can be canceled
    10: False,  # no bulk ingestion
    11: False,
}
_SYNTAX: dict[int, Info] = {
    500: False,  # DDL of catalogs
    501: False,  # of schemas
    502: False,  # of tables
    503: 1,  # names are found in any case
    504: "`",
    505: 1,  # quoted names too
    506: False,  # a caller may see tables that it may not read
    507: 1,  # nulls are the lowest
    508: KEYWORDS,
    509: NUMERIC_FUNCTIONS,
    510: STRING_FUNCTIONS,
    511: SYSTEM_FUNCTIONS,
    512: DATE_FUNCTIONS,
    513: "\\",
    514: "",
    515: True,  # AS for columns
    516: True,  # NULL || 'a' is NULL
    517: {},  # CAST, but no CONVERT
    518: True,  # AS for tables
    519: False,
    520: True,  # expressions in ORDER BY
    521: True,  # ORDER BY of columns that are not selected
    522: 0b11,  # GROUP BY of columns that are not selected
    523: True,  # LIKE … ESCAPE
    524: True,  # columns without NULL
    525: 0b11,  # minimum and core grammar
    526: 0b1,  # entry level of SQL-92
    527: False,
    528: 2,  # all outer joins
    529: "schema",
    530: "procedure",
    531: "catalog",
    532: True,  # the catalog comes first
    533: 0,
    534: 0,
    535: 0,
    536: False,
    537: False,
    538: 0b111,  # subqueries in comparisons, EXISTS and IN
    539: True,  # correlated ones
    540: 0b11,  # UNION and UNION ALL
    556: False,
    562: 0,  # no isolation, as there are no transactions
    563: False,
    564: 0b1,
    565: False,
    566: False,
    567: 0b10,  # results are read forward
    568: 0,
    569: 0b10,  # and only read
    570: 0,
    571: 0,
    572: False,
    573: False,
    574: False,
    575: False,
    576: False,
}
