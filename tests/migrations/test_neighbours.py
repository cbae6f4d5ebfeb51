"""Versions that differ by one migration share a schema during updates of replicas, and after a rollback."""

from __future__ import annotations

from itertools import pairwise

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory

import migrations
from service.errors.gateway_error import CannotStart
from tests.integration.running import REPOSITORY
from tests.migrations.generated_rows import fill, rows, schema_of
from tests.migrations.test_migrations import connected, tables


def _revisions() -> list[str]:
    config = Config()
    config.set_main_option("script_location", str(REPOSITORY / "migrations"))
    found = [revision.revision for revision in ScriptDirectory.from_config(config).walk_revisions()]
    return found[::-1]


REVISIONS = _revisions()
STEPS = list(pairwise(REVISIONS))
# These are older than the rule, so a writer must set their columns.
UNSHARED = {"0002", "0003", "0008"}
NEWEST = REVISIONS[-1]


@pytest.mark.parametrize(("earlier", "later"), [step for step in STEPS if step[1] not in UNSHARED])
def test_what_the_version_before_writes_and_reads_works_with_the_schema_of_the_next(
    empty_database: str, earlier: str, later: str
) -> None:
    migrations.upgrade(empty_database, earlier)
    with connected(empty_database) as connection:
        known = schema_of(connection)
    migrations.upgrade(empty_database, later)
    with connected(empty_database) as connection:
        fill(connection, known)
        written = rows(connection, known)
    assert {len(table_rows) for table_rows in written.values()} == {1}


@pytest.mark.parametrize(("earlier", "later"), STEPS)
def test_a_step_back_and_forward_again_keeps_what_both_schemas_hold(
    empty_database: str, earlier: str, later: str
) -> None:
    migrations.upgrade(empty_database, earlier)
    with connected(empty_database) as connection:
        shared = schema_of(connection)
    migrations.upgrade(empty_database, later)
    with connected(empty_database) as connection:
        fill(connection, schema_of(connection))
        before = rows(connection, shared)
    migrations.downgrade(empty_database, earlier)
    with connected(empty_database) as connection:
        assert rows(connection, shared) == before
    migrations.upgrade(empty_database, later)
    with connected(empty_database) as connection:
        assert rows(connection, shared) == before


def test_a_version_runs_with_the_schema_of_a_newer_one_and_leaves_it_alone(empty_database: str) -> None:
    migrations.upgrade(empty_database)
    assert not migrations.revisions(empty_database).is_newer
    _set_revision(empty_database, "9999")
    found = migrations.revisions(empty_database)
    assert (found.is_newer, found.is_usable, found.is_current) == (True, True, False)
    migrations.upgrade(empty_database)
    assert migrations.revisions(empty_database).found == ("9999",)
    with pytest.raises(CannotStart, match="only that one"):
        migrations.bring_to(empty_database, NEWEST)


def test_an_older_schema_is_not_usable(empty_database: str) -> None:
    assert not migrations.revisions(empty_database).is_usable
    migrations.upgrade(empty_database, REVISIONS[-2])
    found = migrations.revisions(empty_database)
    assert (found.is_newer, found.is_usable) == (False, False)


def test_the_schema_can_be_brought_to_any_revision(empty_database: str) -> None:
    for revision in ("0005", "0001", NEWEST, REVISIONS[-2], REVISIONS[-2]):
        migrations.bring_to(empty_database, revision)
        assert migrations.revisions(empty_database).found == (revision,)
    assert "queries" in tables(empty_database)
    with pytest.raises(CannotStart, match="There is no schema 0000"):
        migrations.bring_to(empty_database, "0000")


def _set_revision(url: str, revision: str) -> None:
    with connected(url) as connection:
        connection.exec_driver_sql(f"UPDATE alembic_version SET version_num = '{revision}'")
