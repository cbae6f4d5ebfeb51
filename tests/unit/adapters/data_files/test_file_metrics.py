"""A file's metrics equal those that PyIceberg reads from the same footer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pyiceberg.io.pyarrow import (
    compute_statistics_plan,
    data_file_statistics_from_parquet_metadata,
    parquet_path_to_id_mapping,
)
from pyiceberg.schema import Schema
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    ListType,
    NestedField,
    PrimitiveType,
    StructType,
    UUIDType,
)

from tests.unit.adapters.data_files.states import paths_of, read, state_of, write
from tests.unit.adapters.data_files.test_arrow_transforms import VALUES, array_of

KINDS: dict[PrimitiveType, st.SearchStrategy[Any]] = {BooleanType(): st.booleans()} | {
    kind: values for kind, values in VALUES.items() if not isinstance(kind, UUIDType)
}


def statistics_of(schema: Schema, path: Path, properties: dict[str, str]) -> dict[str, Any]:
    return data_file_statistics_from_parquet_metadata(
        pq.read_metadata(path),
        compute_statistics_plan(schema, properties),
        parquet_path_to_id_mapping(schema),
    ).to_serialized_dict()


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("mode", ["truncate(3)", "full", "counts"])
def test_columns_have_the_metrics_that_pyiceberg_finds(
    kind: PrimitiveType, mode: str, tmp_path: Path
) -> None:
    schema = Schema(
        NestedField(1, "a", kind),
        NestedField(2, "s", StructType(NestedField(3, "b", kind))),
        NestedField(4, "l", ListType(5, kind, False)),
    )
    properties = {"write.metadata.metrics.default": mode, "write.parquet.row-group-limit": "2"}
    state = state_of(tmp_path, schema=schema, properties=properties)

    @settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.lists(st.none() | KINDS[kind], min_size=1, max_size=6))
    def check(values: list[Any]) -> None:
        # PyIceberg increments a byte and keeps the bytes behind it, which is also a bound, but a longer one.
        is_cut = isinstance(kind, BinaryType) and mode == "truncate(3)"
        assume(not is_cut or not any(b"\xff" in value[:3] for value in values if value))
        column = array_of(kind, values)
        structs = pa.StructArray.from_arrays([column], ["b"])
        lists = pa.ListArray.from_arrays(pa.array([0] * len(values) + [len(values)], pa.int32()), column)
        result = write(state, None, [pa.record_batch({"a": column, "s": structs, "l": lists})])
        [file] = read(state, result)
        expected = statistics_of(schema, paths_of(result)[0], properties)
        found = {name: getattr(file, name) for name in expected}
        assert found == expected

    check()
