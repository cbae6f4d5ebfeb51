"""Bounds the names of tables and columns in an event."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import islice

from service.model.audit.events import Details

MAX_TABLES = 200
MAX_COLUMNS = 2_000
MAX_POLICIES = 2_000


def with_names(details: Details, tables: Iterable[str], columns: Mapping[str, Iterable[str]]) -> Details:
    """Adds tables and their columns, up to the bounds. Each name is listed once.

    >>> found = with_names(Details(), ["a", "b", "a"], {"a": ["x", "y", "x"]})
    >>> found.tables, found.columns, found.is_shortened
    (('a', 'b'), {'a': ('x', 'y')}, False)
    """
    all_tables = tuple(dict.fromkeys(name for name in (*tables, *columns) if name))
    left, is_shortened = MAX_COLUMNS, len(all_tables) > MAX_TABLES
    shown: dict[str, tuple[str, ...]] = {}
    for table in all_tables[:MAX_TABLES]:
        names = tuple(dict.fromkeys(columns.get(table, ())))
        if names[:left]:
            shown[table] = names[:left]
        is_shortened = is_shortened or len(names) > left
        left = max(0, left - len(names))
    return replace(
        details,
        tables=all_tables[:MAX_TABLES],
        columns=shown,
        is_shortened=details.is_shortened or is_shortened,
    )


def with_policies(details: Details, policies: Iterable[str]) -> Details:
    """Adds the policies that were applied, up to the bound.

    >>> with_policies(Details(), ["row filter of lake.a.t"]).policies
    ('row filter of lake.a.t',)
    """
    names = tuple(islice(policies, MAX_POLICIES + 1))
    is_shortened = details.is_shortened or len(names) > MAX_POLICIES
    return replace(details, policies=names[:MAX_POLICIES], is_shortened=is_shortened)
