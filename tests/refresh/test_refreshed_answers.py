"""Aggregations are answered from kept groups and the files that were added, as a full run answers them."""

from __future__ import annotations

from random import Random
from uuid import uuid4

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table

from service.model.query.reuse import ReuseKind
from tests.refresh.asker import Asker
from tests.refresh.tables import DIMENSION, FACT, dimension_rows, fact_rows, in_arrow, make_table

RANDOM = Random(1)


@pytest.fixture
def fact(lake: SqlCatalog) -> Table:
    table = make_table(lake, f"fact_{uuid4().hex[:8]}", FACT, "k")
    table.append(in_arrow(table, fact_rows(RANDOM, 60)))
    return table


@pytest.fixture
def dimension(lake: SqlCatalog) -> Table:
    table = make_table(lake, f"dim_{uuid4().hex[:8]}", DIMENSION)
    table.append(in_arrow(table, dimension_rows(RANDOM)))
    return table


def named(table: Table) -> str:
    return table.name()[-1]


TEXTS = (
    "SELECT count(*) FROM {fact}",
    "SELECT sum(price), count(name), min(day), max(at) FROM {fact} WHERE small > 0",
    "SELECT k, sum(price) AS paid, approx_count_distinct(id, 0.02) n FROM {fact} GROUP BY k",
    "SELECT k + 1 AS next, avg(price), avg(amount), avg(long_amount), avg(small), avg(big)"
    " FROM {fact} GROUP BY 1",
    "SELECT name, sum(amount) / count(*) AS mean FROM {fact} GROUP BY name HAVING count(*) > 1 ORDER BY 1",
    "SELECT label, sum(price * rate), max(at_utc), bool_or(is_paid), approx_count_distinct(amount)"
    " FROM {fact} JOIN {dim} ON k = dk GROUP BY label",
    "SELECT d.year AS y, sum(f.big) FILTER (WHERE f.is_paid) FROM {fact} f LEFT JOIN {dim} d ON f.k = d.dk"
    " GROUP BY d.year ORDER BY y LIMIT 2",
    "SELECT sum(wide), avg(wide), count_if(is_paid), bit_xor(small), sum(small),"
    " approx_count_distinct(f.weight, 0.3D) + 1, approx_count_distinct(name) FILTER (WHERE small > 5)"
    " FROM {fact} f",
)
FROM_METADATA = {0}
"""Iceberg counts all rows of a table without reading a file."""


@pytest.mark.parametrize("number", range(len(TEXTS)))
def test_an_answer_is_brought_up_to_date(asker: Asker, fact: Table, dimension: Table, number: int) -> None:
    sql = TEXTS[number].format(fact=named(fact), dim=named(dimension))
    first = asker.ask(sql)
    assert first.has_state, asker.outcomes()
    assert first.kind is None
    full = asker.run(sql)
    assert (first.columns, first.bag()) == (full.columns, full.bag())
    for _ in range(2):
        assert asker.ask(sql).kind is ReuseKind.RESULT
        # No WHERE clause leaves all files out.
        rows = fact_rows(RANDOM, 5)
        fact.append(in_arrow(fact, [rows[0] | {"small": 2}, *rows[1:]]))
        again, full = asker.ask(sql), asker.run(sql)
        assert again.is_refreshed, asker.outcomes()
        assert (again.columns, again.bag()) == (full.columns, full.bag())
        assert again.record.reused is not None
        assert again.record.reused.query_id == first.record.query_id
        added, everything = again.selected_bytes(named(fact)), full.selected_bytes(named(fact))
        if number in FROM_METADATA:
            assert everything == 0
        else:
            assert 0 < added < everything
