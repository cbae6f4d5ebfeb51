"""Keys of another type than the column that they filter, and key sets that are too large."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from pyspark.sql import SparkSession

from service.gateway import Gateway
from service.model.filters.filter_record import Reason
from service.model.filters.key_set import FilterForm
from service.query.filtering.collect import CollectBounds, Collector
from service.query.filtering.detection.detections import DetectionBounds, Detections
from service.query.filtering.engine_keys import KEY_BYTES, EngineKeys
from service.query.filtering.prune import Pruner
from spark_session.engine.engine import SparkEngine
from tests.equivalence.harness import Harness
from tests.fakes.filter_cache import FakeFilterCache
from tests.fakes.key_collector import FakeKeyCollector
from tests.fakes.probe_values import FakeProbeValues
from tests.fakes.views import FakeViews

STAR = "SELECT f.id, d.k FROM {table} f JOIN dim d ON {condition} WHERE d.year = 1999"

PRUNED = {
    "an INT and text": ("by_k", "f.k = d.text_k"),
    "a BIGINT and text": ("by_tens", "f.b = d.text_k"),
    "an INT and a BIGINT, cast": ("by_k", "CAST(f.k AS BIGINT) = d.big_k"),
    "an INT as a decimal": ("by_k", "CAST(f.k AS DECIMAL(20, 0)) = d.big_k"),
    "an INT and a decimal": ("by_k", "f.k = d.price"),
    "a decimal and an INT": ("by_price", "f.price = d.k"),
    "a decimal and text as a decimal": ("by_price", "f.price = CAST(d.text_k AS DECIMAL(9, 3))"),
    "decimals of another precision": ("by_price", "f.price = d.wide_price"),
    "a decimal that is cast to a wider one": ("by_price", "CAST(f.price AS DECIMAL(9, 2)) = d.wide_price"),
    "the day of a moment": ("by_day_of_at", "CAST(f.at AS DATE) = d.day"),
    "the day of a moment, by to_date": ("by_day_of_at", "d.day = to_date(f.at)"),
    "the day of a moment by years": ("by_year", "date(f.at) = d.day"),
    "the day of a moment with a zone": ("by_hour", "CAST(f.at_utc AS DATE) = d.day"),
    "the days of two moments": ("by_day_of_at", "CAST(f.at AS DATE) = CAST(d.at_utc AS DATE)"),
    "the day of a moment and a moment": ("by_day_of_at", "CAST(f.at AS DATE) = d.at"),
    "a day and a moment": ("by_day", "f.day = d.at"),
    "a day and a moment with a zone": ("by_day", "f.day = d.at_utc"),
    "a day and the day of a moment": ("by_month", "f.day = CAST(d.at AS DATE)"),
    "a moment and a day": ("by_day_of_at", "f.at = d.day"),
    "a moment with a zone and a day": ("by_hour", "f.at_utc = d.day"),
    "a day and text": ("by_day", "f.day = CAST(d.day AS STRING)"),
    "text of a number": ("by_k", "CAST(f.k AS STRING) = d.text_k"),
    "a day as a moment": ("by_day", "CAST(f.day AS TIMESTAMP) = d.at_utc"),
    "a computed key": ("by_k", "f.k = d.k + 1"),
    "a key that is computed from text": ("by_bucket", "f.b = 2 * CAST(d.text_k AS INT)"),
    "text in capitals": ("by_name", "f.name = upper(d.name)"),
}

COMPUTED = {
    "a sum": ("by_k", "f.k + 1 = d.k"),
    "text of a decimal": ("by_price", "CAST(f.price AS STRING) = d.text_k"),
    "a narrower number": ("by_tens", "CAST(f.b AS INT) = d.k"),
    "a rounded decimal": ("by_price", "CAST(f.price AS DECIMAL(7, 1)) = d.price"),
    "NULL is given a value": ("by_k", "coalesce(f.k, 1) = d.k"),
    "a month": ("by_day_of_at", "trunc(f.at, 'MM') = d.day"),
    "a quotient": ("by_k", "f.k = d.k / 2"),
}


@pytest.mark.parametrize(("table", "condition"), PRUNED.values(), ids=PRUNED)
def test_keys_of_another_type_prune(table: str, condition: str, harness: Harness) -> None:
    checked = harness.check(STAR.format(table=table, condition=condition))
    assert [column.split(".")[0] for column in checked.applied] == [table], checked.pruned.filters
    assert checked.files(table).selected < checked.files(table).total


@pytest.mark.parametrize(("table", "condition"), COMPUTED.values(), ids=COMPUTED)
def test_what_is_computed_from_the_probe_prunes_nothing(table: str, condition: str, harness: Harness) -> None:
    checked = harness.check(STAR.format(table=table, condition=condition))
    assert checked.applied == {}
    reasons = {
        filter_record.reason
        for filter_record in checked.pruned.filters
        if filter_record.probe.table.table == table
    }
    assert reasons == {Reason.KEY_IS_COMPUTED}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id FROM by_k WHERE k IN (SELECT text_k FROM dim WHERE year = 1999)",
        "SELECT id FROM by_k f WHERE EXISTS (SELECT 1 FROM dim d WHERE d.text_k = f.k AND d.year = 1999)",
        "SELECT d.k, f.id FROM dim d LEFT JOIN by_k f ON f.k = d.text_k WHERE d.year = 1999",
        "SELECT f.id FROM (SELECT k AS j, id FROM by_k) f, dim d WHERE CAST(j AS LONG) = d.big_k AND d.k < 3",
        "SELECT f.id FROM by_k f LEFT SEMI JOIN dim d ON f.k = d.text_k AND d.year = 1999",
        "SELECT id FROM by_k WHERE CAST(k AS LONG) IN (SELECT big_k FROM dim WHERE year = 1999)",
        "SELECT id FROM by_k WHERE k IN (SELECT DISTINCT k + 2 FROM dim WHERE year = 1999)",
        "SELECT id FROM by_k f WHERE EXISTS"
        " (SELECT 1 FROM dim d WHERE d.k - 1 = CAST(f.k AS LONG) AND d.year = 1999)",
    ],
)
def test_every_kind_of_join_converts_keys(sql: str, harness: Harness) -> None:
    assert "by_k.k" in harness.check(sql).applied


@pytest.mark.parametrize(("table", "condition"), PRUNED.values(), ids=PRUNED)
@pytest.mark.parametrize("join", ["dim d LEFT JOIN {table} f", "{table} f RIGHT JOIN dim d"])
def test_keys_of_another_type_prune_the_side_that_is_filled(
    table: str, condition: str, join: str, harness: Harness
) -> None:
    joined = f"{join.format(table=table)} ON {condition}"
    checked = harness.check(f"SELECT d.k, f.id FROM {joined} WHERE d.year = 1999")
    assert [column.split(".")[0] for column in checked.applied] == [table], checked.pruned.filters
    assert checked.files(table).selected < checked.files(table).total


@pytest.mark.parametrize(
    ("join", "reason"),
    [
        ("{table} f LEFT JOIN dim d", Reason.PROBE_IS_PRESERVED_SIDE),
        ("dim d RIGHT JOIN {table} f", Reason.PROBE_IS_PRESERVED_SIDE),
        ("{table} f FULL JOIN dim d", Reason.PROBE_IS_PRESERVED_SIDE),
        ("{table} f LEFT ANTI JOIN dim d", Reason.ANTI_JOIN),
    ],
)
@pytest.mark.parametrize(
    "case", ["an INT and a BIGINT, cast", "an INT and text", "the day of a moment", "a computed key"]
)
def test_no_preserved_side_is_pruned_whatever_is_compared(
    join: str, reason: Reason, case: str, harness: Harness
) -> None:
    table, condition = PRUNED[case]
    checked = harness.check(f"SELECT f.id FROM {join.format(table=table)} ON {condition} AND d.year = 1999")
    assert checked.applied == {}
    assert reason in {
        filter_record.reason
        for filter_record in checked.pruned.filters
        if filter_record.probe.table.table == table
    }


def test_a_union_of_types_is_left_alone(harness: Harness) -> None:
    union = "SELECT id, CAST(k AS STRING) AS k FROM by_tens UNION ALL SELECT id, name FROM by_name"
    checked = harness.check(f"SELECT f.id FROM ({union}) f JOIN dim d ON f.k = d.name WHERE d.year = 1999")
    # The type of the other branch is not known here.
    assert checked.applied == {}
    mixed = "SELECT id, at AS day FROM by_day_of_at UNION ALL SELECT id, day FROM by_day"
    checked = harness.check(f"SELECT f.id FROM ({mixed}) f JOIN dim d ON f.day = d.at WHERE d.year = 1999")
    assert "by_day.day" not in checked.applied


def test_text_that_is_no_number_leaves_the_query_as_it_is_written(harness: Harness) -> None:
    pruned = harness.prune("SELECT f.id FROM by_k f JOIN dim d ON f.k = d.name WHERE d.year = 1999")
    assert not any(filter_record.is_applied for filter_record in pruned.filters)
    assert Reason.COLLECT_FAILED in {filter_record.reason for filter_record in pruned.filters}


@pytest.fixture
def three_keys(gateway: Gateway, harness: Harness) -> Iterator[Harness]:
    """A pruner that collects at most three keys, and turns more into at most three ranges."""
    yield from _with_bounds(gateway, harness, max_filter_bytes=3 * KEY_BYTES, session={"timeZone": "UTC"})


@pytest.fixture
def some_zone(gateway: Gateway, harness: Harness) -> Iterator[Harness]:
    """A pruner that does not know the session's time zone."""
    yield from _with_bounds(gateway, harness, max_filter_bytes=1 << 20, session={})


