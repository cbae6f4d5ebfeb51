"""Cases that others test of their dynamic pruning, rewritten: FLIP-248's planner test and Spark's suite.

They include scans that must be filtered and scans that must not.
"""

from __future__ import annotations

import pytest

from service.model.filters.filter_record import Reason
from service.model.query.query import Parameter
from service.query.filtering.unfiltered_scans import unfiltered_scans
from tests.equivalence.harness import Harness
from tests.equivalence.lakehouse import FACTS
from tests.polling import until

PRUNED = {
    "the fact on the left": ("SELECT * FROM by_k f, dim d WHERE f.k = d.k AND d.year = 1999", {"by_k.k"}),
    "the fact on the right": ("SELECT * FROM dim d, by_k f WHERE f.k = d.k AND d.year = 1999", {"by_k.k"}),
    "conditions on both sides": (
        "SELECT * FROM by_k f JOIN dim d ON f.k = d.k WHERE d.year = 1999 AND f.id > 3",
        {"by_k.k"},
    ),
    "other names in an alias": (
        "SELECT x.c FROM (SELECT k AS c, b + 1 AS e FROM by_k) x JOIN dim d ON x.c = d.k AND x.e > 0"
        " AND d.year = 1999",
        {"by_k.k"},
    ),
    "another order of columns": (
        "SELECT x.* FROM (SELECT name, id, k, day FROM by_k) x JOIN dim d ON x.k = d.k WHERE d.year = 1999",
        {"by_k.k"},
    ),
    "another column of the join is computed": (
        "SELECT count(*) FROM (SELECT k, b + 1 AS b FROM by_k) x JOIN dim d ON x.k = d.k AND x.b = d.big_k"
        " WHERE d.year = 1999",
        {"by_k.k"},
    ),
    "a column of the sort order": (
        "SELECT f.id FROM sorted_by_k f JOIN dim d ON f.k = d.k WHERE d.year = 1999",
        {"sorted_by_k.k"},
    ),
    "an outer join with the fact on the side that is filled": (
        "SELECT d.k, f.id FROM dim d LEFT OUTER JOIN by_k f ON f.k = d.k WHERE d.year = 1999",
        {"by_k.k"},
    ),
    "the same turned round": (
        "SELECT d.k, f.id FROM by_k f RIGHT OUTER JOIN dim d ON f.k = d.k WHERE d.year = 1999",
        {"by_k.k"},
    ),
    "an outer join whose NULLs WHERE drops": (
        "SELECT d.k, f.id FROM by_k f LEFT JOIN tiny t ON f.b = t.big_k JOIN dim d ON d.k = f.k"
        " WHERE d.year = 1999",
        {"by_k.k"},
    ),
    "IN": ("SELECT id FROM by_k WHERE k IN (SELECT k FROM dim WHERE year = 1999)", {"by_k.k"}),
    "EXISTS": (
        "SELECT id FROM by_k f WHERE EXISTS (SELECT 1 FROM dim d WHERE d.k = f.k AND d.year = 1999)",
        {"by_k.k"},
    ),
    "LEFT SEMI JOIN": (
        "SELECT id FROM by_k f LEFT SEMI JOIN dim d ON d.k = f.k AND d.year = 1999",
        {"by_k.k"},
    ),
    "several dimensions": (
        "SELECT f.id FROM by_both f, dim d, parents p WHERE f.k = d.k AND f.b = p.big_k AND d.year = 1999"
        " AND p.parent = 2",
        {"by_both.k", "by_both.b"},
    ),
    "a chain of dimensions": (
        "SELECT f.id FROM by_k f JOIN dim d ON f.k = d.k JOIN tiny t ON d.parent = t.k WHERE t.year = 2000",
        {"by_k.k"},
    ),
    "several facts on one dimension": (
        "SELECT f.id, g.id FROM by_k f JOIN dim d ON f.k = d.k JOIN sorted_by_k g ON g.k = d.k"
        " WHERE d.year = 1999",
        {"by_k.k", "sorted_by_k.k"},
    ),
    "a union on the fact's side": (
        "SELECT x.id FROM (SELECT id, k FROM by_k WHERE id % 2 = 0 UNION ALL SELECT id, k FROM evolved) x"
        " JOIN dim d ON x.k = d.k WHERE d.year = 1999",
        {"by_k.k", "evolved.k"},
    ),
    "an aggregate with the key in its GROUP BY": (
        "SELECT x.k, x.n FROM (SELECT k, count(*) AS n FROM by_k GROUP BY k) x JOIN dim d ON x.k = d.k"
        " WHERE d.year = 1999",
        {"by_k.k"},
    ),
    "a subquery that is joined with others": (
        "SELECT f.id FROM by_k f JOIN dim d ON f.k = d.k WHERE d.year = 1999"
        " AND d.parent IN (SELECT k FROM tiny WHERE parent = (SELECT max(parent) FROM tiny))",
        {"by_k.k"},
    ),
    "another type of the same values": (
        "SELECT f.id FROM by_k f JOIN dim d ON f.k = d.big_k WHERE d.year = 1999",
        {"by_k.k"},
    ),
    "a union of two stars": (
        "SELECT f.id FROM by_k f JOIN dim d ON f.k = d.k WHERE d.year = 1999"
        " UNION ALL SELECT f.id FROM by_k f",
        {"by_k.k"},
    ),
    "a self join": (
        "SELECT f.id, g.id FROM by_k f JOIN by_k g ON f.k = g.k WHERE g.id BETWEEN 3 AND 5",
        {"by_k.k"},
    ),
    "a broadcast hint": (
        "SELECT /*+ BROADCAST(d) */ f.id FROM by_k f JOIN dim d ON f.k = d.k WHERE d.year = 1999",
        {"by_k.k"},
    ),
    "no broadcast": (
        "SELECT /*+ MERGE(d, f) */ f.id FROM by_k f JOIN dim d ON f.k = d.k WHERE d.year = 1999",
        {"by_k.k"},
    ),
    "a build side that is empty": (
        "SELECT f.id FROM by_k f JOIN dim d ON f.k = d.k WHERE d.year = 1900",
        {"by_k.k"},
    ),
    "a static condition on the same column": (
        "SELECT f.id FROM by_k f JOIN dim d ON f.k = d.k WHERE d.year = 1999 AND f.k < 6",
        {"by_k.k"},
    ),
    "LIKE": ("SELECT f.id FROM by_k f JOIN dim d ON f.k = d.k WHERE d.name LIKE 'A%'", {"by_k.k"}),
    "a fact with deletes by position": (
        "SELECT f.id, f.k FROM thinned f JOIN dim d ON f.k = d.k WHERE d.year = 1999",
        {"thinned.k"},
    ),
    "a fact with deletion vectors": (
        "SELECT f.id, f.k FROM vectored f JOIN dim d ON f.k = d.k WHERE d.year = 1999",
        {"vectored.k"},
    ),
    "files of several partition specs": (
        "SELECT f.id FROM evolved f JOIN dim d ON f.k = d.k AND f.b = d.big_k WHERE d.year = 1999",
        {"evolved.k", "evolved.b"},
    ),
    "day(timestamp)": (
        "SELECT f.id FROM by_day_of_at f JOIN dim d ON f.at = d.at WHERE d.year = 1999",
        {"by_day_of_at.at"},
    ),
    "hour(timestamp with zone)": (
        "SELECT f.id FROM by_hour f JOIN dim d ON f.at_utc = d.at_utc WHERE d.year = 1999",
        {"by_hour.at_utc"},
    ),
    "month(date)": (
        "SELECT f.id FROM by_month f JOIN dim d ON f.day = d.day WHERE d.k = 0",
        {"by_month.day"},
    ),
    "truncate(string)": (
        "SELECT f.id FROM by_prefix f JOIN dim d ON f.name = d.name WHERE d.year = 1999",
        {"by_prefix.name"},
    ),
    "truncate(long)": (
        "SELECT f.id FROM by_tens f JOIN dim d ON f.b = d.big_k WHERE d.year = 1999",
        {"by_tens.b"},
    ),
    "bucket(long) by an int": (
        "SELECT f.id FROM by_bucket f JOIN dim d ON f.b = d.k WHERE d.year = 1999",
        {"by_bucket.b"},
    ),
    "bucket(string)": (
        "SELECT f.id FROM by_name_bucket f JOIN dim d ON f.name = d.name WHERE d.year = 1999",
        {"by_name_bucket.name"},
    ),
    "decimals": (
        "SELECT f.id FROM by_price f JOIN dim d ON f.price = d.price WHERE d.year = 1999",
        {"by_price.price"},
    ),
    "strings that look like SQL": (
        "SELECT f.id, f.name FROM by_name f JOIN dim d ON f.name = d.name WHERE d.year <> 1999",
        {"by_name.name"},
    ),
    "a NULL-safe equality": (
        "SELECT f.id, d.big_k FROM by_k f JOIN dim d ON f.k <=> d.k WHERE d.year = 2000",
        {"by_k.k"},
    ),
    "LIKE ANY": (
        "SELECT f.id FROM by_k f JOIN dim d ON f.k = d.k WHERE d.name LIKE ANY ('B%', '%il')",
        {"by_k.k"},
    ),
    "LIKE ALL": (
        "SELECT f.id FROM by_k f JOIN dim d ON f.k = d.k WHERE d.name LIKE ALL ('B%', '%o')",
        {"by_k.k"},
    ),
    "NOT LIKE ALL": (
        "SELECT f.id FROM by_k f JOIN dim d ON f.k = d.k WHERE d.name NOT LIKE ALL ('A%', '%o', 'Z%', 'C%')",
        {"by_k.k"},
    ),
    "RLIKE": ("SELECT f.id FROM by_k f JOIN dim d ON f.k = d.k WHERE d.name RLIKE '^[A-B]'", {"by_k.k"}),
    "a condition that chance decides, on the fact": (
        "SELECT f.id FROM by_k f JOIN dim d ON f.k = d.k WHERE d.year = 1999 AND rand() < 2",
        {"by_k.k"},
    ),
    "one on a column of the fact": (
        "SELECT f.id FROM by_k f JOIN dim d ON f.k = d.k WHERE d.year = 1999 AND f.id + 2 > rand()",
        {"by_k.k"},
    ),
    "chance below the join": (
        "SELECT x.id FROM (SELECT id, k, rand() AS r FROM by_k WHERE rand() < 2) x JOIN dim d ON x.k = d.k"
        " WHERE d.year = 1999 AND x.r < 2",
        {"by_k.k"},
    ),
    "a value of a star of its own": (
        "SELECT d.k, count(f.id) AS n, (SELECT sum(g.id) FROM by_day g JOIN dim e ON g.day = e.day"
        " WHERE e.year = 1998) AS total FROM by_k f JOIN dim d ON f.k = d.k WHERE d.year = 1999 GROUP BY d.k",
        {"by_k.k", "by_day.day"},
    ),
    "other columns of the same rows, for another fact": (
        "SELECT f.id FROM by_k f JOIN dim d ON f.k = d.k WHERE d.year = 1999"
        " UNION ALL SELECT f.id FROM by_name f JOIN dim d ON f.name = d.name WHERE d.year = 1999",
        {"by_k.k", "by_name.name"},
    ),
    "a pruned join that is read twice": (
        "WITH x AS (SELECT f.id, f.k FROM by_k f JOIN dim d ON f.k = d.k WHERE d.year = 1999)"
        " SELECT a.id, b.id FROM x a JOIN x b ON a.k = b.k AND a.id < b.id",
        {"by_k.k"},
    ),
    "the same join written twice": (
        "SELECT a.id, b.id FROM (SELECT f.id, f.k FROM by_k f JOIN dim d ON f.k = d.k WHERE d.year = 1999) a"
        " JOIN (SELECT f.id, f.k FROM by_k f JOIN dim d ON f.k = d.k WHERE d.year = 1999) b ON a.k = b.k",
        {"by_k.k"},
    ),
    "two keys, in another order the second time": (
        "SELECT f.id FROM by_pair f JOIN dim d ON f.k = d.k AND f.b = d.big_k"
        " JOIN dim e ON f.b = e.big_k AND f.k = e.k WHERE d.year = 1999",
        {"by_pair.k"},
    ),
    "joins in joins, with the same names": (
        "SELECT sum(x.n) AS n FROM (SELECT f.k, count(*) AS n FROM by_k f JOIN (SELECT d.k FROM dim d"
        " JOIN tiny t ON d.parent = t.k WHERE t.year = 2000) d ON f.k = d.k GROUP BY f.k) x"
        " JOIN (SELECT f.k FROM by_day f JOIN dim d ON f.day = d.day WHERE d.year = 1999) y ON x.k <= y.k",
        {"by_k.k", "by_day.day"},
    ),
    "a fact that is broadcast": (
        "SELECT /*+ BROADCAST(f) */ f.id, d.name FROM by_k f JOIN dim d ON f.k = d.k WHERE d.year = 1999",
        {"by_k.k"},
    ),
    "a literal that tells the branches of a union apart": (
        "SELECT x.tag, x.id FROM (SELECT 'a' AS tag, id, k FROM by_k UNION ALL SELECT 'b', id, k"
        " FROM evolved) x JOIN dim d ON x.k = d.k WHERE d.year = 1999 AND x.tag = 'b'",
        {"evolved.k"},
    ),
    "a moment in the text": (
        "SELECT f.id FROM by_k TIMESTAMP AS OF '2100-01-01' f JOIN dim d ON f.k = d.k WHERE d.year = 1999",
        {"by_k.k"},
    ),
}

