"""A statement that changes rows becomes a query whose places are those of the statement."""

from __future__ import annotations

import pytest

from service.pruning.sql_text.change_text import ChangeText, change_text
from service.pruning.sql_text.parse import parse
from service.pruning.sql_text.written_query import written_query


def asked(sql: str) -> ChangeText:
    found = change_text(sql)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("sql", "question"),
    [
        (
            "UPDATE a.b AS t SET x = 1, y = (z + 2) WHERE k IN (SELECT k FROM s) AND x > 1",
            "SELECT 1 FROM a.b AS t WHERE k IN (SELECT k FROM s) AND x > 1",
        ),
        (
            "DELETE FROM `a b`.t -- all\n WHERE EXISTS (SELECT 1 FROM s WHERE s.k = t.k /* ; */) ; ",
            "SELECT 1 FROM `a b`.t WHERE EXISTS (SELECT 1 FROM s WHERE s.k = t.k /* ; */)",
        ),
        (
            "MERGE INTO t USING s ON t.k = s.k WHEN MATCHED THEN DELETE",
            "SELECT 1 FROM t JOIN s ON t.k = s.k",
        ),
        (
            "merge into lake.w.t as x using (select k from s where a = ')' ) as y -- source\n"
            "on x.k = y.k and x.j = (case when y.b then 1 end)\n when not matched then insert *",
            "SELECT 1 FROM lake.w.t as x RIGHT JOIN (select k from s where a = ')' ) as y"
            " ON x.k = y.k and x.j = (case when y.b then 1 end)",
        ),
    ],
)
def test_the_question_joins_as_the_statement_does(sql: str, question: str) -> None:
    found = asked(sql)
    assert found.question == question
    parsed = parse(found.question)
    assert parsed is not None
    for reference in parsed.references:
        start, last = found.place_of(reference.start), found.place_of(reference.end - 1)
        assert start is not None
        assert last is not None
        assert sql[start : last + 1] == question[reference.start : reference.end]


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM t",
        "DELETE FROM t WHERE k = 1",
        "DELETE FROM t WHERE k IN (SELECT k FROM s) WHERE a",
        "WITH s AS (SELECT 1 AS k) DELETE FROM t WHERE k IN (SELECT k FROM s)",
        "UPDATE t SET x = (SELECT max(k) FROM s) WHERE k IN (SELECT k FROM s)",
        # The placeholders of the condition would be counted from one.
        "UPDATE t SET x = ? WHERE k IN (SELECT k FROM s WHERE y = ?)",
        "UPDATE t SET where = 1 WHERE k IN (SELECT k FROM s)",
        "MERGE INTO t USING s ON t.k = s.k WHEN NOT MATCHED BY SOURCE THEN DELETE",
        "MERGE INTO t USING s ON t.k = CASE WHEN s.a THEN s.k END WHEN MATCHED THEN DELETE",
        "MERGE INTO t USING s ON t.k = s.k WHEN MATCHED AND t.a IN (SELECT a FROM u) THEN DELETE",
        "MERGE INTO t USING w.s ON t.k = w.s.k WHEN MATCHED THEN DELETE",
        "MERGE INTO t USING w.s ON t.k = s.k WHEN MATCHED THEN UPDATE SET t.v = w.s.v",
        "MERGE INTO t USING (SELECT 1 AS k) s (k) ON t.k = s.k WHEN MATCHED THEN DELETE",
        "MERGE INTO on USING s ON on.k = s.k WHEN MATCHED THEN DELETE",
        "MERGE WITH SCHEMA EVOLUTION INTO t USING s ON t.k = s.k WHEN MATCHED THEN DELETE",
        "SELECT 1",
        "INSERT INTO t SELECT 1",
        "'",
        "",
    ],
)
def test_a_statement_that_is_not_clear_has_none(sql: str) -> None:
    assert change_text(sql) is None


@pytest.mark.parametrize(
    ("sql", "query"),
    [
        ("INSERT INTO t PARTITION (d = 1) (a, b) SELECT 1, 2", "SELECT 1, 2"),
        ("INSERT OVERWRITE TABLE t BY NAME WITH c AS (SELECT 1 AS a) SELECT * FROM c", "WITH c AS"),
        ("CREATE OR REPLACE TABLE t USING iceberg COMMENT 'AS SELECT' AS SELECT 1", "SELECT 1"),
        ("REPLACE TABLE t AS SELECT 1", "SELECT 1"),
        ("INSERT INTO t VALUES (1), ((SELECT 1))", None),
        ("INSERT INTO t PARTITION (d = ?) SELECT ?", None),
        ("INSERT INTO t REPLACE WHERE a = 1 SELECT 1", None),
        ("CREATE VIEW v AS SELECT 1", None),
        ("CREATE TABLE t (a INT)", None),
        ("SELECT 1", None),
        ("", None),
    ],
)
def test_the_query_of_an_insert(sql: str, query: str | None) -> None:
    at = written_query(sql)
    assert at is None if query is None else at is not None and sql[at:].startswith(query)
