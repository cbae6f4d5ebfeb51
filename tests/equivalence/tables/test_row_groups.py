"""Row groups that a filtered scan skips by bloom filters or statistics, where no file can be skipped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import md5
from pathlib import Path
from urllib.parse import urlparse

import pyarrow.parquet as pq
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table
from pyiceberg.types import DecimalType, IcebergType, IntegerType, LongType, StringType

from service.errors.query_errors import QueryFailed
from service.gateway import Gateway
from service.model.filters.filter_record import Reason
from service.model.filters.key_set import FilterForm
from service.model.query.scan_metrics import PruningMetrics, Selection
from service.ports.engine.query_engine import EngineResult
from spark_session.engine.engine import SparkEngine
from tests.equivalence.harness import Harness, rows_of
from tests.equivalence.lakehouse import SCHEMA, Layout, append, created

ROWS = 4_000
FILES = 2
CODED: Mapping[str, IcebergType] = {"id": LongType(), "code": StringType()}
# Codes are spread over all files. A dictionary would tell groups apart without a bloom filter.
SMALL_GROUPS = {
    "write.parquet.row-group-size-bytes": "16384",
    "write.parquet.row-group-check-min-record-count": "100",
    "write.parquet.row-group-check-max-record-count": "100",
    "write.parquet.dict-size-bytes": "64",
}
BLOOM_FILTERS = {
    "write.parquet.bloom-filter-enabled.column.code": "true",
    "write.parquet.bloom-filter-max-bytes": "65536",
}
ONE, FEW, MANY = 1, 2, 3
JOINED = "SELECT f.id FROM {table} f JOIN asked a ON f.{column} = a.{column} WHERE a.question = {question}"


@dataclass(frozen=True, slots=True)
class RowGroup:
    """The place of a row group in its file, and its values of one column."""

    path: Path
    first_byte: int
    byte_count: int
    values: tuple[object, ...]


def code(number: int) -> str:
    return md5(str(number).encode()).hexdigest()


@pytest.fixture(scope="module")
def tables(gateway: Gateway, lake: SqlCatalog) -> Mapping[str, Table]:
    """Creates tables of codes with and without bloom filters, and a table with one file sorted by `k`."""
    made = {
        "bloomed": created(lake, "bloomed", CODED, Layout(properties=SMALL_GROUPS | BLOOM_FILTERS)),
        "unbloomed": created(lake, "unbloomed", CODED, Layout(properties=SMALL_GROUPS)),
        "in_order": created(
            lake,
            "in_order",
            {"id": LongType(), "k": IntegerType()},
            Layout(sorted_by="k", properties={"write.parquet.row-group-limit": "250"}),
        ),
    }
    for name in ("bloomed", "unbloomed"):
        for first in range(0, ROWS, ROWS // FILES):
            _spark(gateway)(
                f"INSERT INTO lake.{SCHEMA}.{name} SELECT id, md5(CAST(id AS STRING)) AS code"
                f" FROM range({first}, {first + ROWS // FILES}, 1, 1)"
            )
        made[name].refresh()
    append(made["in_order"], [{"id": number, "k": number} for number in range(ROWS)])
    asked = created(
        lake, "asked", {"question": IntegerType(), "code": StringType(), "k": IntegerType()}, Layout()
    )
    append(
        asked,
        [
            {"question": ONE, "code": code(5), "k": 5},
            *({"question": FEW, "code": code(number), "k": number} for number in (700, 3_100)),
            *({"question": MANY, "code": code(-number), "k": -number} for number in range(1, 301)),
            {"question": MANY, "code": code(2_000), "k": 2_000},
        ],
    )
    return made


def _spark(gateway: Gateway) -> Callable[[str], object]:
    engine = gateway.queries.ports.engine
    assert isinstance(engine, SparkEngine)
    assert engine.session is not None
    root = engine.session.children._root
    return root.sql


def row_groups(table: Table, column: str) -> list[RowGroup]:
    """Returns the row groups of the table's data files."""
    return [
        group
        for value in table.inspect.data_files().to_pylist()
        for group in _row_groups(Path(urlparse(value["file_path"]).path), column)
    ]


def _row_groups(path: Path, column: str) -> Iterator[RowGroup]:
    with pq.ParquetFile(path) as file:
        for number in range(file.num_row_groups):
            group = file.metadata.row_group(number)
            chunks = [group.column(number) for number in range(group.num_columns)]
            first = min(chunk.dictionary_page_offset or chunk.data_page_offset for chunk in chunks)
            values = file.read_row_group(number, [column]).column(0).to_pylist()
            yield RowGroup(path, first, sum(chunk.total_compressed_size for chunk in chunks), tuple(values))


