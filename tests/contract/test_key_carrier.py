"""Keys that are carried over commits are those that a collection finds, or they are not carried over."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table
from pyiceberg.types import LongType, StringType

from service.adapters.catalogs.catalogs import PyIcebergCatalogs
from service.adapters.keys.key_carrier import ArrowKeyCarrier, CarryBounds
from service.adapters.keys.key_collector import ArrowKeyCollector
from service.errors.query_errors import QueryCanceled
from service.model.filters.dynamic_filter import Build, DynamicFilter, JoinType, Probe
from service.model.filters.key_set import DynamicFilteringData, EarlierKeys
from service.model.tables.tables import TableName
from tests.fakes.clock import FakeClock

DAYS, SALES, ITEMS = (TableName("lake", "shop", name) for name in ("days", "sales", "items"))
SCHEMA = pa.schema({"k": "int32", "year": "int32", "name": "string"})
BOUNDS = CarryBounds(max_snapshots=20, max_files=64, max_filter_bytes=50 * 16)


def rows(year: int, *keys: int | None, name: str = "a") -> pa.Table:
    found = {"k": list(keys), "year": [year] * len(keys), "name": [name] * len(keys)}
    return pa.table(found, schema=SCHEMA)


class Lake:
    """A table of days, which a test commits to, and its keys at each snapshot."""

    def __init__(self, catalogs: PyIcebergCatalogs, bounds: CarryBounds) -> None:
        # Another catalog writes: the reader's own knows what it has committed, and reads it from no file.
        self.writer = SqlCatalog("lake", **catalogs.pyiceberg("lake").properties)
        self.writer.create_namespace_if_not_exists("shop")
        self.table: Table = self.writer.create_table("shop.days", SCHEMA)
        self.carrier = ArrowKeyCarrier(catalogs.opened, bounds)
        self.collector = ArrowKeyCollector(catalogs.opened, max_filter_bytes=1 << 20, max_files=64)

    @property
    def snapshot_id(self) -> int:
        snapshot = self.table.refresh().current_snapshot()
        assert snapshot is not None
        return snapshot.snapshot_id

    def wanted(self, condition: str, snapshot_id: int | None = None) -> DynamicFilter:
        at = self.snapshot_id if snapshot_id is None else snapshot_id
        sql = (
            f"SELECT DISTINCT `t0`.`k` AS `k0` FROM `lake`.`shop`.`days` VERSION AS OF {at} AS `t0`"
            f" WHERE {condition} AND NOT `t0`.`k` IS NULL"
        )
        probe = Probe(SALES, ("day_key",), ("int",), 1)
        return DynamicFilter("df1", JoinType.INNER, probe, Build((DAYS,), ("k",), "", (at,)), sql, f"f{at}")

    def collected(self, wanted: DynamicFilter) -> DynamicFilteringData:
        found = self.collector.collect(wanted, (), lambda: False)
        assert found is not None
        return found

    def earlier(self, condition: str) -> EarlierKeys:
        at = self.snapshot_id
        return EarlierKeys(f"f{at}", self.collected(self.wanted(condition)), {DAYS: at})

    def carried(self, condition: str, earlier: EarlierKeys) -> DynamicFilteringData | None:
        return self.carrier.carry(self.wanted(condition), earlier, (), lambda: False)


@pytest.fixture
def catalogs(tmp_path: Path) -> Iterator[PyIcebergCatalogs]:
    properties = {"type": "sql", "uri": f"sqlite:///{tmp_path}/lake.db", "warehouse": f"file://{tmp_path}"}
    catalogs = PyIcebergCatalogs({"lake": properties}, FakeClock())
    yield catalogs
    catalogs.close()


@pytest.fixture
def lake(catalogs: PyIcebergCatalogs) -> Lake:
    lake = Lake(catalogs, BOUNDS)
    lake.table.append(rows(2000, 1, 2, None))
    lake.table.append(rows(2001, 7))
    return lake


IN_2000 = "`t0`.`year` = 2000"


def test_rows_that_do_not_match_change_no_key(lake: Lake) -> None:
    earlier = lake.earlier(IN_2000)
    lake.table.append(rows(1999, 3))
    assert lake.carried(IN_2000, earlier) is earlier.data


def test_keys_of_added_rows_are_merged_and_only_added_files_are_read(lake: Lake) -> None:
    earlier = lake.earlier(IN_2000)
    before = [task.file.file_path for task in lake.table.refresh().scan().plan_files()]
    lake.table.append(rows(2000, 2, 3, None))
    for path in before:
        Path(path.removeprefix("file://")).unlink()
    found = lake.carried(IN_2000, earlier)
    assert found == DynamicFilteringData(((1,), (2,), (3,)), is_filtering=True)


def test_a_null_among_added_rows_is_a_key_of_a_null_safe_filter(lake: Lake) -> None:
    earlier = lake.earlier("`t0`.`year` = 2001")
    lake.table.append(rows(2001, None))
    wanted = lake.wanted("`t0`.`year` = 2001")
    sql = wanted.filtering_query.removesuffix(" AND NOT `t0`.`k` IS NULL")
    safe = replace(wanted, filtering_query=sql, is_null_safe=True)
    found = lake.carrier.carry(safe, earlier, (), lambda: False)
    assert found == DynamicFilteringData(((7,),), is_filtering=True, has_null=True)


def test_several_commits_are_looked_through(lake: Lake) -> None:
    earlier = lake.earlier(IN_2000)
    for key in range(10, 15):
        lake.table.append(rows(2000, key))
        lake.table.append(rows(1990, key + 100))
    found = lake.carried(IN_2000, earlier)
    assert found == lake.collected(lake.wanted(IN_2000))


def test_a_removed_file_that_held_no_key_changes_nothing(lake: Lake) -> None:
    earlier = lake.earlier(IN_2000)
    lake.table.delete("year = 2001")
    assert lake.carried(IN_2000, earlier) is earlier.data


def test_a_removed_file_that_may_have_held_keys_has_them_collected(lake: Lake) -> None:
    earlier = lake.earlier(IN_2000)
    lake.table.delete("year = 2000")
    assert lake.carried(IN_2000, earlier) is None


def test_a_rewrite_carries_everything_even_many_keys_and_restricted_ones(lake: Lake) -> None:
    earlier = lake.earlier(IN_2000)
    rewrite(lake.table)
    ranges = DynamicFilteringData((), is_filtering=True, exceeds_threshold=True, ranges=((1, 2),))
    many = replace(earlier, data=ranges)
    wanted = lake.wanted(IN_2000)
    restricted = replace(wanted, build=replace(wanted.build, is_restricted=True))
    for asked in (wanted, restricted):
        assert lake.carrier.carry(asked, earlier, (), lambda: False) is earlier.data
        assert lake.carrier.carry(asked, many, (), lambda: False) is ranges


def test_restricted_rows_are_only_carried_over_rewrites(lake: Lake) -> None:
    earlier = lake.earlier(IN_2000)
    lake.table.append(rows(1999, 3))
    wanted = lake.wanted(IN_2000)
    restricted = replace(wanted, build=replace(wanted.build, is_restricted=True))
    assert lake.carrier.carry(restricted, earlier, (), lambda: False) is None


def test_ranges_are_carried_over_rows_that_do_not_match_only(lake: Lake) -> None:
    ranges = DynamicFilteringData((), is_filtering=True, exceeds_threshold=True, ranges=((1, 2),))
    earlier = replace(lake.earlier(IN_2000), data=ranges)
    lake.table.append(rows(1999, 3))
    assert lake.carried(IN_2000, earlier) is ranges
    lake.table.append(rows(2000, 9))
    assert lake.carried(IN_2000, earlier) is None


def test_too_many_keys_are_collected(lake: Lake) -> None:
    earlier = lake.earlier(IN_2000)
    lake.table.append(rows(2000, *range(100, 149)))
    assert lake.carried(IN_2000, earlier) is None


@pytest.mark.parametrize("max_snapshots", [0, 1, 2])
def test_more_commits_than_the_bound_are_not_looked_through(
    catalogs: PyIcebergCatalogs, max_snapshots: int
) -> None:
    lake = Lake(catalogs, replace(BOUNDS, max_snapshots=max_snapshots))
    lake.table.append(rows(2000, 1))
    earlier = lake.earlier(IN_2000)
    for _ in range(2):
        lake.table.append(rows(1999, 5))
    assert (lake.carried(IN_2000, earlier) is not None) is (max_snapshots == 2)


def test_more_files_than_the_bound_are_not_looked_at(catalogs: PyIcebergCatalogs) -> None:
    lake = Lake(catalogs, replace(BOUNDS, max_files=2))
    lake.table.append(rows(2000, 1))
    earlier = lake.earlier(IN_2000)
    for _ in range(3):
        lake.table.append(rows(1999, 5))
    assert lake.carried(IN_2000, earlier) is None


def test_an_earlier_snapshot_that_is_no_ancestor_is_not_used(lake: Lake) -> None:
    at = lake.snapshot_id
    lake.table.append(rows(2000, 9))
    earlier = lake.earlier(IN_2000)
    lake.table.manage_snapshots().rollback_to_snapshot(at).commit()
    assert lake.carried(IN_2000, earlier) is None
    lake.table.append(rows(1999, 5))
    assert lake.carried(IN_2000, earlier) is None


def test_an_expired_snapshot_is_not_used(lake: Lake) -> None:
    earlier = lake.earlier(IN_2000)
    lake.table.append(rows(1999, 3))
    lake.table.maintenance.expire_snapshots().by_id(next(iter(earlier.snapshots.values()))).commit()
    assert lake.carried(IN_2000, earlier) is None


def test_columns_that_swapped_their_names_are_collected(lake: Lake) -> None:
    with lake.table.update_schema() as update:
        update.add_column("other", LongType())
    lake.table.append(rows(2000, 4).append_column("other", pa.array([5], pa.int64())))
    earlier = lake.earlier(IN_2000)
    with lake.table.update_schema() as update:
        update.rename_column("other", "was")
    with lake.table.update_schema() as update:
        update.add_column("other", StringType())
    table = rows(1999, 3)
    lake.table.append(table.append_column("was", pa.array([1], pa.int64())))
    assert lake.carried(IN_2000, earlier) is None


def test_a_canceled_query_reads_no_file(lake: Lake) -> None:
    earlier = lake.earlier(IN_2000)
    lake.table.append(rows(2000, 9))
    with pytest.raises(QueryCanceled):
        lake.carrier.carry(lake.wanted(IN_2000), earlier, (), lambda: True)


def test_a_file_that_is_gone_has_keys_collected(lake: Lake) -> None:
    earlier = lake.earlier(IN_2000)
    before = {task.file.file_path for task in lake.table.refresh().scan().plan_files()}
    lake.table.append(rows(2000, 9))
    [added] = {task.file.file_path for task in lake.table.refresh().scan().plan_files()} - before
    Path(added.removeprefix("file://")).unlink()
    assert lake.carried(IN_2000, earlier) is None


def test_of_joined_tables_only_rows_that_do_not_match_are_no_matter(lake: Lake) -> None:
    items = lake.writer.create_table("shop.items", SCHEMA)
    items.append(rows(1, 5))
    data = DynamicFilteringData(((1,), (2,)), is_filtering=True)

    def ids() -> tuple[int, int]:
        snapshot = items.refresh().current_snapshot()
        assert snapshot is not None
        return lake.snapshot_id, snapshot.snapshot_id

    def carried(earlier: EarlierKeys) -> DynamicFilteringData | None:
        days, other = ids()
        sql = (
            f"SELECT DISTINCT `t0`.`k` AS `k0` FROM `lake`.`shop`.`days` VERSION AS OF {days} AS `t0`"
            f" CROSS JOIN `lake`.`shop`.`items` VERSION AS OF {other} AS `t1`"
            " WHERE `t0`.`year` = 2000 AND `t0`.`k` < `t1`.`k` AND `t1`.`year` = 1"
        )
        build = Build((DAYS, ITEMS), ("k",), "", (days, other))
        wanted = replace(lake.wanted(IN_2000), filtering_query=sql, build=build)
        return lake.carrier.carry(wanted, earlier, (), lambda: False)

    earlier = EarlierKeys("f", data, dict(zip((DAYS, ITEMS), ids(), strict=True)))
    lake.table.append(rows(1999, 3))
    items.append(rows(2, 3))
    assert carried(earlier) is data
    items.append(rows(1, 3))
    assert carried(earlier) is None


@pytest.mark.filterwarnings("ignore:Delete operation did not match any records")
@pytest.mark.parametrize("seed", range(6))
def test_generated_commits_leave_the_keys_that_a_collection_finds(
    catalogs: PyIcebergCatalogs, seed: int
) -> None:
    chosen = random.Random(seed)
    lake = Lake(catalogs, BOUNDS)
    lake.table.append(rows(2000, 1, 2))
    conditions = (
        IN_2000,
        "`t0`.`year` > 1999 AND `t0`.`name` = 'b'",
        "`t0`.`name` LIKE 'b%' OR `t0`.`k` = 3",
    )
    earlier = {condition: lake.earlier(condition) for condition in conditions}
    carried_count = 0
    for _ in range(6):
        for _ in range(chosen.randint(1, 3)):
            _commit(lake.table, chosen)
        for condition in conditions:
            expected = lake.collected(lake.wanted(condition))
            found = lake.carried(condition, earlier[condition])
            assert found in (None, expected)
            carried_count += found is not None
            if found is not None or chosen.random() < 0.5:
                earlier[condition] = EarlierKeys("f", expected, {DAYS: lake.snapshot_id})
    assert carried_count > 0


def _commit(table: Table, chosen: random.Random) -> None:
    year = chosen.randint(1998, 2002)
    match chosen.randint(0, 5):
        case 0:
            table.refresh().delete(f"year = {year}")
        case 1:
            rewrite(table.refresh())
        case 2:
            keys = [chosen.randint(0, 9)]
            table.refresh().overwrite(rows(year, *keys, name=chosen.choice("abc")), f"year = {year}")
        case _:
            keys = [chosen.choice((None, *range(9))) for _ in range(chosen.randint(1, 3))]
            table.refresh().append(rows(year, *keys, name=chosen.choice("abc")))


def rewrite(table: Table) -> None:
    """Writes all rows into new files, by commits of the operation `replace`, as the engine does."""
    table = table.refresh()
    before = {snapshot.snapshot_id for snapshot in table.snapshots()}
    table.overwrite(table.scan().to_arrow())
    # PyIceberg makes no such commits, so the metadata file is changed before anybody reads it.
    path = Path(table.metadata_location.removeprefix("file://"))
    metadata = json.loads(path.read_text())
    for snapshot in metadata["snapshots"]:
        if snapshot["snapshot-id"] not in before:
            snapshot["summary"]["operation"] = "replace"
    path.write_text(json.dumps(metadata))
