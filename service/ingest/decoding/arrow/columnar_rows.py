"""Reads batches of Arrow as rows by target; columns are matched by their names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from service.errors.ingest_errors import IngestInvalid
from service.ingest.decoding.arrow.columnar_rests import columnar_rests, fitted_at_once
from service.ingest.decoding.parquet.int96_zone import in_utc_where_wanted
from service.ingest.decoding.streams.note_names import note_names
from service.ingest.decoding.streams.plan import ReadPlan, ReadTarget
from service.ingest.decoding.streams.rows import BadRow, Position, Rows, TargetRows
from service.ingest.decoding.values.arrow_types import arrow_field, arrow_schema
from service.ingest.decoding.values.exact_arrays import InvalidValue, exact_array
from service.ingest.decoding.values.invalid_partition_values import invalid_partition_values
from service.ingest.decoding.values.known_columns import check_columns, check_names
from service.ingest.decoding.values.marked_rows import key_fields, marked
from service.ingest.decoding.values.row_payload import row_payload
from service.model.ingest.ingest_request import Route
from service.model.ingest.record_deletes import DeleteWhen
from service.model.ingest.record_rest import RecordRest
from service.model.tables.schemas import Field

# Values of other types never match: `json_name` has no text for them.
_KINDS_WITH_NAMES = (
    types.is_string,
    types.is_large_string,
    types.is_string_view,
    types.is_boolean,
    types.is_integer,
    types.is_floating,
    types.is_decimal,
)


def columnar_rows(batches: Iterator[pa.RecordBatch], plan: ReadPlan, start: Position) -> Iterator[Rows]:
    """Yields the rows of all batches, which share a schema.

    A column that a row's target does not have must be null in that row.

    Raises:
        IngestInvalid: a column is unknown, occurs twice, or has a type whose values could not fit.
    """
    number = start.number
    for index, batch in enumerate(batches):
        if index == 0:
            check_names(batch.schema.names)
            check_columns(batch.schema.names, plan)
        for target, rows, numbers in _routed(batch, plan.route, number):
            if target is None:
                yield from _without_route(rows, numbers, plan.route)
            else:
                for part in fitted_at_once(rows, has_rest=plan.targets[target].rest is not None):
                    of_part = numbers[part.start : part.stop]
                    fitted = rows.slice(part.start, len(part))
                    yield from _fitted(fitted, plan.targets[target], target, of_part, plan.route)
        number += batch.num_rows


def columnar_names(
    batches: Iterator[pa.RecordBatch], route: Route | None, known: Sequence[Set[str]]
) -> list[set[str]]:
    """Returns each target's names, as `note_names` collects them, that have a value in one of its rows.

    Raises:
        IngestInvalid: a column occurs twice.
    """
    found: list[set[str]] = [set() for _ in known]
    for index, batch in enumerate(batches):
        if index == 0:
            check_names(batch.schema.names)
        for target, rows, _ in _routed(batch, route, 1):
            if target is not None:
                columns = zip(rows.schema.names, rows.columns, strict=True)
                present = {name for name, column in columns if column.null_count < len(column)}
                note_names(found[target], present, known[target])
    return found


def _routed(
    batch: pa.RecordBatch, route: Route | None, start: int
) -> Iterator[tuple[int | None, pa.RecordBatch, Sequence[int]]]:
    """Yields the rows by target, and their numbers; rows without a route have None."""
    if route is None or batch.num_rows == 0:
        yield 0, batch, range(start, start + batch.num_rows)
        return
    groups: dict[int | None, list[int]] = {}
    for row, value in enumerate(_route_values(batch, route)):
        groups.setdefault(route.target(value), []).append(row)
    for target, rows in groups.items():
        part = batch if len(rows) == batch.num_rows else batch.take(pa.array(rows, pa.int32()))
        yield target, part, [start + row for row in rows]


def _route_values(batch: pa.RecordBatch, route: Route) -> list[object]:
    if route.field not in batch.schema.names:
        return [None] * batch.num_rows
    values: list[object] = batch.column(route.field).to_pylist()
    return values


def _without_route(rows: pa.RecordBatch, numbers: Sequence[int], route: Route | None) -> Iterator[BadRow]:
    assert route is not None
    for row, (number, value) in enumerate(zip(numbers, _route_values(rows, route), strict=True)):
        reason = f"{route.field}: there is no route for {value!r:.60}"
        yield BadRow(Position(number), reason, row_payload(rows.slice(row, 1)))


def _fitted(
    rows: pa.RecordBatch, target: ReadTarget, index: int, numbers: Sequence[int], route: Route | None
) -> Iterator[Rows]:
    if rows.num_rows == 0:
        return
    rows = in_utc_where_wanted(rows, target.fields)
    ignored = set() if route is None else {route.field}
    found = _sorted_out(rows, target, ignored) if target.deletes is None else _changes(rows, target, ignored)
    for row, reason in sorted(found.invalid.items()):
        yield BadRow(Position(numbers[row]), reason, row_payload(rows.slice(row, 1)), index)
    if found.exact.num_rows:
        yield TargetRows(index, found.exact)


@dataclass(frozen=True, slots=True)
class _SortedOut:
    """The rows that fit, in their order, and the others by their places, each with one of its reasons."""

    exact: pa.RecordBatch
    invalid: Mapping[int, str]

    def places(self, row_count: int) -> list[int]:
        """Returns the places of the rows that fit."""
        return [row for row in range(row_count) if row not in self.invalid]


def _sorted_out(rows: pa.RecordBatch, target: ReadTarget, ignored: Set[str]) -> _SortedOut:
    if target.rest is not None:
        return _with_rest(rows, target, target.rest)
    extra = _extra(rows, target, ignored)
    try:
        _check_extra(rows, extra)
        exact = _exact(rows, target)
        invalid_values = invalid_partition_values(exact, target.partition)
        if not invalid_values:
            return _SortedOut(exact, {})
    except InvalidValue:
        invalid_values = _invalid_values(rows, target, extra)
        fitting = _without(rows, invalid_values)
        if fitting:
            exact = _exact(rows.take(fitting), target)
            without_partition = invalid_partition_values(exact, target.partition)
            invalid_values |= {fitting[row].as_py(): reason for row, reason in without_partition.items()}
    good = _without(rows, invalid_values)
    if not good:
        return _SortedOut(pa.RecordBatch.from_pylist([], schema=arrow_schema(target.fields)), invalid_values)
    return _SortedOut(_exact(rows.take(good), target), invalid_values)


def _with_rest(rows: pa.RecordBatch, target: ReadTarget, rest: RecordRest) -> _SortedOut:
    """Sorts out the rows by their own columns, and adds the rests of the others."""
    own = tuple(field for field in target.fields if field.name != rest.column)
    found = _sorted_out(rows, replace(target, fields=own, rest=None), set(rows.schema.names))
    column = next(field for field in target.fields if field.name == rest.column)
    rests = columnar_rests(rows, {field.name for field in own}, rest, column)
    lacking = dict.fromkeys(
        (row for row, value in enumerate(rests.values) if value is None) if column.is_required else (),
        f"{rest.column} is required, and the record has no other fields",
    )
    invalid = {**found.invalid, **lacking, **rests.invalid}
    places = found.places(rows.num_rows)
    kept = [at for at, row in enumerate(places) if row not in invalid]
    taken = pa.array(kept, pa.int64())
    values = pa.array([rests.values[places[at]] for at in kept], arrow_field(column).type)
    arrays = [
        values if field is column else found.exact.column(field.name).take(taken) for field in target.fields
    ]
    return _SortedOut(pa.RecordBatch.from_arrays(arrays, schema=arrow_schema(target.fields)), invalid)


def _changes(rows: pa.RecordBatch, target: ReadTarget, ignored: Set[str]) -> _SortedOut:
    """Marks the rows; those that delete must fit the key alone, unless every row deletes.

    Raises:
        IngestInvalid: records of this format have no envelope.
    """
    assert target.deletes is not None
    if target.deletes.envelope is not None:
        raise IngestInvalid("Only JSON records can have an envelope.")
    when = target.deletes.when
    if when is None:
        found = _sorted_out(rows, target, ignored)
        return _SortedOut(marked(found.exact, target.fields, is_delete=True), found.invalid)
    is_delete = _are_deletes(rows, when)
    keys = ReadTarget(key_fields(target), partition=target.partition)
    deletes = _part(rows, [row for row, deletes in enumerate(is_delete) if deletes])
    upserts = _part(rows, [row for row, deletes in enumerate(is_delete) if not deletes])
    others = {name for name in rows.schema.names if name not in target.deletes.needed}
    return _in_order(
        target,
        (deletes, _sorted_out(deletes.rows, keys, others), True),
        (upserts, _sorted_out(upserts.rows, target, ignored | {when.field}), False),
    )


def _are_deletes(rows: pa.RecordBatch, when: DeleteWhen) -> list[bool]:
    if when.field not in rows.schema.names:
        return [False] * rows.num_rows
    column = rows.column(when.field)
    kind = column.type.value_type if types.is_dictionary(column.type) else column.type
    if not any(is_kind(kind) for is_kind in _KINDS_WITH_NAMES):
        # Python may have no values for it: some moments are too far away.
        return [False] * rows.num_rows
    return [when.matches(value) for value in column.to_pylist()]


@dataclass(frozen=True, slots=True)
class _Part:
    rows: pa.RecordBatch
    places: Sequence[int]


def _part(rows: pa.RecordBatch, places: Sequence[int]) -> _Part:
    return _Part(rows.take(pa.array(places, pa.int64())), places)


def _in_order(target: ReadTarget, *parts: tuple[_Part, _SortedOut, bool]) -> _SortedOut:
    """Joins rows that were sorted out apart, in the order of the places where they were."""
    invalid: dict[int, str] = {}
    places: list[int] = []
    batches: list[pa.RecordBatch] = []
    for part, found, is_delete in parts:
        invalid |= {part.places[row]: reason for row, reason in found.invalid.items()}
        places += [part.places[row] for row in found.places(part.rows.num_rows)]
        batches.append(marked(found.exact, target.fields, is_delete=is_delete))
    joined = pa.Table.from_batches(batches).combine_chunks()
    [ordered] = joined.take(pc.sort_indices(pa.array(places, pa.int64()))).combine_chunks().to_batches() or [
        batches[0].slice(0, 0)
    ]
    return _SortedOut(ordered, invalid)


def _without(rows: pa.RecordBatch, invalid_values: Mapping[int, str]) -> pa.Array:
    return pa.array([row for row in range(rows.num_rows) if row not in invalid_values], pa.int32())


def _extra(rows: pa.RecordBatch, target: ReadTarget, ignored: Set[str]) -> list[str]:
    names = {field.name for field in target.fields} | ignored
    return [name for name in rows.schema.names if name not in names]


def _check_extra(rows: pa.RecordBatch, extra: list[str]) -> None:
    for name in extra:
        column = rows.column(name)
        if column.null_count < len(column):
            raise InvalidValue(f"there is no field {name}")


def _exact(rows: pa.RecordBatch, target: ReadTarget) -> pa.RecordBatch:
    arrays = [exact_array(_given(rows, field), field) for field in target.fields]
    return pa.RecordBatch.from_arrays(arrays, schema=arrow_schema(target.fields))


def _given(rows: pa.RecordBatch, field: Field) -> pa.Array:
    return rows.column(field.name) if field.name in rows.schema.names else pa.nulls(rows.num_rows)


def _invalid_values(rows: pa.RecordBatch, target: ReadTarget, extra: list[str]) -> dict[int, str]:
    """Returns the rows that do not fit, each with one of its reasons."""
    found: dict[int, str] = {}
    for name in extra:
        valid = pc.indices_nonzero(rows.column(name).is_valid()).to_pylist()
        found |= dict.fromkeys(valid, f"there is no field {name}")
    for field in target.fields:
        found |= _invalid_values_in(_given(rows, field), field, 0)
    return found


def _invalid_values_in(array: pa.Array, field: Field, start: int) -> dict[int, str]:
    """Bisects the array down to the values that do not fit."""
    try:
        exact_array(array, field)
    except InvalidValue as error:
        if len(array) == 1:
            return {start: str(error)}
        half = len(array) // 2
        halves = _invalid_values_in(array.slice(0, half), field, start)
        return halves | _invalid_values_in(array.slice(half), field, start + half)
    return {}
