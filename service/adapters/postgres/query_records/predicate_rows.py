"""Converts the predicates of a scan to and from JSON of the metrics store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from service.adapters.postgres.shared.storable import storable
from service.model.query.scan_predicates import PredicateValue, ScanPredicate


def stored_predicate(predicate: ScanPredicate) -> dict[str, object]:
    """Returns the predicate as it is stored; `ranges` is null where they are not known."""
    ranges = predicate.ranges
    return {
        "column": storable(predicate.column),
        "ranges": None
        if ranges is None
        else [[_stored_value(lower), _stored_value(upper)] for lower, upper in ranges],
    }


def predicate_of(stored: Mapping[str, Any]) -> ScanPredicate:
    """Returns the predicate that was stored."""
    ranges = stored["ranges"]
    return ScanPredicate(
        stored["column"], None if ranges is None else tuple((lower, upper) for lower, upper in ranges)
    )


def _stored_value(value: PredicateValue | None) -> PredicateValue | None:
    return storable(value) if isinstance(value, str) else value
