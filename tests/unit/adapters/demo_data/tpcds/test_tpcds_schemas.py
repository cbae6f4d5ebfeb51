from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from service.adapters.demo_data.tpcds.text import read_text
from service.adapters.demo_data.tpcds.tpcds_schemas import (
    DATE_KEYS,
    STAR_TABLES,
    partition_spec,
    table_schemas,
)


def test_the_star_is_part_of_the_24_tables() -> None:
    assert set(STAR_TABLES) < table_schemas().keys()
    assert len(table_schemas()) == 24


@pytest.mark.parametrize("table", sorted(DATE_KEYS))
def test_a_fact_is_partitioned_by_its_date_key(table: str) -> None:
    schema = table_schemas()[table]
    (field,) = partition_spec(table, schema).fields
    assert schema.find_column_name(field.source_id) == DATE_KEYS[table]
    assert str(field.transform) == "identity"


def test_every_identifier_is_an_int() -> None:
    keys = [
        field for schema in table_schemas().values() for field in schema.fields if field.name.endswith("_sk")
    ]
    assert {str(key.field_type) for key in keys} == {"int"}


def test_an_empty_field_is_null_and_quotes_are_text(tmp_path: Path) -> None:
    file = tmp_path / "reason.dat"
    file.write_bytes(b"1|\"A|it's C\xd4TE|\n2||  |\n")
    rows = read_text([file], table_schemas()["reason"])
    assert rows.to_pylist() == [
        {"r_reason_sk": 1, "r_reason_id": '"A', "r_reason_desc": "it's CÔTE"},
        {"r_reason_sk": 2, "r_reason_id": None, "r_reason_desc": "  "},
    ]


def test_chunks_make_one_table(tmp_path: Path) -> None:
    files = [tmp_path / "1.dat", tmp_path / "2.dat"]
    for number, file in enumerate(files):
        file.write_text(f"{number}|id|text|\n")
    assert read_text(files, table_schemas()["reason"])["r_reason_sk"].to_pylist() == [0, 1]


def test_no_text_is_a_table_without_rows() -> None:
    rows = read_text([], table_schemas()["reason"])
    assert rows.num_rows == 0
    assert rows.schema.field("r_reason_sk").type == pa.int32()
