"""Values of metadata that only administrators see: places of files, and statistics of hidden rows."""

from __future__ import annotations

import re
from collections.abc import Sequence

REDACTED = "*********(redacted)"
"""As Spark itself writes for a secret."""
UNKNOWN = "NULL"
"""As Spark writes for a statistic that nobody has."""
_PLACES = re.compile(r"(?i)(^|[./_-])(location|path|uri|url|warehouse|dir|directory|folder)$")
_ADDRESS = re.compile(r"(?i)^\s*(/|[a-z][a-z0-9+.-]*:/)")
_ADDRESS_WITHIN = re.compile(r"(?i)(=\s*/|\b[a-z][a-z0-9+.-]*:/)")
_DETAILS = re.compile(r"^# Detailed ")
_HIDDEN_DETAILS = frozenset(
    {"Location", "Storage Properties", "View Text", "View Original Text", "Partition Provider"}
)
_PROPERTIES = frozenset({"Table Properties", "View Properties", "Properties"})
STATISTICS = "Statistics"
COLUMN_STATISTICS = frozenset(
    {"min", "max", "num_nulls", "distinct_count", "avg_col_len", "max_col_len", "histogram"}
)
_QUOTED = r"'(?:[^'\\]|\\.)*'"
_LOCATION_CLAUSE = re.compile(rf"(?ms)^LOCATION {_QUOTED}")
_PROPERTY_CLAUSE = re.compile(rf"(?s)(?P<name>{_QUOTED}) = (?P<value>{_QUOTED})")

Row = tuple[str | None, ...]


def shown_property(name: str, value: str | None) -> str | None:
    """Returns the value of a property without places of files.

    >>> shown_property("write.format.default", "parquet"), shown_property("write.data.path", "s3://a/b")
    ('parquet', '*********(redacted)')
    >>> shown_property("owner.note", "file:/data")
    '*********(redacted)'
    """
    is_place = _PLACES.search(name) is not None or (value is not None and _ADDRESS.match(value) is not None)
    return REDACTED if is_place else value


def shown_properties(rows: Sequence[Row]) -> list[Row]:
    """Returns rows of names and values, or of values alone, without places of files."""
    return [(*row[:-1], shown_property(row[0] or "" if row[:-1] else "", row[-1])) for row in rows]


def shown_details(rows: Sequence[Row], *, is_admin: bool, shows_counts: bool, shows_text: bool) -> list[Row]:
    """Returns the rows of a DESCRIBE EXTENDED. Columns come first, so only the details are looked at.

    >>> rows = [("id", "int", None), ("# Detailed Table Information", "", ""), ("Location", "s3://a", "")]
    >>> shown_details(rows, is_admin=False, shows_counts=True, shows_text=True)[-1]
    ('Location', '*********(redacted)', '')
    """
    found: list[Row] = []
    is_detail = False
    for row in rows:
        name, value, *rest = row
        is_detail = is_detail or _DETAILS.match(name or "") is not None
        if not is_detail:
            found.append(row)
        elif name != STATISTICS or shows_counts:
            found.append((name, _detail(name or "", value, is_admin=is_admin, shows_text=shows_text), *rest))
    return found


def _detail(name: str, value: str | None, *, is_admin: bool, shows_text: bool) -> str | None:
    if is_admin or value is None:
        return value
    if name in ("View Text", "View Original Text"):
        return value if shows_text else REDACTED
    if name in _HIDDEN_DETAILS:
        return REDACTED
    if name in _PROPERTIES:
        # The list cannot be taken apart: values may have commas.
        return REDACTED if _ADDRESS_WITHIN.search(value) else value
    return shown_property(name, value)


def shown_statistics(rows: Sequence[Row]) -> list[Row]:
    """Returns the rows of a column's DESCRIBE EXTENDED without what its values are.

    >>> shown_statistics([("col_name", "k"), ("max", "12")])
    [('col_name', 'k'), ('max', 'NULL')]
    """
    return [(name, UNKNOWN if name in COLUMN_STATISTICS else value, *rest) for name, value, *rest in rows]


def shown_creation(text: str) -> str:
    r"""Returns the text of a SHOW CREATE TABLE without places of files.

    >>> print(shown_creation("CREATE TABLE t (\n  a INT)\nLOCATION 's3://a'\nTBLPROPERTIES ('x' = '1')"))
    CREATE TABLE t (
      a INT)
    LOCATION '*********(redacted)'
    TBLPROPERTIES ('x' = '1')
    """
    return _PROPERTY_CLAUSE.sub(_shown_clause, _LOCATION_CLAUSE.sub(f"LOCATION '{REDACTED}'", text))


def _shown_clause(found: re.Match[str]) -> str:
    value = shown_property(found["name"][1:-1], found["value"][1:-1])
    return f"{found['name']} = '{value}'"
