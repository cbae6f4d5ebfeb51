"""The sample of keys that the list of filters shows."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from service.model.filters.key_sample import KeySample, ShownKey
from service.model.filters.key_set import DynamicFilteringData, FilterForm, KeyValue

SAMPLED_KEYS = 10
SAMPLED_CHARACTERS = 64
"""Characters of one value."""


def sampled_keys(data: DynamicFilteringData) -> KeySample:
    """Returns the first keys, or the first ranges. The NULL of a single key column comes first.

    >>> sampled_keys(DynamicFilteringData(((1, "a"), (2, "b")), is_filtering=True)).highest
    ('2', 'b')
    """
    if data.values:
        columns = list(zip(*data.values, strict=True))
        lowest, highest = _texts(tuple(map(min, columns))), _texts(tuple(map(max, columns)))
    elif data.ranges:
        lowest, highest = _texts((data.ranges[0][0],)), _texts((data.ranges[-1][1],))
    else:
        lowest = highest = ()
    ranges = tuple((_text(low), _text(high)) for low, high in data.ranges[:SAMPLED_KEYS])
    return KeySample(lowest, highest, _keys(data), ranges)


def stored_form(data: DynamicFilteringData) -> FilterForm:
    """The form in which the keys are cached; a query may still render a set as ranges."""
    if not data.is_filtering:
        return FilterForm.NONE
    if data.ranges or data.exceeds_threshold:
        return FilterForm.RANGES
    return FilterForm.IN if data.key_count else FilterForm.EMPTY


def _keys(data: DynamicFilteringData) -> tuple[ShownKey, ...]:
    shown = tuple(map(_texts, data.values[:SAMPLED_KEYS]))
    # With too many keys, NULL is assumed, not seen; with several columns, it is unknown which one is NULL.
    is_null_seen = data.has_null and not data.exceeds_threshold and {*map(len, shown)} <= {1}
    null: tuple[ShownKey, ...] = ((None,),) if is_null_seen else ()
    return (null + shown)[:SAMPLED_KEYS]


def _texts(key: tuple[KeyValue, ...]) -> tuple[str, ...]:
    return tuple(map(_text, key))


def _text(value: KeyValue) -> str:
    match value:
        case bool():
            # As SQL writes it.
            text = str(value).lower()
        case datetime():
            text = value.isoformat()
        case Decimal():
            text = f"{value:f}"
        case _:
            text = str(value)
    return text if len(text) <= SAMPLED_CHARACTERS else f"{text[: SAMPLED_CHARACTERS - 1]}…"
