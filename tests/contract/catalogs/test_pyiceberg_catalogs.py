"""What only the real adapter can be asked: hanging servers, threads, what it remembers, what it says."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from service.adapters.catalogs import PyIcebergCatalogs
from service.errors import CannotStart, CatalogDown
from service.model.health import PartState
from service.model.tables import PartitionField, TableName
from tests.contract.catalogs.lakehouse import PyIcebergLakehouse
from tests.fakes.clock import FakeClock

EVENTS = TableName("lake", "logs", "events")
BOUND_S = 2.5


@pytest.fixture
def hanging_port() -> Iterator[int]:
    """The system accepts connections for it; nobody ever answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=50) as listener:
        yield listener.getsockname()[1]


def _hanging(port: int) -> dict[str, Mapping[str, str]]:
    return {
        "rest": {"type": "rest", "uri": f"http://127.0.0.1:{port}", "credential": "id:s3cret"},
        "sql": {
            "type": "sql",
            "uri": f"postgresql+psycopg://me:s3cret@127.0.0.1:{port}/lake",
            "warehouse": "file:///nowhere",
        },
    }


@pytest.fixture
def sqlite_lakehouse(tmp_path: Path) -> Iterator[PyIcebergLakehouse]:
    properties = {
        "type": "sql",
        "uri": f"sqlite:///{tmp_path}/catalog.db",
        "warehouse": f"file://{tmp_path}/warehouse",
    }
    lakehouse = PyIcebergLakehouse(properties, lambda: None, lambda: None)
    yield lakehouse
    lakehouse.close()


@pytest.mark.filterwarnings("ignore:.*OAuth2.*:DeprecationWarning")
def test_a_hanging_catalog_holds_up_neither_health_nor_nearest(hanging_port: int, tmp_path: Path) -> None:
    up = {"type": "sql", "uri": f"sqlite:///{tmp_path}/up.db", "warehouse": f"file://{tmp_path}"}
    catalogs = PyIcebergCatalogs(_hanging(hanging_port) | {"up": up}, FakeClock(), timeout_s=3)
    before = time.monotonic()
    first, second = catalogs.health(), catalogs.health()
    assert time.monotonic() - before < 2 * BOUND_S
    states = {each.name: each.state for each in first}
    assert states["catalog:rest"] is states["catalog:sql"] is PartState.DOWN
    assert {each.name: each.state for each in second}["catalog:up"] is PartState.UP
    before = time.monotonic()
    assert catalogs.nearest("rest.logs.events") == ()
    assert time.monotonic() - before < BOUND_S
    catalogs.close()


@pytest.mark.filterwarnings("ignore:.*OAuth2.*:DeprecationWarning")
@pytest.mark.parametrize("name", ["rest", "sql"])
def test_a_hanging_catalog_is_down_after_its_timeout_and_keeps_its_secrets(
    hanging_port: int, name: str
) -> None:
    catalogs = PyIcebergCatalogs(_hanging(hanging_port), FakeClock(), timeout_s=0.5)
    with pytest.raises(CatalogDown) as raised:
        catalogs.facts(TableName(name, "logs", "events"))
    assert str(raised.value) == f"The catalog {name} does not answer."
    catalogs.close()


def test_a_gateway_can_be_built_while_every_catalog_is_down() -> None:
    down = {"type": "rest", "uri": "http://127.0.0.1:1"}
    catalogs = PyIcebergCatalogs({"lake": down}, FakeClock())
    assert [each.state for each in catalogs.health()] == [PartState.DOWN]


def test_a_listing_for_near_names_is_kept_for_a_few_seconds(sqlite_lakehouse: PyIcebergLakehouse) -> None:
    sqlite_lakehouse.create(EVENTS)
    catalogs = sqlite_lakehouse.catalogs
    assert catalogs.nearest("logs.evnts") == ("lake.logs.events",)
    sqlite_lakehouse.create(TableName("lake", "logs", "evnts"))
    assert catalogs.nearest("logs.evnts") == ("lake.logs.events",)
    sqlite_lakehouse.clock.advance(timedelta(seconds=6))
    assert catalogs.nearest("logs.evnts") == ("lake.logs.evnts", "lake.logs.events")


def test_many_threads_may_ask_at_once(sqlite_lakehouse: PyIcebergLakehouse) -> None:
    sqlite_lakehouse.create(EVENTS)
    catalogs = sqlite_lakehouse.catalogs
    with ThreadPoolExecutor(8) as pool:
        facts = list(pool.map(lambda _: catalogs.facts(EVENTS), range(64)))
    assert len(set(facts)) == 1


@pytest.mark.integration
def test_many_threads_may_ask_a_rest_catalog_at_once(rest_lakehouse: PyIcebergLakehouse) -> None:
    rest_lakehouse.create(EVENTS)
    with ThreadPoolExecutor(8) as pool:
        facts = list(pool.map(lambda _: rest_lakehouse.catalogs.facts(EVENTS), range(64)))
    assert len(set(facts)) == 1


def test_only_the_newest_hundred_snapshots_are_told(sqlite_lakehouse: PyIcebergLakehouse) -> None:
    sqlite_lakehouse.create(EVENTS)
    for _ in range(101):
        sqlite_lakehouse.append(EVENTS, 1)
    facts = sqlite_lakehouse.catalogs.facts(EVENTS)
    assert len(facts.snapshots) == 100
    assert facts.snapshots[0].snapshot_id == facts.snapshot_id
    assert facts.record_count == 101


def test_a_partition_field_names_its_source_as_it_is_called_now(sqlite_lakehouse: PyIcebergLakehouse) -> None:
    sqlite_lakehouse.create(EVENTS, partition_fields=(PartitionField("type", "log_type", "identity"),))
    table = sqlite_lakehouse.catalogs.pyiceberg("lake").load_table("logs.events")
    with table.update_schema() as schema:
        schema.rename_column("log_type", "kind")
    fields = sqlite_lakehouse.catalogs.facts(EVENTS).partition_fields
    assert fields == (PartitionField("type", "kind", "identity"),)


def test_an_impossible_catalog_keeps_the_gateway_from_starting() -> None:
    with pytest.raises(CannotStart, match="Catalog lake: property uri is missing"):
        PyIcebergCatalogs({"lake": {"type": "rest"}}, FakeClock())
