"""The dialect: what SQLAlchemy needs to know of a gateway, and the calls that it makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, ClassVar, NoReturn, cast

from sqlalchemy import schema as sqlschema
from sqlalchemy.engine import URL, Connection
from sqlalchemy.engine.default import DefaultDialect, DefaultExecutionContext
from sqlalchemy.engine.interfaces import BindTyping
from sqlalchemy.engine.reflection import cache
from sqlalchemy.exc import ArgumentError, NoSuchTableError, NotSupportedError

from sluice_client import dbapi
from sluice_client.dbapi.exceptions import as_dbapi
from sluice_client.errors import ConnectionClosed, SessionExpired
from sluice_client.sqlalchemy.address import connect_arguments
from sluice_client.sqlalchemy.ddl_compiler import SparkDDLCompiler
from sluice_client.sqlalchemy.identifiers import SparkPreparer
from sluice_client.sqlalchemy.inspection import Inspection
from sluice_client.sqlalchemy.spark_compiler import SparkCompiler
from sluice_client.sqlalchemy.type_names import SparkTypeCompiler
from sluice_client.sqlalchemy.values import COLSPECS
from sluice_client.sqlalchemy.write_cursor import WriteCursor

AUTOCOMMIT = "AUTOCOMMIT"


class SluiceExecutionContext(DefaultExecutionContext):
    """The run of one statement."""

    def create_default_cursor(self) -> Any:
        """Returns a cursor, without rows for a statement that changes some."""
        cursor: Any = super().create_default_cursor()
        return WriteCursor(cursor) if self.isinsert or self.isupdate or self.isdelete else cursor


class SluiceDialect(DefaultDialect):
    """`sluice://`: HTTP without TLS, as to a gateway on the same machine."""

    name = "sluice"
    driver = "http"
    scheme: ClassVar[str] = "http"
    default_paramstyle = "qmark"
    # Only intervals ask for a cast.
    bind_typing = BindTyping.RENDER_CASTS

    statement_compiler = SparkCompiler
    ddl_compiler = SparkDDLCompiler
    type_compiler_cls = SparkTypeCompiler
    preparer = SparkPreparer
    execution_ctx_cls = SluiceExecutionContext
    colspecs = COLSPECS
    construct_arguments = [(sqlschema.Table, {"partitioned_by": None, "tblproperties": None})]  # noqa: RUF012

    # The compilers add nothing to a text but what is a part of the cache's key.
    supports_statement_cache = True
    max_identifier_length = 255
    supports_native_boolean = True
    supports_native_decimal = True
    returns_native_bytes = True
    supports_alter = False
    supports_comments = True
    inline_comments = True
    supports_default_values = False
    supports_empty_insert = False
    supports_multivalues_insert = True
    use_insertmanyvalues = True
    use_insertmanyvalues_wo_returning = True
    # As many as a gateway takes, unless its operator allows more.
    insertmanyvalues_max_parameters = 1000
    # An UPDATE by copying files does not say how many rows it changed.
    supports_sane_rowcount = False
    supports_sane_multi_rowcount = False
    postfetch_lastrowid = False
    div_is_floordiv = False
    default_catalog_name: str | None = None

    @classmethod
    def import_dbapi(cls) -> ModuleType:
        """Returns the client's module of DB-API 2.0."""
        return dbapi

    def create_connect_args(self, url: URL) -> tuple[list[str], dict[str, Any]]:
        """Returns the arguments of `sluice_client.dbapi.connect`.

        Raises:
            ArgumentError: the address is not valid.
        """
        address, arguments = connect_arguments(url, self.scheme)
        return [address], arguments

    def initialize(self, connection: Connection) -> None:
        """Finds out the catalog and the schema of names without one, unless the address has both."""
        super().initialize(connection)
        made = _dbapi_of(connection)
        catalog, schema = made.client.catalog, made.client.schema
        if made.session is not None or catalog is None or schema is None:
            catalog, schema = Inspection(made, None, None).current_names()
        self.default_catalog_name, self.default_schema_name = catalog, schema

    # There are no transactions.

    def do_rollback(self, dbapi_connection: Any) -> None:
        """Does nothing: each statement that changed something is committed."""

    def do_commit(self, dbapi_connection: Any) -> None:
        """Does nothing."""

    def do_savepoint(self, connection: Connection, name: str) -> NoReturn:
        """Raises NotSupportedError."""
        raise NotSupportedError("SAVEPOINT", None, dbapi.NotSupportedError("a gateway has no transactions"))

    def get_isolation_level_values(self, dbapi_connection: Any) -> Sequence[Any]:
        """Returns the only one."""
        return [AUTOCOMMIT]

    def get_isolation_level(self, dbapi_connection: Any) -> Any:
        """Returns AUTOCOMMIT."""
        return AUTOCOMMIT

    def set_isolation_level(self, dbapi_connection: Any, level: Any) -> None:
        """Takes AUTOCOMMIT.

        Raises:
            ArgumentError: another level is asked for.
        """
        if level != AUTOCOMMIT:
            raise ArgumentError(f"a gateway has no transactions: the isolation level is {AUTOCOMMIT}")

    def do_executemany(
        self,
        cursor: Any,
        statement: str,
        parameters: Any,
        context: Any | None = None,
    ) -> None:
        """Runs the statement once for each row of parameters, one after the other."""
        for row in parameters:
            cursor.execute(statement, row)

    def do_ping(self, dbapi_connection: Any) -> bool:
        """Asks whether the session is still there, or the gateway, without a query.

        Raises:
            OperationalError: it is not.
        """
        with as_dbapi():
            session = dbapi_connection.session
            if session is not None and session.session_id is not None:
                session.state()
            else:
                dbapi_connection.client.catalogs()
        return True

    def is_disconnect(self, e: Any, connection: Any, cursor: Any) -> bool:
        """Whether the connection cannot be used again: it is closed, or its session is gone.

        A lost answer does not count: each statement is a request of its own.
        """
        is_closed = isinstance(e, dbapi.InterfaceError) and str(e) == "the connection is closed"
        return is_closed or isinstance(e.__cause__, ConnectionClosed | SessionExpired)

    # What there is

    def _inspection(self, connection: Connection, kw: Mapping[str, Any]) -> Inspection:
        cached = kw.get("info_cache")
        known = None if cached is None else cached.setdefault(("sluice", "known"), {})
        return Inspection(_dbapi_of(connection), self.default_catalog_name, self.default_schema_name, known)

    @cache
    def get_schema_names(self, connection: Connection, **kw: Any) -> list[str]:
        """Returns the schemas of the catalog."""
        return self._inspection(connection, kw).schema_names()

    @cache
    def has_schema(self, connection: Connection, schema_name: str, **kw: Any) -> bool:
        """Whether there is a schema, such as `tpcds` or `lake.tpcds`."""
        return self._inspection(connection, kw).has_schema(schema_name)

    @cache
    def get_table_names(self, connection: Connection, schema: str | None = None, **kw: Any) -> list[str]:
        """Returns the tables of a schema."""
        return self._inspection(connection, kw).names(schema, "TABLE")

    @cache
    def get_view_names(self, connection: Connection, schema: str | None = None, **kw: Any) -> list[str]:
        """Returns the views of a schema."""
        return self._inspection(connection, kw).names(schema, "VIEW")

    @cache
    def get_temp_view_names(self, connection: Connection, schema: str | None = None, **kw: Any) -> list[str]:
        """Returns the temporary views of the session."""
        return self._inspection(connection, kw).temporary_views()

    @cache
    def has_table(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> bool:
        """Whether there is a table or view."""
        return self._inspection(connection, kw).has_table(table_name, schema)

    @cache
    def get_columns(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> Any:
        """Returns the columns of a table or view.

        Raises:
            NoSuchTableError: there is none.
        """
        return self._inspection(connection, kw).columns(table_name, schema)

    @cache
    def get_view_definition(
        self,
        connection: Connection,
        view_name: str,
        schema: str | None = None,
        **kw: Any,
    ) -> str:
        """Returns the statement that would create a view.

        Raises:
            NoSuchTableError: there is none.
        """
        return self._inspection(connection, kw).view_definition(view_name, schema)

    @cache
    def get_table_comment(
        self,
        connection: Connection,
        table_name: str,
        schema: str | None = None,
        **kw: Any,
    ) -> Any:
        """Returns the comment of a table.

        Raises:
            NoSuchTableError: there is none.
        """
        comment = self._inspection(connection, kw).table_comment(table_name, schema)
        if comment is None:
            self._check_table(connection, table_name, schema, **kw)
        return {"text": comment}

    @cache
    def get_table_options(
        self,
        connection: Connection,
        table_name: str,
        schema: str | None = None,
        **kw: Any,
    ) -> Any:
        """Returns what a table is partitioned by, as `sluice_partitioned_by`; nothing for a view.

        Raises:
            NoSuchTableError: there is no such table.
        """
        fields = self._inspection(connection, kw).partitioned_by(table_name, schema)
        if not fields:
            self._check_table(connection, table_name, schema, **kw)
        return {"sluice_partitioned_by": fields} if fields else {}

    @cache
    def get_pk_constraint(
        self,
        connection: Connection,
        table_name: str,
        schema: str | None = None,
        **kw: Any,
    ) -> Any:
        """Returns the columns that identify a row, to which rows are not held; none for a view.

        Raises:
            NoSuchTableError: there is no such table.
        """
        columns = self._inspection(connection, kw).key_columns(table_name, schema)
        if not columns:
            self._check_table(connection, table_name, schema, **kw)
        return {"constrained_columns": columns, "name": None}

    @cache
    def get_foreign_keys(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> Any:
        """Returns none.

        Raises:
            NoSuchTableError: there is no such table.
        """
        self._check_table(connection, table_name, schema, **kw)
        return []

    def _check_table(self, connection: Connection, table_name: str, schema: str | None, **kw: Any) -> None:
        # The inspector keeps the answer, which several of its questions need.
        if not self.has_table(connection, table_name, schema, **kw):
            raise NoSuchTableError(table_name)

    get_indexes = get_unique_constraints = get_check_constraints = get_foreign_keys


class SluiceHttpsDialect(SluiceDialect):
    """`sluice+https://`: HTTP with TLS."""

    driver = "https"
    scheme = "https"
    supports_statement_cache = True


def _dbapi_of(connection: Connection) -> dbapi.Connection:
    found: Any = connection.connection.dbapi_connection
    return cast(dbapi.Connection, found)
