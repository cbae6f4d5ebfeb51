"""Tables at versions of their own are narrowed, and narrow, like any other: by every name of a version."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from pyiceberg.catalog.sql import SqlCatalog

from service.gateway import Gateway
from spark_session.engine import SparkEngine
from tests.equivalence.harness import Harness
from tests.equivalence.travelled import Version, make_travelled

SPELLINGS = (
    "VERSION AS OF {id}",
    "VERSION AS OF '{id}'",
    "FOR VERSION AS OF {id}",
    "FOR SYSTEM_VERSION AS OF {id}",
    "SYSTEM_VERSION AS OF 'first'",
    "VERSION AS OF 'first'",
    "TIMESTAMP AS OF '{time}'",
    "TIMESTAMP AS OF TIMESTAMP '{time}+00:00'",
    "FOR SYSTEM_TIME AS OF '{time}'",
)
NARROWED: Mapping[str, tuple[str, set[str]]] = {
    "a fact": (
        "SELECT f.id, f.name, f.gone FROM aged {aged} f JOIN dim d ON f.k = d.k WHERE d.year = 1999",
        {"aged.k"},
    ),
    "a fact, with all of its columns": (
        "SELECT * FROM aged {aged} JOIN dim d ON aged.k = d.k WHERE d.year = 1999",
        {"aged.k"},
    ),
    "a dimension": (
        "SELECT f.id, d.old_year FROM by_k f JOIN aged_dim {aged_dim} d ON f.k = d.k WHERE old_year = 1999",
        {"by_k.k"},
    ),
    "a dimension that gives nothing but keys": (
        "SELECT f.id FROM by_k f, aged_dim {aged_dim} d WHERE f.k = d.k AND d.old_year = 1999",
        {"by_k.k"},
    ),
    "both": (
        "SELECT * FROM aged {aged} f JOIN aged_dim {aged_dim} d ON f.k = d.k WHERE d.old_year = 1999",
        {"aged.k"},
    ),
    "a table joined with what it was": (
        "SELECT f.id, g.id FROM aged f JOIN aged {aged} g ON f.k = g.k WHERE g.name = 'n3'",
        {"aged.k"},
    ),
    "what it was joined with what it is": (
        "SELECT f.id, g.id FROM aged {aged} f JOIN aged g ON f.k = g.k WHERE g.label = 'new' AND g.added IS NULL"
        " AND g.id < 103",
        {"aged.k"},
    ),
    "a dimension as it was and as it is": (
        "SELECT f.id FROM by_k f JOIN aged_dim {aged_dim} d ON f.k = d.k JOIN aged_dim e ON f.k = e.k"
        " WHERE d.old_year = 1999 AND e.year = 2000",
        {"by_k.k"},
    ),
    "a subquery": (
        "SELECT id FROM aged {aged} WHERE k IN (SELECT k FROM aged_dim {aged_dim} WHERE old_year = 1998)",
        {"aged.k"},
    ),
    "a condition on a dimension": (
        "SELECT f.id FROM by_k f JOIN dim d ON f.k = d.k"
        " WHERE d.year = (SELECT min(old_year) + 1 FROM aged_dim {aged_dim})",
        {"by_k.k"},
    ),
    "a common table expression and a union": (
        "WITH u AS (SELECT id, k FROM aged {aged} UNION ALL SELECT id, k FROM by_k)"
        " SELECT u.id FROM u JOIN dim d ON u.k = d.k WHERE d.year = 1999",
        {"aged.k", "by_k.k"},
    ),
    "columns that have each other's name by now": (
        "SELECT f.id, f.two FROM swapped {swapped} f JOIN dim d ON f.one = d.k WHERE d.year = 1999",
        {"swapped.one"},
    ),
    "both of them": (
        "SELECT f.id FROM swapped {swapped} f JOIN dim d ON f.one = d.k JOIN dim e ON f.two = e.k"
        " WHERE d.year = 1999 AND e.year = 2000",
        {"swapped.one", "swapped.two"},
    ),
}
BRANCHES: Mapping[str, set[str]] = {
    "SELECT f.id FROM branched VERSION AS OF 'audit' f JOIN dim d ON f.k = d.k WHERE d.year = 1999": {
        "branched.k"
    },
    "SELECT f.id FROM branched VERSION AS OF 'Audit' f JOIN dim d ON f.k = d.k WHERE d.year = 1999": {
        "branched.k"
    },
    "SELECT f.id FROM branched VERSION AS OF 'main' f JOIN dim d ON f.k = d.k WHERE d.year = 1999": {
        "branched.k"
    },
    "SELECT f.id FROM branched f JOIN branched VERSION AS OF 'audit' g ON f.k = g.k WHERE g.id > 1001": {
        "branched.k"
    },
    "SELECT f.id FROM by_k f JOIN branched FOR VERSION AS OF 'audit' d ON f.k = d.k WHERE d.id > 1001": {
        "by_k.k"
    },
    # Its columns are the table's, those of its snapshot are not.
    "SELECT f.label FROM behind VERSION AS OF 'old_columns' f JOIN dim d ON f.k = d.k WHERE d.year = 1999": set(),
    "SELECT f.id FROM by_k f JOIN behind VERSION AS OF 'old_columns' d ON f.k = d.k WHERE d.label = 'n3'": set(),
    # And a tag on the same snapshot has the snapshot's.
    "SELECT f.name FROM behind VERSION AS OF 'first' f JOIN dim d ON f.k = d.k WHERE d.year = 1999": {
        "behind.k"
    },
    "SELECT f.label, g.name FROM behind VERSION AS OF 'old_columns' f JOIN behind VERSION AS OF 'first' g"
    " ON f.k = g.k JOIN dim d ON g.k = d.k WHERE d.year = 1999": {"behind.k"},
}


@pytest.fixture(scope="module")
def versions(lake: SqlCatalog, gateway: Gateway) -> Mapping[str, Version]:
    engine = gateway._ports.engine
    assert isinstance(engine, SparkEngine)
    assert engine._session is not None
    return make_travelled(lake, engine._session.children._root.sql)


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize(("sql", "columns"), NARROWED.values(), ids=NARROWED)
def test_a_version_is_narrowed(
    sql: str, columns: set[str], spelling: str, harness: Harness, versions: Mapping[str, Version]
) -> None:
    said = {table: spelling.format(id=each.snapshot_id, time=each.time) for table, each in versions.items()}
    checked = harness.check(sql.format(**said))
    assert not checked.is_rejected
    assert columns <= checked.applied.keys(), checked.pruned.filters
    for each in columns:
        table = each.split(".")[0]
        assert checked.files(table).selected < max(1, checked.files(table).total)


@pytest.mark.usefixtures("versions")
@pytest.mark.parametrize(("sql", "columns"), BRANCHES.items())
def test_a_branch_is_narrowed_if_its_snapshot_has_its_columns(
    sql: str, columns: set[str], harness: Harness
) -> None:
    checked = harness.check(sql)
    assert not checked.is_rejected
    assert checked.applied.keys() == columns, checked.pruned.filters
