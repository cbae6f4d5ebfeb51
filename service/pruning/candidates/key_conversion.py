"""How the engine compares two columns of different types: what it makes of the build side's keys."""

from __future__ import annotations

from dataclasses import dataclass

from service.model.filters.keys import are_compared_exactly, key_family


@dataclass(frozen=True, slots=True)
class KeyConversion:
    """The type that keys are collected in, and the one that the engine is to cast them to, if any."""

    type_name: str
    cast_to: str | None = None


# In the ANSI mode a number and a text are compared as BIGINT; else the text becomes the number's type, which
# is the same for every number of that type. Moments are compared with the day's first one.
_CASTS = {
    ("int", "string"): KeyConversion("long", "BIGINT"),
    ("long", "string"): KeyConversion("long", "BIGINT"),
    ("date", "string"): KeyConversion("date", "DATE"),
    ("date", "timestamp"): KeyConversion("date", "DATE"),
    ("date", "timestamptz"): KeyConversion("date", "DATE"),
    ("timestamp", "date"): KeyConversion("timestamp", "TIMESTAMP_NTZ"),
    ("timestamptz", "date"): KeyConversion("timestamptz", "TIMESTAMP"),
}


def key_conversion(compared: str, build: str, is_utc: bool) -> KeyConversion | None:
    """The keys to collect for a probe that is compared as the first type with keys of the second.

    None where the comparison has rules that no list of keys follows, such as those of text as the probe.
    The keys are all that can match, and perhaps more: a moment is collected as its day for a column of days.

    >>> key_conversion("int", "string", is_utc=True)
    KeyConversion(type_name='long', cast_to='BIGINT')
    >>> key_conversion("string", "int", is_utc=True)
    """
    family = key_family(compared)
    if family is None or key_family(build) is None:
        return None
    if family == key_family(build):
        return KeyConversion(compared)
    if are_compared_exactly(compared, build):
        return KeyConversion(build)
    if (compared, build) == ("date", "timestamptz") and not is_utc:
        # In a zone that once left out a day, two days begin at the same moment.
        return None
    return _CASTS.get((compared, build))
