"""Keys found in the kept rows of a wider set are those that a collection finds, on real files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table

from service.adapters.catalogs.catalogs import PyIcebergCatalogs
from service.adapters.keys.key_collector import ArrowKeyCollector
from service.adapters.keys.key_selector import ArrowKeySelector
from service.errors.query_errors import QueryCanceled, QueryFailed
from service.model.filters.dynamic_filter import Build, DynamicFilter, JoinType, Probe
from service.model.filters.filter_record import FilterOutcome, Reason
from service.model.filters.key_selection import Bound, ColumnSet, KeyFamily, KeySelection
from service.model.filters.key_set import DynamicFilteringData, FilterSource
from service.model.policies.decisions import FULL_ACCESS
from service.model.query.query import Parameter, Parameters
from service.model.tables.tables import TableName
from service.ports.engine.query_engine import EngineResult
from service.query.filtering.collect import CollectBounds, Collector
from service.query.filtering.engine_keys import Collecting, EngineKeys
from service.query.filtering.kept_sets import KeptBounds, KeptSets
from tests.fakes.clock import FakeClock
from tests.fakes.engine import FakeEngine, engine_result
from tests.fakes.filter_cache import FakeFilterCache

DAYS, SALES = TableName("lake", "shop", "days"), TableName("lake", "shop", "sales")
SCHEMA = pa.schema({"K": "int32", "day": "date32", "year": "int32", "month": "int32", "weight": "float64"})
YEAR, MARCH = "`t0`.`year` = 2001", "`t0`.`year` = 2001 AND `t0`.`month` = 3"
NAMED = ("K", "day", "year", "Month", "weight")
BOUNDS = KeptBounds(max_sets=4, max_columns=4, max_rows=1_000, max_bytes=100_000)


def calendar() -> pa.Table:
    days = [date(2000, 1, 1) + timedelta(days=number) for number in range(900)]
    columns = {
        "K": [None if number % 50 == 0 else number for number in range(900)],
        "day": days,
        "year": [day.year for day in days],
        "month": [day.month for day in days],
        "weight": [float(day.month) for day in days],
    }
    return pa.table(columns, schema=SCHEMA)


@dataclass
class Gateway:
    """The parts that find keys, with an engine that fails unless a test gives it answers."""

    table: Table
    catalogs: PyIcebergCatalogs
    cache: FakeFilterCache = field(default_factory=FakeFilterCache)

    def __post_init__(self) -> None:
        opened = self.catalogs.opened
        self.engine = FakeEngine(*[QueryFailed("no engine")] * 9)
        self.threads = ThreadPoolExecutor(1)
        self.collector = Collector(
            ArrowKeyCollector(opened, 1 << 20, 64),
            EngineKeys(self.engine, 1 << 20, 8),
            self.cache,
            self.threads,
            FakeClock(),
            CollectBounds(wait_s=20, collect_s=120),
            None,
            KeptSets(ArrowKeySelector(opened, 1 << 20), self.cache.kept_rows, BOUNDS),
        )

    def filter(self, condition: str, family: str = "f", named: tuple[str, ...] = NAMED) -> DynamicFilter:
        snapshot = self.table.refresh().current_snapshot()
        assert snapshot is not None
        at = snapshot.snapshot_id
        sql = (
            f"SELECT DISTINCT `t0`.`k` AS `k0` FROM `lake`.`shop`.`days` VERSION AS OF {at} AS `t0`"
            f" WHERE {condition} AND NOT `t0`.`k` IS NULL"
        )
        return DynamicFilter(
            filter_id="df1",
            join_type=JoinType.INNER,
            probe=Probe(SALES, ("day_key",), ("int",), 1),
            build=Build((DAYS,), ("k",), condition, (at,)),
            filtering_query=sql,
            fingerprint=f"{family} {at} {condition}",
            parameter_names=frozenset({"x"}),
            family=KeyFamily(family, named),
        )

    def ask(self, wanted: DynamicFilter, parameters: Parameters = ()) -> FilterOutcome:
        asked = Collecting(parameters, lambda: False, FULL_ACCESS)
        return self.collector.collect([wanted], [], asked)[0]["df1"]

    def keys(self, condition: str) -> DynamicFilteringData:
        """Returns the keys as a collection without kept rows finds them."""
        found = ArrowKeyCollector(self.catalogs.opened, 1 << 20, 64).collect(
            self.filter(condition), (), lambda: False
        )
        assert found is not None
        return found


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[Gateway]:
    properties = {"type": "sql", "uri": f"sqlite:///{tmp_path}/lake.db", "warehouse": f"file://{tmp_path}"}
    catalogs = PyIcebergCatalogs({"lake": properties}, FakeClock())
    writer = SqlCatalog("lake", **catalogs.pyiceberg("lake").properties)
    writer.create_namespace("shop")
    table = writer.create_table("shop.days", SCHEMA)
    table.append(calendar())
    made = Gateway(table, catalogs)
    yield made
    made.threads.shutdown()
    catalogs.close()


def test_a_month_is_found_in_a_year_and_is_then_a_set_of_its_own(gateway: Gateway) -> None:
    year = gateway.ask(gateway.filter(YEAR))
    asked_before = gateway.cache.kept_rows.asked
    march = gateway.ask(gateway.filter(MARCH))
    assert (year.source, year.detail) == (FilterSource.COLLECTED, "")
    within = gateway.filter(YEAR).fingerprint
    assert (march.source, march.detail) == (
        FilterSource.CONTAINED,
        f"The keys were found in the cached set {within}.",
    )
    assert march.data == gateway.keys(MARCH)
    assert 0 < len(march.data.values) < 32
    assert gateway.cache.kept_rows.asked == asked_before + 2
    again = gateway.ask(gateway.filter(MARCH))
    assert (again.source, again.data, again.detail) == (FilterSource.CACHED, march.data, "")
    assert gateway.cache.kept_rows.asked == asked_before + 2, "a set that is cached needs no lookup"


def test_a_set_that_is_not_contained_costs_one_question(gateway: Gateway) -> None:
    gateway.ask(gateway.filter(YEAR))
    before = gateway.cache.kept_rows.asked
    assert gateway.ask(gateway.filter("`t0`.`month` = 3")).source is FilterSource.COLLECTED
    assert gateway.cache.kept_rows.asked == before + 1


WIDER: Mapping[str, tuple[str, str]] = {
    "longer range": (YEAR, "`t0`.`year` >= 2001"),
    "other list": ("`t0`.`month` IN (1, 2)", "`t0`.`month` IN (2, 3)"),
    "other text": ("`t0`.`weight` > 1.5 AND `t0`.`year` = 2001", MARCH),
    "more text": (YEAR, f"{YEAR} AND `t0`.`weight` > 1.5"),
    "null": ("`t0`.`month` > 2", "`t0`.`month` IS NULL"),
}


@pytest.mark.parametrize(("wide", "other"), WIDER.values(), ids=WIDER)
def test_a_set_that_may_have_other_rows_is_collected(gateway: Gateway, wide: str, other: str) -> None:
    # The gateway itself reads no comparison with a floating point.
    gateway.engine.outcomes.extendleft([QueryFailed("no"), QueryFailed("no")])
    gateway.ask(gateway.filter(wide))
    assert gateway.ask(gateway.filter(other)).source is not FilterSource.CONTAINED


def test_no_rows_are_rows_too(gateway: Gateway) -> None:
    assert gateway.ask(gateway.filter("`t0`.`year` = 1999")).data.values == ()
    found = gateway.ask(gateway.filter("`t0`.`year` = 1999 AND `t0`.`month` = 3"))
    assert (found.source, found.data.values) == (FilterSource.CONTAINED, ())


def test_another_restriction_is_another_family(gateway: Gateway) -> None:
    gateway.ask(gateway.filter(YEAR, "all rows"))
    assert gateway.ask(gateway.filter(MARCH, "some rows")).source is FilterSource.COLLECTED
    unknown = replace(gateway.filter(f"{MARCH} AND `t0`.`k` > 0"), family=None)
    assert gateway.ask(unknown).source is FilterSource.COLLECTED


def test_a_commit_makes_the_rows_unusable(gateway: Gateway) -> None:
    gateway.ask(gateway.filter(YEAR))
    gateway.table.append(calendar().slice(430, 3))
    march = gateway.ask(gateway.filter(MARCH))
    assert (march.source, march.data) == (FilterSource.COLLECTED, gateway.keys(MARCH))


def test_columns_that_conditions_asked_for_are_kept_after_a_commit_too(gateway: Gateway) -> None:
    gateway.ask(gateway.filter(YEAR, named=()))
    assert gateway.ask(gateway.filter(MARCH, named=())).source is FilterSource.COLLECTED, "no month is kept"
    gateway.table.append(calendar().slice(430, 3))
    gateway.ask(gateway.filter(YEAR, named=()))
    march = gateway.ask(gateway.filter(MARCH, named=()))
    assert (march.source, march.data) == (FilterSource.CONTAINED, gateway.keys(MARCH))


def test_no_more_columns_are_kept_than_allowed(gateway: Gateway) -> None:
    gateway.collector._uncached._kept_sets._bounds = replace(BOUNDS, max_columns=1)  # type: ignore[union-attr]
    gateway.ask(gateway.filter(YEAR))
    [note] = gateway.cache.kept_rows.notes("f")
    assert note.columns == ("k", "year")
    assert gateway.ask(gateway.filter(MARCH)).source is FilterSource.COLLECTED
    first = "`t0`.`year` = 2001 AND `t0`.`k` < 400"
    found = gateway.ask(gateway.filter(first))
    assert (found.source, found.data) == (FilterSource.CONTAINED, gateway.keys(first))


@pytest.mark.parametrize("bounds", [{"max_rows": 100}, {"max_bytes": 500}, {"max_sets": 0}], ids=str)
def test_rows_beyond_the_bounds_are_not_kept(gateway: Gateway, bounds: Mapping[str, int]) -> None:
    gateway.collector._uncached._kept_sets._bounds = replace(BOUNDS, **bounds)  # type: ignore[union-attr]
    assert gateway.ask(gateway.filter(YEAR)).data == gateway.keys(YEAR)
    assert gateway.cache.kept_rows.notes("f") == ()
    assert gateway.ask(gateway.filter(MARCH)).source is FilterSource.COLLECTED
    assert gateway.cache.kept_rows.notes("f") == (), "its family has too many rows"


def test_a_distrusted_set_is_not_used(gateway: Gateway) -> None:
    wide = gateway.filter(YEAR)
    gateway.ask(wide)
    gateway.collector.disable(frozenset({wide.fingerprint}))
    assert gateway.ask(gateway.filter(MARCH)).source is FilterSource.COLLECTED


def test_the_set_that_distrusted_keys_were_found_in_is_not_used_either(gateway: Gateway) -> None:
    wide, march = gateway.filter(YEAR), gateway.filter(MARCH)
    gateway.ask(wide)
    assert gateway.ask(march).source is FilterSource.CONTAINED
    gateway.collector.disable(frozenset({march.fingerprint}))
    [note] = gateway.cache.kept_rows.notes("f")
    assert gateway.cache.kept_rows.rows("f", note) is None, "other replicas do not find the rows either"
    within = f"{MARCH} AND `t0`.`k` < 440"
    assert gateway.ask(gateway.filter(within)).source is FilterSource.COLLECTED
    assert gateway.ask(wide).reason is Reason.DISABLED


NONSENSE: Mapping[str, KeySelection] = {
    "a text for a number": KeySelection({"k": ColumnSet(), "year": ColumnSet(low=Bound("2001"))}),
    "a date for a number": KeySelection({"k": ColumnSet(high=Bound(date(2001, 1, 1)))}),
    "not a number": KeySelection({"k": ColumnSet(), "year": ColumnSet(low=Bound(Decimal("NaN")))}),
}


@pytest.mark.parametrize("selection", NONSENSE.values(), ids=NONSENSE)
def test_a_note_of_other_types_is_of_no_use(gateway: Gateway, selection: KeySelection) -> None:
    wide = gateway.filter(f"{YEAR} AND `t0`.`k` < 500")
    gateway.ask(wide)
    [note] = gateway.cache.kept_rows.notes("f")
    rows = gateway.cache.kept_rows.rows("f", note)
    assert rows is not None
    gateway.cache.kept_rows.keep("f", replace(note, fingerprint="x", selection=selection), rows, 9)
    march = f"{MARCH} AND `t0`.`k` < 500"
    found = gateway.ask(gateway.filter(march))
    assert (found.source, found.data) == (FilterSource.CONTAINED, gateway.keys(march))


def test_rows_of_other_types_are_not_used(gateway: Gateway) -> None:
    gateway.ask(gateway.filter(YEAR))
    [note] = gateway.cache.kept_rows.notes("f")
    rows = gateway.cache.kept_rows.rows("f", note)
    assert rows is not None
    of_texts = rows.set_column(0, "k", rows["k"].cast(pa.string()))
    gateway.cache.kept_rows.keep("f", note, of_texts, 9)
    march = gateway.ask(gateway.filter(MARCH))
    assert (march.source, march.data) == (FilterSource.COLLECTED, gateway.keys(MARCH))


def test_without_the_server_keys_are_collected(gateway: Gateway) -> None:
    gateway.cache.kept_rows.is_down = True
    gateway.ask(gateway.filter(YEAR))
    march = gateway.ask(gateway.filter(MARCH))
    assert (march.source, march.data) == (FilterSource.COLLECTED, gateway.keys(MARCH))


def test_rows_that_are_gone_are_collected_again(gateway: Gateway) -> None:
    gateway.ask(gateway.filter(YEAR))
    gateway.cache.kept_rows.forget(gateway.filter(YEAR).fingerprint)
    assert gateway.ask(gateway.filter(MARCH)).source is FilterSource.COLLECTED
    within = f"{MARCH} AND `t0`.`k` < 440"
    assert gateway.ask(gateway.filter(within)).source is FilterSource.CONTAINED


def test_a_parameter_decides_by_its_value(gateway: Gateway) -> None:
    gateway.ask(gateway.filter(YEAR))
    by_value = "`t0`.`year` = :x AND `t0`.`month` = 3"
    found = gateway.ask(gateway.filter(by_value), {"x": Parameter(2001)})
    assert (found.source, found.data) == (FilterSource.CONTAINED, gateway.keys(MARCH))
    other = replace(gateway.filter(by_value), fingerprint="other")
    assert gateway.ask(other, {"x": Parameter(2002)}).source is FilterSource.COLLECTED


def by_engine(*rows: tuple[int | None, int, int], is_cut: bool = False) -> EngineResult:
    columns = dict(zip(("k0", "c0", "c1"), zip(*rows, strict=True), strict=True))
    types = pa.schema({"k0": "int32", "c0": "int32", "c1": "int32"})
    return replace(engine_result(), rows=pa.table(columns, types), is_truncated=is_cut)


def of_engine(gateway: Gateway, condition: str) -> DynamicFilter:
    """Returns a filter on a restricted table, which the engine alone may read."""
    wanted = gateway.filter(condition, named=("year", "month"))
    return replace(wanted, build=replace(wanted.build, is_restricted=True))


def test_the_engine_collects_rows_too(gateway: Gateway) -> None:
    gateway.engine.outcomes.appendleft(by_engine((1, 2001, 3), (1, 2001, 4), (2, 2001, 4), (3, 2001, 3)))
    assert gateway.ask(of_engine(gateway, YEAR)).data.values == ((1,), (2,), (3,))
    [run] = gateway.engine.runs
    columns = "`t0`.`k` AS `k0`, `t0`.`year` AS `c0`, `t0`.`month` AS `c1`"
    assert run.sql.startswith(f"SELECT DISTINCT {columns} FROM `lake`")
    assert run.row_limit == BOUNDS.max_rows
    march = gateway.ask(of_engine(gateway, MARCH))
    assert (march.source, march.data.values) == (FilterSource.CONTAINED, ((1,), (3,)))
    assert len(gateway.engine.runs) == 1


def test_too_many_rows_of_the_engine_are_keys_alone_from_then_on(gateway: Gateway) -> None:
    keys = replace(engine_result(), rows=pa.table({"k0": pa.array([1], pa.int32())}))
    for answer in (keys, keys, by_engine((1, 2001, 3), is_cut=True)):
        gateway.engine.outcomes.appendleft(answer)
    assert gateway.ask(of_engine(gateway, YEAR)).data.values == ((1,),)
    assert gateway.ask(of_engine(gateway, MARCH)).data.values == ((1,),)
    assert ["`c0`" in run.sql for run in gateway.engine.runs] == [True, False, False]


def test_rows_that_the_engine_cannot_read_are_keys_alone_from_then_on(gateway: Gateway) -> None:
    keys = replace(engine_result(), rows=pa.table({"k0": pa.array([1], pa.int32())}))
    for answer in (keys, keys, QueryFailed("a mask of another column fails")):
        gateway.engine.outcomes.appendleft(answer)
    assert gateway.ask(of_engine(gateway, YEAR)).data.values == ((1,),)
    assert gateway.ask(of_engine(gateway, MARCH)).data.values == ((1,),)
    assert ["`c0`" in run.sql for run in gateway.engine.runs] == [True, False, False]


def test_a_canceled_query_collects_no_keys_alone(gateway: Gateway) -> None:
    gateway.engine.outcomes.appendleft(QueryCanceled())
    assert gateway.ask(of_engine(gateway, YEAR)).reason is Reason.COLLECT_TIMED_OUT
    assert len(gateway.engine.runs) == 1


def test_rows_of_the_engine_have_no_more_keys_than_may_be_collected(gateway: Gateway) -> None:
    gateway.collector._uncached._engine_keys._max_filter_bytes = 16 * 50
    gateway.engine.outcomes.appendleft(by_engine((1, 2001, 3)))
    gateway.ask(of_engine(gateway, YEAR))
    assert [run.row_limit for run in gateway.engine.runs] == [50]


def test_a_mask_that_gives_a_column_another_type_keeps_nothing(gateway: Gateway) -> None:
    masked = pa.table({"k0": pa.array([1], pa.int32()), "c0": ["2001"], "c1": pa.array([3], pa.int32())})
    gateway.engine.outcomes.appendleft(replace(engine_result(), rows=masked))
    assert gateway.ask(of_engine(gateway, YEAR)).data.values == ((1,),)
    assert gateway.cache.kept_rows.notes("f") == ()
