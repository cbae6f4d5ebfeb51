"""Answers the statements that ask for metadata: Spark's own rows, as far as the principal may see them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from service.errors.statement_errors import SqlInvalid, StatementNotAllowed
from service.model.policies.decisions import Access
from service.ports.engine.query_engine import Statement
from spark_session.engine.analyzed import analyzed
from spark_session.engine.in_session import bind_views
from spark_session.engine.metadata.described_relations import answer_of_relation
from spark_session.engine.metadata.extended_tables import extended_tables
from spark_session.engine.metadata.masking import Row
from spark_session.engine.metadata.metadata_rows import Answer, answer_with, rows_of
from spark_session.engine.metadata.visible_schemas import Schemas
from spark_session.session.commands import Command, Target
from spark_session.session.warm_session import WarmSession
from spark_session.spark_errors import causes_of
from spark_session.vetting.vet_command import vet_command

DESCRIBED = StructType(
    [
        StructField("col_name", StringType(), nullable=False),
        StructField("data_type", StringType(), nullable=False),
        StructField("comment", StringType()),
    ]
)
"""As Spark describes the columns of a query."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A statement in its child session."""

    session: WarmSession
    child: SparkSession
    statement: Statement
    command: Command

    @property
    def access(self) -> Access:
        """The rights of its principal."""
        return self.statement.access

    def frame(self) -> DataFrame:
        """Lets Spark answer the statement as it is written."""
        return self.child.sql(self.statement.sql)


def answer(session: WarmSession, child: SparkSession, statement: Statement) -> Answer:
    """Returns what a statement that asks for metadata shows to its principal.

    Raises:
        TableAccessDenied: its principal may not know of the table, or not of what it asks.
        CallerError: there is no such catalog, schema or table, or the statement asks for something else.
        PySparkException: Spark refused it.
    """
    command = session.commands.read(statement.sql)
    vet_command(
        command.kind,
        command.others,
        command.parts,
        is_function=command.target is Target.FUNCTION,
        has_partition=bool(command.own.get("hasPartition")),
    )
    bind_views(session, child, statement, _view_names(statement, command))
    asked = Asked(session, child, statement, command)
    answered = _OF_CATALOGS.get(command.kind)
    if answered is not None:
        return answered(asked)
    if command.target is not Target.RELATION:
        raise StatementNotAllowed(f"{command.kind} cannot be answered for this name.")
    return answer_of_relation(session, child, statement, command)


def _view_names(statement: Statement, command: Command) -> Sequence[Sequence[str]]:
    """Returns the names that a statement may have of temporary views."""
    if command.kind in ("ShowTables", "ShowViews") and statement.session is not None:
        return [(view.name,) for view in statement.session.views]
    return [command.parts] if command.target is Target.RELATION else []


def _catalogs(asked: Asked) -> Answer:
    frame = asked.frame()
    rows = [row for row in rows_of(frame) if asked.access.knows_catalog(row[0] or "")]
    return answer_with(frame.schema, rows)


def _schemas(asked: Asked) -> Answer:
    schemas = Schemas(asked.session, asked.child, asked.access)
    parts = schemas.of(asked.command)
    frame = asked.frame()
    rows = [row for row in rows_of(frame) if schemas.is_shown((parts[0], *schemas.levels(row[0] or "")))]
    return answer_with(frame.schema, rows)


def _tables(asked: Asked) -> Answer:
    schemas = Schemas(asked.session, asked.child, asked.access)
    parts = schemas.of(asked.command)
    try:
        frame = asked.frame()
    except Py4JJavaError as failure:
        if len(parts) == 1 and _has_no_namespace(failure):
            raise SqlInvalid(
                f"The catalog {parts[0]} has no tables outside of schemas: name a schema."
            ) from None
        raise
    return answer_with(frame.schema, schemas.shown_in(parts, rows_of(frame)))


def _extended_tables(asked: Asked) -> Answer:
    schemas = Schemas(asked.session, asked.child, asked.access)
    return extended_tables(asked.session, asked.child, asked.command, schemas)


def _has_no_namespace(failure: Py4JJavaError) -> bool:
    return any(cause.getClass().getSimpleName() == "NoSuchNamespaceException" for cause in causes_of(failure))


def _functions(asked: Asked) -> Answer:
    if asked.command.target is Target.NAMESPACE:
        parts = tuple(part.lower() for part in asked.command.parts)
        is_own = parts[-1:] == ("system",) or parts == ("builtin",)
        if not is_own or len(parts) > 2:
            Schemas(asked.session, asked.child, asked.access).of(asked.command)
    return _as_it_is(asked)


def _schema(asked: Asked) -> Answer:
    schemas = Schemas(asked.session, asked.child, asked.access)
    schemas.of(asked.command)
    frame = asked.frame()
    return answer_with(frame.schema, schemas.details(rows_of(frame)))


def _query(asked: Asked) -> Answer:
    inner = replace(asked.statement, sql=str(asked.command.own["query"]), origin=asked.statement.sql)
    frame, applied = analyzed(asked.session, asked.child, inner)
    rows: Sequence[Row] = [
        (field.name, field.dataType.simpleString(), (field.metadata or {}).get("comment"))
        for field in frame.schema.fields
    ]
    return answer_with(DESCRIBED, rows, applied)


def _as_it_is(asked: Asked) -> Answer:
    frame = asked.frame()
    return answer_with(frame.schema, rows_of(frame))


_OF_CATALOGS: Mapping[str, Callable[[Asked], Answer]] = {
    "ShowCatalogsCommand": _catalogs,
    "ShowNamespacesCommand": _schemas,
    "ShowTables": _tables,
    "ShowTablesExtended": _extended_tables,
    "ShowViews": _tables,
    "ShowFunctions": _functions,
    "DescribeNamespace": _schema,
    "DescribeQueryCommand": _query,
    "DescribeFunction": _as_it_is,
    "ShowCurrentNamespaceCommand": _as_it_is,
}
