"""SHOW TABLE EXTENDED for catalogs of Iceberg: tables and views by name, with what they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.types import BooleanType, StringType, StructField, StructType

from service.errors.statement_errors import StatementNotAllowed
from spark_session.engine.metadata.masking import Row
from spark_session.engine.metadata.metadata_rows import Answer, answer_with, rows_of
from spark_session.engine.metadata.visible_schemas import Schemas
from spark_session.session.commands import Command
from spark_session.session.warm_session import WarmSession
from spark_session.table_sql_name import quoted

EXTENDED = StructType(
    [
        StructField("namespace", StringType(), nullable=False),
        StructField("tableName", StringType(), nullable=False),
        StructField("isTemporary", BooleanType(), nullable=False),
        StructField("information", StringType(), nullable=False),
    ]
)
"""As Spark answers it."""
OTHERWISE = (
    "SHOW TABLE EXTENDED is not supported for v2 tables. Send SHOW TABLES, and DESCRIBE TABLE EXTENDED for"
    " each."
)
"""The first sentence was Spark's own for such tables. dbt looks for it, and asks otherwise then."""


def extended_tables(session: WarmSession, child: SparkSession, command: Command, schemas: Schemas) -> Answer:
    """Returns the tables and views of a schema that the principal may know of; no table is opened.

    Temporary views are left out.

    Raises:
        StatementNotAllowed: the catalog may have tables that are not of Iceberg, or no schema is named.
        SqlInvalid: there is no such schema, or the principal may not know of it.
        PySparkException: Spark refused it.
    """
    parts = schemas.of(command)
    if len(parts) < 2 or not session.commands.is_of_iceberg(child, parts[0]):
        raise StatementNotAllowed(OTHERWISE)
    shown: list[tuple[Any, ...]] = []
    for listed, kind in (("TABLES", ("Type: MANAGED", "Provider: iceberg")), ("VIEWS", ("Type: VIEW",))):
        asked = f"SHOW {listed} IN {quoted(parts)} LIKE {_text(str(command.own['pattern']))}"
        rows = [row for row in rows_of(child.sql(asked)) if not row[2]]
        shown += (_row(parts, row, kind) for row in schemas.shown_in(parts, rows))
    return answer_with(EXTENDED, sorted(shown, key=lambda row: str(row[1])))


def _row(parts: Sequence[str], row: Row, kind: Iterable[str]) -> tuple[Any, ...]:
    schema = ".".join(parts[1:])
    lines = (f"Catalog: {parts[0]}", f"Namespace: {schema}", f"Table: {row[1]}", *kind)
    return row[0], row[1], False, "".join(f"{line}\n" for line in lines)


def _text(pattern: str) -> str:
    r"""Returns a literal of Spark's SQL.

    >>> _text("a'*")
    "'a\\'*'"
    """
    escaped = pattern.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
