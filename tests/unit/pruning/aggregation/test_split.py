from __future__ import annotations

import pytest

from service.model.query.refresh import Aggregation, NotRefreshable, Partial, RefreshOutcome, RefreshPlan
from service.model.query.results import Column
from service.pruning.aggregation.split import split
from service.pruning.aggregation.texts import answer_sql, probe_sql, renewed_sql, state_sql

QUALIFIERS = frozenset({"f", "d"})
COLUMNS = frozenset({"a", "b", "c", "day", "k", "dk"})


def parts(sql: str) -> Aggregation:
    return split(sql, QUALIFIERS, COLUMNS)


def refused(sql: str) -> RefreshOutcome:
    with pytest.raises(NotRefreshable) as failure:
        parts(sql)
    return failure.value.reason


def answered(sql: str) -> str:
    """Returns what an answer reads from its state, with `merge<n>` for each aggregate."""
    found = parts(sql)
    partials = tuple(Partial((), f"merge{number}", ()) for number in range(len(found.calls)))
    columns = tuple(Column(f"c{number}", "INT", is_nullable=True) for number in range(len(found.items)))
    merged = {number: partial.merged for number, partial in enumerate(partials)}
    return answer_sql(RefreshPlan(found, partials, columns), merged).replace("\n", " ")


STATE = "FROM __sluice_state"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT count(*) FROM f", f"SELECT merge0 AS `c0` {STATE}"),
        (
            "SELECT f.a, sum(b)/count(*) FROM f GROUP BY a",
            f"SELECT __k0 AS `c0`, merge0/merge1 AS `c1` {STATE} GROUP BY __k0",
        ),
        (
            "SELECT a AS x, max(b) m FROM f GROUP BY x HAVING max(b) > 1 ORDER BY m DESC, x LIMIT 3",
            f"SELECT __k0 AS `c0`, merge0 AS `c1` {STATE} GROUP BY __k0 HAVING merge0 > 1 ORDER BY m DESC, x"
            " LIMIT 3",
        ),
        (
            "SELECT year(day), month(f.day) FROM f WHERE c > 1 GROUP BY 1, month(day) ORDER BY YEAR( f.day )",
            f"SELECT __k0 AS `c0`, __k1 AS `c1` {STATE} GROUP BY __k0, __k1 ORDER BY __k0",
        ),
        (
            "SELECT a + 1 AS a, sum(b) FILTER (WHERE c = 'a') FROM f GROUP BY a",
            f"SELECT __k0 + 1 AS `c0`, merge0 AS `c1` {STATE} GROUP BY __k0",
        ),
        (
            "SELECT sum(b) AS b FROM f ORDER BY b",
            f"SELECT merge0 AS `c0` {STATE} ORDER BY b",
        ),
        (
            "SELECT concat('a', a, ' -- a') FROM f GROUP BY `a` -- by a\n",
            f"SELECT concat('a', __k0, ' -- a') AS `c0` {STATE} GROUP BY __k0",
        ),
        (
            "SELECT coalesce(a + b, 0), c FROM f GROUP BY a + b, c",
            f"SELECT coalesce(__k0, 0) AS `c0`, __k1 AS `c1` {STATE} GROUP BY __k0, __k1",
        ),
        (
            "SELECT year(day) FROM f GROUP BY year(day) ORDER BY year(day) DESC NULLS LAST, count(*)",
            f"SELECT __k0 AS `c0` {STATE} GROUP BY __k0 ORDER BY __k0 DESC NULLS LAST, merge0",
        ),
        (
            "SELECT max(b) FROM f GROUP BY a + b ORDER BY a + b nulls first, max(a) + a + b",
            f"SELECT merge0 AS `c0` {STATE} GROUP BY __k0 ORDER BY __k0 nulls first, merge1 + a + b",
        ),
        ("SELECT a * 2 FROM f GROUP BY a;", f"SELECT __k0 * 2 AS `c0` {STATE} GROUP BY __k0"),
    ],
)
def test_an_answer_says_what_the_query_makes_of_its_groups(sql: str, expected: str) -> None:
    assert answered(sql) == expected


def test_a_part_of_a_larger_expression_is_no_key() -> None:
    # The engine refuses this text, since its state has no such columns.
    assert "a + b * 2 AS" in answered("SELECT a + b * 2 FROM f GROUP BY a + b")


