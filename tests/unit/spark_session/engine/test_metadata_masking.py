"""Values of metadata that only administrators see."""

from __future__ import annotations

import pytest

from spark_session.engine.metadata.masking import (
    REDACTED,
    Row,
    shown_creation,
    shown_details,
    shown_properties,
    shown_property,
    shown_statistics,
)
from spark_session.engine.metadata.partition_text import partition_text

ROWS: list[Row] = [
    ("Location", "string", "a column of this name"),
    ("Statistics", "int", None),
    ("", "", ""),
    ("# Detailed Table Information", "", ""),
    ("Name", "lake.shop.t", ""),
    ("Location", "s3://bucket/t", ""),
    ("Table Properties", "[format=iceberg/parquet,write.data.path=s3://b/d]", ""),
    ("Statistics", "120 bytes, 3 rows", None),
    ("View Text", "SELECT * FROM lake.hr.pay", ""),
]


def described(*, is_admin: bool = False, shows_counts: bool = True, shows_text: bool = True) -> list[Row]:
    return shown_details(ROWS, is_admin=is_admin, shows_counts=shows_counts, shows_text=shows_text)


def test_administrators_see_all_but_statistics_of_hidden_rows() -> None:
    assert described(is_admin=True) == ROWS
    assert [row for row in ROWS if row not in described(is_admin=True, shows_counts=False)] == [ROWS[7]]


def test_others_see_no_place_of_files() -> None:
    shown = described()
    assert shown[:5] == ROWS[:5]
    assert [row[1] for row in shown[5:]] == [REDACTED, REDACTED, "120 bytes, 3 rows", ROWS[8][1]]
    assert "s3" not in str(shown)
    assert described(shows_text=False)[-1][1] == REDACTED


def test_properties_without_a_place_are_shown() -> None:
    rows: list[Row] = [("# Detailed Table Information", "", ""), ("Table Properties", "[a=1,b=x]", "")]
    assert shown_details(rows, is_admin=False, shows_counts=True, shows_text=True) == rows


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("location", "x"),
        ("write.data.path", "x"),
        ("write.metadata.path", None),
        ("a", "s3a://b"),
        ("a", "/data/t"),
        ("a", " file:/t"),
        ("warehouse", "x"),
        ("callback.url", "x"),
    ],
)
def test_places_are_known_by_name_or_by_value(name: str, value: str | None) -> None:
    assert shown_property(name, value) == REDACTED


def test_rows_of_values_alone_are_masked_too() -> None:
    assert shown_properties([("s3://b",), ("zstd",)]) == [(REDACTED,), ("zstd",)]
    assert shown_properties([("location", "b"), ("format", "x")]) == [("location", REDACTED), ("format", "x")]


def test_a_creation_has_no_place_of_files_whatever_is_quoted() -> None:
    text = (
        "CREATE TABLE lake.shop.t (\n  a INT COMMENT 'it\\'s'\n)\nCOMMENT 'one\nLOCATION \\'x\\''\n"
        "LOCATION 's3://b/it\\'s'\nTBLPROPERTIES (\n  'k' = 'v',\n  'write.data.path' = 'b',\n  'z' = 's3://c')\n"
    )
    shown = shown_creation(text)
    assert "s3" not in shown
    assert "'k' = 'v'" in shown
    assert f"'write.data.path' = '{REDACTED}'" in shown


def test_statistics_of_a_column_become_unknown() -> None:
    rows: list[Row] = [("col_name", "max"), ("min", "1"), ("histogram", "NULL"), ("comment", "min")]
    assert shown_statistics(rows) == [
        ("col_name", "max"),
        ("min", "NULL"),
        ("histogram", "NULL"),
        ("comment", "min"),
    ]


def test_partitions_are_written_as_paths() -> None:
    assert partition_text(["a/b", "c"], ["x=y", ""]) == "a%2Fb=x%3Dy/c="
