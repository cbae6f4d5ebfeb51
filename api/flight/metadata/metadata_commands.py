"""Answers to the metadata commands of drivers: catalogs, schemas, tables, keys, types and abilities."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from api.flight.calls.served import Served
from api.flight.metadata import answer_schemas
from api.flight.metadata.sql_info import Info, sql_info
from api.flight.metadata.table_columns import table_schema
from api.flight.metadata.type_info import xdbc_types
from api.flight.wire.messages import name_of
from api.sql_protocols.listing import Listing, NamePatterns
from service.model.query.statement_text import first_word
from service.model.tables.contents import RelationEntry, RelationKind

_STATEMENTS = frozenset(
    {"SELECT", "WITH", "FROM", "VALUES", "SHOW", "DESCRIBE", "DESC", "EXPLAIN", "SET", "USE"}
)
_SPACE = re.compile(r"\s")
MAX_NAME = 1_024


class Metadata:
    """Answers metadata commands. Any thread may call any method; those that list may ask catalogs."""

    def __init__(self, listing: Listing, infos: Mapping[int, Info]) -> None:
        self._listing = listing
        self._infos = infos
        self._answers: Mapping[str, Callable[[Served, Any], pa.Table]] = {
            "CommandGetSqlInfo": lambda _, command: sql_info(self._infos, command.info),
            "CommandGetXdbcTypeInfo": _types,
            "CommandGetCatalogs": self._catalogs,
            "CommandGetDbSchemas": self._schemas,
            "CommandGetTables": self._tables,
            "CommandGetTableTypes": _table_types,
            "CommandGetPrimaryKeys": self._primary_keys,
        }

    def schema(self, command: Any) -> pa.Schema:
        """Returns the schema of a command's answer. Asks nobody."""
        if name_of(command) == "CommandGetTables" and command.include_schema:
            return answer_schemas.TABLES_WITH_SCHEMA
        return answer_schemas.METADATA[name_of(command)]

    def answer(self, served: Served, command: Any) -> pa.Table:
        """Returns the answer, with names that the caller may know of.

        Raises:
            CatalogDown: the catalog that was named does not answer, or none does.
            ResultTooLarge: there are more entries than the operator allows.
        """
        answer = self._answers.get(name_of(command))
        if answer is None:
            # Tables do not refer to each other here.
            return self.schema(command).empty_table()
        return answer(served, command)

    def _catalogs(self, served: Served, _: Any) -> pa.Table:
        names = self._listing.catalogs(served.caller)
        return pa.Table.from_arrays([pa.array(names, pa.string())], schema=answer_schemas.CATALOGS)

    def _schemas(self, served: Served, command: Any) -> pa.Table:
        if _is_without_catalog(command):
            return answer_schemas.SCHEMAS.empty_table()
        asked = NamePatterns(
            catalog=_sent(command, "catalog"), schema=_sent(command, "db_schema_filter_pattern")
        )
        found = self._listing.schemas(served.caller, asked)
        rows = [{"catalog_name": entry.catalog, "db_schema_name": entry.schema} for entry in found]
        return pa.Table.from_pylist(rows, schema=answer_schemas.SCHEMAS)

    def _tables(self, served: Served, command: Any) -> pa.Table:
        schema = self.schema(command)
        table = _sent(command, "table_name_filter_pattern")
        kinds = _kinds(list(command.table_types))
        if _is_without_catalog(command) or not kinds or (table is not None and is_statement(table)):
            return schema.empty_table()
        asked = NamePatterns(
            catalog=_sent(command, "catalog"),
            schema=_sent(command, "db_schema_filter_pattern"),
            table=table,
        )
        found = self._listing.relations(served.caller, asked, kinds, has_columns=command.include_schema)
        rows = [_row(entry, command.include_schema, has_zones=not served.is_jdbc) for entry in found]
        return pa.Table.from_pylist(rows, schema=schema)

    def _primary_keys(self, served: Served, command: Any) -> pa.Table:
        schema = _sent(command, "db_schema")
        if _is_without_catalog(command) or schema == "":
            return answer_schemas.PRIMARY_KEYS.empty_table()
        found = self._listing.key_columns(served.caller, command.table, schema, _sent(command, "catalog"))
        rows = [
            {
                "catalog_name": key.relation.catalog,
                "db_schema_name": key.relation.schema,
                "table_name": key.relation.table,
                "column_name": key.column,
                "key_sequence": key.position,
            }
            for key in found
        ]
        return pa.Table.from_pylist(rows, schema=answer_schemas.PRIMARY_KEYS)


def is_statement(pattern: str) -> bool:
    """Whether the pattern of a table's name is a statement: pandas asks for a table of this name first.

    >>> is_statement("select 1 from t"), is_statement("selected%"), is_statement("from")
    (True, False, False)
    """
    if len(pattern) > MAX_NAME:
        return True
    return _SPACE.search(pattern.strip()) is not None and first_word(pattern) in _STATEMENTS


def _row(entry: RelationEntry, with_schema: bool, *, has_zones: bool) -> dict[str, object]:
    row: dict[str, object] = {
        "catalog_name": entry.name.catalog,
        "db_schema_name": entry.name.schema,
        "table_name": entry.name.table,
        "table_type": entry.kind.value,
    }
    if with_schema:
        row["table_schema"] = table_schema(entry.name, entry.columns or (), has_zones=has_zones)
    return row


def _kinds(names: list[str]) -> list[RelationKind]:
    return [kind for kind in RelationKind if not names or kind.value in names]


def _sent(command: Any, field: str) -> str | None:
    return str(getattr(command, field)) if command.HasField(field) else None


def _is_without_catalog(command: Any) -> bool:
    """Whether tables without a catalog are asked for: every table here has one."""
    return _sent(command, "catalog") == ""


def _types(_: Served, command: Any) -> pa.Table:
    return xdbc_types(command.data_type if command.HasField("data_type") else None)


def _table_types(_: Served, __: Any) -> pa.Table:
    names = sorted(kind.value for kind in RelationKind)
    return pa.Table.from_arrays([pa.array(names, pa.string())], schema=answer_schemas.TABLE_TYPES)