def test_a_name_in_another_role_is_no_key() -> None:
    assert "CAST(__k0 AS day)" in answered("SELECT CAST(a AS day) FROM f GROUP BY a, day")
    assert "a(__k1)" in answered("SELECT a(b) FROM f GROUP BY a, b")
    assert "SELECT c AS" in answered("SELECT c FROM f GROUP BY a.c")
    assert ":a" in answered("SELECT a > :a FROM f GROUP BY a")
    assert "f.s.a AS" in answered("SELECT f.s.a FROM f GROUP BY a")


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT a FROM f", RefreshOutcome.NOT_AGGREGATED),
        ("SELECT * FROM f GROUP BY a", RefreshOutcome.NAMES),
        ("SELECT sum(a) FROM f UNION ALL SELECT 1", RefreshOutcome.NOT_ONE_SELECT),
        ("WITH c AS (SELECT 1) SELECT sum(a) FROM c", RefreshOutcome.NOT_ONE_SELECT),
        ("SELECT sum(a) FROM f WHERE b IN (SELECT 1)", RefreshOutcome.SUBQUERY),
        ("SELECT sum(a) OVER () FROM f", RefreshOutcome.WINDOW),
        ("SELECT count(DISTINCT a) FROM f", RefreshOutcome.DISTINCT),
        ("SELECT DISTINCT a FROM f GROUP BY a", RefreshOutcome.DISTINCT),
        ("SELECT a, sum(b) FROM f GROUP BY ROLLUP (a)", RefreshOutcome.GROUPING_SETS),
        ("SELECT a, sum(b) FROM f GROUP BY a WITH CUBE", RefreshOutcome.NOT_ONE_SELECT),
        ("SELECT a, sum(b) FROM f GROUP BY GROUPING SETS ((a), ())", RefreshOutcome.GROUPING_SETS),
        ("SELECT sum(b) FROM f WHERE a = ?", RefreshOutcome.PARAMETERS),
        ("SELECT /*+ BROADCAST(d) */ sum(b) FROM f", RefreshOutcome.HINT),
        ("SELECT a, sum(b) FROM f GROUP BY nothing", RefreshOutcome.NAMES),
        ("SELECT a, sum(b) FROM f GROUP BY 3", RefreshOutcome.NAMES),
        ("SELECT sum(b) AS b FROM f HAVING b > 1", RefreshOutcome.NAMES),
        ("SELECT sum(b) AS b FROM f ORDER BY sum(b)", RefreshOutcome.NAMES),
        ("SELECT max(a) AS k, k AS x FROM f GROUP BY k ORDER BY k", RefreshOutcome.NAMES),
        ("SELECT -a AS a FROM f GROUP BY -a ORDER BY -a LIMIT 1", RefreshOutcome.NAMES),
        ("SELECT -a AS a, sum(b) FROM f GROUP BY -a HAVING (-a) > 1", RefreshOutcome.NAMES),
        ("SELECT sum(b) AS __k0 FROM f", RefreshOutcome.NAMES),
        ("SELECT sum(b) FROM f TABLESAMPLE (10 PERCENT)", RefreshOutcome.NOT_ONE_SELECT),
        ("SELECT sum(b) FROM f LATERAL VIEW explode(c) AS e", RefreshOutcome.NOT_ONE_SELECT),
        ("SELECT sum(b) FROM f JOIN d USING (a)", RefreshOutcome.NOT_ONE_SELECT),
        ("SELECT sum(b)", RefreshOutcome.NOT_ONE_SELECT),
        ("FROM f SELECT sum(b)", RefreshOutcome.NOT_ONE_SELECT),
        ("SELECT a, builtin.count(*) FROM f GROUP BY a", RefreshOutcome.AGGREGATE),
        ("SELECT a, system . `builtin` . sum (a) FROM f GROUP BY a", RefreshOutcome.AGGREGATE),
        ("SELECT a, Try_Sum(a) FROM f GROUP BY a", RefreshOutcome.AGGREGATE),
        ("SELECT sum(b) FROM f HAVING `try_avg`(1) > 1", RefreshOutcome.AGGREGATE),
        ("SELECT sum(b) FROM f ORDER BY identifier('count')(*)", RefreshOutcome.AGGREGATE),
        (r"SELECT count('\'') FROM f", RefreshOutcome.NOT_ONE_SELECT),
        ("SELECT sum(b) FROM f |> LIMIT 1", RefreshOutcome.NOT_ONE_SELECT),
        ("SELECT sum(b FROM f", RefreshOutcome.NOT_ONE_SELECT),
        ("SELECT 'a", RefreshOutcome.NOT_ONE_SELECT),
        ("", RefreshOutcome.NOT_ONE_SELECT),
    ],
)
def test_everything_else_is_refused(sql: str, reason: RefreshOutcome) -> None:
    assert refused(sql) == reason


