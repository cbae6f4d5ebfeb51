"""The keys that a query runs without, and that may still come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace

from service.model.filters.filter_record import FilterRecord, Reason
from service.ports.engine.late_filters import LateFilter, LateUse


@dataclass(frozen=True, slots=True)
class LateKeys:
    """A filter whose keys have not come in time.

    `record` is that of the applied filter. It is there before the condition is.
    """

    filter: LateFilter
    fingerprint: str
    record: Future[FilterRecord]


def with_uses(
    records: Sequence[FilterRecord], late: Sequence[LateKeys], uses: Mapping[str, LateUse]
) -> tuple[FilterRecord, ...]:
    """Returns the records with what became of the late filters. Those whose keys never came stay."""
    by_id = {keys.filter.filter_id: keys for keys in late}
    found: list[FilterRecord] = []
    for record in records:
        match uses.get(record.filter_id):
            case LateUse.USED:
                found.append(by_id[record.filter_id].record.result())
            case LateUse.TOO_LATE:
                found.append(replace(record, reason=Reason.ARRIVED_TOO_LATE))
            case None:
                found.append(record)
    return tuple(found)
