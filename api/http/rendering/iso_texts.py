"""Dates and timestamps in Arrow as ISO 8601 texts, for any year, as Spark writes them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from service.model.calendar import DAY_SECONDS, FIRST_DAY, LAST_DAY, PER_SECOND, date_text, moment_text


def date_texts(array: pa.Array) -> list[Any]:
    """Returns the texts of dates; NULL is None."""
    days = array.cast(pa.date32()).view(pa.int32())
    if _is_within(days, FIRST_DAY, LAST_DAY):
        return _plain(pc.cast(array, pa.string()))
    return [None if day is None else date_text(day) for day in days.to_pylist()]


def timestamp_texts(array: pa.Array) -> list[Any]:
    """Returns the texts of timestamps; NULL is None. They have an offset only if the type has a time zone.

    Timestamps in years that Arrow cannot write are given in UTC, whatever the zone.
    """
    unit, zone = array.type.unit, array.type.tz
    ticks, per_day = array.view(pa.int64()), DAY_SECONDS * PER_SECOND[unit]
    # One day less, since a time zone may move the timestamp into the next year.
    if not _is_within(ticks, (FIRST_DAY + 1) * per_day, LAST_DAY * per_day - 1):
        is_utc = zone is not None
        return [None if tick is None else moment_text(tick, unit, is_utc) for tick in ticks.to_pylist()]
    texts = pc.strftime(array, format="%Y-%m-%dT%H:%M:%S" + ("" if zone is None else "%Ez"))
    return _plain(pc.replace_substring_regex(texts, pattern=r"\.0+([+-]|$)", replacement=r"\1"))


def _is_within(numbers: pa.Array, first: int, last: int) -> bool:
    found = pc.min_max(numbers)
    return not found["max"].is_valid or first <= found["min"].as_py() <= found["max"].as_py() <= last


def _plain(array: pa.Array) -> list[Any]:
    values: list[Any] = array.to_pylist()
    return values
