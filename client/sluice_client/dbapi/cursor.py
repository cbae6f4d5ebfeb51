"""A cursor of PEP 249 over the rows of one query at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from types import TracebackType
from typing import Any, NoReturn, Protocol, Self, TypeAlias

from sluice_client.dbapi.exceptions import InterfaceError, NotSupportedError, ProgrammingError, as_dbapi
from sluice_client.dbapi.type_objects import decimal_shape
from sluice_client.options import QueryOptions
from sluice_client.query.parameters import Parameters
from sluice_client.query.query_answer import Column
from sluice_client.querying import Querying
from sluice_client.results.result import Result

Row: TypeAlias = tuple[Any, ...]
ColumnDescription: TypeAlias = tuple[str, str, None, None, int | None, int | None, bool]


class Owner(Protocol):
    """The part of a connection that its cursors need."""

    def queries(self) -> Querying:
        """Returns what statements are sent with."""

    @property
    def query_options(self) -> QueryOptions:
        """For each query."""

    def check_open(self) -> None:
        """Checks that the connection can be used."""


class Cursor:
    """Runs queries, and fetches their rows. Rows are read from the gateway chunk by chunk."""

    def __init__(self, connection: Owner) -> None:
        self._connection = connection
        self._result: Result | None = None
        self._rows: Iterator[Row] | None = None
        self._fetched = 0
        self._is_closed = False
        self.arraysize = 1
        """How many rows `fetchmany` returns, unless it is asked for another number."""

    @property
    def connection(self) -> Owner:
        """The connection that made this cursor."""
        return self._connection

    @property
    def description(self) -> Sequence[ColumnDescription] | None:
        """The columns: name, SQL type, two times None, precision, scale, whether NULL is possible.

        None before the first query, and for a statement without columns.
        """
        if self._result is None or not self._result.columns:
            return None
        return [_described(column) for column in self._result.columns]

    @property
    def rowcount(self) -> int:
        """The number of rows of the result; -1 before the first query."""
        return -1 if self._result is None or not self._result.columns else self._result.row_count

    @property
    def rownumber(self) -> int | None:
        """The index of the next row, from 0; None without a result."""
        return None if self._rows is None else self._fetched

    @property
    def lastrowid(self) -> None:
        """Always None: there are no row ids."""
        return

    @property
    def query_id(self) -> str | None:
        """The gateway's id of the last query that succeeded."""
        return None if self._result is None else str(self._result.query_id)

    def execute(self, operation: str, parameters: Parameters | None = None) -> Self:
        """Runs a query, and returns this cursor.

        Args:
            operation: one SELECT, with `?` (or `:name`) for parameters.
            parameters: a sequence for `?`, a mapping for `:name`.

        Raises:
            Error: by its class, as PEP 249 says.
        """
        self._check_open()
        self._forget()
        with as_dbapi():
            queries = self._connection.queries()
            self._result = queries.query(operation, parameters, **self._connection.query_options)
        self._rows = iter(self._result) if self._result.columns else None
        return self

    def executemany(self, operation: str, seq_of_parameters: Sequence[Parameters]) -> NoReturn:  # noqa: ARG002
        """Raises NotSupportedError. PEP 249 allows that for queries, and a gateway takes nothing else."""
        self._check_open()
        raise NotSupportedError(
            "executemany is for statements without rows, and a gateway runs only queries: use ingest() of"
            " sluice_client to write many rows"
        )

    def callproc(self, procname: str, parameters: Parameters | None = None) -> NoReturn:  # noqa: ARG002
        """Raises NotSupportedError: there are no procedures."""
        self._check_open()
        raise NotSupportedError("a gateway has no stored procedures")

    def nextset(self) -> NoReturn:
        """Raises NotSupportedError: a query has one result."""
        self._check_open()
        raise NotSupportedError("a query has one result")

    def fetchone(self) -> Row | None:
        """Returns the next row, or None after the last one.

        Raises:
            ProgrammingError: there is no result to fetch from.
        """
        found = self._fetch(1)
        return found[0] if found else None

    def fetchmany(self, size: int | None = None) -> list[Row]:
        """Returns the next rows: `size` or `arraysize` of them, fewer at the end.

        Raises:
            ProgrammingError: there is no result to fetch from.
        """
        return self._fetch(self.arraysize if size is None else size)

    def fetchall(self) -> list[Row]:
        """Returns all rows that are left.

        Raises:
            ProgrammingError: there is no result to fetch from.
        """
        return self._fetch(None)

    def setinputsizes(self, sizes: Sequence[Any]) -> None:  # noqa: ARG002
        """Does nothing, as PEP 249 allows."""
        self._check_open()

    def setoutputsize(self, size: int, column: int | None = None) -> None:  # noqa: ARG002
        """Does nothing, as PEP 249 allows."""
        self._check_open()

    def close(self) -> None:
        """Closes the cursor. Any other call is an error from then on; closing twice is fine."""
        self._forget()
        self._is_closed = True

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Row:
        row = self.fetchone()
        if row is None:
            raise StopIteration
        return row

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _fetch(self, count: int | None) -> list[Row]:
        self._check_open()
        if self._rows is None:
            raise ProgrammingError("there is no result to fetch from: call execute with a query first")
        with as_dbapi():
            found = list(islice(self._rows, None if count is None else max(count, 0)))
        self._fetched += len(found)
        return found

    def _forget(self) -> None:
        self._result, self._rows, self._fetched = None, None, 0

    def _check_open(self) -> None:
        if self._is_closed:
            raise InterfaceError("the cursor is closed")
        self._connection.check_open()


def _described(column: Column) -> ColumnDescription:
    precision, scale = decimal_shape(column.type)
    return column.name, column.type, None, None, precision, scale, column.is_nullable
