"""Tables at given versions filter and are filtered like any other, by every spelling of a version."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.types import IntegerType, LongType

from service.errors.gateway_error import CallerError
from service.errors.query_errors import QueryFailed
from service.errors.table_errors import TableAmbiguous
from service.gateway import Gateway
from spark_session.engine.engine import SparkEngine
from tests.equivalence.harness import Harness, rows_of
from tests.equivalence.lakehouse import append, created
from tests.equivalence.travelled import BY_K, Version, make_travelled
from tests.thorough import pairs_of

# These follow a table's name. Those with a dot need the schema before the table.
SPELLINGS = (
    ".tag_first",
    ".snapshot_id_{id}",
    ".at_timestamp_{ms}",
    ".`tag_first`",
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
PRUNED: Mapping[str, tuple[str, set[str]]] = {
    "a fact": (
        "SELECT f.id, f.name, f.gone FROM {aged} f JOIN dim d ON f.k = d.k WHERE d.year = 1999",
        {"aged.k"},
    ),
    "a fact, with all of its columns": (
        "SELECT * FROM {aged} AS aged JOIN dim d ON aged.k = d.k WHERE d.year = 1999",
        {"aged.k"},
    ),
    "a dimension": (
        "SELECT f.id, d.old_year FROM by_k f JOIN {aged_dim} d ON f.k = d.k WHERE old_year = 1999",
        {"by_k.k"},
    ),
    "a dimension that gives nothing but keys": (
        "SELECT f.id FROM by_k f, {aged_dim} d WHERE f.k = d.k AND d.old_year = 1999",
        {"by_k.k"},
    ),
    "both": (
        "SELECT * FROM {aged} f JOIN {aged_dim} d ON f.k = d.k WHERE d.old_year = 1999",
        {"aged.k"},
    ),
    "a table joined with what it was": (
        "SELECT f.id, g.id FROM aged f JOIN {aged} g ON f.k = g.k WHERE g.name = 'n3'",
        {"aged.k"},
    ),
    "what it was joined with what it is": (
        "SELECT f.id, g.id FROM {aged} f JOIN aged g ON f.k = g.k WHERE g.label = 'new' AND g.id < 103",
        {"aged.k"},
    ),
    "a dimension as it was and as it is": (
        "SELECT f.id FROM by_k f JOIN {aged_dim} d ON f.k = d.k JOIN aged_dim e ON f.k = e.k"
        " WHERE d.old_year = 1999 AND e.year = 2000",
        {"by_k.k"},
    ),
    "a subquery": (
        "SELECT id FROM {aged} WHERE k IN (SELECT k FROM {aged_dim} WHERE old_year = 1998)",
        {"aged.k"},
    ),
    "a condition on a dimension": (
        "SELECT f.id FROM by_k f JOIN dim d ON f.k = d.k"
        " WHERE d.year = (SELECT min(old_year) + 1 FROM {aged_dim})",
        {"by_k.k"},
    ),
    "a common table expression and a union": (
        "WITH u AS (SELECT id, k FROM {aged} UNION ALL SELECT id, k FROM by_k)"
        " SELECT u.id FROM u JOIN dim d ON u.k = d.k WHERE d.year = 1999",
        {"aged.k", "by_k.k"},
    ),
    "columns that have each other's name by now": (
        "SELECT f.id, f.two FROM {swapped} f JOIN dim d ON f.one = d.k WHERE d.year = 1999",
        {"swapped.one"},
    ),
    "both of them": (
        "SELECT f.id FROM {swapped} f JOIN dim d ON f.one = d.k JOIN dim e ON f.two = e.k"
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
    "SELECT f.id FROM shop.branched.branch_audit f JOIN dim d ON f.k = d.k WHERE d.year = 1999": {
        "branched.k"
    },
    "SELECT branch_audit.id FROM lake.shop.branched.branch_audit JOIN dim d ON branch_audit.k = d.k"
    " WHERE d.year = 1999": {"branched.k"},
    "SELECT f.id FROM by_k f JOIN lake.shop.branched.branch_audit ON f.k = branch_audit.k"
    " WHERE branch_audit.id > 1001": {"by_k.k"},
    "SELECT f.id FROM branched f JOIN lake.shop.branched.branch_audit ON f.k = branch_audit.k"
    " JOIN branched VERSION AS OF 'audit' g ON f.k = g.k WHERE branch_audit.id > 1001": {"branched.k"},
    # A tag is not a branch, though its name can be used as one.
    "SELECT f.id FROM shop.branched.branch_first f JOIN dim d ON f.k = d.k WHERE d.year = 1999": set(),
    # A branch has the columns of the table, and not those of its snapshot.
    "SELECT f.label FROM behind VERSION AS OF 'old' f JOIN dim d ON f.k = d.k WHERE d.year = 1999": set(),
    "SELECT f.id FROM by_k f JOIN behind VERSION AS OF 'old' d ON f.k = d.k WHERE d.id = 3": set(),
    # A tag on the same snapshot has the snapshot's columns.
    "SELECT f.name FROM behind VERSION AS OF 'first' f JOIN dim d ON f.k = d.k WHERE d.year = 1999": {
        "behind.k"
    },
    "SELECT f.label, g.name FROM behind VERSION AS OF 'old' f JOIN behind VERSION AS OF 'first' g"
    " ON f.k = g.k JOIN dim d ON g.k = d.k WHERE d.year = 1999": {"behind.k"},
}


@pytest.fixture(scope="module")
def versions(lake: SqlCatalog, gateway: Gateway) -> Mapping[str, Version]:
    engine = gateway.queries.ports.engine
    assert isinstance(engine, SparkEngine)
    assert engine.session is not None
    return make_travelled(lake, engine.session.children._root.sql)


@pytest.mark.parametrize(("name", "spelling"), pairs_of([*PRUNED], SPELLINGS))
def test_a_version_is_pruned(
    name: str, spelling: str, harness: Harness, versions: Mapping[str, Version]
) -> None:
    sql, columns = PRUNED[name]
    said = {table: version.said(table, spelling) for table, version in versions.items()}
    checked = harness.check(sql.format(**said))
    assert columns <= checked.applied.keys(), checked.pruned.filters
    for column in columns:
        table = column.split(".")[0]
        assert checked.files(table).selected < max(1, checked.files(table).total)


@pytest.mark.usefixtures("versions")
@pytest.mark.parametrize(("sql", "columns"), BRANCHES.items())
def test_a_branch_is_pruned_if_its_snapshot_has_its_columns(
    sql: str, columns: set[str], harness: Harness
) -> None:
    checked = harness.check(sql)
    assert checked.applied.keys() == columns, checked.pruned.filters


def test_a_table_that_hides_another_one_s_version_is_not_read(harness: Harness, lake: SqlCatalog) -> None:
    query = "SELECT f.id FROM shop.hidden.tag_first f JOIN dim d ON f.k = d.k WHERE d.year = 1999"
    for name in ("hidden", "hidden.tag_first"):
        table = created(lake, name, {"id": LongType(), "k": IntegerType()}, BY_K)
        append(table, [{"id": len(name) + number, "k": number} for number in range(8)])
        table.manage_snapshots().create_tag(table.metadata.current_snapshot_id or 0, "first").commit()
        if name == "hidden":
            lake.create_namespace("shop.hidden")
            assert harness.check(query).applied.keys() == {"hidden.k"}
    assert not any(filter_record.is_applied for filter_record in harness.prune(query).filters)
    with pytest.raises(TableAmbiguous, match=r"shop\.hidden\.tag_first"):
        harness.run(query)


@pytest.mark.usefixtures("versions")
def test_the_newest_snapshot_is_left_alone_by_its_id_while_columns_have_other_names(
    harness: Harness, lake: SqlCatalog
) -> None:
    newest = lake.load_table("shop.swapped").metadata.current_snapshot_id
    sql = f"SELECT f.id FROM swapped VERSION AS OF {newest} f JOIN dim d ON f.one = d.k WHERE d.year = 1999"
    # The engine's own pruning loses rows here: it resolves the names by the current schema.
    assert not any(filter_record.is_applied for filter_record in harness.prune(sql).filters)


@pytest.mark.usefixtures("versions")
def test_a_branch_that_is_written_to_in_between_is_read_as_it_was(harness: Harness, lake: SqlCatalog) -> None:
    sql = "SELECT f.id, d.id FROM branched VERSION AS OF 'audit' f JOIN branched.branch_audit d ON f.k = d.k"
    sql = sql.replace("JOIN branched", "JOIN shop.branched") + " WHERE d.name = 'audited'"
    before = harness.run(sql)
    pruned = harness.prune(sql)
    rows = [{"id": 5000 + number, "k": number, "b": 0, "name": "audited", "gone": 0} for number in range(8)]
    table = lake.load_table("shop.branched")
    table.append(pa.Table.from_pylist(rows, schema=table.schema().as_arrow()), branch="audit")

    assert any(filter_record.is_applied for filter_record in pruned.filters)
    assert rows_of(harness.run(pruned.sql, pruned=pruned).rows) == rows_of(before.rows)
    assert rows_of(harness.check(sql).filtered.rows) != rows_of(before.rows)


def test_a_version_that_is_gone_is_left_to_the_engine(harness: Harness, lake: SqlCatalog) -> None:
    table = created(lake, "short_lived", {"id": LongType(), "k": IntegerType()}, BY_K)
    for number in range(2):
        append(table, [{"id": 10 * number + key, "k": key} for key in range(8)])
    first = min(table.snapshots(), key=lambda snapshot: snapshot.sequence_number or 0).snapshot_id
    sql = f"SELECT f.id FROM short_lived VERSION AS OF {first} f JOIN dim d ON f.k = d.k WHERE d.year = 1999"
    assert harness.check(sql).applied.keys() == {"short_lived.k"}
    pruned = harness.prune(sql)
    table.maintenance.expire_snapshots().by_id(first).commit()

    assert not any(filter_record.is_applied for filter_record in harness.prune(sql).filters)
    for text, made in ((pruned.sql, pruned), (sql, None)):
        with pytest.raises((CallerError, QueryFailed), match=str(first)):
            harness.run(text, pruned=made)