NOT_PRUNED = {
    "a column that nothing is laid out by": (
        "SELECT f.id FROM by_k f JOIN dim d ON f.weight = d.weight WHERE d.year = 1999",
        Reason.TYPE_NOT_CONVERTIBLE,
    ),
    "a dimension without a filter": (
        "SELECT f.id FROM by_k f JOIN dim d ON f.k = d.k WHERE f.id > 3",
        Reason.BUILD_HAS_NO_FILTER,
    ),
    "IS NOT NULL is no filter": (
        "SELECT f.id FROM by_k f JOIN dim d ON f.k = d.k WHERE d.big_k IS NOT NULL",
        Reason.BUILD_HAS_NO_FILTER,
    ),
    "the fact on the side that is kept": (
        "SELECT f.id, d.k FROM by_k f LEFT JOIN dim d ON f.k = d.k AND d.year = 1999",
        Reason.PROBE_IS_PRESERVED_SIDE,
    ),
    "a full outer join": (
        "SELECT f.id, d.k FROM by_k f FULL JOIN (SELECT * FROM dim WHERE year = 1999) d ON f.k = d.k",
        Reason.PROBE_IS_PRESERVED_SIDE,
    ),
    "NOT EXISTS": (
        "SELECT id FROM by_k f WHERE NOT EXISTS (SELECT 1 FROM dim d WHERE d.k = f.k AND d.year = 1999)",
        Reason.ANTI_JOIN,
    ),
    "NOT IN": (
        "SELECT id FROM by_k WHERE k NOT IN (SELECT k FROM tiny WHERE k IS NOT NULL)",
        Reason.ANTI_JOIN,
    ),
    "NOT IN with a NULL": ("SELECT id FROM by_k WHERE k NOT IN (SELECT k FROM tiny)", Reason.ANTI_JOIN),
    "LEFT ANTI JOIN": (
        "SELECT id FROM by_k f LEFT ANTI JOIN dim d ON d.k = f.k AND d.year = 1999",
        Reason.ANTI_JOIN,
    ),
    "a computed key on the fact's side": (
        "SELECT x.id FROM (SELECT k + 1 AS k, id FROM by_k) x JOIN dim d ON x.k = d.k WHERE d.year = 1999",
        Reason.KEY_IS_COMPUTED,
    ),
    "an aggregate of the key": (
        "SELECT x.n FROM (SELECT name, sum(k) AS k, count(*) AS n FROM by_k GROUP BY name) x"
        " JOIN dim d ON x.k = d.k WHERE d.year = 1999",
        Reason.KEY_IS_COMPUTED,
    ),
    "LIMIT on the fact's side": (
        "SELECT x.id FROM (SELECT id, k FROM by_k ORDER BY id LIMIT 10) x JOIN dim d ON x.k = d.k"
        " WHERE d.year = 1999",
        Reason.PROBE_NOT_PRUNABLE,
    ),
    "a window over other rows": (
        "SELECT x.id, x.n FROM (SELECT id, k, row_number() OVER (ORDER BY id) AS n FROM by_k) x"
        " JOIN dim d ON x.k = d.k WHERE d.year = 1999",
        Reason.PROBE_NOT_PRUNABLE,
    ),
    "a common table expression that is used again": (
        "WITH c AS (SELECT id, k FROM by_k) SELECT x.id, (SELECT count(*) FROM c) AS n FROM c x"
        " JOIN dim d ON x.k = d.k WHERE d.year = 1999",
        Reason.PROBE_NOT_PRUNABLE,
    ),
    "one that an anti join reads again": (
        "WITH c AS (SELECT id, k, b FROM by_k) SELECT x.id FROM c x JOIN dim d ON x.k = d.k"
        " LEFT ANTI JOIN c y ON x.b = y.b AND x.id < y.id WHERE d.year = 1999",
        Reason.PROBE_NOT_PRUNABLE,
    ),
    "an inequality": (
        "SELECT f.id FROM by_k f JOIN dim d ON f.k > d.k WHERE d.year = 1999",
        Reason.NO_EQUI_JOIN,
    ),
    "OR": (
        "SELECT f.id FROM by_k f JOIN dim d ON (f.k = d.k OR f.b = d.big_k) WHERE d.year = 1999",
        Reason.NO_EQUI_JOIN,
    ),
    "EXISTS of an aggregate, which has a row for every row": (
        "SELECT id FROM by_k f WHERE EXISTS (SELECT count(*) FROM dim d WHERE d.k = f.k AND d.year = 1999)",
        Reason.NO_EQUI_JOIN,
    ),
    "an aggregate of nothing": (
        "SELECT id FROM by_k f WHERE f.k IN (SELECT count(*) FROM dim d WHERE d.k = f.k AND d.year = 1999)",
        Reason.KEY_IS_COMPUTED,
    ),
    "USING after a RIGHT JOIN": (
        "SELECT count(*) FROM tiny t RIGHT JOIN dim d USING (k) JOIN by_k f USING (k) WHERE t.year IS NULL",
        Reason.NOT_A_QUERY,
    ),
    "columns renamed in the table's alias": (
        "SELECT f.id FROM by_k f JOIN dim AS d (big_k, k, c3, c4, c5, c6, c7, c8, c9, c10, c11, year, c13)"
        " ON f.k = d.k WHERE d.year = 1999",
        Reason.NOT_A_QUERY,
    ),
    "floating point": (
        "SELECT f.id FROM unordered f JOIN dim d ON f.weight = d.weight WHERE d.year = 1999",
        Reason.TYPE_NOT_CONVERTIBLE,
    ),
    "a table that was never written to": (
        "SELECT f.id FROM never_filled f JOIN dim d ON f.k = d.k WHERE d.year = 1999",
        Reason.SOURCE_NOT_SUPPORTED,
    ),
    "structs": (
        "SELECT f.id FROM by_k f JOIN dim d ON struct(f.k) = struct(d.k) WHERE d.year = 1999",
        Reason.KEY_IS_COMPUTED,
    ),
    "structs of two": (
        "SELECT f.id FROM by_pair f JOIN dim d ON named_struct('a', f.k, 'b', f.b)"
        " = named_struct('a', d.k, 'b', d.big_k) WHERE d.year = 1999",
        Reason.KEY_IS_COMPUTED,
    ),
    "arrays": (
        "SELECT f.id FROM by_k f JOIN dim d ON array(f.k) = array(d.k) WHERE d.year = 1999",
        Reason.KEY_IS_COMPUTED,
    ),
    "a key that is made of several columns of the dimension": (
        "SELECT f.id FROM by_k f JOIN dim d ON f.k = d.k + d.big_k WHERE d.year = 1999",
        Reason.KEY_IS_COMPUTED,
    ),
    "a key that no column of the fact is in": (
        "SELECT x.id FROM (SELECT id, 3 AS k FROM by_k) x JOIN dim d ON x.k = d.k WHERE d.year = 1999",
        Reason.NO_EQUI_JOIN,
    ),
    "a self join without a filter": (
        "WITH x AS (SELECT id, k FROM by_k) SELECT a.id, b.id FROM x a JOIN x b ON a.k = b.k",
        Reason.PROBE_NOT_PRUNABLE,
    ),
    "a moment that is computed": (
        "SELECT f.id FROM by_k TIMESTAMP AS OF current_date() + 1 f JOIN dim d ON f.k = d.k"
        " WHERE d.year = 1999",
        Reason.SOURCE_NOT_SUPPORTED,
    ),
    "an equality under OR with a subquery": (
        "SELECT f.id FROM by_k f WHERE f.id < 3 OR EXISTS (SELECT 1 FROM dim d WHERE d.k = f.k"
        " AND d.year = 1999)",
        Reason.NO_EQUI_JOIN,
    ),
    "a sample": (
        "SELECT f.id FROM by_k TABLESAMPLE (100 PERCENT) f JOIN dim d ON f.k = d.k WHERE d.year = 1999",
        Reason.PROBE_NOT_PRUNABLE,
    ),
    "what a LATERAL compares": (
        "SELECT f.id, x.year FROM by_k f, LATERAL (SELECT d.year FROM dim d WHERE d.k = f.k"
        " AND d.year = 1999) x",
        Reason.NOT_A_QUERY,
    ),
    "two places of which one needs all rows": (
        "WITH c AS (SELECT id, k FROM by_k) SELECT x.id, y.id AS other FROM c x JOIN dim d ON x.k = d.k"
        " JOIN c y ON x.id = y.id + 1 JOIN dim e ON y.k <= e.k WHERE d.year = 1999 AND e.year = 2000",
        Reason.PROBE_NOT_PRUNABLE,
    ),
}


