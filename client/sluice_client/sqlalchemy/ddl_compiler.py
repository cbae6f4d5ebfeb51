"""Writes CREATE, ALTER, COMMENT and DROP for tables of Iceberg, which have no constraints."""

from __future__ import annotations

import re
from typing import Any, NoReturn

from sqlalchemy.exc import CompileError
from sqlalchemy.schema import Column, Table
from sqlalchemy.sql.compiler import DDLCompiler

from sluice_client.sqlalchemy.spark_literals import text_literal

_TRANSFORM = re.compile(r"(?P<name>[a-z]+)\((?:(?P<number>[0-9]+),\s*)?(?P<column>.+)\)\Z", re.S)


class SparkDDLCompiler(DDLCompiler):
    """Definitions of schemas and tables."""

    def get_column_specification(self, column: Column[Any], **kwargs: Any) -> str:
        """Returns a column with its type.

        Raises:
            CompileError: its values would be computed or counted.
        """
        if column.computed is not None or column.identity is not None:
            raise CompileError(f"the column {column.name} has values of its own, which Iceberg does not have")
        kind = self.dialect.type_compiler_instance.process(column.type, type_expression=column)
        text = f"{self.preparer.format_column(column)} {kind}"
        if not column.nullable:
            text += " NOT NULL"
        default = self.get_column_default_string(column)
        if default is not None:
            text += f" DEFAULT {default}"
        return text if column.comment is None else f"{text} COMMENT {text_literal(column.comment)}"

    def create_table_constraints(self, table: Table, *args: Any, **kw: Any) -> str:
        """Writes nothing: nothing would hold rows to keys and checks."""
        return ""

    def visit_column_check_constraint(self, constraint: Any, **kw: Any) -> str:
        """Writes nothing, as for the constraints of a table."""
        return ""

    def post_create_table(self, table: Table) -> str:
        """Returns partitions, the comment and properties."""
        options = table.dialect_options["sluice"]
        text = ""
        fields = options["partitioned_by"] or ()
        if fields:
            shown = [self._partition(field) for field in ([fields] if isinstance(fields, str) else fields)]
            text += f"\nPARTITIONED BY ({', '.join(shown)})"
        if table.comment is not None:
            text += f"\nCOMMENT {text_literal(table.comment)}"
        if options["tblproperties"]:
            pairs = (
                f"{text_literal(str(name))} = {text_literal(str(value))}"
                for name, value in options["tblproperties"].items()
            )
            text += f"\nTBLPROPERTIES ({', '.join(pairs)})"
        return text

    def visit_drop_view(self, drop: Any, **kw: Any) -> str:
        """Returns DROP VIEW with the schema of the address: a name alone is that of a temporary view.

        Raises:
            CompileError: the view is a materialized one.
        """
        if drop.materialized:
            raise CompileError("there are no materialized views")
        catalog: str | None = getattr(self.dialect, "default_catalog_name", None)
        schema = self.dialect.default_schema_name
        creator = getattr(drop.element, "_creator_ddl", None)
        name = self.preparer.format_table(drop.element)
        is_named = bool(self.preparer.schema_for_object(drop.element))
        if not is_named and catalog and schema and not getattr(creator, "temporary", False):
            name = f"{self.preparer.quote(catalog)}.{self.preparer.quote_schema(schema)}.{name}"
        return f"\nDROP VIEW {'IF EXISTS ' if drop.if_exists else ''}{name}"

    def visit_set_column_comment(self, create: Any, **kw: Any) -> str:
        return self._column_comment(create.element, create.element.comment)

    def visit_drop_column_comment(self, drop: Any, **kw: Any) -> str:
        return self._column_comment(drop.element, "")

    def visit_set_table_comment(self, create: Any, **kw: Any) -> str:
        comment = text_literal(create.element.comment)
        return f"COMMENT ON TABLE {self.preparer.format_table(create.element)} IS {comment}"

    def visit_create_index(self, *args: Any, **kw: Any) -> NoReturn:
        """Raises CompileError: there are no indexes."""
        raise CompileError("Iceberg has no indexes: partition the table by sluice_partitioned_by")

    visit_drop_index = visit_create_index

    def visit_add_constraint(self, *args: Any, **kw: Any) -> NoReturn:
        """Raises CompileError: there are no constraints."""
        raise CompileError("the gateway takes no constraints")

    visit_drop_constraint = visit_add_constraint

    def visit_create_sequence(self, *args: Any, **kw: Any) -> NoReturn:
        """Raises CompileError: there are no sequences."""
        raise CompileError("there are no sequences")

    visit_drop_sequence = visit_create_sequence

    def _column_comment(self, column: Column[Any], comment: str) -> str:
        table, name = self.preparer.format_table(column.table), self.preparer.format_column(column)
        return f"ALTER TABLE {table} ALTER COLUMN {name} COMMENT {text_literal(comment)}"

    def _partition(self, text: str) -> str:
        """Returns a column, or a transform such as `days(at)` and `bucket(8, id)`, with the name quoted."""
        found = _TRANSFORM.match(text)
        if found is None:
            return self.preparer.quote(text)
        number = f"{found['number']}, " if found["number"] else ""
        return f"{found['name']}({number}{self.preparer.quote(found['column'])})"
