"""Is the engine's own dynamic pruning needed beside the gateway's?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from service.model.filters.filter_record import FilterRecord, Reason
from service.model.tables.tables import TableFacts, TableName, TableSource


def covers_native_pruning(
    scans: Sequence[tuple[int, TableFacts]],
    filtered: Mapping[tuple[int, str], bool],
    unapplied: Sequence[FilterRecord],
    unfiltered: Sequence[FilterRecord] = (),
    *,
    has_filters_outside: bool = False,
) -> bool:
    """Whether every scan that the engine could prune by a join is pruned at least as far already.

    `scans` are the tables that the text reads from files, by the place of their table reference. `filtered`
    has the places and columns with filters, and whether these are exact and have all that the engine could
    prune by. `unapplied` are the candidates that gave no filter: by one on a partition column, the engine may
    prune further. `unfiltered` says why there is no candidate on a table reference.

    The engine prunes by partition columns only, and only if the other side has a filter. The gateway knows
    whether a table has one. A derived table may have one inside that gives no keys. If the query
    `has_filters_outside`, a SELECT filters the rows of another one, and the engine may push such a filter
    down to any table.
    """
    if any(facts.source is TableSource.OTHER for _, facts in scans):
        # The engine sees the tables behind a view.
        return False
    partitioned = {
        (place, facts.name, column) for place, facts in scans for column in _partition_columns(facts)
    }
    ambiguous = {
        _column(filter_record)
        for filter_record in unapplied
        if has_filters_outside or not _is_surely_unfiltered(filter_record)
    }
    unseen = {
        filter_record.probe.table
        for filter_record in unfiltered
        if filter_record.reason is not Reason.NO_EQUI_JOIN
    }
    return all(
        filtered.get((place, column), True) and (table, column) not in ambiguous and table not in unseen
        for place, table, column in partitioned
    )


def _is_surely_unfiltered(record: FilterRecord) -> bool:
    return record.reason is Reason.BUILD_HAS_NO_FILTER and bool(record.build.tables)


def _column(record: FilterRecord) -> tuple[TableName, str]:
    return record.probe.table, record.probe.columns[0]


def _partition_columns(facts: TableFacts) -> set[str]:
    fields = (*facts.partition_fields, *facts.past_partition_fields)
    return {field.source for field in fields if field.transform != "void"}
