"""Writes types as Spark spells them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import types as sqltypes
from sqlalchemy.exc import CompileError
from sqlalchemy.sql.compiler import GenericTypeCompiler

from sluice_client.sqlalchemy.identifiers import full_name
from sluice_client.sqlalchemy.types import INTERVAL, MAP, STRUCT

_DEFAULT_SCALE = 18
_MOST_DIGITS = 38
_DIGITS_OF_A_FLOAT = 24


class SparkTypeCompiler(GenericTypeCompiler):
    """The types of columns and casts. Every text is a STRING: Iceberg has no lengths."""

    def visit_TINYINT(self, type_: Any, **kw: Any) -> str:
        return "TINYINT"

    def visit_INTEGER(self, type_: Any, **kw: Any) -> str:
        return "INT"

    def visit_float(self, type_: sqltypes.Float[Any], **kw: Any) -> str:
        """Python's own numbers have 64 bits, so 32 are only taken if the precision asks for no more."""
        is_short = type_.precision is not None and type_.precision <= _DIGITS_OF_A_FLOAT
        return self.visit_FLOAT(type_, **kw) if is_short else "DOUBLE"

    def visit_REAL(self, type_: Any, **kw: Any) -> str:
        return "FLOAT"

    def visit_DOUBLE_PRECISION(self, type_: Any, **kw: Any) -> str:
        return "DOUBLE"

    def visit_NUMERIC(self, type_: sqltypes.Numeric[Any], **kw: Any) -> str:
        """Without a precision, it is the largest one, with 18 digits after the point."""
        precision = _MOST_DIGITS if type_.precision is None else type_.precision
        default = _DEFAULT_SCALE if type_.precision is None else 0
        return f"DECIMAL({precision}, {default if type_.scale is None else type_.scale})"

    def visit_DECIMAL(self, type_: sqltypes.DECIMAL[Any], **kw: Any) -> str:
        return self.visit_NUMERIC(type_, **kw)

    def visit_TIMESTAMP(self, type_: Any, **kw: Any) -> str:
        return "TIMESTAMP" if type_.timezone else "TIMESTAMP_NTZ"

    def visit_DATETIME(self, type_: Any, **kw: Any) -> str:
        return self.visit_TIMESTAMP(type_, **kw)

    def visit_VARCHAR(self, type_: Any, **kw: Any) -> str:
        return "STRING"

    visit_CHAR = visit_NCHAR = visit_NVARCHAR = visit_TEXT = visit_VARCHAR
    visit_CLOB = visit_NCLOB = visit_UUID = visit_JSON = visit_uuid = visit_VARCHAR

    def visit_BINARY(self, type_: Any, **kw: Any) -> str:
        return "BINARY"

    visit_BLOB = visit_VARBINARY = visit_BINARY

    def visit_ARRAY(self, type_: sqltypes.ARRAY[Any], **kw: Any) -> str:
        levels = type_.dimensions or 1
        return "ARRAY<" * levels + self.process(type_.item_type, **kw) + ">" * levels

    def visit_MAP(self, type_: MAP, **kw: Any) -> str:
        return f"MAP<{self.process(type_.key, **kw)}, {self.process(type_.value, **kw)}>"

    def visit_STRUCT(self, type_: STRUCT, **kw: Any) -> str:
        fields = (f"{full_name(name)}: {self.process(kind, **kw)}" for name, kind in type_.fields)
        return f"STRUCT<{', '.join(fields)}>"

    def visit_INTERVAL(self, type_: INTERVAL, **kw: Any) -> str:
        return f"INTERVAL {type_.fields}"

    def visit_interval(self, type_: Any, **kw: Any) -> str:
        return "INTERVAL DAY TO SECOND"

    def visit_VARIANT(self, type_: Any, **kw: Any) -> str:
        return "VARIANT"

    def visit_null(self, type_: Any, **kw: Any) -> str:
        """A NULL has the type VOID, also within a nested type."""
        if kw.get("type_expression") is None:
            return "VOID"
        raise CompileError("a column needs a type")
