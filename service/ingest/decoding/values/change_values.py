"""Converts records that may delete, which are values by name, to marked rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from service.ingest.decoding.streams.plan import ReadTarget
from service.ingest.decoding.values.envelopes import Change, debezium_changes
from service.ingest.decoding.values.marked_rows import key_fields
from service.ingest.decoding.values.record_rests import values_with_rest
from service.ingest.decoding.values.scalar_values import Convert
from service.model.ingest.record_deletes import DELETE_MARK, DeleteWhen, RecordDeletes
from service.model.tables.schemas import Field

ToRows = Callable[[object], Sequence[object]]
"""Returns the rows of one record, in the order in which they apply; raises ValueError if it does not fit."""


def row_values(
    target: ReadTarget, values: Callable[[Sequence[Field]], Convert], *, leaves_out_nulls: bool = False
) -> ToRows:
    """Returns the converter of this target's records; `values` makes one for objects with given fields.

    `leaves_out_nulls`: a field that a record does not have is NULL, and was not forgotten.

    Raises:
        IngestInvalid: a field has a type that these records cannot represent.
    """
    whole = values_with_rest(target.fields, target.rest, values)
    if target.deletes is None:
        return lambda record: (whole(record),)
    of_keys = values(key_fields(target))
    return _change_values(target, target.deletes, whole, of_keys, leaves_out_nulls=leaves_out_nulls)


def _change_values(
    target: ReadTarget, deletes: RecordDeletes, whole: Convert, of_keys: Convert, *, leaves_out_nulls: bool
) -> ToRows:
    nothing = dict.fromkeys((field.name for field in target.fields), None)

    def row(change: Change) -> dict[str, object]:
        if not change.is_delete:
            return {**_fields(whole, change.record), DELETE_MARK: False}
        return {**nothing, **_fields(of_keys, change.record), DELETE_MARK: True}

    def to_rows(record: object) -> Sequence[object]:
        found = _changes(record, target, deletes, leaves_out_nulls=leaves_out_nulls)
        return [row(change) for change in found]

    return to_rows


def _fields(convert: Convert, record: object) -> Mapping[str, object]:
    converted = convert(record)
    assert isinstance(converted, Mapping)
    return converted


def _changes(
    record: object, target: ReadTarget, deletes: RecordDeletes, *, leaves_out_nulls: bool
) -> Iterator[Change]:
    """Yields what the record changes. Only a write that deletes by every record rejects further fields.

    They may have been meant as conditions there. Elsewhere, a record has the form of a row, whatever it does.
    """
    if deletes.envelope is not None:
        yield from debezium_changes(record, deletes.keys, deletes.order)
    elif deletes.when is None:
        if isinstance(record, Mapping):
            _check_key(record, deletes.keys, leaves_out_nulls=leaves_out_nulls)
        yield Change(record, is_delete=True)
    elif not isinstance(record, Mapping):
        raise ValueError("an object is wanted")
    elif deletes.when.matches(record.get(deletes.when.field)):
        _check_key(record, deletes.keys, leaves_out_nulls=leaves_out_nulls)
        _check_order(record, deletes.order, leaves_out_nulls=leaves_out_nulls)
        yield Change({name: record[name] for name in deletes.needed if name in record}, is_delete=True)
    else:
        yield Change(_without_field(record, target, deletes.when), is_delete=False)


def _check_key(record: Mapping[str, object], keys: Sequence[str], *, leaves_out_nulls: bool) -> None:
    """Checks that no key is missing: read as NULL, it would delete the rows without one."""
    lacking = [name for name in keys if name not in record]
    if lacking and not leaves_out_nulls:
        raise ValueError(f"{', '.join(lacking):.200} identifies the row, and was not sent")


def _check_order(record: Mapping[str, object], order: str | None, *, leaves_out_nulls: bool) -> None:
    """Checks that the order is not missing: read as NULL, the delete would lose against all rows with one."""
    if order is not None and order not in record and not leaves_out_nulls:
        raise ValueError(f"{order:.200} orders the records, and was not sent")


def _without_field(
    record: Mapping[str, object], target: ReadTarget, when: DeleteWhen
) -> Mapping[str, object]:
    if when.field not in record or any(field.name == when.field for field in target.fields):
        return record
    if target.rest is not None:
        return record
    return {name: value for name, value in record.items() if name != when.field}
