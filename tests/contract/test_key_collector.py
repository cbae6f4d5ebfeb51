"""The contract of `KeyCollector`, for every implementation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table, TableProperties
from pyiceberg.transforms import IdentityTransform
from pyiceberg.typedef import Record
from pyiceberg.types import IntegerType, LongType, NestedField

from service.adapters.catalogs.catalogs import PyIcebergCatalogs
from service.adapters.keys.key_collector import ArrowKeyCollector
from service.errors.query_errors import QueryCanceled
from service.model.filters.dynamic_filter import Build, DynamicFilter, JoinType, Probe
from service.model.filters.key_set import DynamicFilteringData
from service.model.filters.relations import RelationBounds, RelationQuery
from service.model.query.query import Parameter, Parameters
from service.model.tables.tables import TableName
from service.ports.filters.filter_keys import KeyCollector, KeysAndRows
from tests.fakes.clock import FakeClock
from tests.fakes.key_collector import FakeKeyCollector

DAYS, SALES = TableName("lake", "shop", "days"), TableName("lake", "shop", "sales")
MAX_KEYS = 50
FEW = RelationBounds(max_rows=10, max_bytes=10_000)
_ROWS = {
    "k": [3, 1, 1, None, *range(1000, 1100)],
    "year": [2000, 2000, 2000, 2000, *[1999] * 100],
    "name": ["b", "a", "a", "c", *["d"] * 100],
    "day": [date(2000, 1, 1)] * 104,
}


class Builds:
    """A table of days, and a collector of its keys."""

    def __init__(
        self, collector: KeyCollector, snapshot_id: int, report: Callable[[str, list[Any]], None]
    ) -> None:
        self.collector = collector
        self._snapshot_id = snapshot_id
        self._report = report

    def with_rows(
        self, condition: str, rows: dict[str, list[Any]], bounds: RelationBounds = FEW, asked_rows: str = ""
    ) -> KeysAndRows | None:
        """Collects `k` and rows for `condition`, or rows for `asked_rows`; a fake is first given both."""
        asked = filter_of(self._snapshot_id, condition)
        listed = ", ".join(f"`t0`.`{row}`" for row in rows)
        sql = (
            f"SELECT {listed} FROM `lake`.`shop`.`days` VERSION AS OF {self._snapshot_id} AS `t0`"
            f" WHERE ({asked_rows or condition})"
        )
        relation = RelationQuery(Build((DAYS,), tuple(rows), "", (self._snapshot_id,)), sql, "r")
        self._report(asked.filtering_query, [key for key in rows["k"] if key is not None])
        if isinstance(self.collector, FakeKeyCollector) and not asked_rows:
            self.collector.put_rows(sql, pa.table(rows))
        return self.collector.collect_with_rows(asked, relation, bounds, (), lambda: False)

    def collect(
        self,
        condition: str,
        keys: list[Any],
        parameters: Parameters = (),
        is_canceled: Callable[[], bool] = lambda: False,
        is_null_safe: bool = False,
    ) -> DynamicFilteringData | None:
        """Collects `k` for the condition; a fake is first given its keys."""
        asked = filter_of(self._snapshot_id, condition)
        if is_null_safe:
            sql = asked.filtering_query.removesuffix(" AND NOT `t0`.`k` IS NULL")
            asked = replace(asked, filtering_query=sql, is_null_safe=True)
        self._report(asked.filtering_query, keys)
        return self.collector.collect(asked, parameters, is_canceled)


def filter_of(snapshot_id: int, condition: str, keys: Sequence[str] = ("k",)) -> DynamicFilter:
    selected = ", ".join(f"`t0`.`{key}` AS `k{index}`" for index, key in enumerate(keys))
    have_values = " AND ".join(f"NOT `t0`.`{key}` IS NULL" for key in keys)
    sql = (
        f"SELECT DISTINCT {selected} FROM `lake`.`shop`.`days` VERSION AS OF {snapshot_id} AS `t0`"
        f" WHERE {condition} AND {have_values}"
    )
    probe = Probe(SALES, tuple(f"{key}_key" for key in keys), ("int",) * len(keys), 1)
    return DynamicFilter(
        "df1", JoinType.INNER, probe, Build((DAYS,), tuple(keys), "", (snapshot_id,)), sql, "f"
    )


@pytest.fixture
def catalogs(tmp_path: Path) -> Iterator[PyIcebergCatalogs]:
    properties = {"type": "sql", "uri": f"sqlite:///{tmp_path}/lake.db", "warehouse": f"file://{tmp_path}"}
    catalogs = PyIcebergCatalogs({"lake": properties}, FakeClock())
    yield catalogs
    catalogs.close()


@pytest.fixture
def table(catalogs: PyIcebergCatalogs) -> Table:
    rows = pa.table(
        _ROWS, schema=pa.schema({"k": "int32", "year": "int32", "name": "string", "day": "date32"})
    )
    catalog = catalogs.pyiceberg("lake")
    catalog.create_namespace("shop")
    table = catalog.create_table("shop.days", rows.schema)
    table.append(rows)
    return table


@pytest.fixture
def arrow_collector(catalogs: PyIcebergCatalogs) -> ArrowKeyCollector:
    return ArrowKeyCollector(catalogs.opened, max_filter_bytes=MAX_KEYS * 16, max_files=64)


@pytest.fixture(params=["fake", "arrow"])
def builds(request: pytest.FixtureRequest) -> Builds:
    if request.param == "fake":
        fake = FakeKeyCollector(MAX_KEYS)
        return Builds(fake, 1, lambda sql, keys: fake.put(sql, tuple((key,) for key in keys)))
    collector: ArrowKeyCollector = request.getfixturevalue("arrow_collector")
    return Builds(collector, _snapshot_id(request.getfixturevalue("table")), lambda *_: None)


def _snapshot_id(table: Table) -> int:
    snapshot = table.refresh().current_snapshot()
    assert snapshot is not None
    return snapshot.snapshot_id


def test_keys_are_distinct_sorted_and_without_null(builds: Builds) -> None:
    assert builds.collect("`t0`.`year` = 2000", [3, 1, 1]) == DynamicFilteringData(((1,), (3,)), True)


def test_a_null_is_a_key_of_a_null_safe_filter(builds: Builds) -> None:
    found = builds.collect("`t0`.`year` = 2000", [3, 1, None, 1], is_null_safe=True)
    assert found == DynamicFilteringData(((1,), (3,)), True, has_null=True)
    found = builds.collect("`t0`.`name` < 'c'", [3, 1, 1], is_null_safe=True)
    assert found == DynamicFilteringData(((1,), (3,)), True)


def test_a_null_may_be_the_only_key(builds: Builds) -> None:
    found = builds.collect("`t0`.`name` = 'c'", [None], is_null_safe=True)
    assert found == DynamicFilteringData((), is_filtering=True, has_null=True)


def test_rows_come_with_the_keys_also_those_without_one(builds: Builds) -> None:
    expected: dict[str, list[Any]] = {"name": ["b", "a", "a", "c"], "k": [3, 1, 1, None]}
    found = builds.with_rows("`t0`.`year` = 2000", expected)
    assert found is not None
    assert found.keys == DynamicFilteringData(((1,), (3,)), is_filtering=True)
    assert found.rows is not None
    assert found.rows.to_pydict() == expected


@pytest.mark.parametrize(
    "bounds", [RelationBounds(max_rows=3, max_bytes=10_000), RelationBounds(max_rows=10, max_bytes=20)]
)
def test_of_rows_that_are_not_few_the_keys_are_left(builds: Builds, bounds: RelationBounds) -> None:
    rows: dict[str, list[Any]] = {"name": ["b", "a", "a", "c"], "k": [3, 1, 1, None]}
    found = builds.with_rows("`t0`.`year` = 2000", rows, bounds)
    assert found == KeysAndRows(DynamicFilteringData(((1,), (3,)), is_filtering=True), None)


def test_of_too_many_keys_there_are_no_rows(builds: Builds) -> None:
    numbers = list(range(1000, 1100))
    found = builds.with_rows(
        "`t0`.`year` = 1999", {"k": numbers}, RelationBounds(max_rows=1_000, max_bytes=100_000)
    )
    assert found == KeysAndRows(DynamicFilteringData.not_filtering(exceeds_threshold=True), None)


def test_rows_under_another_condition_are_no_matter_of_one_reading(builds: Builds) -> None:
    assert builds.with_rows("`t0`.`year` = 2000", {"k": [3]}, asked_rows="`t0`.`year` = 1999") is None


def test_keys_of_several_columns_are_distinct_together(
    table: Table, arrow_collector: ArrowKeyCollector
) -> None:
    table.append(
        pa.table(
            {"k": [1, 3, None, 9], "year": [2000] * 4, "name": ["a", "a", "z", None]},
            schema=pa.schema({"k": "int32", "year": "int32", "name": "string"}),
        )
    )
    asked = filter_of(_snapshot_id(table), "`t0`.`year` = 2000", ["name", "k"])
    found = arrow_collector.collect(asked, (), lambda: False)
    assert found == DynamicFilteringData((("a", 1), ("a", 3), ("b", 3)), is_filtering=True)


def test_a_column_that_is_two_keys_is_left_to_the_engine(
    table: Table, arrow_collector: ArrowKeyCollector
) -> None:
    asked = filter_of(_snapshot_id(table), "`t0`.`year` = 2000", ["k", "k"])
    assert arrow_collector.collect(asked, (), lambda: False) is None


def test_no_key_is_a_set_that_nothing_matches(builds: Builds) -> None:
    assert builds.collect("`t0`.`year` = 1066", []) == DynamicFilteringData((), is_filtering=True)


def test_too_many_keys_are_no_filter(builds: Builds) -> None:
    found = builds.collect("`t0`.`year` = 1999", list(range(1000, 1100)))
    assert found == DynamicFilteringData.not_filtering(exceeds_threshold=True)


def test_a_canceled_query_collects_no_more(builds: Builds) -> None:
    with pytest.raises(QueryCanceled):
        builds.collect("`t0`.`year` = 2000", [1, 3], is_canceled=lambda: True)


def test_parameters_are_bound(builds: Builds) -> None:
    parameters = {"year": Parameter(2000), "name": Parameter("a"), "day": Parameter("2000-01-01", "DATE")}
    found = builds.collect(
        "`t0`.`year` = :year AND `t0`.`name` = :name AND `t0`.`day` = :day", [1], parameters
    )
    assert found == DynamicFilteringData(((1,),), is_filtering=True)


@pytest.mark.parametrize(
    ("condition", "keys"),
    [
        ("`t0`.`name` NOT LIKE 'd%'", [1, 3]),
        ("NOT `t0`.`name` LIKE 'd%'", [1, 3]),
        ("NOT `t0`.`name` NOT LIKE 'a%'", [1]),
        ("`t0`.`name` NOT IN ('a', 'd')", [3]),
        ("NOT `t0`.`name` NOT IN ('a')", [1]),
        ("`t0`.`k` NOT BETWEEN 2 AND 2000", [1]),
        ("NOT `t0`.`year` = 1999 AND NOT (`t0`.`name` > 'a')", [1]),
        ("2001 - 1 = `t0`.`year` AND 1 < `t0`.`k`", [3]),
    ],
)
def test_conditions_mean_what_they_mean_in_sql(
    table: Table, arrow_collector: ArrowKeyCollector, condition: str, keys: list[int]
) -> None:
    found = arrow_collector.collect(filter_of(_snapshot_id(table), condition), (), lambda: False)
    assert found is not None
    assert found.values == tuple((key,) for key in keys)


@pytest.mark.parametrize(
    "condition",
    [
        "`t0`.`year` BETWEEN SYMMETRIC 2001 AND 1999",
        "NOT (`t0`.`year` = 1999 AND `t0`.`k` = 3)",
        "`t0`.`year` = '2000'",
        "`t0`.`year` = 2000.0",
        "`t0`.`year` = 3000000000",
        "`t0`.`year` + 1 = 2001",
        "`t0`.`year` = `t0`.`k`",
        "`t0`.`year` IN (2000, NULL)",
        "`t0`.`year` <=> 2000",
        "`t0`.`name` = 1",
        "`t0`.`name` LIKE '%a'",
        "`t0`.`name` LIKE 'a_%'",
        "`t0`.`name` LIKE 'a%' ESCAPE '!'",
        "`t0`.`name` = 'it''s'",
        "lower(`t0`.`name`) = 'a'",
        "`t0`.`day` = '2000-01-01'",
        "`t0`.`day` = CAST('2000-1-1' AS DATE)",
        "`t0`.`day` = CAST('2000-01-01' AS TIMESTAMP)",
        "`t0`.`year` = :missing",
        "`t0`.`year` = :text",
        "`t0`.`nowhere` = 1",
        "`t1`.`year` = 2000",
        "`t0`.`year` IN (SELECT 2000)",
        "`t0`.`year` = 2147483647 + 1",
    ],
)
def test_what_may_mean_something_else_is_left_to_the_engine(
    table: Table, arrow_collector: ArrowKeyCollector, condition: str
) -> None:
    asked = filter_of(_snapshot_id(table), condition)
    assert arrow_collector.collect(asked, {"text": Parameter("2000")}, lambda: False) is None


def test_a_table_that_moved_on_is_read_as_it_was(table: Table, arrow_collector: ArrowKeyCollector) -> None:
    before = _snapshot_id(table)
    table.delete("year = 2000")
    asked = filter_of(before, "`t0`.`year` = 2000")
    assert arrow_collector.collect(asked, (), lambda: False) == DynamicFilteringData(((1,), (3,)), True)


def test_a_schema_that_is_not_the_snapshots_is_left_to_the_engine(
    table: Table, arrow_collector: ArrowKeyCollector
) -> None:
    with table.update_schema() as schema:
        schema.rename_column("name", "title")
    with table.update_schema() as schema:
        schema.add_column("name", LongType())
    asked = filter_of(_snapshot_id(table), "`t0`.`name` = 'a'")
    assert arrow_collector.collect(asked, (), lambda: False) is None


def test_a_column_of_a_type_that_was_widened_is_left_to_the_engine(
    table: Table, arrow_collector: ArrowKeyCollector
) -> None:
    with table.update_schema() as schema:
        schema.update_column("year", LongType())
    table.delete("k = 3")
    wide = filter_of(_snapshot_id(table), "`t0`.`year` = 2000")
    other = filter_of(_snapshot_id(table), "`t0`.`name` = 'a'")
    assert arrow_collector.collect(wide, (), lambda: False) is None
    assert arrow_collector.collect(other, (), lambda: False) == DynamicFilteringData(((1,),), True)


def test_equality_deletes_are_left_to_the_engine(table: Table, arrow_collector: ArrowKeyCollector) -> None:
    deletes = DataFile.from_args(
        content=DataFileContent.EQUALITY_DELETES,
        file_path=f"{table.location()}/data/deletes.parquet",
        file_format=FileFormat.PARQUET,
        partition=Record(),
        record_count=1,
        file_size_in_bytes=100,
        equality_ids=[1],
    )
    deletes.spec_id = 0
    with table.transaction() as transaction, transaction.update_snapshot().fast_append() as append:
        append.append_data_file(deletes)
    asked = filter_of(_snapshot_id(table), "`t0`.`year` = 2000")
    assert arrow_collector.collect(asked, (), lambda: False) is None


def test_many_files_are_left_to_the_engine(table: Table, catalogs: PyIcebergCatalogs) -> None:
    table.append(pa.table({"k": [7]}, schema=pa.schema({"k": "int32"})))
    asked = filter_of(_snapshot_id(table), "`t0`.`year` = 2000")
    assert ArrowKeyCollector(catalogs.opened, 10**6, max_files=1).collect(asked, (), lambda: False) is None
    assert (
        ArrowKeyCollector(catalogs.opened, 10**6, max_files=2).collect(asked, (), lambda: False) is not None
    )


def test_imported_files_are_left_to_the_engine(
    catalogs: PyIcebergCatalogs, arrow_collector: ArrowKeyCollector, tmp_path: Path
) -> None:
    schema = Schema(NestedField(1, "k", IntegerType()), NestedField(2, "year", IntegerType()))
    by_year = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "year"))
    catalog = catalogs.pyiceberg("lake")
    catalog.create_namespace("shop")
    table = catalog.create_table("shop.days", schema, partition_spec=by_year)
    with table.transaction() as transaction:
        transaction.set_properties(
            {TableProperties.DEFAULT_NAME_MAPPING: schema.name_mapping.model_dump_json()}
        )
    path = tmp_path / "moved.parquet"
    pq.write_table(pa.table({"k": pa.array([1, 2, 2], pa.int32())}), path)
    moved = DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=f"file://{path}",
        file_format=FileFormat.PARQUET,
        partition=Record(2000),
        record_count=3,
        file_size_in_bytes=path.stat().st_size,
    )
    moved.spec_id = table.spec().spec_id
    with table.transaction() as transaction, transaction.update_snapshot().fast_append() as append:
        append.append_data_file(moved)
    asked = filter_of(_snapshot_id(table), "`t0`.`year` = 2000")
    assert arrow_collector.collect(asked, (), lambda: False) is None


def test_files_that_cannot_be_read_are_left_to_the_engine(
    table: Table, arrow_collector: ArrowKeyCollector
) -> None:
    asked = filter_of(_snapshot_id(table), "`t0`.`year` = 2000")
    (task,) = table.refresh().scan().plan_files()
    Path(task.file.file_path.removeprefix("file://")).unlink()
    assert arrow_collector.collect(asked, (), lambda: False) is None
