"""Statements that change the values of their caller's session: USE, SET, RESET and temporary views.

The child session that reads one ends with it. So the change is returned, and the session's store makes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from pyspark.sql import SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from service.errors.statement_errors import SqlInvalid, StatementNotAllowed
from service.model.sessions.session_changes import (
    DropView,
    PutSettings,
    PutView,
    ResetSetting,
    SessionChange,
    UseSchema,
)
from service.model.sessions.sessions import SessionValues, SessionView
from service.ports.engine.query_engine import Statement
from service.session_values.session_settings import OFFERED, setting_name, setting_value
from spark_session.engine.analyzed import analyzed
from spark_session.engine.in_session import schema_text
from spark_session.engine.made_views import is_as_made
from spark_session.engine.metadata.metadata_rows import Answer, answer_with
from spark_session.engine.metadata.rights import no_catalog, require_catalog
from spark_session.engine.metadata.visible_schemas import Schemas
from spark_session.session.commands import Command
from spark_session.session.warm_session import WarmSession
from spark_session.table_sql_name import quoted

NOTHING = StructType([])
SETTINGS = StructType(
    [StructField("key", StringType(), nullable=False), StructField("value", StringType(), nullable=False)]
)
"""As Spark answers SET."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A statement in its child session."""

    session: WarmSession
    child: SparkSession
    statement: Statement
    command: Command


@dataclass(frozen=True, slots=True)
class Changed:
    """The rows of a statement, and its change of the session."""

    answer: Answer
    change: SessionChange | None


def is_of_session(session: WarmSession, child: SparkSession, statement: Statement) -> bool:
    """Whether a statement changes its session.

    DROP VIEW of a name with a schema changes a catalog. So does that of a name without one, if the session
    has no temporary view of this name, and has made the view that the name stands for as it is now.

    Raises:
        ParseException: Spark cannot parse it.
        Py4JJavaError: the catalog cannot say what the view is now.
    """
    command = session.commands.read(statement.sql)
    if command.kind != "DropView":
        return True
    values = statement.session or SessionValues()
    return len(command.parts) == 1 and (
        not values.made
        or values.view(command.parts[0]) is not None
        or not is_as_made(session, child, (*session.commands.current(child), *command.parts), values)
    )


def changed_by(session: WarmSession, child: SparkSession, statement: Statement) -> Changed:
    """Returns what a statement shows and changes; nothing is changed yet.

    Raises:
        TableAccessDenied: its principal may not read what a temporary view reads.
        CallerError: there is no such catalog, schema or view, or a session may not have the setting.
        PySparkException: Spark refused a text.
    """
    command = session.commands.read(statement.sql)
    change = _BY_KIND.get(command.kind)
    if change is None:
        raise StatementNotAllowed(f"{command.kind} cannot be answered in a session.")
    return change(Asked(session, child, statement, command))


def _set(asked: Asked) -> Changed:
    name, value = asked.command.own["name"], asked.command.own["value"]
    if name is None:
        return Changed(answer_with(SETTINGS, [(each, _shown(asked, each)) for each in OFFERED]), None)
    spelled = setting_name(name)
    if value is None:
        return Changed(answer_with(SETTINGS, [(spelled, _shown(asked, spelled))]), None)
    checked = setting_value(spelled, value)
    return Changed(answer_with(SETTINGS, [(spelled, checked)]), PutSettings({spelled: checked}))


def _shown(asked: Asked, name: str) -> str:
    return str(asked.child.conf.get(name))


def _reset(asked: Asked) -> Changed:
    name = asked.command.own["name"]
    return _silent(ResetSetting(None if name is None else setting_name(name)))


def _use(asked: Asked) -> Changed:
    schemas = Schemas(asked.session, asked.child, asked.statement.access)
    return _silent(_schema(schemas.of(asked.command)))


def _use_namespace(asked: Asked) -> Changed:
    catalog = asked.session.commands.current(asked.child)[0]
    parts = (catalog, *asked.command.parts)
    Schemas(asked.session, asked.child, asked.statement.access).require(parts)
    return _silent(_schema(parts))


def _use_catalog(asked: Asked) -> Changed:
    catalog = str(asked.command.own["name"])
    require_catalog(asked.statement.access, catalog)
    if not asked.session.commands.has_catalog(asked.child, catalog):
        raise no_catalog(catalog)
    return _silent(UseSchema(catalog, None))


def _create_view(asked: Asked) -> Changed:
    own = asked.command.own
    if not own["isLocal"] or own["isQualified"] or not own["query"]:
        raise StatementNotAllowed(
            "A session has temporary views only: CREATE [OR REPLACE] TEMPORARY VIEW name AS …"
        )
    if asked.statement.parameters:
        raise SqlInvalid("A temporary view is kept as its text, so it takes no parameters.")
    text = str(own["query"])
    if own["columns"]:
        columns = ", ".join(quoted([name]) for name in own["columns"])
        text = f"SELECT * FROM (\n{text}\n) AS {quoted([own['name']])}({columns})"
    catalog, *levels = asked.session.commands.current(asked.child)
    view = SessionView(str(own["name"]), text, catalog, schema_text(levels))
    values = asked.statement.session or SessionValues()
    inner = replace(asked.statement, sql=text, session=values.before(view.name))
    frame, _ = analyzed(asked.session, asked.child, inner)
    # Spark checks here that no two columns have one name.
    frame.createOrReplaceTempView(view.name)
    return _silent(PutView(view, replaces=bool(own["isReplacing"]), keeps=bool(own["ifNotExists"])))


def _drop_view(asked: Asked) -> Changed:
    if len(asked.command.parts) != 1:
        raise StatementNotAllowed("A session drops its own temporary views only: DROP VIEW name.")
    return _silent(DropView(asked.command.parts[0], bool(asked.command.own["ifExists"])))


def _schema(parts: tuple[str, ...]) -> UseSchema:
    return UseSchema(parts[0], schema_text(parts[1:]))


def _silent(change: SessionChange) -> Changed:
    return Changed(answer_with(NOTHING, ()), change)


_BY_KIND: Mapping[str, Callable[[Asked], Changed]] = {
    "SetCommand": _set,
    "ResetCommand": _reset,
    "SetCatalogAndNamespace": _use,
    "SetNamespaceCommand": _use_namespace,
    "SetCatalogCommand": _use_catalog,
    "CreateViewCommand": _create_view,
    "DropView": _drop_view,
}
