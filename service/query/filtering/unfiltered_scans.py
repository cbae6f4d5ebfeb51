"""Tables that had no filter candidate, for the explanation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from service.model.filters.filter_record import FilterRecord
from service.model.query.scan_metrics import ScanRecord
from service.model.tables.tables import TableName
from service.query.filtering.pruned_query import PrunedQuery


def unfiltered_scans(pruned: PrunedQuery, scans: Iterable[ScanRecord]) -> Iterator[FilterRecord]:
    """Yields a record for each table reference without a candidate, with the reason.

    Tables in the text are reported even if nothing of them was scanned.
    """
    yield from pruned.unfiltered
    reported = {_name(filter_record) for filter_record in (*pruned.filters, *pruned.unfiltered)}
    for scan in (*scans, *pruned.referenced):
        name = scan.table.lower()
        if name not in reported:
            reported.add(name)
            yield FilterRecord.none_on(TableName.of(scan.table), scan.snapshot_id, pruned.otherwise)


def _name(record: FilterRecord) -> str:
    return str(record.probe.table).lower()
