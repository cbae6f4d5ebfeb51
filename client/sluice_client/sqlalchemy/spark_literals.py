"""Writes literals as Spark reads them: with backslashes escaped, and arrays by their function."""

from __future__ import annotations

import re
from typing import Any

from sqlalchemy import types as sqltypes
from sqlalchemy.engine import Dialect
from sqlalchemy.exc import CompileError

_MARK = re.compile(r"%(?=\()|_(?=_\[)")
"""The first sign of a mark that SQLAlchemy replaces wherever it stands, also in a literal."""


def text_literal(text: str) -> str:
    r"""Returns a literal of Spark SQL for a text.

    >>> print(text_literal("it's 5% of \\d"))
    'it\'s 5% of \\d'
    """
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return "'" + _MARK.sub(lambda found: f"\\u{ord(found[0]):04x}", escaped) + "'"


def spark_literal(rendered: str) -> str:
    r"""Returns a literal of SQLAlchemy, which escapes quotes alone, as Spark reads it.

    >>> print(spark_literal("'it''s \\d'"), spark_literal("1.5"))
    'it\'s \\d' 1.5
    """
    return text_literal(rendered[1:-1].replace("''", "'")) if rendered.startswith("'") else rendered


def literal_of(value: Any, kind: sqltypes.TypeEngine[Any], dialect: Dialect) -> str:
    """Returns a literal of a value inside of a nested one.

    Raises:
        CompileError: the type has no literals.
    """
    if value is None:
        return "NULL"
    writes = kind.dialect_impl(dialect).literal_processor(dialect)
    if writes is None:
        raise CompileError(f"a value of the type {kind!r} cannot be a part of a nested one")
    return spark_literal(writes(value))


def typed(text: str, kind: sqltypes.TypeEngine[Any], dialect: Dialect) -> str:
    """Returns an expression that has the type, also if it has no elements."""
    name: str = dialect.type_compiler_instance.process(kind)
    return f"CAST({text} AS {name})"
