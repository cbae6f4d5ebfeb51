"""Statements other than queries, as Spark's own parser reads them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from spark_session.java.own_classes import java_instance

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway
    from pyspark.sql import SparkSession


class Target(StrEnum):
    """The kind of thing that a statement names; `CURRENT` is the session's own catalog and schema."""

    CURRENT = "CURRENT"
    NAMESPACE = "NAMESPACE"
    RELATION = "RELATION"
    FUNCTION = "FUNCTION"
    IDENTIFIER = "IDENTIFIER"
    SCHEMA = "SCHEMA"


@dataclass(frozen=True, slots=True)
class Command:
    """A parsed statement.

    `kind` is its class in Spark, `others` are those of the plans below it. `own` are members of its kind, as
    `CommandReader.java` names them.
    """

    kind: str
    others: tuple[str, ...]
    target: Target | None
    parts: tuple[str, ...]
    own: Mapping[str, Any]

    @classmethod
    def of(cls, reported: str) -> Command:
        """Reads the JSON of `CommandReader.java`.

        >>> Command.of('{"kind": "ShowTables", "others": [], "target": "NAMESPACE", "parts": ["lake"]}').parts
        ('lake',)
        """
        found = json.loads(reported)
        kind, others = found.pop("kind"), tuple(found.pop("others"))
        target, parts = found.pop("target", None), tuple(found.pop("parts", ()))
        return cls(kind, others, None if target is None else Target(target), parts, found)

    @property
    def is_extended(self) -> bool:
        """Whether it asks for more than the usual."""
        return bool(self.own.get("isExtended"))


class CommandReader:
    """Asks `CommandReader.java` in the driver's JVM."""

    def __init__(self, gateway: JavaGateway) -> None:
        self._java = java_instance(gateway, "sluice.statements.CommandReader")

    def read(self, sql: str) -> Command:
        """Returns the statement. It must be asked in the thread of the session that will run it.

        Raises:
            ParseException: Spark cannot parse it.
        """
        return Command.of(self._java.read(sql))

    def schema(self, session: SparkSession, command: Command) -> tuple[str, ...]:
        """Returns the catalog and the levels of the schema that the statement is about."""
        is_current = command.target in (None, Target.CURRENT)
        asked = json.dumps(command.parts)
        return tuple(json.loads(self._java.schema(session._jsparkSession, asked, is_current)))

    def current(self, session: SparkSession) -> tuple[str, ...]:
        """Returns the current catalog, and the levels of the current schema."""
        return tuple(json.loads(self._java.schema(session._jsparkSession, "[]", True)))

    def has_catalog(self, session: SparkSession, catalog: str) -> bool:
        """Whether there is a catalog of this name."""
        return bool(self._java.hasCatalog(session._jsparkSession, catalog))

    def is_of_iceberg(self, session: SparkSession, catalog: str) -> bool:
        """Whether all tables of a catalog, which exists, are those of Iceberg."""
        return bool(self._java.isOfIceberg(session._jsparkSession, catalog))

    def has_schema(self, session: SparkSession, parts: Sequence[str]) -> bool:
        """Whether the schema exists; `parts` begin with its catalog."""
        return bool(self._java.hasSchema(session._jsparkSession, json.dumps(parts)))

    def relation(self, session: SparkSession, parts: Sequence[str]) -> tuple[str, ...]:
        """Returns the full name of a table or view; a temporary view keeps its one part."""
        return tuple(json.loads(self._java.relation(session._jsparkSession, json.dumps(parts))))

    def use_text(self, session: SparkSession, catalog: str, schema: str | None) -> None:
        """Makes a catalog and a schema, as requests name them, the current ones of the session.

        Raises:
            PySparkException: there is no such catalog or schema.
        """
        self._java.useText(session._jsparkSession, catalog, schema)

    def use(self, session: SparkSession, parts: Sequence[str]) -> None:
        """Makes a catalog, and a schema in it, the current ones of the session.

        Raises:
            PySparkException: there is no such catalog or schema.
        """
        self._java.use(session._jsparkSession, json.dumps(parts))