@contextmanager
def gone(groups: Iterable[RowGroup]) -> Iterator[None]:
    """Overwrites the row groups with zeros until the block ends."""
    paths = {group.path for group in groups}
    contents = {path: path.read_bytes() for path in paths}
    for path in paths:
        # Otherwise, the checksum file would also fail reads of the row groups beside these.
        path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
        content = bytearray(contents[path])
        for group in groups:
            if group.path == path:
                content[group.first_byte : group.first_byte + group.byte_count] = bytes(group.byte_count)
        path.write_bytes(content)
    try:
        yield
    finally:
        for path, before in contents.items():
            path.write_bytes(before)


def metrics_of(result: EngineResult, table: str) -> PruningMetrics:
    """Returns what the scan of the table has read."""
    [scan] = [scan for scan in result.scans if scan.table.endswith(f".{table}")]
    return scan.metrics


def rows_read(result: EngineResult, table: str) -> int:
    """Returns the number of rows that the scan returned, which are those of whole row groups."""
    return metrics_of(result, table).rows.selected


@pytest.mark.parametrize("question", [ONE, FEW, MANY])
@pytest.mark.parametrize(("table", "column"), [("bloomed", "code"), ("in_order", "k")])
def test_only_row_groups_with_a_key_are_read(
    table: str, column: str, question: int, tables: Mapping[str, Table], harness: Harness
) -> None:
    checked = harness.check(JOINED.format(table=table, column=column, question=question))
    assert checked.applied.keys() == {f"{table}.{column}"}, checked.pruned.filters

    keys = harness.run(f"SELECT {column} FROM asked WHERE question = {question}").rows.column(0).to_pylist()
    groups = row_groups(tables[table], column)
    wanted = [group for group in groups if not set(keys).isdisjoint(group.values)]
    assert 0 < len(wanted) < len(groups) / 4
    assert rows_read(checked.written, table) == ROWS
    assert rows_read(checked.filtered, table) == sum(len(group.values) for group in wanted)
    assert metrics_of(checked.filtered, table).row_groups == Selection(len(groups), len(wanted))
    assert metrics_of(checked.written, table).row_groups == Selection(len(groups), len(groups))


@pytest.mark.parametrize(("table", "column"), [("bloomed", "code"), ("in_order", "k")])
def test_row_groups_that_must_be_pruned_may_be_gone(
    table: str, column: str, tables: Mapping[str, Table], harness: Harness
) -> None:
    query = JOINED.format(table=table, column=column, question=ONE)
    before = harness.check(query)
    key = harness.run(f"SELECT {column} FROM asked WHERE question = {ONE}").rows.column(0).to_pylist()[0]
    with gone([group for group in row_groups(tables[table], column) if key not in group.values]):
        again = harness.prune(query)
        assert rows_of(harness.run(again.sql, (), again).rows) == rows_of(before.written.rows)
        with pytest.raises(QueryFailed):
            harness.run(query)
    assert before.files(table).selected >= 1


WORDS = ("ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen")


@pytest.fixture(scope="module")
def worded(gateway: Gateway, lake: SqlCatalog) -> Table:
    """Creates a table whose row groups differ by their dictionaries alone. Every third row is deleted."""
    properties = {
        **SMALL_GROUPS,
        "write.parquet.row-group-size-bytes": "1",
        "write.parquet.dict-size-bytes": "65536",
        "format-version": "2",
        "write.delete.mode": "merge-on-read",
    }
    made = created(lake, "worded", {"id": LongType(), "word": StringType()}, Layout(properties=properties))
    words = ", ".join(f"'{word}'" for word in WORDS)
    word = f"CASE id % 100 WHEN 0 THEN 'aaa' WHEN 1 THEN 'zzz' ELSE array({words})[int(id / 100)] END"
    spark = _spark(gateway)
    spark(
        f"INSERT INTO lake.{SCHEMA}.worded SELECT id, {word} AS word FROM range(0, {100 * len(WORDS)}, 1, 1)"
    )
    spark(f"DELETE FROM lake.{SCHEMA}.worded WHERE id % 3 = 0")
    made.refresh()
    return made


