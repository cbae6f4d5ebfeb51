"""The filters whose keys scans compare with their files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from service.ports.engine.tuple_filters import TupleFilter
from service.query.filtering.formed_filters import FormedFilter


def tuple_filters(formed: Iterable[FormedFilter]) -> tuple[TupleFilter, ...]:
    """Returns those that are written into the text, and leave out more files by their keys themselves."""
    return tuple(_tuple_filters(formed))


def _tuple_filters(formed: Iterable[FormedFilter]) -> Iterator[TupleFilter]:
    for each in formed:
        found = each.assignment.filter
        if each.formed is not None and each.formed.has_tuples and found.probe.snapshot_id is not None:
            yield TupleFilter(
                found.filter_id,
                found.probe.table,
                found.probe.snapshot_id,
                found.probe.columns,
                found.probe.type_names,
                found.fingerprint,
                each.outcome.data.values,
            )
