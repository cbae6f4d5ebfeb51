"""Unpinned table references: two runs of one text may find their tables in different states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from sqlglot import exp

from service.errors.table_errors import TableNotFound
from service.errors.unavailable import CatalogDown
from service.model.tables.sql import ParsedQuery
from service.model.tables.tables import TableAt, TableFacts, TableSource
from service.ports.tables.catalogs import Catalogs
from service.pruning.conditions.is_expression_name import is_expression_name
from service.pruning.sql_text.inject import TableSubstitution

# Any other function that is not part of the language may read anything: `IDENTIFIER('t')` is a table.
_READS_NOTHING = frozenset({"range", "stack"})


@dataclass(frozen=True, slots=True)
class UnpinnedReference:
    """A referenced table as it was known when filters were looked for. None: nothing was known."""

    table: TableAt | None = None
    facts: TableFacts | None = None


def unpinned_references(
    parsed: ParsedQuery,
    names: Mapping[int, TableAt],
    facts: Mapping[TableAt, TableFacts],
    pins: Mapping[int, TableSubstitution],
) -> tuple[UnpinnedReference, ...]:
    """Returns the references that are not pinned to a snapshot, each once."""
    pinned = {end for end, pin in pins.items() if pin.snapshot_id is not None}
    unpinned = (end for end in _ends(parsed) if end not in pinned)
    tables = (None if end is None else names.get(end) for end in unpinned)
    return tuple(
        dict.fromkeys(
            UnpinnedReference() if table is None else UnpinnedReference(table, facts.get(table))
            for table in tables
        )
    )


def has_changed(unpinned: Sequence[UnpinnedReference], catalogs: Catalogs) -> bool:
    """Whether a read at the start and one now may have different rows, as far as is known."""
    try:
        return any(_has_changed(reference, catalogs) for reference in unpinned)
    except (TableNotFound, CatalogDown):
        return True


def _has_changed(table_reference: UnpinnedReference, catalogs: Catalogs) -> bool:
    table, before = table_reference.table, table_reference.facts
    if table is None or before is None:
        return True
    match before.source:
        case TableSource.OTHER:
            return True
        case TableSource.FILES:
            return catalogs.facts(before.name).table_uuid != before.table_uuid
        case TableSource.ICEBERG:
            now = catalogs.facts_of([table]).get(table)
            return now is None or _state(now) != _state(before)
        case unknown:
            assert_never(unknown)


def _state(facts: TableFacts) -> tuple[object, ...]:
    return facts.table_uuid, facts.schema_id, facts.snapshot_id


def _ends(parsed: ParsedQuery) -> Iterator[int | None]:
    """Yields where table names end, as references know it; None for a table that is read by other means."""
    ends = {
        reference.end if reference.selector is None else reference.version_end: reference.end
        for reference in parsed.references
    }
    for table in parsed.tree.find_all(exp.Table):
        is_constant = isinstance(table.this, exp.Func) and not _is_reader(table.this)
        if not is_constant and not is_expression_name(table) and table.find_ancestor(exp.Hint) is None:
            yield ends.get(table.parts[-1].meta.get("end", -1) + 1)


def _is_reader(function: exp.Func) -> bool:
    return isinstance(function, exp.Anonymous) and function.name.lower() not in _READS_NOTHING
