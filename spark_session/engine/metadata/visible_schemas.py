"""The schemas that a principal may know of, and the tables in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyspark.sql import SparkSession

from service.model.policies.decisions import Access, SchemaSight
from spark_session.engine.metadata.masking import REDACTED, Row
from spark_session.engine.metadata.metadata_rows import rows_of
from spark_session.engine.metadata.rights import (
    is_shown,
    no_schema,
    require_catalog,
    shown_tables,
)
from spark_session.session.commands import Command
from spark_session.session.warm_session import WarmSession
from spark_session.table_sql_name import quoted

_PLACES = frozenset({"Location", "Properties"})


class Schemas:
    """Asks Spark for schemas, and the principal's rights for what it may know of them."""

    def __init__(self, session: WarmSession, child: SparkSession, access: Access) -> None:
        self._session = session
        self._child = child
        self._access = access

    def of(self, command: Command) -> tuple[str, ...]:
        """Returns the catalog and schema that a statement is about.

        Raises:
            SqlInvalid: there is none, or the principal may not know of it.
        """
        parts = self._session.commands.schema(self._child, command)
        self.require(parts)
        return parts

    def require(self, parts: tuple[str, ...]) -> None:
        """Checks that a schema exists, and that the principal may know of it; `parts` begin with its catalog.

        Raises:
            SqlInvalid: it does not exist, or the principal may not know of it.
        """
        require_catalog(self._access, parts[0])
        if len(parts) > 1 and not (
            self._access.sight_of(parts[0], ".".join(parts[1:])) is not SchemaSight.HIDDEN
            and self._session.commands.has_schema(self._child, parts)
            and self.is_shown(parts)
        ):
            raise no_schema(parts)

    def is_shown(self, parts: tuple[str, ...]) -> bool:
        """Whether the principal may know of a schema that exists."""
        return is_shown(self._access, parts, lambda: self._has_shown_table(parts))

    def shown_in(self, parts: Sequence[str], rows: Iterable[Row]) -> list[Row]:
        """Returns the rows of tables or views of a schema that the principal may know of.

        A row has the schema, the name, and whether it is a temporary view.
        """
        given = list(rows)
        shown = set(shown_tables(self._access, parts, (row[1] or "" for row in given if not row[2])))
        return [row for row in given if row[2] or row[1] in shown]

    def details(self, rows: Iterable[Row]) -> list[Row]:
        """Returns the rows that describe a schema, without where its files lie."""
        if self._access.administers_all():
            return list(rows)
        return [(name, REDACTED if name in _PLACES and value else value) for name, value, *_ in rows]

    def levels(self, name: str) -> tuple[str, ...]:
        """Returns the levels of a schema's name as Spark writes it."""
        parser = self._child._jsparkSession.sessionState().sqlParser()
        if "`" not in name:
            return tuple(name.split("."))
        parts = parser.parseMultipartIdentifier(name)
        return tuple(str(parts.apply(position)) for position in range(parts.length()))

    def _has_shown_table(self, parts: Sequence[str]) -> bool:
        name = quoted(parts)
        for statement in (f"SHOW TABLES IN {name}", f"SHOW VIEWS IN {name}"):
            rows = rows_of(self._child.sql(statement))
            if any(not row[2] for row in self.shown_in(parts, rows)):
                return True
        return False
