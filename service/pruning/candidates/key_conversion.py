"""How the engine compares columns of two types, and what it converts the build side's keys to."""

from __future__ import annotations

from dataclasses import dataclass

from service.model.filters.keys import are_compared_exactly, key_family


@dataclass(frozen=True, slots=True)
class KeyConversion:
    """The type of the collected keys, and the SQL type that the engine must cast them to, if any."""

    type_name: str
    cast_to: str | None = None


# In ANSI mode, Spark compares a number and a text as BIGINT. Otherwise it casts the text to the number's
# type, with the same result for every number of that type. It compares a moment with a day's first moment.
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
    """Returns how to collect keys of type `build` for a probe that is compared as type `compared`.

    None where no list of keys can express the comparison, such as that of a text probe with keys of another
    type. The keys are all that can match, and perhaps more: for a column of days, a moment is collected as
    its day.

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
        # In a time zone that once skipped a day, two days begin at the same moment.
        return None
    return _CASTS.get((compared, build))
