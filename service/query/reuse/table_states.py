"""The states of tables: what the catalog says now, and what a plan has read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from service.model.query.reuse import PlanReads, TableRead, state_of
from service.model.tables.tables import TableFacts, TableName, TableSource
from service.pruning.name_resolution.is_readable_again import is_readable_again


def table_state(facts: TableFacts) -> str | None:
    """Returns a state that no two commits of any table share; None if the catalog does not say."""
    if facts.source is not TableSource.ICEBERG or not facts.metadata_location:
        return None
    return state_of(facts.table_uuid, facts.metadata_location)


def has_these_columns(reads: Iterable[TableRead], now: Mapping[TableName, TableFacts]) -> bool:
    """Whether an analysis that read tables in these states holds for their present ones.

    The columns of a version may change with any commit, since a tag or a branch can move.
    """
    return all(read.table in now and _has_these_columns(read, now[read.table]) for read in reads)


def has_read(
    reads: PlanReads, tables: Mapping[TableName, TableFacts], rewritten_from: Iterable[TableFacts] | None
) -> bool:
    """Whether a plan has read exactly these states of its tables, whatever was committed since.

    A rewritten text reads tables at the snapshots of the facts that it was `rewritten_from`, and rows and
    keys that were collected from the same. None: the text ran as it was written.
    """
    now = {name.in_lower_case(): facts for name, facts in tables.items()}
    if rewritten_from is None:
        return not reads.has_others and all(_is_in_state(read, now) for read in reads.tables)
    are_same = all(_is_same(facts, now.get(facts.name.in_lower_case())) for facts in rewritten_from)
    return are_same and all(_is_in_state(read, now) or _is_pinned(read, now) for read in reads.tables)


def _is_same(facts: TableFacts, known: TableFacts | None) -> bool:
    state = table_state(facts)
    return known is not None and state is not None and state == table_state(known)


def _has_these_columns(read: TableRead, facts: TableFacts) -> bool:
    return read.columns in (table_state(facts), f"{facts.table_uuid} schema {facts.schema_id}")


def _is_in_state(read: TableRead, now: Mapping[TableName, TableFacts]) -> bool:
    facts = now.get(read.table.in_lower_case())
    return facts is not None and read.state == table_state(facts)


def _is_pinned(read: TableRead, now: Mapping[TableName, TableFacts]) -> bool:
    """Whether a version was read that has the rows and the columns of this state."""
    facts = now.get(read.table.in_lower_case())
    return (
        facts is not None
        and read.is_version
        and (read.table_uuid, read.snapshot_id) == (facts.table_uuid, facts.snapshot_id)
        and is_readable_again(facts)
    )
