"""TPC-DS sales and dates again, in layouts and with key types that Spark's own pruning cannot use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.catalog import Catalog
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER, SortField, SortOrder
from pyiceberg.transforms import BucketTransform, DayTransform, IdentityTransform, Transform
from pyiceberg.types import NestedField, TimestampType
from rich.progress import track

from bench.iceberg_files import append_files, parts, slices
from bench.lakehouse import Lake
from bench.tpcds_lake import SCHEMA as TPCDS
from bench.tpcds_lake import SUFFIX, load, open_catalog

if TYPE_CHECKING:
    from pyiceberg.table import CreateTableTransaction

SCHEMA = f"bench_keys_{SUFFIX}"
SORTED_FILES, BUCKETS, PROMOTIONS = 60, 64, 25
# TPC-DS counts days as astronomers do.
JULIAN_DAY_OF_1970 = 2_440_588
PROPERTIES = {"format-version": "2", "write.parquet.compression-codec": "zstd"}


def make_tables(lake: Lake) -> None:
    """Makes the missing tables; each appears as a whole."""
    load(lake)
    with open_catalog(lake) as catalog:
        catalog.create_namespace_if_not_exists(SCHEMA)
        makers: Mapping[str, Callable[[Catalog, str], None]] = {
            "days_bigint": _days_bigint,
            "days_text": _days_text,
            "promotion_days": _promotion_days,
            "sales_sorted": _sales_sorted,
            "sales_by_customer": _sales_by_customer,
            "sales_by_day": _sales_by_day,
        }
        missing = [name for name in makers if not catalog.table_exists(f"{SCHEMA}.{name}")]
        for name in track(missing, "tables with keys of other kinds", disable=not missing):
            makers[name](catalog, f"{SCHEMA}.{name}")


def _rows_of(catalog: Catalog, table: str, *columns: str) -> pa.Table:
    return catalog.load_table(f"{TPCDS}.{table}").scan(selected_fields=columns or ("*",)).to_arrow()


def _created(
    catalog: Catalog,
    name: str,
    schema: Schema | pa.Schema,
    column: str | None = None,
    transform: Transform[Any, Any] | None = None,
) -> CreateTableTransaction:
    """Begins to create a table, partitioned by a column, or sorted by it if there is no transform."""
    source_id = 0
    if isinstance(schema, Schema) and column is not None:
        source_id = schema.find_field(column).field_id
    spec, order = UNPARTITIONED_PARTITION_SPEC, UNSORTED_SORT_ORDER
    if transform is not None:
        spec = PartitionSpec(PartitionField(source_id, 1000, transform, f"{column}_part"))
    elif column is not None:
        order = SortOrder(SortField(source_id, IdentityTransform()))
    return catalog.create_table_transaction(
        name, schema, partition_spec=spec, sort_order=order, properties=PROPERTIES
    )


def _days(catalog: Catalog) -> pa.Table:
    return _rows_of(catalog, "date_dim", "d_date_sk", "d_year", "d_moy")


def _days_bigint(catalog: Catalog, name: str) -> None:
    _days_with_keys_as(catalog, name, pa.int64())


def _days_text(catalog: Catalog, name: str) -> None:
    _days_with_keys_as(catalog, name, pa.string())


def _days_with_keys_as(catalog: Catalog, name: str, type_: pa.DataType) -> None:
    days = _days(catalog)
    days = days.set_column(0, "d_date_sk", days["d_date_sk"].cast(type_))
    with _created(catalog, name, days.schema) as transaction:
        transaction.append(days)


def _promotion_days(catalog: Catalog, name: str) -> None:
    """Makes the days of each promotion: too many rows to be broadcast."""
    days = _days(catalog)
    parts = [
        days.append_column("promotion", pa.array([number] * days.num_rows, pa.int32()))
        for number in range(PROMOTIONS)
    ]
    rows = pa.concat_tables(parts).sort_by("d_date_sk")
    with _created(catalog, name, rows.schema) as transaction:
        transaction.append(rows)


def _sales_sorted(catalog: Catalog, name: str) -> None:
    """Makes the sales in the order of days, without partitions: as a sorting compaction leaves a table."""
    rows = _rows_of(catalog, "store_sales").sort_by("ss_sold_date_sk")
    schema = catalog.load_table(f"{TPCDS}.store_sales").schema()
    with _created(catalog, name, schema, "ss_sold_date_sk") as transaction:
        append_files(transaction, slices(transaction.table_metadata, rows, SORTED_FILES))


def _sales_by_customer(catalog: Catalog, name: str) -> None:
    rows = _rows_of(catalog, "store_sales")
    schema = catalog.load_table(f"{TPCDS}.store_sales").schema()
    with _created(catalog, name, schema, "ss_customer_sk", BucketTransform(BUCKETS)) as transaction:
        append_files(transaction, parts(transaction.table_metadata, rows))


def _sales_by_day(catalog: Catalog, name: str) -> None:
    """Makes the sales with their timestamps, partitioned by day."""
    rows = _rows_of(catalog, "store_sales")
    days = pc.subtract(rows["ss_sold_date_sk"].cast(pa.int64()), JULIAN_DAY_OF_1970)
    seconds = pc.add(pc.multiply(days, 86_400), rows["ss_sold_time_sk"].cast(pa.int64()))
    moments = pc.multiply(seconds, 1_000_000).cast(pa.timestamp("us"))
    sales = catalog.load_table(f"{TPCDS}.store_sales").schema()
    sold_at = NestedField(len(sales.fields) + 1, "sold_at", TimestampType())
    with _created(catalog, name, Schema(*sales.fields, sold_at), "sold_at", DayTransform()) as transaction:
        rows = rows.append_column("sold_at", moments)
        append_files(transaction, parts(transaction.table_metadata, rows))