def _with_bounds(
    gateway: Gateway, harness: Harness, max_filter_bytes: int, session: dict[str, str]
) -> Iterator[Harness]:
    ports = harness._ports
    looked_for = DetectionBounds(max_build_rows=5_000_000, catalog_names=frozenset({"lake"}), session=session)
    keys = EngineKeys(ports.engine, max_filter_bytes, max_ranges=3)
    values, relations = ports.pruner._detections._probe_values, ports.pruner._relations
    with ThreadPoolExecutor(2) as executor:
        reader, cache = FakeKeyCollector(), FakeFilterCache()
        collector = Collector(
            reader, keys, cache, executor, ports.clock, CollectBounds(wait_s=60, collect_s=120)
        )
        detections = Detections(ports.catalogs, FakeViews(), values, ports.clock, looked_for)
        other = Harness(gateway)
        pruner = Pruner(detections, collector, relations, ports.pruner._bounds)
        other._ports = replace(ports, pruner=pruner)
        yield other


MANY = "SELECT f.id FROM {table} f JOIN dim d ON {condition} WHERE d.k BETWEEN 0 AND 2 OR d.k BETWEEN 8 AND 9"


@pytest.mark.parametrize(
    ("table", "condition", "range_count"),
    [
        ("by_k", "f.k = d.k", 2),
        ("by_tens", "f.b = d.big_k", 2),
        ("by_day", "f.day = d.day", 2),
        ("by_price", "f.price = d.price", 3),
        ("by_name", "f.name = d.name", 1),
        ("by_day_of_at", "CAST(f.at AS DATE) = d.day", 2),
        ("by_day_of_at", "f.at = d.at", 3),
        ("sorted_by_k", "f.k = d.text_k", 2),
        ("by_k", "f.k = d.price", 3),
    ],
)
def test_too_many_keys_prune_as_ranges(
    table: str, condition: str, range_count: int, three_keys: Harness
) -> None:
    checked = three_keys.check(MANY.format(table=table, condition=condition))
    [found] = checked.applied.values()
    assert (found.form, found.exceeds_threshold, found.value_count) == (FilterForm.RANGES, True, 0)
    assert len(found.ranges) <= range_count
    assert checked.files(table).selected < checked.files(table).total, checked.pruned.sql


