"""Reads the records of a JSON body with Arrow at once, if this gives exactly the same rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from service.ingest.decoding.json.fast_rows import FastRows
from service.ingest.decoding.json.route_lines import LineGroup, LineRouter
from service.ingest.decoding.streams.plan import ReadPlan
from service.ingest.decoding.streams.rows import TargetRows
from service.ingest.decoding.values.invalid_partition_values import invalid_partition_values
from service.ingest.decoding.values.marked_rows import is_read_at_once, marked_if_deleting, may_lack_keys
from service.ingest.decoding.values.record_rows import BATCH_ROWS
from service.model.ingest.json_records import JsonRecords
from service.model.tables.schemas import Field, Primitive

_MAX_CACHED_READERS = 256


def rows_at_once(records: JsonRecords, plan: ReadPlan) -> Sequence[TargetRows] | None:
    """Returns the rows of all records, target by target; None where one of them is uncertain."""
    if plan.route is None:
        return _read([(0, records.lines, len(records))], plan, None)
    # Conversion one by one gives more rows than these in several rounds of targets.
    groups = LineRouter(plan.route).groups(records.lines, 0) if len(records) <= BATCH_ROWS else None
    return None if groups is None else _read(_parts(groups), plan, plan.route.field)


def _parts(groups: Iterable[LineGroup]) -> list[tuple[int | None, bytes, int]]:
    """Returns the parts in the order of targets that conversion one by one gives."""
    ordered = sorted(groups, key=lambda group: -1 if group.target is None else group.target)
    return [(group.target, b"\n".join(group.lines), len(group.lines)) for group in ordered]


def _read(
    parts: Iterable[tuple[int | None, bytes, int]], plan: ReadPlan, ignored: str | None
) -> list[TargetRows] | None:
    found: list[TargetRows] = []
    for target, lines, count in parts:
        if target is not None and not is_read_at_once(plan.targets[target]):
            return None
        reader = None if target is None else _reader(plan.targets[target].fields, ignored)
        rows = None if reader is None else reader.read(lines, count)
        if target is None or rows is None or invalid_partition_values(rows, plan.targets[target].partition):
            return None
        if plan.targets[target].deletes is not None and may_lack_keys(rows):
            return None
        found.append(TargetRows(target, marked_if_deleting(rows, plan.targets[target])))
    return found


def _reader(fields: tuple[Field, ...], ignored: str | None) -> FastRows | None:
    columns = tuple(
        (field.name, field.type.name, field.is_required)
        for field in fields
        if isinstance(field.type, Primitive)
    )
    return _cached_reader(columns, ignored) if len(columns) == len(fields) else None


@lru_cache(_MAX_CACHED_READERS)
def _cached_reader(columns: tuple[tuple[str, str, bool], ...], ignored: str | None) -> FastRows:
    # A reader needs only names and types; ids, and defaults of any kind, do not affect it.
    return FastRows(
        tuple(Field(0, name, Primitive(kind), is_required) for name, kind, is_required in columns), ignored
    )
