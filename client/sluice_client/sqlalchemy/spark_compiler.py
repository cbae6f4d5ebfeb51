"""Writes queries and statements that change rows as Spark SQL."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NoReturn

from sqlalchemy import types as sqltypes
from sqlalchemy.exc import CompileError
from sqlalchemy.sql import elements, operators
from sqlalchemy.sql.compiler import SQLCompiler

from sluice_client.sqlalchemy.spark_literals import spark_literal, text_literal
from sluice_client.sqlalchemy.types import MAP, STRUCT

_WORD = re.compile(r"[A-Za-z_]+\Z")
_FLAGS = re.compile(r"[A-Za-z]*\Z")
_EXTRACTED = {"dow": "DAYOFWEEK", "isodow": "DAYOFWEEK_ISO", "doy": "DOY", "isoyear": "YEAROFWEEK"}


class SparkCompiler(SQLCompiler):
    """Queries, and INSERT, UPDATE and DELETE."""

    extract_map = _EXTRACTED

    def render_literal_value(self, value: Any, type_: sqltypes.TypeEngine[Any]) -> str:
        """Returns a literal. Spark reads backslashes in texts, which SQLAlchemy does not escape."""
        return spark_literal(super().render_literal_value(value, type_))

    def visit_bindparam(self, bindparam: elements.BindParameter[Any], *args: Any, **kw: Any) -> str:
        """Returns a parameter; an array, a map or a struct is written into the text when it is sent."""
        kind = bindparam.type._unwrapped_dialect_impl(self.dialect)
        if isinstance(kind, sqltypes.ARRAY | MAP | STRUCT):
            kw["literal_execute"] = True
        text: str = super().visit_bindparam(bindparam, *args, **kw)  # type: ignore[no-untyped-call]
        return text

    def visit_column(self, column: Any, *args: Any, **kw: Any) -> str:
        """Returns a column with its table's name, and with the schema only if another table has that name.

        The gateway prunes no query whose columns name their table by a path: Spark could mean a struct.
        """
        text: str = super().visit_column(column, *args, **kw)
        table = column.table
        schema = None if table is None else self.preparer.schema_for_object(table)
        if not schema or self._is_name_shared(table):
            return text
        return text.removeprefix(f"{self.preparer.quote_schema(schema)}.")

    def render_bind_cast(
        self, type_: sqltypes.TypeEngine[Any], dbapi_type: sqltypes.TypeEngine[Any], sqltext: str
    ) -> str:
        """Returns a parameter that Spark casts to its type."""
        return f"CAST({sqltext} AS {self.dialect.type_compiler_instance.process(dbapi_type)})"

    def limit_clause(self, select: Any, **kw: Any) -> str:
        return self._limited(select._limit_clause, select._offset_clause, **kw)

    def fetch_clause(
        self,
        select: Any,
        fetch_clause: Any = None,
        require_offset: bool = False,
        use_literal_execute_for_simple_int: bool = False,
        **kw: Any,
    ) -> str:
        """Writes FETCH FIRST as LIMIT.

        Raises:
            CompileError: it asks for ties or for a percentage.
        """
        if any((select._fetch_clause_options or {}).values()):
            raise CompileError("Spark SQL has no FETCH FIRST with ties or a percentage")
        chosen = select._fetch_clause if fetch_clause is None else fetch_clause
        return self._limited(chosen, select._offset_clause, **kw)

    def for_update_clause(self, select: Any, **kw: Any) -> str:
        """Writes nothing: there are no locks."""
        return ""

    def visit_empty_set_expr(self, element_types: Sequence[Any], **kw: Any) -> str:
        return f"SELECT {self._nulls(element_types or [sqltypes.NULLTYPE])} WHERE 1 != 1"

    def visit_empty_set_op_expr(self, type_: Sequence[Any], expand_op: Any, **kw: Any) -> str:
        """Writes an empty list. Spark compares a tuple only with one of the same types."""
        nulls = f"({self._nulls(type_)})" if len(type_) > 1 else "NULL"
        if expand_op is operators.in_op:
            return f"{nulls}) AND (1 != 1"
        return f"{nulls}) OR (1 = 1" if expand_op is operators.not_in_op else self.visit_empty_set_expr(type_)

    def visit_is_distinct_from_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return f"NOT ({self._sides(binary, '<=>', **kw)})"

    def visit_is_not_distinct_from_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return self._sides(binary, "<=>", **kw)

    def visit_ilike_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return self._like("ILIKE", binary, **kw)

    def visit_not_ilike_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return self._like("NOT ILIKE", binary, **kw)

    def visit_regexp_match_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return self._regexp("RLIKE", binary, **kw)

    def visit_not_regexp_match_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return self._regexp("NOT RLIKE", binary, **kw)

    def visit_regexp_replace_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        text = self.process(binary.left, **kw)
        pattern, replacement = binary.right.clauses
        chosen = self._pattern(pattern, binary, **kw)
        return f"regexp_replace({text}, {chosen}, {self.process(replacement, **kw)})"

    def visit_extract(self, extract: Any, **kw: Any) -> str:
        """Writes EXTRACT.

        Raises:
            CompileError: the field is not a word.
        """
        if not _WORD.match(extract.field):
            raise CompileError(f"a field of EXTRACT is a word, not {extract.field!r}")
        field = self.extract_map.get(extract.field.lower(), extract.field)
        return f"EXTRACT({field} FROM {self.process(extract.expr, **kw)})"

    def visit_getitem_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        """Writes a field of a struct, the value of a key, or an element of an array, counted from 1."""
        holder, part = self.process(binary.left, **kw), self.process(binary.right, **kw)
        return f"{holder}.{part}" if isinstance(binary.left.type, STRUCT) else f"element_at({holder}, {part})"

    def visit_try_cast(self, element: Any, **kw: Any) -> str:
        text, kind = self.process(element.clause, **kw), self.process(element.typeclause, **kw)
        return f"TRY_CAST({text} AS {kind})"

    def visit_aggregate_strings_func(self, fn: Any, **kw: Any) -> str:
        return f"listagg{self.function_argspec(fn, **kw)}"

    def returning_clause(self, *args: Any, **kw: Any) -> NoReturn:
        """Raises CompileError: a write returns no rows."""
        raise CompileError("Spark SQL has no RETURNING")

    def visit_sequence(self, sequence: Any, **kw: Any) -> NoReturn:
        """Raises CompileError: there are no sequences."""
        raise CompileError("there are no sequences")

    def update_from_clause(self, *args: Any, **kw: Any) -> NoReturn:
        """Raises CompileError: an UPDATE has one table."""
        raise CompileError("an UPDATE of Spark SQL has one table: write a subquery")

    def delete_extra_from_clause(self, *args: Any, **kw: Any) -> NoReturn:
        """Raises CompileError: a DELETE has one table."""
        raise CompileError("a DELETE of Spark SQL has one table: write a subquery")

    def _nulls(self, types: Sequence[Any]) -> str:
        names = map(self.dialect.type_compiler_instance.process, types)
        return ", ".join(f"CAST(NULL AS {name})" for name in names)

    def _is_name_shared(self, table: Any) -> bool:
        around = self.stack[-1]["correlate_froms"] if self.stack else ()
        names = [str(getattr(other, "name", "")).lower() for other in around if other is not table]
        return str(table.name).lower() in names

    def _limited(self, limit: Any, offset: Any, **kw: Any) -> str:
        text = "" if limit is None else f"\n LIMIT {self.process(limit, **kw)}"
        return text if offset is None else f"{text}\n OFFSET {self.process(offset, **kw)}"

    def _sides(self, binary: Any, sign: str, **kw: Any) -> str:
        return f"{self.process(binary.left, **kw)} {sign} {self.process(binary.right, **kw)}"

    def _like(self, word: str, binary: Any, **kw: Any) -> str:
        escape = (binary.modifiers or {}).get("escape")
        ending = "" if escape is None else f" ESCAPE {self.render_literal_value(escape, sqltypes.STRINGTYPE)}"
        return self._sides(binary, word, **kw) + ending

    def _regexp(self, word: str, binary: Any, **kw: Any) -> str:
        return f"{self.process(binary.left, **kw)} {word} {self._pattern(binary.right, binary, **kw)}"

    def _pattern(self, pattern: elements.ColumnElement[Any], binary: Any, **kw: Any) -> str:
        """Returns the pattern with its flags, as Java has them: `(?i)`."""
        flags = (binary.modifiers or {}).get("flags")
        text = self.process(pattern, **kw)
        if not flags:
            return text
        if not _FLAGS.match(flags):
            raise CompileError(f"flags of a regular expression are letters, not {flags!r}")
        return f"concat({text_literal(f'(?{flags})')}, {text})"
