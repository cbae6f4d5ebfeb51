"""How SQLAlchemy's suite prepares its tables and views for a gateway."""

from __future__ import annotations

import re
from typing import Any

from sqlalchemy import URL, Engine, Table, event
from sqlalchemy.testing.provision import post_configure_testing_engine

_DROPPED = re.compile(r"\s*DROP VIEW (?P<name>`[^`]+`|\w+)\s*\Z")


@event.listens_for(Table, "before_create")
def _without_indexes(table: Table, *_: Any, **__: Any) -> None:
    """Takes the indexes from a table. The dialect refuses them, and most tests are not about them."""
    table.indexes.clear()


@post_configure_testing_engine.for_db("sluice")  # type: ignore[untyped-decorator]
def _with_schemas(url: URL, engine: Engine, options: Any, scope: str) -> None:  # noqa: ARG001
    event.listen(engine, "before_cursor_execute", _with_schema, retval=True)


def _with_schema(*called: Any) -> tuple[str, Any]:
    """Returns a text of the suite and its parameters: a view that it drops has a schema.

    A name alone is that of a temporary view.
    """
    connection, _, statement, parameters = called[:4]
    found = _DROPPED.match(statement)
    if found is None:
        return statement, parameters
    return f"DROP VIEW {connection.dialect.default_schema_name}.{found['name']}", parameters