@pytest.mark.parametrize("least", ["9223372036854775000", "2147483648"])
def test_ranges_of_the_least_numbers_do_not_prune_what_is_truncated(least: str, three_keys: Harness) -> None:
    three_keys._ports.pruner._detections._probe_values = FakeProbeValues()
    checked = three_keys.check(MANY.format(table="by_tens", condition=f"f.b = d.big_k - {least}"))
    assert checked.applied == {}
    assert Reason.RANGES_ONLY in {filter_record.reason for filter_record in checked.pruned.filters}


def test_too_many_keys_do_not_prune_buckets(three_keys: Harness) -> None:
    checked = three_keys.check(MANY.format(table="by_bucket", condition="f.b = d.big_k"))
    assert checked.applied == {}
    assert Reason.RANGES_ONLY in {filter_record.reason for filter_record in checked.pruned.filters}


@pytest.mark.parametrize(
    ("table", "condition"),
    [
        ("by_hour", "CAST(f.at_utc AS DATE) = d.day"),
        ("by_day_of_at", "CAST(f.at AS DATE) = d.day"),
        ("by_hour", "f.at_utc = d.day"),
    ],
)
def test_days_in_whatever_zone_prune(table: str, condition: str, some_zone: Harness) -> None:
    star = "SELECT f.id FROM {table} f JOIN dim d ON {condition} WHERE d.k = 0"
    checked = some_zone.check(star.format(table=table, condition=condition))
    assert len(checked.applied) == 1
    assert checked.files(table).selected < checked.files(table).total


