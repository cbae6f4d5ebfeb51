"""A principal's knowledge of catalogs, schemas, tables and views. All else does not exist for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from service.errors.policy_errors import TableAccessDenied
from service.errors.statement_errors import SqlInvalid
from service.model.policies.actions import Action
from service.model.policies.decisions import Access, Allowed, SchemaSight
from service.model.policies.read_plan import Parts, ReadPlan, ReadTable, name_of
from service.model.tables.tables import TableName
from service.policies.granted_reads import allow_table
from service.policies.require import may

_SUFFIXES = 2
"""`lake.shop.item.files` and `lake.shop.item.tag_audit.files` are read of `lake.shop.item`."""
_TEXT_NOT_SHOWN = "its text may name what you may not see"
_PARTITIONS_NOT_SHOWN = "policies restrict it, and its partitions would show more"


def require_catalog(access: Access, catalog: str) -> None:
    """Checks that the principal may know of a catalog.

    Raises:
        SqlInvalid: it may not, or there is none.
    """
    if not access.knows_catalog(catalog):
        raise no_catalog(catalog)


def no_catalog(catalog: str) -> SqlInvalid:
    """Returns the error for a catalog that does not exist, or that the principal may not know of."""
    return SqlInvalid(f"There is no catalog {catalog}. GET /tables lists the tables of all catalogs.")


def no_schema(parts: Sequence[str]) -> SqlInvalid:
    """Returns the error for a schema that does not exist, or that the principal may not know of."""
    return SqlInvalid(f"There is no schema {'.'.join(parts)}.")


def is_shown(access: Access, parts: Sequence[str], has_table: Callable[[], bool]) -> bool:
    """Whether the principal may know of a schema; `has_table` says if it has a table that is shown to it."""
    sight = access.sight_of(parts[0], ".".join(parts[1:]))
    return sight is SchemaSight.SHOWN or (sight is SchemaSight.BY_TABLE and has_table())


def shown_tables(access: Access, schema: Sequence[str], names: Iterable[str]) -> list[str]:
    """Returns the names of those tables or views of a schema that the principal may know of."""
    catalog, *levels = schema
    return [
        name for name in names if may(access, Action.DESCRIBE, TableName(catalog, ".".join(levels), name))
    ]


def require_some_name(access: Access, parts: Parts) -> None:
    """Checks, before a catalog is asked, that the principal may know of a table that the name may mean.

    Raises:
        TableAccessDenied: it may not. The answer is the same whether or not the table exists.
    """
    least = max(3, len(parts) - _SUFFIXES)
    names = [name_of(parts[:count]) for count in range(len(parts), least - 1, -1)]
    if not any(may(access, Action.DESCRIBE, name) for name in names):
        raise TableAccessDenied(name_of(parts), Action.SELECT)


def require_relation(access: Access, parts: Parts, plan: ReadPlan) -> TableName:
    """Returns the table or view that a name means, by the plan of a query of all its columns.

    Raises:
        TableAccessDenied: the principal may not know of it, or not of this metadata of it.
    """
    view = next((view for view in plan.views if not view.path), None)
    table = next((table for table in plan.tables if not table.path), None)
    if view is None and table is None:
        raise TableAccessDenied(name_of(parts), Action.SELECT)
    name = view.name if view is not None else _named(table)
    if not may(access, Action.DESCRIBE, name):
        raise TableAccessDenied(name_of(parts), Action.SELECT)
    if view is None and table is not None and table.metadata is not None:
        allow_table(table, access)
    return name


def require_text(access: Access, view: TableName, plan: ReadPlan) -> None:
    """Checks that the principal may read the text of a view.

    Raises:
        TableAccessDenied: the text may name a table that the principal may not know of.
    """
    if not shows_text(access, plan):
        raise TableAccessDenied(view, Action.DESCRIBE, _TEXT_NOT_SHOWN)


def shows_text(access: Access, plan: ReadPlan) -> bool:
    """Whether the principal may know of all that views of this plan read, and none has a definer."""
    if access.administers_all():
        return True
    names = [*(view.name for view in plan.views), *(table.name for table in plan.tables)]
    return all(may(access, Action.DESCRIBE, name) and access.definer_of(name) is None for name in names)


def shows_values(access: Access, table: TableName) -> bool:
    """Whether the principal sees every row and every column of the table."""
    decision = access.decide(Action.SELECT, table)
    return isinstance(decision, Allowed) and not decision.restriction.is_any


def require_partitions(access: Access, table: TableName) -> None:
    """Checks that the principal may see which partitions a table has: they show values of rows.

    Raises:
        TableAccessDenied: it may not read the table, or not all of it.
    """
    if not may(access, Action.SELECT, table):
        raise TableAccessDenied(table, Action.SELECT)
    if not shows_values(access, table):
        raise TableAccessDenied(table, Action.SELECT, _PARTITIONS_NOT_SHOWN)


def _named(table: ReadTable | None) -> TableName:
    assert table is not None  # the caller has a view otherwise
    return table.name
