"""The settings of the engine that a session may have: those that are safe for all who share the engine.

Any other setting is refused. Some only stay as they are, because names, policies or types would be read
otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from zoneinfo import available_timezones

from service.errors.session_errors import SessionSettingRefused
from service.model.sessions.sessions import SessionValues

TIME_ZONE = "spark.sql.session.timeZone"
ANSI = "spark.sql.ansi.enabled"
SHUFFLE_PARTITIONS = "spark.sql.shuffle.partitions"
STORE_ASSIGNMENT = "spark.sql.storeAssignmentPolicy"
PARTITION_OVERWRITE = "spark.sql.sources.partitionOverwriteMode"
MAX_SHUFFLE_PARTITIONS = 10_000
_OFFSET = re.compile(r"(?:(?:UTC|GMT|UT)?[+-](?:0?\d|1[0-8])(?::?[0-5]\d)?|Z|UTC|GMT|UT)", re.IGNORECASE)

FIXED: Mapping[str, str] = MappingProxyType(
    {
        "spark.sql.caseSensitive": "false",
        "spark.sql.timestampType": "TIMESTAMP_LTZ",
        "spark.sql.ansi.doubleQuotedIdentifiers": "false",
        "spark.sql.parser.escapedStringLiterals": "false",
        "spark.sql.parser.quotedRegexColumnNames": "false",
        "spark.sql.runSQLOnFiles": "false",
        "spark.sql.variable.substitute": "false",
    }
)
"""Settings that may only be set to what they are."""
HARMLESS = frozenset({PARTITION_OVERWRITE, SHUFFLE_PARTITIONS, STORE_ASSIGNMENT})
"""Settings that change no row of a query, and no type. Filters are right whatever they are."""


def _boolean(value: str) -> str | None:
    return value.lower() if value.lower() in ("true", "false") else None


def _partitions(value: str) -> str | None:
    is_number = value.isascii() and value.isdigit() and len(value) < 9
    return str(int(value)) if is_number and 1 <= int(value) <= MAX_SHUFFLE_PARTITIONS else None


def _assignment(value: str) -> str | None:
    return value.upper() if value.upper() in ("ANSI", "STRICT", "LEGACY") else None


def _overwrite(value: str) -> str | None:
    return value.upper() if value.upper() in ("STATIC", "DYNAMIC") else None


def _zone(value: str) -> str | None:
    return value if _OFFSET.fullmatch(value) or value in available_timezones() else None


_OFFERED: Mapping[str, tuple[Callable[[str], str | None], str]] = MappingProxyType(
    {
        ANSI: (_boolean, "true or false"),
        TIME_ZONE: (_zone, "a region such as Europe/Berlin, or an offset such as +02:00"),
        SHUFFLE_PARTITIONS: (_partitions, f"a number from 1 to {MAX_SHUFFLE_PARTITIONS}"),
        PARTITION_OVERWRITE: (_overwrite, "STATIC or DYNAMIC"),
        STORE_ASSIGNMENT: (_assignment, "ANSI, STRICT or LEGACY"),
    }
)
_SPELLED: Mapping[str, str] = MappingProxyType({name.lower(): name for name in (*_OFFERED, *FIXED)})
OFFERED = tuple(sorted((*_OFFERED, *FIXED)))


def setting_name(name: str) -> str:
    """Returns the name of a setting that sessions may have, as the engine spells it.

    >>> setting_name("SPARK.sql.ansi.ENABLED")
    'spark.sql.ansi.enabled'

    Raises:
        SessionSettingRefused: sessions may not have it.
    """
    spelled = _SPELLED.get(name.strip().lower())
    if spelled is None:
        raise SessionSettingRefused(
            f"A session may not have the setting {name[:100]}. It may have {', '.join(OFFERED)}."
        )
    return spelled


def setting_value(name: str, value: str) -> str:
    """Returns the value of a setting in the engine's form; `name` is spelled as the engine does.

    >>> setting_value("spark.sql.ansi.enabled", "False")
    'false'
    >>> setting_value("spark.sql.caseSensitive", "true")
    Traceback (most recent call last):
    service.errors.session_errors.SessionSettingRefused: spark.sql.caseSensitive stays false in every session.

    Raises:
        SessionSettingRefused: the setting does not take it.
    """
    text = value.strip()
    if name in FIXED:
        if text.lower() != FIXED[name].lower():
            raise SessionSettingRefused(f"{name} stays {FIXED[name]} in every session.")
        return FIXED[name]
    read, words = _OFFERED[name]
    found = read(text)
    if found is None:
        raise SessionSettingRefused(f"{name} takes {words}, not {text[:60]!r}.")
    return found


def reads_as_without(values: SessionValues, own: Mapping[str, str]) -> bool:
    """Whether each query has the same rows in this session and in none, at the same catalog and schema.

    `own` are the gateway's own values. A session with temporary views never does: they hide tables.

    >>> reads_as_without(SessionValues(settings={"spark.sql.shuffle.partitions": "4"}), {})
    True
    >>> reads_as_without(SessionValues(settings={"spark.sql.ansi.enabled": "false"}), {})
    False
    """
    return not values.views and not changed_settings(values.settings, own)


def changed_settings(settings: Mapping[str, str], own: Mapping[str, str]) -> Mapping[str, str]:
    """Returns the settings that change what a query reads or returns. `own` are the gateway's own values.

    >>> changed_settings({"spark.sql.ansi.enabled": "false"}, {"spark.sql.ansi.enabled": "true"})
    {'spark.sql.ansi.enabled': 'false'}
    >>> changed_settings({"spark.sql.shuffle.partitions": "4", "spark.sql.caseSensitive": "false"}, {})
    {}
    """
    return {
        name: value
        for name, value in settings.items()
        if name not in HARMLESS and name not in FIXED and not _is_same(name, own.get(name, ""), value)
    }


def _is_same(name: str, own: str, value: str) -> bool:
    # The engine's zones have one spelling each, and results show it.
    return own == value if name == TIME_ZONE else own.lower() == value.lower()
