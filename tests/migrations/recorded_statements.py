"""SQL statements that a version sends to PostgreSQL, stored to test the next version's schema with them.

With RECORD_STATEMENTS=<file> the contract suites of PostgreSQL's adapters write down what is sent:

    RECORD_STATEMENTS=tests/migrations/statements/<revision>.json pytest -n 0 tests/contract
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from sqlalchemy import Engine, event

FOLDER = Path(__file__).parent / "statements"
_ASKED_FOR = "RECORD_STATEMENTS"
_PARAMETER = r"%\((\w+)\)s"
_MANY = re.compile(rf"(?:{_PARAMETER}(?:::[A-Z ]+(?:\([\d, ]+\))?)?(?:, )?)+")
_ROWS = re.compile(r"\(\?\)(?:, \(\?\))+")
_NOT_OF_THE_STORE = ("pg_catalog", "alembic_version", "iceberg_tables", "iceberg_namespace_properties")
_OF_THE_STORE = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b", re.IGNORECASE)


@contextmanager
def recorded() -> Iterator[None]:
    """Records the statements of the block, each shape once, if the environment asks for it."""
    path = os.environ.get(_ASKED_FOR)
    if path is None:
        yield
        return
    found: dict[str, str] = {}

    def note(*sent: object) -> None:
        statement = _with_intervals(str(sent[2]), sent[3])
        if _OF_THE_STORE.match(statement) and not any(name in statement for name in _NOT_OF_THE_STORE):
            found.setdefault(_shape(statement), statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield
    finally:
        event.remove(Engine, "before_cursor_execute", note)
        Path(path).write_text(json.dumps(sorted(found.values()), indent=1) + "\n")


def statements_of(revision: str) -> list[str]:
    """Returns the statements of the version with this newest revision, or nothing if none were recorded."""
    path = FOLDER / f"{revision}.json"
    statements: list[str] = json.loads(path.read_text()) if path.exists() else []
    return statements


def with_numbers(statement: str) -> str:
    """Returns the statement as PostgreSQL itself reads it, with numbers in place of psycopg's names.

    >>> with_numbers("SELECT %(a)s::UUID WHERE b = %(b)s::INTEGER AND %(a)s::UUID = c LIKE 'x%%'")
    "SELECT $1::UUID WHERE b = $2::INTEGER AND $1::UUID = c LIKE 'x%'"
    """
    numbers: dict[str, int] = {}

    def numbered(found: re.Match[str]) -> str:
        return f"${numbers.setdefault(found[1], len(numbers) + 1)}"

    return re.sub(_PARAMETER, numbered, statement).replace("%%", "%")


def _with_intervals(statement: str, parameters: object) -> str:
    """Adds the type to interval parameters, the only ones whose type psycopg sends with the value."""
    given = parameters if isinstance(parameters, dict) else {}
    intervals = [name for name, value in given.items() if isinstance(value, timedelta)]
    for name in intervals:
        statement = re.sub(rf"(%\({name}\)s)(?!::)", r"\1::INTERVAL", statement)
    return statement


def _shape(statement: str) -> str:
    """Returns the same text for statements that differ only in their numbers of values and rows."""
    return _ROWS.sub("(?)", _MANY.sub("?", statement))
