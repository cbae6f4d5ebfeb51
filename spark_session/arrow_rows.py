"""A frame's rows as Arrow: as `toArrow()` gives them, and where that gives up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema

from spark_session.served_batches import served_batches

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject


def arrow_rows(frame: DataFrame, collector: JavaObject) -> pa.Table:
    """Runs the frame, every task of its last stage at once; `collector` is a `RowCollector.java`.

    Raises:
        PySparkException: it failed, or was canceled.
        QueryFailed: it ended, and nobody said how.
    """
    uses_large_types = frame.sparkSession._jconf.arrowUseLargeVarTypes()
    schema = to_arrow_schema(
        frame.schema,
        error_on_duplicated_field_names_in_struct=True,
        prefers_large_types=uses_large_types,
    )
    batches = served_batches(frame._jdf, collector)
    return pa.Table.from_batches(batches, None if batches else schema).cast(with_optional_fields(schema))


def with_optional_fields(schema: pa.Schema) -> pa.Schema:
    r"""The schema, in which no struct has a required field.

    Where a struct is NULL, so is in Arrow what lies in it, and a cast to Spark's own types refuses that for
    its required fields.

    >>> required = pa.field("a", pa.int64(), nullable=False)
    >>> with_optional_fields(pa.schema([("s", pa.struct([required])), required])).to_string()
    's: struct<a: int64>\n  child 0, a: int64\na: int64 not null'
    """
    return pa.schema([each.with_type(_optional_inside(each.type)) for each in schema], schema.metadata)


def _optional_inside(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(kind):
        fields = [kind.field(index) for index in range(kind.num_fields)]
        return pa.struct([_inside(each).with_nullable(True) for each in fields])
    if pa.types.is_list(kind):
        return pa.list_(_inside(kind.value_field))
    if pa.types.is_large_list(kind):
        return pa.large_list(_inside(kind.value_field))
    if pa.types.is_map(kind):
        return pa.map_(_inside(kind.key_field), _inside(kind.item_field))
    return kind


def _inside(field: pa.Field) -> pa.Field:
    return field.with_type(_optional_inside(field.type))