def test_days_and_moments_are_not_compared_in_a_zone_that_is_not_known(some_zone: Harness) -> None:
    checked = some_zone.check(STAR.format(table="by_day", condition="f.day = d.at_utc"))
    assert checked.applied == {}
    assert Reason.TYPE_NOT_CONVERTIBLE in {filter_record.reason for filter_record in checked.pruned.filters}


COERCIONS = {
    "f.k = d.text_k": ("cast(text_k as bigint)", "cast(text_k as int)"),
    "f.b = d.text_k": ("cast(text_k as bigint)", "cast(text_k as bigint)"),
    "f.name = d.k": ("cast(name as bigint)", "cast(name as int)"),
    "f.day = d.name": ("cast(name as date)", "cast(name as date)"),
    "f.day = d.at": ("cast(day as timestamp_ntz)", "cast(day as timestamp_ntz)"),
    "f.day = d.at_utc": ("cast(day as timestamp)", "cast(day as timestamp)"),
    "f.at = d.day": ("cast(day as timestamp_ntz)", "cast(day as timestamp_ntz)"),
    "f.at_utc = d.day": ("cast(day as timestamp)", "cast(day as timestamp)"),
    "f.k = d.price": ("as decimal(12,2)) = cast(price", "as decimal(12,2)) = cast(price"),
}


@pytest.mark.parametrize("condition", COERCIONS)
def test_the_engine_compares_types_as_the_rules_say(
    condition: str, gateway: Gateway, harness: Harness
) -> None:
    assert harness.run("SELECT 1").rows.num_rows == 1
    for is_ansi, expected in zip(("true", "false"), COERCIONS[condition], strict=True):
        session = _session(gateway)
        session.conf.set("spark.sql.ansi.enabled", is_ansi)
        frame = session.sql(f"SELECT 1 FROM lake.shop.by_k f JOIN lake.shop.dim d ON {condition}")
        plan = frame._jdf.queryExecution().analyzed().toString()
        [join] = [line for line in plan.splitlines() if "Join" in line]
        assert expected in _without_ids(join)


def _session(gateway: Gateway) -> SparkSession:
    engine = gateway.queries.ports.engine
    assert isinstance(engine, SparkEngine)
    assert engine.session is not None
    return engine.session.children._root.newSession()


def _without_ids(line: str) -> str:
    return "".join(part.lstrip("0123456789L") if at else part for at, part in enumerate(line.split("#")))
