"""The scans that no filter was looked for on, as the explanation tells them."""

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
    """A record without a key for each table that was read and has no candidate: the reason for that."""
    told = {str(each.probe.table).lower() for each in pruned.filters}
    reasons = {str(name).lower(): reason for name, reason in pruned.left_out.items()}
    for scan in scans:
        name = scan.table.lower()
        if name not in told:
            told.add(name)
            yield _record(scan, reasons.get(name, pruned.otherwise))


def _record(scan: ScanRecord, reason: Reason) -> FilterRecord:
    probe = Probe(TableName.of(scan.table), (), (), scan.snapshot_id)
    build = Build((), (), "", ())
    return FilterRecord("", JoinType.NONE, probe, build, FilterSource.NONE, FilterForm.NONE, reason)
