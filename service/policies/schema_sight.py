"""The schemas and catalogs that grants show. Grants name tables only."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from service.model.policies.decisions import SchemaSight
from service.model.policies.table_patterns import TablePattern
from service.model.tables.tables import TableName

# Stands for a wildcard in the name of an example. No denial is written for such a name alone.
_ANYTHING = "\x00"


def sight_of(
    granted: Iterable[TablePattern], catalog: str, schema: str, may_describe: Callable[[TableName], bool]
) -> SchemaSight:
    """Returns what a principal with these granted patterns may know of a schema.

    A grant on a schema shows it, also without tables. So does a grant on one of its tables, if it names the
    schema. `lake.*.orders` shows a schema only by a table: it would tell the names of all schemas otherwise.
    A grant whose tables are denied shows nothing.

    >>> granted = [TablePattern.parse("lake.shop.*"), TablePattern.parse("lake.*.orders")]
    >>> [sight_of(granted, "lake", name, lambda table: True).value for name in ("Shop", "hr")]
    ['SHOWN', 'BY_TABLE']
    >>> sight_of(granted, "lake", "hr", lambda table: False).value
    'HIDDEN'
    """
    found = SchemaSight.HIDDEN
    for pattern in granted:
        if _is_below(pattern, catalog, schema):
            inside = _example(pattern.schema)
            if may_describe(TableName(catalog, inside, _example(pattern.table))):
                return SchemaSight.SHOWN
        elif pattern.covers_schema(catalog, schema) and may_describe(
            TableName(catalog, schema, _example(pattern.table))
        ):
            if "*" not in pattern.schema or not pattern.table.strip("*"):
                return SchemaSight.SHOWN
            found = SchemaSight.BY_TABLE
    return found


def knows_catalog(
    granted: Iterable[TablePattern], catalog: str, may_describe: Callable[[TableName], bool]
) -> bool:
    """Whether a principal with these granted patterns may know that a catalog exists.

    >>> granted = [TablePattern.parse("lake.shop.*")]
    >>> [knows_catalog(granted, name, lambda table: True) for name in ("LAKE", "rest")]
    [True, False]
    """
    return any(
        may_describe(TableName(catalog, _example(pattern.schema), _example(pattern.table)))
        for pattern in granted
        if pattern.covers_catalog(catalog)
    )


def _is_below(pattern: TablePattern, catalog: str, schema: str) -> bool:
    """Whether the pattern names a schema inside of this one: `shop.north` is reached by `shop`."""
    return pattern.covers_catalog(catalog) and pattern.schema.startswith(f"{schema.lower()}.")


def _example(glob: str) -> str:
    return glob.replace("*", _ANYTHING)
