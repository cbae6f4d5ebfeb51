"""The engine's own catalog beside the configured ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.adapters.catalogs.session_catalog import CatalogsWithSession
from service.errors.table_errors import TableNotFound
from service.errors.unavailable import CatalogDown
from service.model.operations.health import PartState
from service.model.tables.tables import TableAt, TableName, TableSource, TableVersion, VersionKind
from tests.fakes.catalogs import FakeCatalogs, facts_of_empty_table
from tests.fakes.session_tables import FakeSessionTables

ITEM = facts_of_empty_table(TableName("lake", "shop", "item"))
EVENTS = replace(facts_of_empty_table(TableName("spark_catalog", "logs", "events")), source=TableSource.FILES)


@pytest.fixture
def session_tables() -> FakeSessionTables:
    return FakeSessionTables(EVENTS)


@pytest.fixture
def catalogs(session_tables: FakeSessionTables) -> CatalogsWithSession:
    return CatalogsWithSession(FakeCatalogs(tables=[ITEM]), session_tables, timeout_s=20)


def test_tables_of_all_catalogs_are_listed(catalogs: CatalogsWithSession) -> None:
    assert catalogs.tables().tables == (ITEM.name, EVENTS.name)
    assert catalogs.tables("lake").tables == (ITEM.name,)
    assert catalogs.tables("spark_catalog").tables == (EVENTS.name,)
    assert catalogs.tables("spark_catalog", "nowhere").tables == ()
    assert catalogs.tables(schema="logs").tables == (EVENTS.name,)


def test_each_table_is_asked_for_where_it_is(catalogs: CatalogsWithSession) -> None:
    assert catalogs.facts(ITEM.name) == ITEM
    assert catalogs.facts(EVENTS.name) == EVENTS
    unknown = TableAt(TableName("spark_catalog", "logs", "evnts"))
    item, events = TableAt(ITEM.name), TableAt(EVENTS.name)
    assert catalogs.facts_of([item, events, unknown]) == {item: ITEM, events: EVENTS}


def test_tables_of_the_session_have_no_versions(catalogs: CatalogsWithSession) -> None:
    first = TableAt(EVENTS.name, TableVersion(VersionKind.SNAPSHOT, 1))
    assert catalogs.facts_of([first]) == {}


def test_one_table_is_reported_as_it_is_now_and_of_several_files_may_be_older(
    catalogs: CatalogsWithSession, session_tables: FakeSessionTables
) -> None:
    catalogs.facts(EVENTS.name)
    catalogs.facts_of([TableAt(EVENTS.name)])
    assert session_tables.max_ages_ms == [0, 30_000]


def test_an_unknown_table_is_reported_with_those_that_look_like_it(catalogs: CatalogsWithSession) -> None:
    with pytest.raises(TableNotFound) as raised:
        catalogs.facts(TableName("spark_catalog", "logs", "evnts"))
    assert raised.value.nearest == ("spark_catalog.logs.events",)


def test_the_others_answer_while_the_engine_is_down(
    catalogs: CatalogsWithSession, session_tables: FakeSessionTables
) -> None:
    session_tables.is_down = True
    assert catalogs.facts_of([TableAt(ITEM.name), TableAt(EVENTS.name)]) == {TableAt(ITEM.name): ITEM}
    assert [health.state for health in catalogs.health()] == [PartState.UP, PartState.DOWN]
    with pytest.raises(CatalogDown):
        catalogs.facts(EVENTS.name)
    session_tables.is_down = False
    assert [health.name for health in catalogs.health()] == ["catalog:lake", "catalog:spark_catalog"]
    assert {health.state for health in catalogs.health()} == {PartState.UP}
