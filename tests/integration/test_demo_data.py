"""The real generator and a real catalog (SQLite, local files), at a tiny scale."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.types import IntegerType, NestedField

from service.adapters.demo_data.tpcds.daily_files import append_daily_files
from service.adapters.demo_data.tpcds.generator import Generator
from service.adapters.demo_data.tpcds.loader import LoadReport, Progress, Step, load_tpcds
from service.adapters.demo_data.tpcds.preconditions import SCALE_PROPERTY
from service.adapters.demo_data.tpcds.tpcds_schemas import partition_spec, table_schemas
from service.errors.gateway_error import CallerError
from service.errors.table_errors import TableNotFound
from spark_session.jars.jars import check_java, resolve

pytestmark = pytest.mark.integration

SCALE = 0.01
TABLES = ("store_returns", "date_dim", "item")
GENERATOR = ("io.trino.tpcds:tpcds:1.4", "io.airlift:airline:0.8")


class StopHere(Exception):
    """Simulates the user's Ctrl-C."""


@dataclass
class Lake:
    """A catalog of its own, and the progress that was reported while it was filled."""

    catalog: SqlCatalog
    jars: Sequence[Path]
    work_dir: Path
    reported: list[Progress] = field(default_factory=list)

    def load(
        self,
        tables: Sequence[str] = TABLES,
        scale: float = SCALE,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> LoadReport:
        return load_tpcds(
            self.catalog,
            "tpcds",
            scale,
            tables,
            self.jars,
            check_java(),
            self.work_dir,
            on_progress or self.reported.append,
        )

    def names(self) -> set[str]:
        return {identifier[-1] for identifier in self.catalog.list_tables("tpcds")}


@pytest.fixture(scope="module")
def jars(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Path]:
    return resolve(GENERATOR, tmp_path_factory.mktemp("jars"))


@pytest.fixture(scope="module")
def texts(jars: Sequence[Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[list[str]]]:
    """The generator's own text, split by hand, which the tables must hold."""
    generator = Generator(check_java(), tuple(jars), tmp_path_factory.mktemp("text"))
    with closing(generator.texts(TABLES, SCALE)) as made:
        return {
            table: [
                line.split("|")[:-1]
                for file in files
                for line in file.read_text(encoding="latin1").splitlines()
            ]
            for table, files in made
        }


@pytest.fixture
def empty_lake(tmp_path: Path, jars: Sequence[Path]) -> Iterator[Lake]:
    yield from lake_in(tmp_path, jars)


@pytest.fixture(scope="module")
def lake(jars: Sequence[Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    for made in lake_in(tmp_path_factory.mktemp("lake"), jars):
        made.load()
        yield made


def lake_in(folder: Path, jars: Sequence[Path]) -> Iterator[Lake]:
    catalog = SqlCatalog("lake", uri=f"sqlite:///{folder}/catalog.db", warehouse=folder.as_uri())
    yield Lake(catalog, jars, folder / "work")
    catalog.close()


def test_every_row_of_the_text_is_in_the_table(lake: Lake, texts: dict[str, list[list[str]]]) -> None:
    for table, rows in texts.items():
        assert lake.catalog.load_table(f"tpcds.{table}").scan().count() == len(rows) > 0


def test_a_decimal_column_adds_up_to_the_text(lake: Lake, texts: dict[str, list[list[str]]]) -> None:
    table = lake.catalog.load_table("tpcds.store_returns")
    position = table.schema().column_names.index("sr_return_amt")
    expected = sum((Decimal(row[position]) for row in texts["store_returns"] if row[position]), Decimal())
    found = table.scan(selected_fields=("sr_return_amt",)).to_arrow()["sr_return_amt"]
    assert pc.sum(found).as_py() == expected
    assert found.null_count == sum(not row[position] for row in texts["store_returns"])


def test_text_columns_hold_the_text(lake: Lake, texts: dict[str, list[list[str]]]) -> None:
    table = lake.catalog.load_table("tpcds.item")
    position = table.schema().column_names.index("i_item_desc")
    rows = table.scan(selected_fields=("i_item_sk", "i_item_desc")).to_arrow().to_pylist()
    found = {str(row["i_item_sk"]): row["i_item_desc"] or "" for row in rows}
    assert found == {row[0]: row[position] for row in texts["item"]}


def test_a_fact_has_one_file_for_each_day_and_one_for_no_day(
    lake: Lake, texts: dict[str, list[list[str]]]
) -> None:
    table = lake.catalog.load_table("tpcds.store_returns")
    days = [task.file.partition[0] for task in table.scan().plan_files()]
    expected = {int(row[0]) if row[0] else None for row in texts["store_returns"]}
    assert None in expected
    assert len(days) == len(set(days))
    assert set(days) == expected


def test_file_statistics_tell_what_a_filter_needs(lake: Lake) -> None:
    table = lake.catalog.load_table("tpcds.store_returns")
    highest = pc.max(table.scan(selected_fields=("sr_return_amt",)).to_arrow()["sr_return_amt"]).as_py()
    scan = table.scan(row_filter=f"sr_return_amt >= {highest}")
    assert scan.count() >= 1
    assert len(list(scan.plan_files())) < len(list(table.scan().plan_files()))


def test_a_table_is_made_in_one_snapshot_of_format_2(lake: Lake) -> None:
    for name in TABLES:
        table = lake.catalog.load_table(f"tpcds.{name}")
        assert len(table.snapshots()) == 1
        assert table.metadata.format_version == 2
        assert table.properties[SCALE_PROPERTY] == "0.01"
        assert len(table.specs()) == 1


def test_progress_counts_tables_and_rows(lake: Lake, texts: dict[str, list[list[str]]]) -> None:
    done = [progress for progress in lake.reported if progress.step is Step.DONE]
    assert [progress.table for progress in done] == list(TABLES)
    assert [progress.tables_done for progress in done] == [1, 2, 3]
    assert done[-1].rows_done == sum(map(len, texts.values()))


def test_a_table_that_is_there_is_skipped(lake: Lake) -> None:
    before = lake.catalog.load_table("tpcds.item").current_snapshot()
    assert lake.load(["item"]) == LoadReport({}, ("item",))
    assert lake.catalog.load_table("tpcds.item").current_snapshot() == before


def test_no_text_is_left_behind(lake: Lake) -> None:
    assert not [path for path in lake.work_dir.rglob("*") if path.is_file() and not path.name.startswith(".")]


def test_another_scale_is_refused_and_changes_nothing(lake: Lake) -> None:
    with pytest.raises(CallerError, match=r"tpcds\.\w+ holds TPC-DS at scale 0\.01: name another schema"):
        lake.load(["store"], scale=0.02)
    assert lake.names() == set(TABLES)


def test_a_table_that_someone_else_made_is_refused(empty_lake: Lake) -> None:
    empty_lake.catalog.create_namespace("tpcds")
    empty_lake.catalog.create_table("tpcds.item", schema=_one_column())
    with pytest.raises(CallerError, match="was not loaded by this command"):
        empty_lake.load(["item"])


def test_an_interrupted_load_leaves_whole_tables_only_and_goes_on(empty_lake: Lake) -> None:
    def stop_at_item(progress: Progress) -> None:
        if progress.table == "item":
            raise StopHere

    with pytest.raises(StopHere):
        empty_lake.load(("reason", "item"), on_progress=stop_at_item)
    assert empty_lake.names() == {"reason"}
    report = empty_lake.load(("reason", "item"))
    assert report.skipped == ("reason",)
    assert report.loaded.keys() == {"item"}


def test_a_fact_that_cannot_be_written_whole_leaves_no_data_file(empty_lake: Lake) -> None:
    empty_lake.catalog.create_namespace("tpcds")
    with pytest.raises(FileExistsError):
        write_inventory_where_a_file_is_in_the_way(empty_lake.catalog)
    assert not list(empty_lake.work_dir.parent.rglob("*.parquet"))
    assert not empty_lake.names()


@pytest.mark.parametrize("scale", [0, -1, 0.0001, 1001, float("nan")])
def test_a_scale_that_cannot_be_made_is_refused(scale: float, empty_lake: Lake) -> None:
    with pytest.raises(CallerError, match=r"must be from 0\.001 to 1000"):
        empty_lake.load(scale=scale)


def test_an_unknown_table_is_refused_with_the_nearest_name(empty_lake: Lake) -> None:
    with pytest.raises(TableNotFound, match="Did you mean store_returns"):
        empty_lake.load(["store_return"])


def _one_column() -> Schema:
    return Schema(NestedField(1, "i_item_sk", IntegerType()))


def write_inventory_where_a_file_is_in_the_way(catalog: SqlCatalog) -> None:
    schema = table_schemas()["inventory"]
    rows = pa.table({name: pa.array([1, None], pa.int32()) for name in schema.column_names})
    spec = partition_spec("inventory", schema)
    with catalog.create_table_transaction("tpcds.inventory", schema, partition_spec=spec) as transaction:
        data = Path(transaction.table_metadata.location.removeprefix("file://")) / "data"
        data.mkdir(parents=True)
        (data / "inv_date_sk=null").write_text("in the way of the folder of that name")
        append_daily_files(transaction, rows)