@pytest.mark.parametrize(("sql", "columns"), PRUNED.values(), ids=PRUNED)
def test_a_scan_is_pruned(sql: str, columns: set[str], harness: Harness) -> None:
    checked = harness.check(sql)
    assert columns <= checked.applied.keys(), checked.pruned.filters
    for column in columns:
        table = column.split(".")[0]
        assert checked.files(table).selected < max(1, checked.files(table).total)


@pytest.mark.parametrize(("sql", "reason"), NOT_PRUNED.values(), ids=NOT_PRUNED)
def test_a_scan_is_not_pruned_and_says_why(sql: str, reason: Reason, harness: Harness) -> None:
    checked = harness.check(sql)
    assert checked.applied == {}
    reported = (*checked.pruned.filters, *unfiltered_scans(checked.pruned, checked.written.scans))
    assert {
        filter_record.reason for filter_record in reported if filter_record.probe.table.table in FACTS
    } == {reason}
    assert all(
        filter_record.detail
        for filter_record in reported
        if filter_record.reason is Reason.PROBE_NOT_PRUNABLE
    )


def test_each_reference_of_a_table_is_reported(harness: Harness) -> None:
    checked = harness.check(
        "SELECT f.id FROM by_k f JOIN dim d ON f.k = d.k JOIN (SELECT max(k) AS m FROM by_k) g ON g.m >= d.k"
        " JOIN (SELECT k FROM by_k ORDER BY id LIMIT 9) h ON h.k = d.k WHERE d.year = 1999"
    )
    reported = (*checked.pruned.filters, *unfiltered_scans(checked.pruned, checked.filtered.scans))
    reasons = {
        filter_record.reason for filter_record in reported if filter_record.probe.table.table == "by_k"
    }
    assert {Reason.APPLIED, Reason.NO_EQUI_JOIN, Reason.PROBE_NOT_PRUNABLE} <= reasons


def test_keys_that_leave_everything_are_not_written_into_the_query(harness: Harness) -> None:
    query = "SELECT f.id FROM by_k f JOIN dim d ON f.k = d.k WHERE d.k > -9"
    harness.check(query)

    def reasons() -> set[Reason]:
        return {
            filter_.reason for filter_ in harness.prune(query).filters if filter_.probe.table.table == "by_k"
        }

    # The values of the fact are read in the background.
    until(lambda: reasons() == {Reason.NOT_SELECTIVE})


def test_other_parameters_are_other_keys(harness: Harness) -> None:
    query = "SELECT f.id FROM by_k f JOIN dim d ON f.k = d.k WHERE d.year = :year AND d.name <> :name"
    for year in (1998, 1999, 2000, 1999):
        parameters = {"year": Parameter(year), "name": Parameter("O'Neil")}
        assert "by_k.k" in harness.check(query, parameters).applied