def test_the_texts_keep_the_words_of_the_caller() -> None:
    found = parts(
        "SELECT a, avg(f.b) FILTER (WHERE c > :x) FROM f  JOIN d ON k = dk WHERE c <> 'x  y' GROUP BY a"
    )
    partial = Partial((("__a0", "sum(f.b)"),), "sum(__a0)", (("__a0", "sum(__a0)"),))
    source = "FROM f  JOIN d ON k = dk WHERE c <> 'x  y'"
    assert state_sql(found, [partial]) == f"SELECT a AS __k0, sum(f.b) AS __a0 {source} GROUP BY a"
    assert renewed_sql(found, [partial]) == (
        "SELECT __k0, sum(__a0) AS __a0 FROM __sluice_state GROUP BY __k0"
    )
    assert probe_sql(found) == (
        f"SELECT a AS __p0, min(f.b) AS __p1, avg(f.b) FILTER (WHERE c > :x) AS __p2 {source} GROUP BY a"
    )


def test_columns_of_two_tables_with_one_name_are_distinguished_by_their_tables() -> None:
    sql = "SELECT f.k, d.k + 1, f.k + 1, count(*) FROM f LEFT JOIN d ON f.k = d.k GROUP BY f.k, d.k, d.k + 1"
    found = split(sql, QUALIFIERS, COLUMNS, shared=frozenset({"k"}))
    kept = [item.replace("\x00", "") for item in found.items]
    assert kept == ["k0", "k2", "k0 + 1", "a0"]


ENDS = (
    "sum(b) IS NULL", "sum(b) IS NOT NULL", "bool_or(c) = TRUE", "bool_or(c) = false",
    "bool_or(c) IS UNKNOWN", "bool_or(c) IS NOT TRUE", "sum(b) + 1", "sum(b) + 1L", "sum(b) * 2.5BD",
    "sum(b) + 1e3", "sum(b) + 2D", "sum(b) = 3S", "max(b) = 'x'", "max(b) = r'x'", "max(b) = X'1F'",
    "CASE WHEN sum(b) > 0 THEN 1 END", "array(sum(b))[0]", "(sum(b))", "max(day) + interval 3 month",
    "max(day) + interval '3' month", "sum(b) + a", "sum(b) + f.a", "sum(b) + `a`",
    "max(b) = date '2024-01-01'", "sum(b)::bigint", "sum(b)::double",
)  # fmt: skip


@pytest.mark.parametrize("value", ENDS)
def test_a_value_is_the_same_with_an_alias_and_without_as(value: str) -> None:
    plain, with_as, without_as = (
        parts(f"SELECT {value}{alias}, count(*) FROM f GROUP BY a").items for alias in ("", " AS v", " v")
    )
    assert plain == with_as == without_as


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 5 AS k, k AS x, count(*) FROM f LEFT JOIN d ON f.k = d.dk GROUP BY f.k",
        "SELECT named_struct('k', 5) AS f, f.k AS x FROM f LEFT SEMI JOIN d ON f.k = d.k GROUP BY k",
    ],
)
def test_a_name_that_is_left_is_not_taken_for_an_alias_before_it(sql: str) -> None:
    with pytest.raises(NotRefreshable) as failure:
        split(sql, QUALIFIERS, COLUMNS, shared=frozenset({"k"}))
    assert failure.value.reason is RefreshOutcome.NAMES


def test_the_field_of_a_struct_is_no_column_of_a_table_with_its_name() -> None:
    sql = "SELECT a, s.a, count(*) FROM x AS s JOIN d ON id = dk GROUP BY a, s.a"
    found = split(sql, frozenset({"s", "d"}), frozenset({"s", "id", "dk", "a"}))
    assert [item.replace("\x00", "") for item in found.items] == ["k0", "k1", "a0"]
