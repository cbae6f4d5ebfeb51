"""Counts of a table's files and rows: they would show how many rows a policy hides, and where these lie."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from service.model.policies.actions import Action
from service.model.policies.decisions import Access, Allowed
from service.model.query.scan_metrics import PruningMetrics, ScanRecord, Selection
from service.model.tables.dead_letter_names import sent_to
from service.model.tables.tables import TableFacts, TableName
from service.policies.require import may

_NOTHING = Selection(0, 0)
_NOT_SHOWN = PruningMetrics(_NOTHING, _NOTHING, _NOTHING, _NOTHING, _NOTHING, planning_ms=0)


def shows_counts(access: Access, table: TableName) -> bool:
    """Whether the principal sees every row of the table."""
    decision = access.decide(Action.SELECT, table)
    return isinstance(decision, Allowed) and decision.restriction.row_filter is None


def masked_columns(access: Access, facts: TableFacts) -> frozenset[str]:
    """Returns the table's columns, in lower case, whose values the principal does not see."""
    decision = access.decide(Action.SELECT, facts.name)
    if not isinstance(decision, Allowed):
        return frozenset(column.name.lower() for column in facts.columns)
    return frozenset(
        column.name.lower() for column in facts.columns if decision.restriction.is_masked(column.name)
    )


def shows_writes(access: Access, table: TableName) -> bool:
    """Whether the principal may know how much was written: it knows of the table, and no row is hidden."""
    decision = access.decide(Action.SELECT, table)
    if isinstance(decision, Allowed):
        return decision.restriction.row_filter is None
    source = sent_to(table)
    if source is not None and not shows_writes(access, source):
        return False
    return may(access, Action.DESCRIBE, table)


def with_shown_counts(scans: Iterable[ScanRecord], access: Access) -> tuple[ScanRecord, ...]:
    """Returns the scans, with zeros for tables whose rows the principal does not all see."""
    return tuple(
        scan if shows_counts(access, TableName.of(scan.table)) else replace(scan, metrics=_NOT_SHOWN)
        for scan in scans
    )


def without_row_counts(facts: TableFacts) -> TableFacts:
    """Returns the table as one whose number of rows is not known, without numbers of files and bytes."""
    return replace(facts, record_count=0, deleted_record_count=None, data_file_count=0, total_bytes=0)
