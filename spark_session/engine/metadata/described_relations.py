"""Answers the statements about one table or view."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from service.errors.statement_errors import SqlInvalid, StatementNotAllowed
from service.model.policies.decisions import Access
from service.model.policies.read_plan import Parts, ReadPlan
from service.model.tables.tables import TableName
from service.policies.shown_counts import shows_counts
from service.ports.engine.query_engine import Statement
from spark_session.engine.metadata.masking import (
    Row,
    shown_creation,
    shown_details,
    shown_properties,
    shown_statistics,
)
from spark_session.engine.metadata.metadata_rows import Answer, answer_with, rows_of
from spark_session.engine.metadata.partition_text import partition_text
from spark_session.engine.metadata.rights import (
    require_partitions,
    require_relation,
    require_some_name,
    require_text,
    shows_text,
    shows_values,
)
from spark_session.session.commands import Command
from spark_session.session.warm_session import WarmSession
from spark_session.table_sql_name import quoted

PARTITIONS = StructType([StructField("partition", StringType(), nullable=False)])
"""As Spark shows partitions."""
COLUMN_NAMES = StructType([StructField("col_name", StringType(), nullable=False)])
"""As Spark shows the names of columns."""
SESSION_CATALOG = "spark_catalog"


@dataclass(frozen=True, slots=True)
class Relation:
    """The table or view that a statement is about, and the statement."""

    session: WarmSession
    child: SparkSession
    statement: Statement
    command: Command
    parts: Parts
    name: TableName
    plan: ReadPlan

    @property
    def access(self) -> Access:
        """The rights of the statement's principal."""
        return self.statement.access

    @property
    def is_view(self) -> bool:
        """Whether it is a view of a catalog."""
        return any(not view.path for view in self.plan.views)

    def frame(self) -> DataFrame:
        """Lets Spark answer the statement as it is written."""
        return self.child.sql(self.statement.sql)


def answer_of_relation(
    session: WarmSession, child: SparkSession, statement: Statement, command: Command
) -> Answer:
    """Returns what a statement about a table or view shows to its principal.

    Raises:
        TableAccessDenied: its principal may not know of it, or not of what it asks.
        CallerError: there is no such table, or its name is ambiguous.
        PySparkException: Spark refused it.
    """
    parts = session.commands.relation(child, command.parts)
    if len(parts) == 1:
        # A temporary view: only its session has it, and only its columns are known.
        frame = child.sql(statement.sql)
        return answer_with(frame.schema, rows_of(frame))
    require_some_name(statement.access, parts)
    all_columns = f"SELECT * FROM {quoted(parts)}"
    frame = child.sql(all_columns)
    session.guard.allow_reading_only(frame)
    plan = session.table_guards.read(child, all_columns, frame)
    name = require_relation(statement.access, parts, plan)
    relation = Relation(session, child, statement, command, parts, name, plan)
    answered = _BY_KIND.get(command.kind)
    if answered is None:
        raise StatementNotAllowed(f"{command.kind} cannot be answered for a table.")
    return answered(relation)


def _as_spark_says(relation: Relation) -> Answer:
    frame = relation.frame()
    return answer_with(frame.schema, rows_of(frame))


def _names(relation: Relation) -> Answer:
    if not relation.is_view:
        return _as_spark_says(relation)
    # Spark 4.1 has no plan for it on a view of a catalog.
    columns = relation.child.sql(f"SELECT * FROM {quoted(relation.parts)}").columns
    return answer_with(COLUMN_NAMES, [(name,) for name in columns])


def _description(relation: Relation) -> Answer:
    frame = relation.frame()
    rows = shown_details(
        rows_of(frame),
        is_admin=relation.access.administers_all(),
        shows_counts=shows_counts(relation.access, relation.name),
        shows_text=shows_text(relation.access, relation.plan),
    )
    return answer_with(frame.schema, rows)


def _column(relation: Relation) -> Answer:
    frame = relation.frame()
    rows = rows_of(frame)
    if not shows_values(relation.access, relation.name):
        rows = shown_statistics(rows)
    return answer_with(frame.schema, rows)


def _properties(relation: Relation) -> Answer:
    frame = relation.frame()
    rows = rows_of(frame)
    if not relation.access.administers_all():
        rows = shown_properties(rows)
    return answer_with(frame.schema, rows)


def _creation(relation: Relation) -> Answer:
    if relation.is_view:
        require_text(relation.access, relation.name, relation.plan)
    frame = relation.frame()
    rows = rows_of(frame)
    if not relation.access.administers_all():
        rows = [(shown_creation(text or ""), *rest) for text, *rest in rows]
    return answer_with(frame.schema, rows)


def _partitions(relation: Relation) -> Answer:
    require_partitions(relation.access, relation.name)
    if relation.name.catalog == SESSION_CATALOG:
        return _as_spark_says(relation)
    frame = relation.child.sql(f"SELECT * FROM {quoted((*relation.parts, 'partitions'))}")
    relation.session.guard.allow_reading_only(frame)
    if "partition" not in frame.columns:
        raise SqlInvalid(f"{relation.name} is not partitioned.")
    names = frame.select("partition.*").columns
    texts = [
        f"CAST(partition.`{name.replace('`', '``')}` AS STRING) AS c{at}" for at, name in enumerate(names)
    ]
    limited = frame.selectExpr(*texts).distinct().limit(relation.statement.row_limit + 1)
    rows: list[Row] = sorted((partition_text(names, row),) for row in rows_of(limited))
    return answer_with(PARTITIONS, rows)


_BY_KIND: Mapping[str, Callable[[Relation], Answer]] = {
    "DescribeRelation": _description,
    "DescribeColumn": _column,
    "ShowColumns": _names,
    "ShowCreateTable": _creation,
    "ShowPartitions": _partitions,
    "ShowTableProperties": _properties,
}
