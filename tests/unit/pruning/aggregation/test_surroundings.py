from __future__ import annotations

import pytest

from service.model.query.refresh import NotRefreshable, RefreshOutcome
from service.pruning.aggregation.surroundings import surrounded

CORE = "SELECT a, sum(b) AS s FROM t GROUP BY a"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("SELECT s FROM (", ") AS g WHERE s > 1 ORDER BY s LIMIT 3"),
        ("SELECT s FROM (SELECT a, s FROM (", ") AS x) AS y(a, s)"),
        ("SELECT 'sum(' || a FROM (\n-- all\n", "\n)"),
        ("SELECT x LIKE ANY ('a', 'b') FROM (", ") `x y`"),
    ],
)
def test_the_text_around_an_aggregation_stays(before: str, after: str) -> None:
    found = surrounded(before + CORE + after + " ;")
    assert (found.before, found.aggregation, found.after) == (before, CORE, after)


def test_the_outermost_aggregation_counts() -> None:
    text = f"SELECT max(s) FROM ({CORE})"
    assert surrounded(text).aggregation == text


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT a FROM t", RefreshOutcome.NOT_AGGREGATED),
        (f"SELECT s FROM ({CORE}) g JOIN u ON true", RefreshOutcome.JOIN),
        (f"SELECT s FROM ({CORE}) g, u", RefreshOutcome.JOIN),
        (f"SELECT s FROM ({CORE}) g WHERE s > (SELECT 1)", RefreshOutcome.SUBQUERY),
        (f"SELECT s FROM ({CORE}) g WHERE s IN (FROM t)", RefreshOutcome.SUBQUERY),
        (f"SELECT (SELECT 1), s FROM ({CORE})", RefreshOutcome.SUBQUERY),
        (f"SELECT s, row_number() OVER (ORDER BY s) FROM ({CORE})", RefreshOutcome.WINDOW),
        (f"SELECT DISTINCT s FROM ({CORE})", RefreshOutcome.DISTINCT),
        (f"SELECT s FROM ({CORE}) UNION ALL SELECT 1", RefreshOutcome.NOT_ONE_SELECT),
        (f"SELECT s FROM ({CORE} UNION ALL {CORE})", RefreshOutcome.NOT_ONE_SELECT),
        (f"SELECT s FROM (({CORE}))", RefreshOutcome.NOT_ONE_SELECT),
        (f"SELECT __a0 FROM ({CORE})", RefreshOutcome.NAMES),
        (f"WITH f AS ({CORE}) SELECT s FROM f", RefreshOutcome.NOT_ONE_SELECT),
    ],
)
def test_other_texts_around_it_are_refused(sql: str, reason: RefreshOutcome) -> None:
    with pytest.raises(NotRefreshable) as failure:
        surrounded(sql)
    assert failure.value.reason is reason
