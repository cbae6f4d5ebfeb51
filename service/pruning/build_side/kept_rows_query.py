"""Queries for keys that also read other columns of the table, so that the keys of fewer rows can be found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KeptRowsQuery:
    """The rows that have the keys: `sql` reads all of them, `distinct_sql` each once. Both read `columns`.

    `distinct_sql` is a query for keys with more columns.
    """

    columns: tuple[str, ...]
    sql: str
    distinct_sql: str


def kept_rows_query(sql: str, keys: Sequence[str], columns: Sequence[str]) -> KeptRowsQuery | None:
    """Returns the queries for the columns of the keys, and these; None if the text has another form.

    >>> source = "FROM `s`.`d` VERSION AS OF 2 AS `t0` WHERE `t0`.`year` = 2000"
    >>> found = kept_rows_query(f"SELECT DISTINCT `t0`.`k` AS `k0` {source}", ("k",), ("year",))
    >>> found.columns, found.sql.removesuffix(source)
    (('k', 'year'), 'SELECT `t0`.`k`, `t0`.`year` ')
    >>> found.distinct_sql.removesuffix(source)
    'SELECT DISTINCT `t0`.`k` AS `k0`, `t0`.`year` AS `c0` '
    """
    beginning = "SELECT DISTINCT " + ", ".join(
        f"{_quoted(key)} AS `k{position}`" for position, key in enumerate(keys)
    )
    if not sql.startswith(f"{beginning} FROM "):
        return None
    source = sql.removeprefix(beginning)
    every = (*keys, *columns)
    others = "".join(f", {_quoted(column)} AS `c{position}`" for position, column in enumerate(columns))
    return KeptRowsQuery(
        every, f"SELECT {', '.join(map(_quoted, every))}{source}", f"{beginning}{others}{source}"
    )


def _quoted(column: str) -> str:
    return "`t0`." + "`" + column.replace("`", "``") + "`"
