"""Reads the generator's text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
from pyarrow import csv
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.schema import Schema

BLOCK_BYTES = 16 * 1024 * 1024


def read_text(files: Sequence[Path], schema: Schema) -> pa.Table:
    """Returns all rows of the files, in the schema's types. An empty field is NULL; nothing is quoted."""
    arrow_schema = schema_to_pyarrow(schema, include_field_ids=False)
    if not files:
        return arrow_schema.empty_table()
    return pa.concat_tables([_read_file(file, arrow_schema) for file in files])


def _read_file(file: Path, schema: pa.Schema) -> pa.Table:
    return csv.read_csv(
        file,
        # Each row ends with a separator, which reads as one more column. The generator writes
        # ISO-8859-1 whatever the platform, as CÔTE D'IVOIRE among the customers shows.
        csv.ReadOptions(column_names=[*schema.names, ""], encoding="latin1", block_size=BLOCK_BYTES),
        csv.ParseOptions(delimiter="|", quote_char=False),
        csv.ConvertOptions(
            column_types=schema,
            include_columns=schema.names,
            null_values=[""],
            strings_can_be_null=True,
        ),
    )