@pytest.mark.parametrize("asked", [("cat",), ("ant", "hen"), ("bat",), ("zzz",), ("bat", "hen", "yak")])
@pytest.mark.parametrize("plans_from_memory", [False, True])
def test_row_groups_left_out_by_dictionaries_are_counted_also_with_deletes(
    plans_from_memory: bool, asked: tuple[str, ...], worded: Table, by_iceberg: Harness, from_memory: Harness
) -> None:
    harness = from_memory if plans_from_memory else by_iceberg
    groups = row_groups(worded, "word")
    wanted = [group for group in groups if not set(asked).isdisjoint(group.values)]
    values = ", ".join(f"'{word}'" for word in asked)
    sql = f"SELECT id FROM worded WHERE word IN ({values})"
    found = harness.run(sql, (), harness.prune(sql))
    metrics = metrics_of(found, "worded")
    assert len(groups) == len(WORDS)
    assert metrics.row_groups == Selection(len(groups), len(wanted))
    assert metrics.data_files == Selection(1, 1)
    read = sum(len(group.values) for group in wanted)
    assert metrics.rows.selected < read or not read


def test_row_groups_of_files_that_were_not_opened_are_not_known(
    tables: Mapping[str, Table],  # noqa: ARG001
    harness: Harness,
) -> None:
    sql = "SELECT id FROM bloomed WHERE code >= '0' AND id >= 0"
    assert metrics_of(harness.run(f"{sql} LIMIT 1"), "bloomed").row_groups is None
    known = metrics_of(harness.run(sql), "bloomed").row_groups
    assert known is not None
    assert known.selected == known.total


def test_a_table_with_a_file_of_another_format_has_unknown_row_groups(
    gateway: Gateway, lake: SqlCatalog, harness: Harness
) -> None:
    created(lake, "mixed", {"id": LongType()}, Layout())
    spark = _spark(gateway)
    spark(f"INSERT INTO lake.{SCHEMA}.mixed SELECT id FROM range(0, 10, 1, 1)")
    assert metrics_of(harness.run("SELECT id FROM mixed WHERE id < 5"), "mixed").row_groups == Selection(1, 1)
    spark(f"ALTER TABLE lake.{SCHEMA}.mixed SET TBLPROPERTIES ('write.format.default' = 'avro')")
    spark(f"INSERT INTO lake.{SCHEMA}.mixed VALUES (100)")
    found = harness.run("SELECT id FROM mixed WHERE id < 5")
    assert found.rows.num_rows == 5
    assert metrics_of(found, "mixed").row_groups is None


def test_keys_for_bloom_filters_stay_a_list_however_many_they_are(
    tables: Mapping[str, Table],  # noqa: ARG001
    harness: Harness,
) -> None:
    checked = harness.check(JOINED.format(table="bloomed", column="code", question=MANY))
    found = checked.applied["bloomed.code"]
    assert (found.form, found.value_count) == (FilterForm.IN, 301)
    assert checked.files("bloomed").selected == checked.files("bloomed").total == FILES


def test_without_a_bloom_filter_the_same_column_takes_no_keys(
    tables: Mapping[str, Table], harness: Harness
) -> None:
    checked = harness.check(JOINED.format(table="unbloomed", column="code", question=ONE))
    assert [filter_.reason for filter_ in checked.pruned.filters] == [Reason.PROBE_NOT_PRUNABLE]
    literal = harness.run(f"SELECT id FROM unbloomed WHERE code = '{code(5)}'")
    assert len(row_groups(tables["unbloomed"], "code")) > FILES
    assert rows_read(literal, "unbloomed") == ROWS


def test_keys_with_more_digits_than_a_files_bloom_filter_are_not_looked_for_there(
    gateway: Gateway, lake: SqlCatalog, harness: Harness
) -> None:
    properties = SMALL_GROUPS | {"write.parquet.bloom-filter-enabled.column.price": "true"}
    prices: Mapping[str, IcebergType] = {"id": LongType(), "price": DecimalType(20, 2)}
    created(lake, "widened", prices, Layout(sorted_by="price", properties=properties))
    spark = _spark(gateway)
    spark(f"INSERT INTO lake.{SCHEMA}.widened SELECT id, id + 0.5BD FROM range(0, {ROWS}, 1, 1)")
    spark(f"ALTER TABLE lake.{SCHEMA}.widened ALTER COLUMN price TYPE DECIMAL(34, 2)")
    spark(f"INSERT INTO lake.{SCHEMA}.widened VALUES (-1, 2.75), (-2, 1000000000000000000000.00)")
    created(lake, "asked_prices", {"price": DecimalType(34, 2), "question": IntegerType()}, Layout())
    spark(f"INSERT INTO lake.{SCHEMA}.asked_prices VALUES (2.75, 1), (1000000000000000000000.00, 1)")
    checked = harness.check(
        "SELECT f.id FROM widened f JOIN asked_prices a ON f.price = a.price WHERE a.question = 1"
    )
    assert checked.filtered.rows.num_rows == 2
    # The same condition fails in Iceberg if the caller writes it.
    with pytest.raises(QueryFailed):
        harness.run("SELECT id FROM widened WHERE price IN (2.75BD, 1000000000000000000000.00BD)")
