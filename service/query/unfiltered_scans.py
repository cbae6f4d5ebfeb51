"""The tables that no filter was looked for on, as the explanation tells them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from service.model.filtering import (
    Build,
    FilterForm,
    FilterRecord,
    FilterSource,
    JoinType,
    Probe,
    Reason,
)
from service.model.pruning import ScanRecord
from service.model.tables import TableName
from service.query.pruned_query import PrunedQuery


def unfiltered_scans(pruned: PrunedQuery, scans: Iterable[ScanRecord]) -> Iterator[FilterRecord]:
    """A record without a key for each table without a candidate: the reason for that.

    Tables that the text mentions are told although nothing of them was scanned.
    """
    told = {str(each.probe.table).lower() for each in pruned.filters}
    reasons = {str(name).lower(): reason for name, reason in pruned.left_out.items()}
    mentioned: dict[str, int | None] = {str(name): None for name in pruned.left_out}
    mentioned |= {each.table: each.snapshot_id for each in pruned.mentioned}
    tables = [*((each.table, each.snapshot_id) for each in scans), *mentioned.items()]
    for table, snapshot_id in tables:
        name = table.lower()
        if name not in told:
            told.add(name)
            yield _record(table, snapshot_id, reasons.get(name, pruned.otherwise))


def _record(table: str, snapshot_id: int | None, reason: Reason) -> FilterRecord:
    probe = Probe(TableName.of(table), (), (), snapshot_id)
    build = Build((), (), "", ())
    return FilterRecord("", JoinType.NONE, probe, build, FilterSource.NONE, FilterForm.NONE, reason)
