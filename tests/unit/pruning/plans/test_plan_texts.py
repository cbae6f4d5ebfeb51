"""The plans in the style of FLIP-248, made of a query's text and its filters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from textwrap import dedent

import pytest
from sqlglot import tokenize

from service.model.filters.filter_record import FilterRecord
from service.model.filters.key_set import FilterForm, FilterSource
from service.model.query.explanation import PlanNode, QueryPlans
from service.model.query.rewrites import RewriteKind, RewriteRecord
from service.model.query.scan_metrics import ScanRecord
from service.pruning.plans.plan_text import plan_text
from service.pruning.sql_text.nesting import is_shallow
from service.query.explaining.explain import plans_of
from tests.fakes.query_records import applied, filtered_record, scan

FLIP = "select * from store_returns, date_dim where sr_returned_date_sk = d_date_sk and d_year = 2000"
SALES = "lake.tpcds.store_sales"

AT_ITS_SNAPSHOT = f"VERSION AS OF {applied().probe.snapshot_id}"


HASHED = "== Physical Plan ==\nBroadcastHashJoin"


def plans(
    sql: str,
    *filters: FilterRecord,
    rewritten_sql: str | None = None,
    rewrites: Sequence[RewriteRecord] = (),
    scans: Sequence[ScanRecord] = (),
    spark_plan: str = HASHED,
) -> QueryPlans:
    found = plans_of(filtered_record(sql, filters, rewritten_sql, rewrites, scans, spark_plan))
    assert found is not None
    return found


def text(plan: PlanNode) -> str:
    return plan_text(plan) + "\n"


def test_the_abstract_syntax_tree_is_the_query_as_it_was_written() -> None:
    assert text(plans(FLIP, applied()).abstract_syntax_tree) == dedent("""\
        LogicalProject(fields=[*])
        +- LogicalFilter(condition=[AND(sr_returned_date_sk = d_date_sk, d_year = 2000)])
           +- LogicalJoin(condition=[true], joinType=[inner])
              :- LogicalTableScan(table=[[lake, tpcds, store_returns]])
              +- LogicalTableScan(table=[[lake, tpcds, date_dim]])
        """)


def test_the_fact_is_scanned_by_the_keys_that_the_dimension_gave() -> None:
    assert text(plans(FLIP, applied()).optimized_physical) == dedent("""\
        Calc(select=[*])
        +- HashJoin(joinType=[InnerJoin], where=[sr_returned_date_sk = d_date_sk])
           :- DynamicFilteringTableSourceScan(table=[[lake, tpcds, store_returns]], filters=[df1])
           :  +- DynamicFilteringDataCollector(fields=[d_date_sk])
           :     +- Calc(where=[d_year = 2000])
           :        +- TableSourceScan(table=[[lake, tpcds, date_dim]])
           +- Calc(where=[d_year = 2000])
              +- TableSourceScan(table=[[lake, tpcds, date_dim]])
        """)


def test_a_build_side_that_the_join_needs_too_is_named_once() -> None:
    assert text(plans(FLIP, applied()).optimized_execution) == dedent("""\
        Calc(select=[*])
        +- HashJoin(joinType=[InnerJoin], where=[sr_returned_date_sk = d_date_sk])
           :- TableSourceScan(table=[[lake, tpcds, store_returns]], filters=[df1])
           :  +- DynamicFilteringDataCollector(fields=[d_date_sk])
           :     +- Calc(where=[d_year = 2000])(reuse_id=[1])
           :        +- TableSourceScan(table=[[lake, tpcds, date_dim]])
           +- Reused(reference_id=[1])
        """)


def test_a_set_that_serves_two_facts_is_collected_once() -> None:
    facts = f"(SELECT k FROM store_returns UNION ALL SELECT k FROM {SALES})"
    sql = f"SELECT 1 FROM {facts} JOIN date_dim d ON k = d_date_sk AND d.d_year = 2000"
    plan = text(plans(sql, applied(), applied("df2", probe=SALES, table_reference=2)).optimized_execution)
    assert plan.count("DynamicFilteringDataCollector(fields=[d_date_sk])(reuse_id=[1])") == 1
    assert plan.count("Reused(reference_id=[1])") == 1
    assert plan.count("TableSourceScan(table=[[lake, tpcds, date_dim]])") == 1


@pytest.mark.parametrize("source", [FilterSource.CACHED, FilterSource.CONTAINED])
def test_keys_from_the_cache_say_so_and_are_one_set_with_those_that_were_collected_beside_them(
    source: FilterSource,
) -> None:
    cached = replace(applied(), source=source)
    found = text(plans(FLIP, cached).optimized_physical)
    assert "DynamicFilteringDataCollector(fields=[d_date_sk], source=[CACHED])" in found
    facts = f"(SELECT k FROM store_returns UNION ALL SELECT k FROM {SALES})"
    sql = f"SELECT 1 FROM {facts} JOIN date_dim d ON k = d_date_sk AND d.d_year = 2000"
    found = text(plans(sql, cached, applied("df2", probe=SALES, table_reference=2)).optimized_execution)
    assert found.count("DynamicFilteringDataCollector(fields=[d_date_sk])(reuse_id=[1])") == 1
    assert "source" not in found


def test_without_an_applied_filter_no_scan_is_pruned() -> None:
    found = plans(FLIP)
    assert "DynamicFiltering" not in text(found.optimized_physical)
    assert found.optimized_execution == found.optimized_physical


def test_of_two_references_only_the_wrapped_one_is_pruned() -> None:
    join = "JOIN date_dim ON b.sr_returned_date_sk = d_date_sk WHERE d_year = 2000"
    sql = f"SELECT 1 FROM store_returns a JOIN store_returns b ON a.k = b.k {join}"
    rewritten = sql.replace(
        "store_returns b",
        f"(SELECT * FROM store_returns {AT_ITS_SNAPSHOT} WITH (`file-open-cost`='65536') WHERE k = 5) b",
    )
    filtered = "DynamicFilteringTableSourceScan"
    for found in (applied(table_reference=2), applied(table_reference=None)):
        plan = text(plans(sql, found, rewritten_sql=rewritten).optimized_physical)
        assert plan.count(filtered) == 1
        assert plan.index("TableSourceScan(table=[[lake, tpcds, store_returns]])") < plan.index(filtered)
    # A record of an earlier version lacks the text that ran.
    assert text(plans(sql, applied(table_reference=None)).optimized_physical).count(filtered) == 2


def test_a_condition_on_the_side_that_an_outer_join_may_replace_stays_above_it() -> None:
    join = "LEFT JOIN date_dim ON sr_returned_date_sk = d_date_sk"
    sql = f"SELECT 1 FROM store_returns {join} WHERE d_year = 2000"
    plan = text(plans(sql, applied()).optimized_physical)
    assert plan.splitlines()[0] == "Calc(select=[1], where=[d_year = 2000])"
    assert plan.splitlines()[-1] == "   +- TableSourceScan(table=[[lake, tpcds, date_dim]])"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("WITH x AS (SELECT a FROM t) SELECT * FROM x", "LogicalCommonTableScan(name=[x])"),
        ("SELECT a FROM t WHERE a IN (SELECT b FROM u)", "a IN ($subquery)"),
        ("SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u)", "LogicalSubquery()"),
        (
            "SELECT a, sum(b) FROM t GROUP BY a HAVING sum(b) > 1",
            "LogicalAggregate(group=[a], calls=[SUM(b)])",
        ),
        ("SELECT DISTINCT a FROM t ORDER BY a LIMIT 5", "LogicalSort(sort=[a], fetch=[5])"),
        ("SELECT a FROM t UNION SELECT a FROM u UNION SELECT a FROM v", "LogicalUnion(all=[false])"),
        (
            "SELECT a FROM t LEFT ANTI JOIN u ON t.a = u.a",
            "LogicalJoin(condition=[t.a = u.a], joinType=[anti])",
        ),
        ("SELECT a FROM t JOIN u USING (a)", "LogicalJoin(condition=[a = a], joinType=[inner])"),
        ("SELECT * FROM VALUES (1), (2) AS t(a)", "LogicalValues(rows=[2])"),
        (
            "SELECT x FROM t LATERAL VIEW explode(a) AS x",
            "LogicalCorrelate(invocation=[LATERAL VIEW EXPLODE(a)",
        ),
        ("SELECT * FROM range(5)", "LogicalTable"),
        ("SELECT 1 AS `a\nb`", "LogicalProject(a b=[1])"),
    ],
)
def test_every_clause_has_its_operator(sql: str, expected: str) -> None:
    assert expected in text(plans(sql).abstract_syntax_tree)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT FROM WHERE",
        "",
        "SELECT " + "(" * 5_000 + "1" + ")" * 5_000,
        "SELECT * FROM " + "(SELECT * FROM " * 8_000 + "t" + ")" * 8_000,
        "SELECT * FROM " + "a JOIN (" * 8_000 + "b" + ")" * 8_000,
        "SELECT CAST(x AS " + "ARRAY<" * 8_000 + "INT" + ">" * 8_000 + ")",
        "SELECT 1 FROM a" + " JOIN a ON true" * 5_000,
        "SELECT 1 FROM a" + " JOIN a ON true" * 400,
        "FROM " * 20_000 + "t",
        "SELECT 1 FROM a" + " JOIN a" * 30_000,
        "SELECT 1 FROM a WHERE x" + " OR x" * 20_000,
        "SELECT 1 FROM a ORDER BY x" + ", x" * 60_000,
        "SELECT '",
    ],
    ids=[
        "nonsense",
        "nothing",
        "parentheses",
        "subqueries",
        "joined",
        "types",
        "joins",
        "fewer joins",
        "only FROM",
        "joins without a condition",
        "a long chain",
        "a long list",
        "no end",
    ],
)
def test_what_cannot_be_drawn_has_no_plans_and_ends_nothing(sql: str) -> None:
    assert plans_of(filtered_record(sql)) is None


def test_hundreds_of_unions_are_one_node() -> None:
    plan = plans(" UNION ALL ".join(["SELECT 1"] * 600)).abstract_syntax_tree
    assert len(plan.children) == 600


def test_depth_is_that_of_brackets() -> None:
    assert is_shallow(tokenize("SELECT ((1)), (2)"), max_nesting=2)
    assert not is_shallow(tokenize("SELECT (((1)))"), max_nesting=2)


def test_a_scan_behind_a_view_is_not_taken_for_another_of_the_same_table() -> None:
    query = "SELECT * FROM v JOIN store_returns AS r ON v.k = r.k JOIN date_dim AS d ON d.d_date_sk = v.k"
    inside = (
        f"(SELECT `k` FROM (SELECT k FROM (SELECT * FROM `lake`.`tpcds`.store_returns {AT_ITS_SNAPSHOT}"
        " WHERE k = 1) AS `store_returns`) AS `v`(`k`)) AS `v`"
    )
    flattened = query.replace("v JOIN", f"{inside} JOIN", 1)
    for found in (applied(), applied(table_reference=None)):
        plan = text(plans(query, found, rewritten_sql=flattened).optimized_physical)
        assert "[v]" not in plan
        filtered, whole = [line for line in plan.splitlines() if "store_returns" in line]
        assert ("filters" in filtered, "filters" in whole) == (True, False)
    outside = f"(SELECT * FROM store_returns {AT_ITS_SNAPSHOT} WHERE k = 1) AS r"
    both = flattened.replace("store_returns AS r", outside)
    second = text(plans(query, applied(table_reference=2), rewritten_sql=both).optimized_physical)
    assert second.index("store_returns]])") < second.index("filters=[df1]")


def test_a_scan_is_pruned_beside_tables_whose_rows_are_in_memory() -> None:
    query = (
        "SELECT * FROM a, store_returns, date_dim, store_returns AS s WHERE sr_returned_date_sk = d_date_sk"
    )
    filtered = f"(SELECT * FROM store_returns {AT_ITS_SNAPSHOT} WHERE k = 1) AS `store_returns`"
    rewritten = query.replace("a, store_returns", f"a_rows_1 AS `a`, {filtered}")
    for found in (applied(table_reference=2), applied(table_reference=None)):
        plan = text(plans(query, found, rewritten_sql=rewritten).optimized_physical)
        assert plan.count("filters") == 1
        assert plan.index("filters") < plan.index("store_returns]])")


TWO_REFERENCES = (
    "SELECT 1 FROM store_returns a JOIN date_dim d ON a.sr_returned_date_sk = d.d_date_sk"
    " JOIN store_returns b ON a.k = b.k JOIN date_dim e ON b.sr_returned_date_sk = e.d_date_sk"
    " WHERE d.d_year = 2000 AND e.d_moy = 11"
)


def filtered(name: str, condition: str) -> str:
    return f"(SELECT * FROM store_returns {AT_ITS_SNAPSHOT} WHERE {condition}) {name}"


def by_november(table_reference: int | None) -> FilterRecord:
    second = applied("df2", table_reference=table_reference)
    return replace(second, build=replace(second.build, predicate="d_moy = 11"))


def test_each_of_two_references_of_a_table_has_its_own_filters() -> None:
    rewritten = TWO_REFERENCES.replace("store_returns a", filtered("a", "k < 2")).replace(
        "store_returns b", filtered("b", "k > 5")
    )
    plan = text(plans(TWO_REFERENCES, applied(), by_november(3), rewritten_sql=rewritten).optimized_execution)
    first, second = [line for line in plan.splitlines() if "store_returns" in line]
    assert ("filters=[df1])" in first, "filters=[df2])" in second) == (True, True)
    assert plan.count("DynamicFilteringDataCollector(fields=[d_date_sk])") == 2
    # Each build side appears below its collector and in its join.
    assert [plan.count(f"Reused(reference_id=[{number}])") for number in (1, 2, 3)] == [1, 1, 0]
    # A record of an earlier version does not say which table reference a filter is on, so the plan cannot.
    old = plans(TWO_REFERENCES, applied(table_reference=None), by_november(None), rewritten_sql=rewritten)
    assert text(old.optimized_physical).count("filters=[df1, df2]") == 2


ELIMINATED = RewriteRecord(
    RewriteKind.JOIN_ELIMINATED, "lake.tpcds.date_dim", "by the keys of d_date_sk", 2, "df1"
)


@pytest.mark.parametrize("place", ["JOIN", "a comma"])
def test_an_eliminated_join_is_not_in_the_plan_of_what_ran(place: str) -> None:
    asked = {
        "JOIN": "SELECT a.x FROM store_returns a JOIN date_dim d ON a.k = d.d_date_sk"
        " JOIN item i ON a.i = i.i WHERE d.d_year = 2000 AND a.x > 5",
        "a comma": "SELECT a.x FROM store_returns a, date_dim d JOIN item i ON a.i = i.i"
        " WHERE a.k = d.d_date_sk AND d.d_year = 2000 AND a.x > 5",
    }[place]
    ran = {
        "JOIN": f"SELECT a.x FROM {filtered('a', 'k < 2')}  JOIN item i ON a.i = i.i WHERE TRUE AND a.x > 5",
        "a comma": f"SELECT a.x FROM {filtered('a', 'k < 2')}  JOIN item i ON a.i = i.i"
        " WHERE TRUE AND TRUE AND a.x > 5",
    }[place]
    found = plans(asked, applied(), rewritten_sql=ran, rewrites=[ELIMINATED])
    assert "date_dim" in text(found.abstract_syntax_tree)
    assert text(found.optimized_execution) == dedent("""\
        Calc(select=[a.x], where=[a.x > 5])
        +- HashJoin(joinType=[InnerJoin], where=[a.i = i.i])
           :- TableSourceScan(table=[[lake, tpcds, store_returns]], filters=[df1], eliminatedJoins=[lake.tpcds.date_dim])
           :  +- DynamicFilteringDataCollector(fields=[d_date_sk])
           :     +- Calc(where=[d_year = 2000])
           :        +- TableSourceScan(table=[[lake, tpcds, date_dim]])
           +- TableSourceScan(table=[[item]])
        """)  # noqa: E501


def test_references_behind_an_eliminated_join_keep_their_filters() -> None:
    branch = "SELECT a.x FROM store_returns a JOIN date_dim d ON a.k = d.d_date_sk WHERE d.d_year = 2000"
    asked = f"{branch} UNION ALL {branch}"
    # The second branch keeps its join, as it needs another column of the dimension.
    whole = branch.replace("store_returns a", filtered("a", "k > 5"))
    ran = f"SELECT a.x FROM {filtered('a', 'k < 2')} WHERE TRUE UNION ALL {whole}"
    found = plans(asked, applied(), by_november(3), rewritten_sql=ran, rewrites=[ELIMINATED])
    plan = text(found.optimized_physical)
    first, second = [line for line in plan.splitlines() if "store_returns" in line]
    assert "filters=[df1], eliminatedJoins=[lake.tpcds.date_dim]" in first
    assert "filters=[df2])" in second
    assert plan.count("HashJoin") == 1


def test_rows_in_memory_are_no_scan() -> None:
    rows = RewriteRecord(RewriteKind.LOCAL_RELATION, "lake.tpcds.date_dim", "366 rows where d_year = 2000", 2)
    ran = FLIP.replace("store_returns,", f"{filtered('store_returns', 'k < 2')},").replace(
        "date_dim", "`date_dim_rows_1` AS `date_dim`"
    )
    plan = text(plans(FLIP, applied(), rewritten_sql=ran, rewrites=[rows]).optimized_execution)
    assert plan == dedent("""\
        Calc(select=[*], where=[d_year = 2000])
        +- HashJoin(joinType=[InnerJoin], where=[sr_returned_date_sk = d_date_sk])
           :- TableSourceScan(table=[[lake, tpcds, store_returns]], filters=[df1])
           :  +- DynamicFilteringDataCollector(fields=[d_date_sk])
           :     +- Calc(where=[d_year = 2000])
           :        +- TableSourceScan(table=[[lake, tpcds, date_dim]])
           +- LocalTableScan(table=[[lake, tpcds, date_dim]], rows=[366 rows where d_year = 2000])
        """)


def test_rows_in_memory_say_which_keys_were_collected_with_them() -> None:
    kinds = (RewriteKind.LOCAL_RELATION, RewriteKind.ONE_READING)
    records = [RewriteRecord(kind, "lake.tpcds.date_dim", "366 rows", 2, "df1") for kind in kinds]
    ran = FLIP.replace("store_returns,", f"{filtered('store_returns', 'k < 2')},").replace(
        "date_dim", "`date_dim_rows_1` AS `date_dim`"
    )
    plan = text(plans(FLIP, applied(), rewritten_sql=ran, rewrites=records).optimized_execution)
    assert "LocalTableScan(table=[[lake, tpcds, date_dim]], rows=[366 rows], collectedWith=[df1])" in plan


def test_keys_of_several_build_sides_come_from_all_of_them_and_not_from_their_join() -> None:
    days = applied().build
    both = replace(
        days, tables=days.tables * 2, predicate="(d_year = 2000) OR (d_year = 2001)", is_union=True
    )
    ran = FLIP.replace("store_returns,", f"{filtered('store_returns', 'k < 2')},")
    plan = text(plans(FLIP, replace(applied(), build=both), rewritten_sql=ran).optimized_physical)
    assert plan == dedent("""\
        Calc(select=[*], where=[d_year = 2000])
        +- HashJoin(joinType=[InnerJoin], where=[sr_returned_date_sk = d_date_sk])
           :- DynamicFilteringTableSourceScan(table=[[lake, tpcds, store_returns]], filters=[df1])
           :  +- DynamicFilteringDataCollector(fields=[d_date_sk])
           :     +- Calc(where=[(d_year = 2000) OR (d_year = 2001)])
           :        +- Union(all=[true])
           :           :- TableSourceScan(table=[[lake, tpcds, date_dim]])
           :           +- TableSourceScan(table=[[lake, tpcds, date_dim]])
           +- TableSourceScan(table=[[lake, tpcds, date_dim]])
        """)


def test_a_scan_has_the_fields_that_all_scans_of_its_table_read() -> None:
    sales, days = scan("lake.tpcds.store_returns", 5, 1), scan("lake.tpcds.date_dim", 1, 1)
    read = [replace(sales, columns=("a", "b")), replace(days, columns=("d_date_sk",))]
    ran = FLIP.replace("store_returns,", f"{filtered('store_returns', 'k < 2')},")
    plan = text(plans(FLIP, applied(), rewritten_sql=ran, scans=read).optimized_execution)
    assert "TableSourceScan(table=[[lake, tpcds, store_returns]], fields=[a, b], filters=[df1])" in plan
    # The scan below the collector and the one in the join are the same operator.
    assert plan.count("TableSourceScan(table=[[lake, tpcds, date_dim]], fields=[d_date_sk])") == 1
    plan = text(plans(FLIP, scans=[*read, replace(days, columns=("d_year",))]).optimized_physical)
    assert "TableSourceScan(table=[[lake, tpcds, date_dim]])" in plan
    wide = replace(sales, columns=tuple(f"c{number}" for number in range(100)))
    plan = text(plans(FLIP, scans=[wide]).optimized_physical)
    assert "c38, c39, … 60 more]" in plan


def test_a_scan_that_was_not_needed_has_read_nothing() -> None:
    ran = FLIP.replace("store_returns,", f"{filtered('store_returns', 'FALSE')},")
    empty = replace(applied(), form=FilterForm.EMPTY)
    plan = text(plans(FLIP, empty, rewritten_sql=ran).optimized_physical)
    assert "store_returns]], filters=[df1], read=[nothing])" in plan
    unread = replace(scan("lake.tpcds.date_dim", 5, 0), has_run=False)
    plan = text(plans(FLIP, scans=[scan("lake.tpcds.store_returns", 5, 5), unread]).optimized_physical)
    assert "TableSourceScan(table=[[lake, tpcds, date_dim]], read=[nothing])" in plan
    assert "TableSourceScan(table=[[lake, tpcds, store_returns]])" in plan


@pytest.mark.parametrize(
    ("spark_plan", "operator"),
    [
        ("", "Join"),
        ("== Physical Plan ==\nSortMergeJoin", "SortMergeJoin"),
        ("== Parsed Logical Plan ==\n== Physical Plan ==\nCartesianProduct", "NestedLoopJoin"),
        ("== Physical Plan ==\nBroadcastHashJoin\n  SortMergeJoin", "Join"),
        (
            "== Physical Plan ==\n== Final Plan ==\nBroadcastHashJoin\n== Initial Plan ==\nSortMergeJoin",
            "HashJoin",
        ),
    ],
)
def test_joins_are_called_what_the_engine_made_of_them(spark_plan: str, operator: str) -> None:
    plan = text(plans("SELECT 1 FROM a JOIN b ON a.k + 0 = b.k", spark_plan=spark_plan).optimized_physical)
    assert f"\n+- {operator}(joinType=[InnerJoin], where=[a.k + 0 = b.k])\n" in plan


def test_a_call_has_no_name_of_its_own() -> None:
    plan = text(plans("SELECT count(*), sum(x), y, t.z, u AS v FROM t").optimized_physical)
    assert plan.startswith("Calc(select=[COUNT(*), SUM(x), y, t.z, u AS v])\n")
