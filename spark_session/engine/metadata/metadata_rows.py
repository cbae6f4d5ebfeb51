"""Rows of metadata: texts, a few thousand at most, between Spark's answer and the principal's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from spark_session.engine.metadata.masking import Row
from spark_session.results.arrow_schema import arrow_schema


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows of a statement with their types, and the names of the policies that were applied to it."""

    rows: pa.Table
    schema: StructType
    applied: tuple[str, ...] = ()


def rows_of(frame: DataFrame) -> list[Row]:
    """Returns the rows of a statement that Spark has answered.

    Raises:
        PySparkException: Spark cannot answer it.
    """
    return [tuple(row) for row in frame.collect()]


def answer_with(schema: StructType, rows: Iterable[Row], applied: tuple[str, ...] = ()) -> Answer:
    """Returns these rows, with Spark's types."""
    types = arrow_schema(schema)
    columns = list(zip(*rows, strict=True)) or [()] * len(types)
    arrays = [pa.array(values, field.type) for values, field in zip(columns, types, strict=True)]
    return Answer(pa.Table.from_arrays(arrays, schema=types), schema, applied)
