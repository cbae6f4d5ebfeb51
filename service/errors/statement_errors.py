"""Errors of statements and their parameters."""

from __future__ import annotations

from collections.abc import Sequence

from service.errors.gateway_error import CallerError, did_you_mean


class SqlEmpty(CallerError):
    """The SQL text has no statement. Send one SELECT."""

    code = "SQL_EMPTY"


class SqlTooLarge(CallerError):
    """The SQL text is larger than this gateway accepts."""

    code = "SQL_TOO_LARGE"


class SqlTooDeep(CallerError):
    """The SQL text is nested too deeply. Name its parts with WITH instead of nesting them."""

    code = "SQL_TOO_DEEP"


class SqlManyStatements(CallerError):
    """The SQL text has more than one statement. Send them one by one."""

    code = "SQL_MANY_STATEMENTS"


class SqlSyntaxError(CallerError):
    """The SQL text does not parse.

    `line` and `column` count from 1.
    """

    code = "SQL_SYNTAX"

    def __init__(self, detail: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(detail)
        self.line = line
        self.column = column


class SqlInvalid(CallerError):
    """The SQL text parses, but its names or types do not fit together."""

    code = "SQL_INVALID"


class StatementNotAllowed(CallerError):
    """Only queries may be sent, and the statements SHOW, DESCRIBE and EXPLAIN."""

    code = "STATEMENT_NOT_ALLOWED"


class SqlWritesOff(StatementNotAllowed):
    """SQL may not write here. An operator can allow it with the setting SLUICE_SQL_WRITES."""

    code = "SQL_WRITES_OFF"


class QueryTooLarge(CallerError):
    """The query needs more partitions, copies or bytes at once than this gateway allows one query."""

    code = "QUERY_TOO_LARGE"


class ReadOptionInvalid(CallerError):
    """A read option has a value that this gateway does not accept."""

    code = "READ_OPTION_INVALID"


class ColumnNotFound(CallerError):
    """There is no such column.

    `nearest` holds the most similar names that exist.
    """

    code = "COLUMN_NOT_FOUND"

    def __init__(
        self, column: str, nearest: Sequence[str] = (), line: int | None = None, position: int | None = None
    ) -> None:
        super().__init__(f"There is no column {column}.{did_you_mean(nearest)}")
        self.column_name = column
        self.nearest = tuple(nearest)
        self.line = line
        self.column = position


class ParameterMissing(CallerError):
    """The SQL text has a parameter for which no value was sent."""

    code = "PARAMETER_MISSING"


class ParameterUnused(CallerError):
    """A value was sent for a parameter that the SQL text does not have."""

    code = "PARAMETER_UNUSED"


class ParameterInvalid(CallerError):
    """A parameter's value does not fit its type."""

    code = "PARAMETER_INVALID"
