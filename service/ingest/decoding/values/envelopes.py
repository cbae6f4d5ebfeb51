"""Unwraps records of change data capture.

Source: Debezium, "Data change events" of its connectors, and "Tombstone events".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_ROWS = frozenset({"c", "r", "u"})
_PLACEHOLDER = "__debezium_unavailable_value"
# Also in base64, as bytes are sent by default, as a UUID, and as the text of a map.
_NOT_SENT = frozenset(
    {
        _PLACEHOLDER,
        "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==",
        "b68a35a7-17ad-35b3-af2a-ae46edb4545a",
        f'{{"{_PLACEHOLDER}":"{_PLACEHOLDER}"}}',
    }
)


@dataclass(frozen=True, slots=True)
class Change:
    """A row to write, or a key to delete, as values by name."""

    record: object
    is_delete: bool


def debezium_changes(record: object, keys: Sequence[str], order: str | None = None) -> Iterator[Change]:
    """Yields the changes of one event of Debezium, in their order; a tombstone has none.

    An event with the row before and after deletes the earlier key, if it is another one. With `order`, a
    delete has the order of the row before it, and that of an earlier key has the order of the row after it.

    Raises, while it is iterated:
        ValueError: it is another kind of record, or lacks a part of the row.

    >>> event = {"op": "u", "before": {"id": 1, "n": 4}, "after": {"id": 2, "n": 5}}
    >>> for change in debezium_changes({"schema": {}, "payload": event}, ["id"]): print(change)
    Change(record={'id': 1}, is_delete=True)
    Change(record={'id': 2, 'n': 5}, is_delete=False)
    >>> list(debezium_changes({"op": "d", "before": {"id": 2, "n": 5}, "after": None}, ["id"]))
    [Change(record={'id': 2}, is_delete=True)]
    >>> [list(debezium_changes(tombstone, ["id"])) for tombstone in (None, {"payload": None})]
    [[], []]
    """
    event = _event(record)
    if event is None:
        return
    op = event.get("op")
    if op == "d":
        yield Change(_deleted_key(_image(event, "before"), keys, order), is_delete=True)
    elif isinstance(op, str) and op in _ROWS:
        yield from _written(event, keys, order)
    else:
        raise ValueError(f"op: there is no operation {op!r:.60} here, only c, r, u and d")


def _event(record: object) -> Mapping[str, object] | None:
    if isinstance(record, Mapping) and "payload" in record and "op" not in record:
        record = record["payload"]
    if record is None or isinstance(record, Mapping):
        return record
    raise ValueError("an object is wanted, with op, before and after")


def _written(event: Mapping[str, object], keys: Sequence[str], order: str | None) -> Iterator[Change]:
    after, before = _image(event, "after"), event.get("before")
    not_sent = [name for name, value in after.items() if _is_not_sent(value)]
    if not_sent:
        raise ValueError(
            f"after: {', '.join(not_sent):.200} did not change and was not sent, and a row is replaced whole"
        )
    # Some databases log only a part of the row before.
    if isinstance(before, Mapping) and all(name in before for name in keys):
        earlier = _key(before, keys)
        if earlier != _key(after, keys):
            yield Change(earlier if order is None else {**earlier, order: after.get(order)}, is_delete=True)
    yield Change(after, is_delete=False)


def _is_not_sent(value: object) -> bool:
    """Returns whether the value stands for one that was not sent: a text, or an array or map of it."""
    match value:
        case str():
            return value in _NOT_SENT
        case [str() as only]:
            return only in _NOT_SENT
        case list():
            # Whole numbers are its bytes.
            return value == list(_PLACEHOLDER.encode())
        case Mapping():
            return _PLACEHOLDER in value
        case _:
            return False


def _deleted_key(before: Mapping[str, object], keys: Sequence[str], order: str | None) -> dict[str, object]:
    lacking = [name for name in keys if name not in before]
    if lacking:
        raise ValueError(f"before: {', '.join(lacking):.200} identifies the row, and was not sent")
    if order is None:
        return _key(before, keys)
    if before.get(order) is None:
        raise ValueError(f"before: {order:.200} orders the events, and was not sent")
    return _key(before, [*keys, order])


def _image(event: Mapping[str, object], name: str) -> Mapping[str, object]:
    image = event.get(name)
    if not isinstance(image, Mapping):
        raise ValueError(f"{name}: an object is wanted for op {event['op']}")
    return image


def _key(image: Mapping[str, object], keys: Sequence[str]) -> dict[str, object]:
    return {name: image.get(name) for name in keys}
