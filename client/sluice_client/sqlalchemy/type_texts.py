"""Reads the text of a type, as Spark or Iceberg spell it. Every text has an answer."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, TypeAlias

from sqlalchemy import types as sqltypes
from sqlalchemy.exc import SAWarning

from sluice_client.sqlalchemy.types import INTERVAL, MAP, STRUCT, TINYINT, VARIANT

SqlType: TypeAlias = sqltypes.TypeEngine[Any]
_MAX_DEPTH = 100
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SPACE = re.compile(r"\s*")
_NUMBERS = re.compile(r"[(\[]\s*([0-9]{1,10})\s*(?:,\s*([0-9]{1,10})\s*)?[)\]]")
_ARGUMENTS = re.compile(r"\([^()<>]*\)")
_INTERVAL_FIELDS = re.compile(
    r"\s+(YEAR|MONTH|DAY|HOUR|MINUTE|SECOND)(?:\s+TO\s+(MONTH|HOUR|MINUTE|SECOND))?", re.I
)
_SQL_FIELD_NAME = re.compile(r"`((?:[^`]|``)*)`|([^\s:<>,`]+)")
_ICEBERG_FIELD = re.compile(r"\s*[0-9]+:\s(.*?):\s(?:optional|required)\s")
_AFTER_TYPE = re.compile(r"\s+COLLATE\s+[\w.]+|\s+NOT\s+NULL|\s+COMMENT\s+'(?:[^'\\]|\\.)*'", re.I)
_ICEBERG_DOC = re.compile(r"\s*\(.*?\)(?=,\s[0-9]+:\s|\s*>)", re.S)


class Spelling(Enum):
    """Whose words a text has. They differ in `timestamp`: only Spark's has a time zone."""

    SPARK = "SPARK"
    ICEBERG = "ICEBERG"


class _Unreadable(Exception):
    """The text is not one of a type."""


_COMMON: Mapping[str, Callable[[], SqlType]] = {
    "BOOLEAN": sqltypes.BOOLEAN,
    "TINYINT": TINYINT,
    "BYTE": TINYINT,
    "SMALLINT": sqltypes.SMALLINT,
    "SHORT": sqltypes.SMALLINT,
    "INT": sqltypes.INTEGER,
    "INTEGER": sqltypes.INTEGER,
    "BIGINT": sqltypes.BIGINT,
    "LONG": sqltypes.BIGINT,
    "FLOAT": sqltypes.FLOAT,
    "REAL": sqltypes.FLOAT,
    "DOUBLE": sqltypes.DOUBLE,
    "STRING": sqltypes.String,
    "UUID": sqltypes.String,
    "BINARY": sqltypes.BINARY,
    "DATE": sqltypes.DATE,
    "TIME": sqltypes.TIME,
    "TIMESTAMP": lambda: sqltypes.TIMESTAMP(timezone=True),
    "TIMESTAMP_LTZ": lambda: sqltypes.TIMESTAMP(timezone=True),
    "TIMESTAMP_NTZ": sqltypes.TIMESTAMP,
    "VARIANT": VARIANT,
    "VOID": sqltypes.NullType,
    "NULL": sqltypes.NullType,
    "UNKNOWN": sqltypes.NullType,
}
_OF_ICEBERG: Mapping[str, Callable[[], SqlType]] = {
    **_COMMON,
    "TIMESTAMP": sqltypes.TIMESTAMP,
    "TIMESTAMP_NS": sqltypes.TIMESTAMP,
    "TIMESTAMPTZ": lambda: sqltypes.TIMESTAMP(timezone=True),
    "TIMESTAMPTZ_NS": lambda: sqltypes.TIMESTAMP(timezone=True),
    # Spark reads it as bytes.
    "FIXED": sqltypes.BINARY,
}


def type_of(text: str, spelling: Spelling = Spelling.SPARK) -> SqlType:
    """Returns the type that a text names. For a text that is not known, that is NullType, with a warning.

    >>> type_of("DECIMAL(7,2)")
    DECIMAL(precision=7, scale=2)
    >>> type_of("STRUCT<a: ARRAY<DECIMAL(7,2)>>").fields[0][1].item_type
    DECIMAL(precision=7, scale=2)
    >>> type_of("timestamp", Spelling.ICEBERG).timezone
    False
    """
    reader = _Reader(text, spelling)
    try:
        found = reader.read(0)
        reader.skip_attributes()
        if not reader.is_at_end():
            raise _Unreadable
    except _Unreadable:
        warnings.warn(f"Did not recognize the type {text[:200]!r}", SAWarning, stacklevel=2)
        return sqltypes.NullType()
    return found


