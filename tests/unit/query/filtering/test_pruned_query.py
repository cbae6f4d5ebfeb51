"""Filters of a pruned query, as a run leaves them."""

from __future__ import annotations

from service.query.filtering.pruned_query import PrunedQuery
from tests.fakes.query_records import applied, refused


def test_the_filters_whose_tuples_chose_files_say_so() -> None:
    pruned = PrunedQuery("SELECT 1", filters=(applied("df1"), applied("df7"), refused()))
    found = pruned.with_tuples(frozenset({"df7"}))
    assert found.filters[0].detail == "48 of 50 files overlap"
    assert found.filters[1].detail == "48 of 50 files overlap; files were chosen by 366 tuples in memory"
    assert found.filters[2] == refused()
    assert pruned.with_tuples(frozenset()) is pruned
