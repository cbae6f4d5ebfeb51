"""Quotes names as Spark reads them: between backticks, with a backtick doubled."""

from __future__ import annotations

import re

from sqlalchemy.engine import Dialect
from sqlalchemy.exc import CompileError
from sqlalchemy.sql.compiler import IdentifierPreparer
from sqlalchemy.sql.elements import quoted_name

_WORDS = """
    all and anti any array as at authorization between binary both case cast check collate column
    constraint create cross cube current_date current_time current_timestamp current_user database
    delete describe distinct drop else end escape except exists explain extract false fetch filter for
    foreign from full function global grant group grouping having ilike in inner insert intersect
    interval into is join lateral leading left like local map merge minus natural no not null of
    offset on only or order outer overlaps percentile_cont percentile_disc pivot position primary
    qualify range recursive references regexp replace right rlike rollup row rows schema select semi
    session_user set some sql start struct table tablesample then time timestamp to trailing true
    truncate union unique unknown unpivot update user using values when where window with within
"""
"""Words of Spark's grammar that do not always stand for a name. Quoting one too many is harmless."""
_PLAIN = re.compile(r"[a-z_][a-z0-9_]*\Z")
_MARK = re.compile(r"%\([^)]+\)s|__\[POSTCOMPILE_|__\[SCHEMA_")
"""SQLAlchemy's own marks in a text, which it replaces wherever they stand."""


class SparkPreparer(IdentifierPreparer):
    """Writes identifiers."""

    reserved_words = frozenset(_WORDS.split())  # type: ignore[assignment]  # it is only looked into
    legal_characters = _PLAIN

    def __init__(
        self,
        dialect: Dialect,
        initial_quote: str = "`",
        final_quote: str | None = None,
        escape_quote: str = "`",
        quote_case_sensitive_collations: bool = True,
        omit_schema: bool = False,
    ) -> None:
        super().__init__(
            dialect, initial_quote, final_quote, escape_quote, quote_case_sensitive_collations, omit_schema
        )

    def quote_identifier(self, value: str) -> str:
        """Returns the name between backticks.

        Raises:
            CompileError: SQLAlchemy would take a part of the name for a parameter.
        """
        check_marks(value)
        return super().quote_identifier(value)

    def quote_schema(self, schema: str) -> str:
        """Returns a schema, whose catalog and levels stand before dots: `lake.tpcds`, `lake.shop.north`.

        A `quoted_name` with `quote=True` is one name, also with dots in it.
        """
        is_whole = getattr(schema, "quote", None) is not None
        return self.quote(schema) if is_whole else ".".join(map(self.quote, str(schema).split(".")))

    def format_schema(self, name: str) -> str:
        return self.quote_schema(name)


def check_marks(name: str) -> None:
    """Checks that a name has none of the marks that SQLAlchemy replaces in the text of a statement.

    Raises:
        CompileError: it has one.
    """
    if _MARK.search(name):
        raise CompileError(f"the name {name!r} has a mark of SQLAlchemy for parameters in it")


def full_name(*parts: str) -> str:
    """Returns a name of several parts, each between backticks.

    >>> full_name("lake", "tp`cds", "t")
    '`lake`.`tp``cds`.`t`'
    """
    return ".".join("`" + part.replace("`", "``") + "`" for part in parts)


def levels(schema: str) -> tuple[str, ...]:
    """Returns the names in a schema argument.

    >>> levels("lake.tpcds")
    ('lake', 'tpcds')
    """
    is_whole = isinstance(schema, quoted_name) and schema.quote is True
    return (str(schema),) if is_whole else tuple(str(schema).split("."))
