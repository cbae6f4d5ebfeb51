"""Which columns of a table filters are accepted on, and why."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from service.model.filters.column_values import ColumnValues, NotKnown
from service.model.tables.contents import AcceptedBy, AcceptedColumn
from service.model.tables.tables import TableFacts, TableSource
from service.ports.filters.filter_keys import ProbeValues
from service.pruning.scan_layout.accepted_columns import accepted_columns, ambiguous_columns

MAX_COLUMNS = 200
"""The values in the files of more columns are not looked for: a wide table has thousands."""


def accepted_by(
    facts: TableFacts, values: ProbeValues | None, hidden: Collection[str] = ()
) -> Sequence[AcceptedColumn]:
    """Returns the columns in the order of the table, each with the first of the reasons that it has.

    The values in files are looked for, and nobody waits for them: a later call knows more. `values`: None
    leaves them out. `hidden`: columns, in lower case, whose values are not looked for.

    Source: FLIP-248, `SupportsDynamicFiltering.listAcceptedFilterFields`.
    """
    by_layout = _by_layout(facts)
    accepted = accepted_columns(facts)
    by_files = {} if values is None else _by_files(facts, values, accepted.union(hidden))
    found: list[AcceptedColumn] = []
    for column in facts.columns:
        name = column.name.lower()
        by = by_layout.get(name) if name in accepted else by_files.get(name)
        if by is not None:
            found.append(AcceptedColumn(column.name, by))
    return found


def _by_layout(facts: TableFacts) -> dict[str, AcceptedBy]:
    partitions = (field.source for field in (*facts.partition_fields, *facts.past_partition_fields))
    return {
        **{name.lower(): AcceptedBy.BLOOM for name in facts.bloom_filter_columns},
        **{field.source.lower(): AcceptedBy.SORT for field in facts.sort_fields},
        **{name.lower(): AcceptedBy.PARTITION for name in partitions},
    }


def _by_files(facts: TableFacts, values: ProbeValues, accepted: frozenset[str]) -> dict[str, AcceptedBy]:
    if facts.source is not TableSource.ICEBERG or facts.snapshot_id is None or facts.data_file_count <= 1:
        return {}
    left_out = accepted | ambiguous_columns(facts)
    names = [column.name for column in facts.columns if column.name.lower() not in left_out][:MAX_COLUMNS]
    values.prepare(facts.name, facts.snapshot_id, names)
    found: dict[str, AcceptedBy] = {}
    for name in names:
        of_column = values.of(facts.name, facts.snapshot_id, name)
        if of_column is NotKnown.PENDING:
            found[name.lower()] = AcceptedBy.BOUNDS
        elif isinstance(of_column, ColumnValues) and of_column.is_clustered:
            found[name.lower()] = AcceptedBy.CLUSTERED
    return found
