"""The unpinned references of a verified query, and whether their tables may have changed during it."""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import pytest

from service.model.tables.tables import NOW, TableAt, TableFacts, TableName
from service.pruning.sql_text.inject import TableSubstitution
from service.pruning.sql_text.metadata_names import metadata_names
from service.pruning.sql_text.parse import parse
from service.pruning.sql_text.table_names import table_names
from service.query.filtering.unpinned_references import UnpinnedReference, has_changed, unpinned_references
from tests.fakes.catalogs import FakeCatalogs
from tests.unit.pruning.tables import TABLES

LAKE = frozenset({"lake"})


def at(table: str) -> TableAt:
    return TableAt(TableName("lake", "shop", table))


def referenced(sql: str) -> tuple[UnpinnedReference, ...]:
    """Returns the unpinned references of a query in which all references to `sales` are pinned."""
    parsed = parse(sql)
    assert parsed is not None
    parsed = metadata_names(parsed, LAKE, "lake")
    names = table_names(parsed, LAKE, "lake", "shop")
    pins = {end: TableSubstitution(1) for end, name in names.items() if name.name.table == "sales"}
    return unpinned_references(parsed, names, TABLES, pins)


def known(table: str) -> UnpinnedReference:
    return UnpinnedReference(at(table), TABLES[at(table)])


UNKNOWN = UnpinnedReference()


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT 1 FROM sales", ()),
        ("SELECT 1 FROM shop.sales.branch_audit", ()),
        ("SELECT 1 FROM sales, item", (known("item"),)),
        ("SELECT 1 FROM item TABLESAMPLE (10 PERCENT), sales, item AS i", (known("item"),)),
        ("SELECT 1 FROM sales WHERE EXISTS (SELECT 1 FROM logs)", (known("logs"),)),
        ("SELECT /*+ BROADCAST(item) */ 1 FROM sales", ()),
        ("SELECT 1 FROM sales, gone", (UnpinnedReference(at("gone")),)),
        ("SELECT 1 FROM sales, item VERSION AS OF :v", (UNKNOWN,)),
        ("SELECT 1 FROM sales, IDENTIFIER('item')", (UNKNOWN,)),
        ("SELECT 1 FROM sales, range(3), explode(array(1)), VALUES (1) AS v (a)", ()),
        ("WITH c AS (SELECT 1 FROM sales) SELECT 1 FROM C, c AS d", ()),
        ("WITH item AS (SELECT 1 FROM item) SELECT 1 FROM item", (UNKNOWN,)),
        ("WITH a AS (SELECT 1), b AS (SELECT 1 FROM a) SELECT 1 FROM b", ()),
        ("WITH RECURSIVE a AS (SELECT 1 UNION ALL SELECT 1 FROM a) SELECT 1 FROM a", ()),
        ("SELECT 1 FROM (WITH item AS (SELECT 1) SELECT 1 FROM item), item", (UNKNOWN,)),
    ],
)
def test_what_is_not_pinned_is_reported_once(sql: str, expected: tuple[UnpinnedReference, ...]) -> None:
    assert referenced(sql) == expected


def changed(table: str, now: TableFacts | None) -> bool:
    before = TABLES[at(table)]
    catalogs = FakeCatalogs(tables=[facts for asked, facts in TABLES.items() if asked.version == NOW])
    if now is None:
        catalogs.down.add("lake")
    else:
        catalogs.put(now)
    return has_changed([UnpinnedReference(at(table), before)], catalogs)


@pytest.mark.parametrize("table", ["item", "nothing", "logs"])
def test_a_table_is_the_same_until_it_is_written_to(table: str) -> None:
    facts = TABLES[at(table)]
    assert not changed(table, facts)
    # A table without snapshots gets another id whenever its files change.
    assert changed(table, replace(facts, snapshot_id=None if table == "logs" else 77, table_uuid=uuid4()))


def test_each_of_a_tables_states_counts() -> None:
    facts = TABLES[at("item")]
    assert changed("item", replace(facts, snapshot_id=77))
    assert changed("item", replace(facts, schema_id=77))
    assert changed("item", replace(facts, table_uuid=uuid4()))


@pytest.mark.parametrize("table", ["item", "logs"])
def test_a_table_that_cannot_be_asked_for_any_more_may_have_changed(table: str) -> None:
    assert changed(table, None)


def test_what_is_not_known_may_have_changed() -> None:
    assert changed("remote", TABLES[at("remote")])
    assert has_changed([UNKNOWN], FakeCatalogs())
    assert has_changed([UnpinnedReference(at("gone"))], FakeCatalogs())
    assert not has_changed([], FakeCatalogs())