class _Reader:
    """Reads one text from left to right."""

    def __init__(self, text: str, spelling: Spelling) -> None:
        self._text = text
        self._at = 0
        self._is_iceberg = spelling is Spelling.ICEBERG
        self._scalars = _OF_ICEBERG if self._is_iceberg else _COMMON

    def read(self, depth: int) -> SqlType:
        """Reads one type.

        Raises:
            _Unreadable: there is none.
        """
        if depth > _MAX_DEPTH:
            raise _Unreadable
        self._match(_SPACE)
        word = self._needed(_WORD)[0].upper()
        match word:
            case "ARRAY" | "LIST":
                return self._array(depth)
            case "MAP":
                return self._map(depth)
            case "STRUCT":
                return self._struct(depth)
            case "DECIMAL" | "DEC" | "NUMERIC":
                numbers = self._numbers()
                return sqltypes.DECIMAL(numbers[0], numbers[1] or 0) if numbers else sqltypes.DECIMAL(10, 0)
            case "CHAR" | "CHARACTER" | "VARCHAR":
                numbers = self._numbers()
                kind = sqltypes.VARCHAR if word == "VARCHAR" else sqltypes.CHAR
                return kind(numbers[0] if numbers else None)
            case "INTERVAL":
                return self._interval()
        return self._scalar(word)

    def skip_attributes(self) -> None:
        """Skips what may follow a type: a collation, NOT NULL, a comment."""
        while self._match(_AFTER_TYPE):
            pass
        self._match(_SPACE)

    def is_at_end(self) -> bool:
        """Whether all was read."""
        return self._at == len(self._text)

    def _scalar(self, word: str) -> SqlType:
        if word not in self._scalars:
            raise _Unreadable
        # Such as TIME(6) and FIXED[16].
        self._match(_NUMBERS) or self._match(_ARGUMENTS)
        return self._scalars[word]()

    def _interval(self) -> SqlType:
        fields = self._match(_INTERVAL_FIELDS)
        return (
            INTERVAL(" TO ".join(field.upper() for field in fields.groups() if field))
            if fields
            else INTERVAL()
        )

    def _array(self, depth: int) -> SqlType:
        self._expect("<")
        item = self._element(depth)
        self._expect(">")
        if isinstance(item, sqltypes.ARRAY):
            # SQLAlchemy does not nest them.
            return sqltypes.ARRAY(item.item_type, dimensions=(item.dimensions or 1) + 1)
        return sqltypes.ARRAY(item)

    def _map(self, depth: int) -> SqlType:
        self._expect("<")
        key = self._element(depth)
        self._expect(",")
        value = self._element(depth)
        self._expect(">")
        return MAP(key, value)

    def _struct(self, depth: int) -> SqlType:
        self._expect("<")
        fields: list[tuple[str, SqlType]] = []
        while not self._take(">"):
            if fields:
                self._expect(",")
            name = self._iceberg_name() if self._is_iceberg else self._name()
            fields.append((name, self._element(depth)))
        return STRUCT(fields)

    def _element(self, depth: int) -> SqlType:
        found = self.read(depth + 1)
        self.skip_attributes()
        if self._is_iceberg:
            self._match(_ICEBERG_DOC)
        return found

    def _name(self) -> str:
        self._match(_SPACE)
        found = self._needed(_SQL_FIELD_NAME)
        self._match(_SPACE)
        self._take(":")
        return found[2] if found[1] is None else found[1].replace("``", "`")

    def _iceberg_name(self) -> str:
        return self._needed(_ICEBERG_FIELD)[1]

    def _numbers(self) -> tuple[int, int | None] | None:
        found = self._match(_NUMBERS)
        return (int(found[1]), int(found[2]) if found[2] else None) if found else None

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self._text, self._at)
        if found is not None:
            self._at = found.end()
        return found

    def _needed(self, pattern: re.Pattern[str]) -> re.Match[str]:
        found = self._match(pattern)
        if found is None:
            raise _Unreadable
        return found

    def _take(self, sign: str) -> bool:
        self._match(_SPACE)
        if not self._text.startswith(sign, self._at):
            return False
        self._at += 1
        return True

    def _expect(self, sign: str) -> None:
        if not self._take(sign):
            raise _Unreadable
