"""Has a plan read exactly the snapshots that its text names?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from service.model.query.reuse import PlanReads, TableRead
from service.model.tables.tables import TableFacts, TableName
from service.pruning.name_resolution.is_readable_again import is_readable_again
from service.query.reuse.table_states import table_state


def has_read_pinned(
    reads: PlanReads | None,
    tables: Mapping[TableName, TableFacts],
    rewritten_from: Iterable[TableFacts],
    growing: TableName | None,
) -> bool:
    """Whether each table was read with the columns and at the snapshot of its facts.

    A rewritten text has keys and rows of the tables that it was `rewritten_from`. Only
    added files of a `growing` table were read: the options of its reference say between which snapshots.
    """
    if reads is None:
        return False
    now = {name.in_lower_case(): facts for name, facts in tables.items()}
    are_same = all(_is_same(facts, now.get(facts.name.in_lower_case())) for facts in rewritten_from)
    return are_same and all(_is_right(read, now, growing) for read in reads.tables)


def _is_same(facts: TableFacts, known: TableFacts | None) -> bool:
    return (
        known is not None
        and is_readable_again(facts)
        and (facts.table_uuid, facts.snapshot_id, facts.schema_id)
        == (known.table_uuid, known.snapshot_id, known.schema_id)
    )


def _is_right(read: TableRead, now: Mapping[TableName, TableFacts], growing: TableName | None) -> bool:
    facts = now.get(read.table.in_lower_case())
    if facts is None or read.table_uuid != facts.table_uuid:
        return False
    if growing is not None and read.table.in_lower_case() == growing.in_lower_case():
        return read.has_options and not read.is_version and read.schema_id == facts.schema_id
    is_pinned = read.is_version and read.snapshot_id == facts.snapshot_id and is_readable_again(facts)
    return is_pinned or read.state == table_state(facts)


def as_read(tables: Mapping[TableName, TableFacts]) -> PlanReads:
    """Returns the reads of a result that is of exactly these states."""
    return PlanReads(
        tuple(
            TableRead(name, facts.table_uuid, facts.schema_id, facts.metadata_location, facts.snapshot_id)
            for name, facts in tables.items()
        )
    )
