"""The current schema accepts the previous version's statements, as replicas are updated in turn."""

from __future__ import annotations

import pytest
from sqlalchemy.exc import ProgrammingError

import migrations
from tests.migrations.recorded_statements import statements_of, with_numbers
from tests.migrations.test_migrations import connected
from tests.migrations.test_neighbours import NEWEST, REVISIONS

ENOUGH = 50


def test_what_the_version_of_now_sends_is_written_down() -> None:
    assert len(statements_of(NEWEST)) > ENOUGH, "a new revision: see recorded_statements.py for how"


@pytest.mark.integration
def test_the_newest_schema_understands_what_its_version_and_the_one_before_send(empty_database: str) -> None:
    migrations.upgrade(empty_database)
    sent = sorted({*statements_of(NEWEST), *statements_of(REVISIONS[-2])})
    with connected(empty_database) as connection:
        for statement in sent:
            connection.exec_driver_sql(_prepared(statement))
            connection.exec_driver_sql("DEALLOCATE tried")


@pytest.mark.integration
def test_a_column_that_is_gone_is_found(empty_database: str) -> None:
    migrations.upgrade(empty_database)
    with connected(empty_database) as connection:
        connection.exec_driver_sql("ALTER TABLE open_queries DROP COLUMN is_canceled")
    failures = [_failure(empty_database, statement) for statement in statements_of(NEWEST)]
    reported = [failure for failure in failures if failure]
    assert reported
    assert all("is_canceled" in failure for failure in reported)


def _failure(url: str, statement: str) -> str:
    try:
        with connected(url) as connection:
            connection.exec_driver_sql(_prepared(statement))
    except ProgrammingError as failure:
        return str(failure)
    return ""


def _prepared(statement: str) -> str:
    """Returns SQL that looks up each table, column, function and type, and runs nothing."""
    return f"PREPARE tried AS {with_numbers(statement)}".replace("%", "%%")
