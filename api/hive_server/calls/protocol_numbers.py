"""The numbers of the protocol's enumerations."""

from __future__ import annotations

from enum import IntEnum

V6, V9, V10 = 5, 8, 9
"""Versions of the protocol: each is sent as one less than its name."""


class StatusCode(IntEnum):
    """How a call ended."""

    SUCCESS = 0
    ERROR = 3


class OperationState(IntEnum):
    """How an operation stands."""

    INITIALIZED = 0
    RUNNING = 1
    FINISHED = 2
    CANCELED = 3
    CLOSED = 4
    ERROR = 5
    UNKNOWN = 6
    PENDING = 7
    TIMEDOUT = 8


class OperationType(IntEnum):
    """The kinds of operations."""

    EXECUTE_STATEMENT = 0
    GET_TYPE_INFO = 1
    GET_CATALOGS = 2
    GET_SCHEMAS = 3
    GET_TABLES = 4
    GET_TABLE_TYPES = 5
    GET_COLUMNS = 6
    GET_FUNCTIONS = 7
    UNKNOWN = 8


class Orientation(IntEnum):
    """Which rows are fetched; others are not offered."""

    NEXT = 0
    FIRST = 4


class FetchType(IntEnum):
    """What is fetched: the result, or the log."""

    ROWS = 0
    LOG = 1


class InfoType(IntEnum):
    """The facts that `GetInfo` answers; any other is an empty text."""

    SERVER_NAME = 13
    SEARCH_PATTERN_ESCAPE = 14
    DBMS_NAME = 17
    DBMS_VERSION = 18
    IDENTIFIER_QUOTE = 29
    MAX_COLUMN_NAME_LENGTH = 30
    MAX_SCHEMA_NAME_LENGTH = 32
    MAX_CATALOG_NAME_LENGTH = 34
    MAX_TABLE_NAME_LENGTH = 35


NO_PROGRESS_TABLE = 2
"""The state of a progress that has a number only, and no table to draw."""
