"""Turns a filter's keys into the predicate that its probe is filtered by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from service.model.filters.column_values import ColumnValues
from service.model.filters.dynamic_filter import DynamicFilter, KeySpan
from service.model.filters.file_sizes import FileShare
from service.model.filters.filter_record import Reason
from service.model.filters.key_set import DynamicFilteringData, KeyRange, KeyValue
from service.model.filters.keys import converted, converted_range, spelled_value
from service.pruning.predicates.covering_predicate import covering_predicate
from service.pruning.predicates.day_ranges import day_ranges, has_clipped
from service.pruning.predicates.predicate import (
    FormedPredicate,
    list_predicate,
    or_null,
    predicate,
    ranges_predicate,
    sorted_values,
)
from service.pruning.predicates.relevant_keys import relevant_keys
from service.pruning.predicates.relevant_ranges import relevant_ranges


@dataclass(frozen=True, slots=True, kw_only=True)
class FormBounds:
    """How long predicates may become.

    `max_in_list` bounds one list. `max_listed` bounds several lists together, and one list where only lists
    can prune.
    """

    max_in_list: int
    max_ranges: int
    max_listed: int


def form(
    found: DynamicFilter,
    data: DynamicFilteringData,
    column_values: ColumnValues | None,
    takes_lists_only: bool,
    bounds: FormBounds,
    among: frozenset[KeyValue] | None = None,
) -> FormedPredicate | Reason:
    """Returns a predicate that is true of every probe row with a key, or the reason why there is none.

    With `among`, values of the probe's type, only the keys that are among them count.
    """
    data_of_probe = _in_probe_type(found, data)
    if isinstance(data_of_probe, Reason):
        return data_of_probe
    if among is not None:
        type_name = found.probe.type_names[0]
        values = tuple(value for value in data_of_probe.values if converted(type_name, value[0]) in among)
        data_of_probe = replace(data_of_probe, values=values)
    formed = _form(found, data_of_probe, column_values, takes_lists_only, bounds)
    if isinstance(formed, Reason) or not data.has_null:
        return formed
    # The values in `column_values` do not include NULL, so it is added here.
    return or_null(formed, found.probe.columns[0])


def listed_keys(found: DynamicFilter, data: DynamicFilteringData) -> frozenset[KeyValue] | None:
    """Returns the probe's values that the keys stand for; None where they are not known one by one."""
    is_listed = data.is_filtering and not (data.ranges or data.has_null or data.exceeds_threshold)
    if not is_listed or found.span is not KeySpan.VALUE:
        return None
    data_of_probe = _in_probe_type(found, data)
    if isinstance(data_of_probe, Reason):
        return None
    return frozenset(sorted_values(found.probe.type_names[0], data_of_probe.values))


def _in_probe_type(found: DynamicFilter, data: DynamicFilteringData) -> DynamicFilteringData | Reason:
    """Converts keys that are compared as texts or moments of the probe's column to values of that column."""
    probe_type, key_type = found.probe.type_names[0], found.key_types[0]
    are_texts = key_type == "string" != probe_type
    are_moments = key_type in ("timestamp", "timestamptz") and probe_type == "date"
    if found.span is not KeySpan.VALUE or not (are_texts or are_moments):
        return data
    if data.ranges:
        return Reason.RANGES_ONLY
    try:
        values = {spelled_value(probe_type, value[0]) for value in data.values}
    except ValueError:
        return Reason.TYPE_NOT_CONVERTIBLE
    return replace(data, values=tuple(sorted((value,) for value in values if value is not None)))


def _form(
    found: DynamicFilter,
    data: DynamicFilteringData,
    column_values: ColumnValues | None,
    takes_lists_only: bool,
    bounds: FormBounds,
) -> FormedPredicate | Reason:
    column, type_name = found.probe.columns[0], found.probe.type_names[0]
    has_ranges = bool(data.ranges) or found.span is not KeySpan.VALUE
    if has_ranges and takes_lists_only:
        return Reason.RANGES_ONLY
    if has_ranges:
        filtered = relevant_ranges(_ranges(found, data), column_values)
        if filtered.is_all:
            return Reason.NOT_SELECTIVE
        if found.span is KeySpan.DAY_ANYWHERE and has_clipped(filtered.ranges):
            return Reason.TYPE_NOT_CONVERTIBLE
        formed = ranges_predicate(column, type_name, filtered.ranges, bounds.max_ranges)
        return replace(formed, share=_share(column_values, formed.ranges))
    keys = relevant_keys(data.values, column_values)
    if keys.is_all:
        return Reason.NOT_SELECTIVE
    if takes_lists_only:
        is_short = len(keys.values) <= bounds.max_listed
        return list_predicate(column, type_name, keys.values) if is_short else Reason.RANGES_ONLY
    formed = predicate(
        column,
        type_name,
        keys.values,
        bounds.max_in_list,
        bounds.max_ranges,
        keys.domain,
        bounds.max_listed,
    )
    if keys.listed is not None and not formed.is_exact:
        formed = covering_predicate(
            column, type_name, keys.values, keys.listed, bounds.max_ranges, bounds.max_listed
        )
    ranges = formed.ranges or sorted((key[0], key[0]) for key in keys.values)
    return replace(formed, share=_share(column_values, ranges))


def _share(column_values: ColumnValues | None, ranges: Sequence[KeyRange]) -> FileShare | None:
    """Returns the share of the probe's files that is left; None if it is not known, or they are empty."""
    return (
        column_values.sizes.share(ranges)
        if column_values is not None and column_values.sizes is not None
        else None
    )


def _ranges(found: DynamicFilter, data: DynamicFilteringData) -> list[KeyRange]:
    """Returns the ranges, and each value as a range, in the type of the probe's column."""
    ranges = [*data.ranges, *((value[0], value[0]) for value in data.values)]
    type_name = found.probe.type_names[0]
    match found.span:
        case KeySpan.VALUE:
            converted = (converted_range(type_name, range_) for range_ in ranges)
            return [range_ for range_ in converted if range_ is not None]
        case KeySpan.DAY | KeySpan.DAY_ANYWHERE:
            return day_ranges(ranges, found.span, type_name)
