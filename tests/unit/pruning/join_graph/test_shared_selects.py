from __future__ import annotations

import pytest
import sqlglot
from sqlglot import exp
from sqlglot.optimizer.scope import build_scope

from service.pruning.join_graph.shared_selects import shared_selects


def shared_tables(sql: str) -> set[str]:
    root = build_scope(sqlglot.parse_one(sql, read="spark"))
    assert root is not None
    shared = shared_selects(root, root.ref_count())
    return {
        table.name
        for scope in root.traverse()
        if id(scope) in shared
        for table in scope.sources.values()
        if isinstance(table, exp.Table)
    }


@pytest.mark.parametrize(
    ("sql", "tables"),
    [
        ("WITH c AS (SELECT * FROM a) SELECT * FROM c", set()),
        ("WITH c AS (SELECT * FROM a) SELECT * FROM c JOIN c AS d", {"a"}),
        ("WITH b AS (SELECT * FROM a), c AS (SELECT * FROM b) SELECT * FROM c, c AS d, e", {"a"}),
        ("WITH c AS (SELECT 1 FROM a UNION SELECT 2 FROM (SELECT 1 FROM b)) SELECT 1 FROM c,c d", {"a", "b"}),
        ("WITH c AS (SELECT 1 FROM a WHERE EXISTS (SELECT 1 FROM b)) SELECT * FROM c, c AS d, e", {"a", "b"}),
    ],
)  # fmt: skip
def test_what_is_read_by_a_select_with_two_references_is_read_twice(sql: str, tables: set[str]) -> None:
    assert shared_tables(sql) == tables
