"""Tests the comparison itself: a text that the engine rejects proves nothing, and must not go unnoticed."""

from __future__ import annotations

import pytest

from service.gateway import Gateway
from service.model.query.query import Parameters
from service.model.query.scan_metrics import PruningMetrics, ScanRecord, Selection
from service.query.filtering.pruned_query import PrunedQuery
from tests.equivalence.harness import Harness, more_files
from tests.equivalence.reused_scans import reused_scans

WRITTEN = "SELECT k FROM dim"
REJECTED = "SELECT k FROM dim WHERE no_such_column = 1"


class Rewriting(Harness):
    """Rewrites every query into one text without a filter."""

    def __init__(self, gateway: Gateway, text: str) -> None:
        super().__init__(gateway)
        self._text = text

    def prune(self, sql: str, parameters: Parameters = ()) -> PrunedQuery:  # noqa: ARG002
        return PrunedQuery(self._text, rewritten_sql=self._text)


@pytest.fixture
def rejected(harness: Harness) -> Rewriting:
    return Rewriting(harness._gateway, REJECTED)


def test_a_text_that_the_engine_does_not_take_fails(rejected: Rewriting) -> None:
    with pytest.raises(AssertionError, match="no_such_column"):
        rejected.check(WRITTEN)


def test_where_that_is_expected_the_rows_are_those_as_written(rejected: Rewriting) -> None:
    checked = rejected.check(WRITTEN, is_rejected=True)
    assert checked.is_rejected
    assert checked.filtered is checked.written


def test_an_expected_rejection_must_come(harness: Harness) -> None:
    with pytest.raises(AssertionError, match="the engine took it"):
        Rewriting(harness._gateway, WRITTEN).check(WRITTEN, is_rejected=True)


def test_other_rows_fail(harness: Harness) -> None:
    with pytest.raises(AssertionError, match="other rows"):
        Rewriting(harness._gateway, f"{WRITTEN} WHERE k = 1").check(WRITTEN)


@pytest.mark.parametrize(
    ("written", "filtered", "is_more"),
    [
        ([4], [4], False),
        ([4], [5], True),
        ([9, 1], [1, 9], False),
        ([9, 1], [9, 2], True),
        ([9, 1], [9], False),
        # One scan replaces several.
        ([3, 2, 2], [5], False),
        ([3, 2, 2], [8], True),
        ([3, 2, 2], [5, 0, 0], True),
        # One relation was read in two places.
        ([9], [9, 3], False),
        ([3], [3, 4], True),
        ([], [1], True),
    ],
)
def test_more_files_than_the_engine_itself_selects_are_seen(
    written: list[int], filtered: list[int], is_more: bool
) -> None:
    found = more_files(map(scan, written), map(scan, filtered))
    assert bool(found) is is_more


@pytest.mark.parametrize(("filtered", "is_more"), [([28, 2], False), ([28, 29], True), ([29, 2], True)])
def test_what_an_exchange_is_reused_for_counts_as_a_scan(filtered: list[int], is_more: bool) -> None:
    plan = """
    Union
    :- BroadcastHashJoin [a], [b]
    :  +- BroadcastExchange x, [plan_id=7]
    :     +- BatchScan lake.shop.t[a] IcebergScan(table=lake.shop.t)
    :- BroadcastHashJoin [a], [c]
    :  +- ReusedExchange [a], BroadcastExchange x, [plan_id=7]
    +- BroadcastExchange x, [plan_id=8]
       +- BatchScan lake.shop.u[a] IcebergScan(table=lake.shop.u)
    """
    assert reused_scans(plan) == {"lake.shop.t": 1}
    assert bool(more_files(map(scan, [28, 0]), map(scan, filtered), reused_scans(plan))) is is_more


def scan(files: int) -> ScanRecord:
    none, selected = Selection(0, 0), Selection(10, files)
    return ScanRecord("lake.shop.t", 1, PruningMetrics(none, none, selected, none, none, 0))


def test_rows_in_memory_cost_no_filter_of_the_engine(harness: Harness) -> None:
    """The version depends on the time of the run, so our filter is not on it; the engine prunes by `dim`."""
    sql = "SELECT f.id FROM by_k TIMESTAMP AS OF now() f JOIN dim d ON f.k = d.k WHERE d.year = 1999"
    checked = harness.check(sql)
    assert not checked.applied
    local = harness.prune(sql)
    assert local.relations
    run = harness.run(local.sql, (), local)
    assert more_files(checked.written.scans, run.scans) == []
    [files] = [scan.metrics.data_files for scan in run.scans if scan.table.endswith("by_k")]
    assert files.selected < files.total


