from __future__ import annotations

from collections.abc import Sequence

import pytest

from service.model.query.refresh import NotRefreshable, RefreshOutcome
from service.pruning.aggregation.growing_tables import growing_tables
from service.pruning.sql_text.parse import parse


def growing(source: str) -> Sequence[str]:
    parsed = parse(f"SELECT count(*) FROM {source}")
    assert parsed is not None
    return [reference.parts[-1] for reference in growing_tables(parsed)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a", ["a"]),
        ("lake.s.a AS x", ["a"]),
        ("a, b WHERE a.k = b.k", ["a", "b"]),
        ("a JOIN b ON a.k = b.k CROSS JOIN c", ["a", "b", "c"]),
        ("a LEFT JOIN b ON a.k = b.k", ["a"]),
        ("a LEFT JOIN b ON a.k = b.k JOIN c ON a.k = c.k", ["a", "c"]),
        ("a LEFT SEMI JOIN b ON a.k = b.k", ["a"]),
        ("a LEFT ANTI JOIN b ON a.k = b.k", ["a"]),
        ("a SEMI JOIN b ON a.k = b.k", ["a"]),
        ("(SELECT k FROM a WHERE k > 0) x", ["a"]),
        ("(SELECT a.k FROM a JOIN b ON a.k = b.k) x LEFT JOIN c ON c.k = x.k", ["a", "b"]),
        ("a LEFT JOIN (SELECT k FROM b) x ON a.k = x.k", ["a"]),
        ("(SELECT * FROM (SELECT a.k FROM a LEFT JOIN b ON a.k = b.k)) x", ["a"]),
    ],
)
def test_a_preserved_side_may_grow(source: str, expected: Sequence[str]) -> None:
    assert growing(source) == expected


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("a RIGHT JOIN b ON a.k = b.k", RefreshOutcome.JOIN),
        ("a FULL OUTER JOIN b ON a.k = b.k", RefreshOutcome.JOIN),
        ("a NATURAL JOIN b", RefreshOutcome.JOIN),
        ("a JOIN b USING (k)", RefreshOutcome.JOIN),
        ("a JOIN (b JOIN c ON b.k = c.k) ON a.k = b.k", RefreshOutcome.JOIN),
        ("a JOIN (SELECT 1 AS k) b ON a.k = b.k", RefreshOutcome.SUBQUERY),
        ("(SELECT k FROM a LIMIT 3)", RefreshOutcome.SUBQUERY),
        ("(SELECT k FROM a GROUP BY k)", RefreshOutcome.SUBQUERY),
        ("(SELECT DISTINCT k FROM a)", RefreshOutcome.SUBQUERY),
        ("(SELECT k FROM a UNION ALL SELECT k FROM b)", RefreshOutcome.SUBQUERY),
        ("(SELECT a.k FROM a FULL JOIN b ON a.k = b.k) c", RefreshOutcome.JOIN),
        ("(SELECT k FROM a WHERE k IN (SELECT k FROM b)) c", RefreshOutcome.SUBQUERY),
        ("a JOIN b ON a.k IN (SELECT k FROM c)", RefreshOutcome.SUBQUERY),
        ("(SELECT k, (SELECT max(k) FROM b) FROM a) c", RefreshOutcome.SUBQUERY),
        ("(SELECT 1)", RefreshOutcome.SUBQUERY),
        ("a WHERE k IN (SELECT k FROM b)", RefreshOutcome.SUBQUERY),
        ("a VERSION AS OF 7", RefreshOutcome.TABLES),
        ("a TABLESAMPLE (5 PERCENT)", RefreshOutcome.TABLES),
    ],
)
def test_other_joins_are_refused(source: str, reason: RefreshOutcome) -> None:
    with pytest.raises(NotRefreshable) as failure:
        growing(source)
    assert failure.value.reason == reason