@pytest.mark.parametrize(
    "condition",
    [
        "(SELECT count(*) FROM dim d WHERE g.at = d.day AND d.parent IS NULL) >= 1",
        "(SELECT max(d.k) FROM dim d WHERE g.at = d.day AND d.year = 1999) > 0",
        "EXISTS (SELECT 1 FROM dim d WHERE g.at = d.day AND d.year = 1999)",
        "g.at IN (SELECT d.day FROM dim d WHERE d.year = 1999)",
    ],
)
def test_joins_that_the_engine_makes_of_subqueries_still_prune(condition: str, harness: Harness) -> None:
    """Our filter replaces all native pruning of one scan; the engine must still prune the other one."""
    checked = harness.check(
        "WITH c AS (SELECT f.id FROM by_prefix f JOIN parents p ON f.name = p.name WHERE p.year <= 2001)"
        f" SELECT g.id FROM by_day_of_at g WHERE {condition}"
    )
    assert "by_prefix.name" in checked.applied


# The keys of the outer condition come through a join with the inner one, whose scan is pruned too.
PRUNED_WITHIN_KEYS = [
    "d.k IN (SELECT g.k FROM by_k g)",
    "EXISTS (SELECT 1 FROM by_k g WHERE g.k = d.k)",
    "d.k IN (SELECT g.k FROM by_k g JOIN by_tens h ON g.b = h.b)",
    "(SELECT max(g.id) FROM by_k g WHERE g.k = d.k) > 0",
]
PRUNED_BY_SUCH_KEYS = [
    "(SELECT count(*) FROM by_tens t WHERE t.b = d.big_k) >= 0",
    "d.big_k IN (SELECT t.b FROM by_tens t)",
    "NOT EXISTS (SELECT 1 FROM by_tens t WHERE t.b = d.big_k AND t.k = 3)",
]


@pytest.mark.parametrize("inner", PRUNED_WITHIN_KEYS)
@pytest.mark.parametrize("outer", PRUNED_BY_SUCH_KEYS)
def test_the_engine_prunes_by_keys_from_pruned_scans(outer: str, inner: str, harness: Harness) -> None:
    harness.check(
        f"SELECT d.k FROM dim d JOIN by_k f ON f.k = d.k WHERE d.year = 1999 AND {inner} AND {outer}"
    )


def test_no_rows_in_memory_cost_no_filter_of_the_engine(harness: Harness) -> None:
    """Spark checks for empty join sides before it turns the IN into a join."""
    for _ in range(3):
        harness.check(
            "SELECT f.id FROM (SELECT * FROM thinned EXCEPT SELECT * FROM by_k) f"
            " WHERE (f.k, f.name) IN (SELECT k, name FROM parents WHERE parent = 0)"
        )


def test_a_branch_without_keys_costs_the_others_no_filter_of_the_engine(harness: Harness) -> None:
    """Spark prunes all branches of a union by the first one's scan, and removes branches that are FALSE."""
    checked = harness.check(
        "SELECT f.k, count(*) FROM (SELECT * FROM by_bucket UNION ALL SELECT * FROM by_name) f"
        " JOIN tiny d ON f.b = d.k AND d.year = 1998 WHERE f.k IN (SELECT k FROM dim) GROUP BY f.k"
    )
    assert "by_bucket.b" in checked.applied
    assert checked.files("by_name").selected == 0


def test_rows_in_memory_cost_no_folding_of_rows_in_the_text(harness: Harness) -> None:
    """No row of the list has a key of 1, so Spark reads no table at all."""
    for _ in range(3):
        checked = harness.check(
            "SELECT v.k, count(*) FROM by_month f JOIN dim d ON f.day = d.day AND d.year = 1999"
            " JOIN parents p ON p.k = f.k JOIN (VALUES (NULL, 2000), (0, 2001)) v (k, y) ON v.k = f.b"
            " WHERE coalesce(v.k, 3) = 1 AND f.k IN (SELECT k FROM parents) GROUP BY v.k"
        )
    assert checked.files_as_written("by_month").selected == 0


def test_a_single_key_costs_no_filter_of_the_engine(harness: Harness) -> None:
    """Spark infers a constant from `name IN ('Cy')`, and then no join is left to prune by."""
    checked = harness.check(
        "SELECT r1.b FROM by_name_bucket r1 JOIN (SELECT k, at_utc, name, year FROM dim) r2"
        " ON r1.name = r2.name"
        " WHERE r2.year = 1998 AND NOT (r1.at > DATE '1969-12-30') AND (r2.k, r2.at_utc) IN"
        " (SELECT r4.b, r4.day FROM by_paid r4 WHERE r4.day = DATE '1970-01-01')"
    )
    assert "by_name_bucket.name" in checked.applied
