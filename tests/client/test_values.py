"""Tests parameters, the query string of ingests, and the types of files: values in, values out."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import IntEnum
from typing import Any
from uuid import UUID

import pytest
from starlette.datastructures import QueryParams

from api.http.requests.ingest_query import ingest_query
from service.ingest.decoding.values.exact_json import exact_json
from sluice_client import DataNotSupported
from sluice_client.ingest.file_types import file_type
from sluice_client.ingest.ingest_request import IngestRequest
from sluice_client.query.parameters import json_parameters
from sluice_client.query.query_request import QueryRequest


class Color(IntEnum):
    RED = 1


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        (None, None),
        (True, True),
        (7, 7),
        ("é", "é"),
        (0.1, {"value": 0.1, "type": "DOUBLE"}),
        (2**63, {"value": str(2**63), "type": "DECIMAL(19,0)"}),
        (Decimal("1.50"), {"value": "1.50", "type": "DECIMAL(3,2)"}),
        (Decimal("0.001"), {"value": "0.001", "type": "DECIMAL(3,3)"}),
        (Decimal("1E+3"), {"value": "1000", "type": "DECIMAL(4,0)"}),
        (date(2000, 1, 1), {"value": "2000-01-01", "type": "DATE"}),
        (datetime(2000, 1, 1, 12), {"value": "2000-01-01T12:00:00", "type": "TIMESTAMP_NTZ"}),
        (datetime(2000, 1, 1, tzinfo=UTC), {"value": "2000-01-01T00:00:00+00:00", "type": "TIMESTAMP"}),
        (
            datetime(2000, 1, 1, tzinfo=timezone(timedelta(hours=2))),
            {"value": "2000-01-01T00:00:00+02:00", "type": "TIMESTAMP"},
        ),
        (b"\x00\xff", {"value": "AP8=", "type": "BINARY"}),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Color.RED, 1),
        ({"value": "5", "type": "TINYINT"}, {"value": "5", "type": "TINYINT"}),
    ],
)
def test_a_value_is_sent_with_its_type(value: Any, sent: Any) -> None:
    assert json_parameters([value]) == [sent]


@pytest.mark.parametrize(
    "value",
    [object(), [1], {"a": 1}, float("nan"), float("inf"), Decimal("NaN"), 10**40, timedelta(1)],
    ids=["object", "list", "dict", "NaN", "infinity", "NaN decimal", "41 digits", "interval"],
)
def test_a_value_without_a_type_is_refused_by_its_name(value: Any) -> None:
    with pytest.raises(DataNotSupported, match="parameter year"):
        json_parameters({"year": value})


@pytest.mark.parametrize("parameters", ["text", b"bytes", 7, {1, 2}])
def test_parameters_are_a_mapping_or_a_sequence(parameters: Any) -> None:
    with pytest.raises(DataNotSupported, match="parameters are"):
        json_parameters(parameters)


def test_half_a_character_is_refused() -> None:
    with pytest.raises(DataNotSupported):
        QueryRequest(sql="SELECT '\ud800'").to_run(0)


@pytest.mark.parametrize(
    "names",
    [["a", "b"], ["infer"], ["a,b", "c"], ["[a"], ["{a"], ["é", "a b"], ['"'], ["a.b"]],
    ids=["names", "infer", "a comma", "a bracket", "a brace", "other characters", "a quote", "a dot"],
)
def test_names_reach_the_gateway_as_they_are(names: list[str]) -> None:
    sent = IngestRequest(table="lake.logs.events", write_schema=names, equality_fields=names, mode="upsert")
    read = ingest_query(QueryParams(sent.parameters()))
    assert read.write_schema == names  # type: ignore[union-attr]  # without a route
    assert read.equality_fields == names  # type: ignore[union-attr]


def test_everything_that_may_be_said_reaches_the_gateway() -> None:
    schema = {"type": "struct", "fields": [{"id": 1, "name": "a", "type": "long", "required": False}]}
    sent = IngestRequest(
        table="lake.logs.events",
        write_schema="infer",
        branch="dev",
        sort_order=[{"source": "a"}],
        delete_when={"field": "op", "values": ["D"]},
        envelope="debezium",
        order_by="a",
        schema=schema,
        evolve=True,
        drop_required=False,
        create={},
        wait="ACCEPTED",
        on_error="DEAD_LETTER",
    )
    read = ingest_query(QueryParams(sent.parameters()))
    assert read.request_id == sent.request_id
    assert read.model_dump(by_alias=True, exclude_unset=True).keys() == sent.parameters().keys()
    assert exact_json(sent.parameters()["schema"]) == schema


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("a.ndjson", ("application/x-ndjson", None)),
        ("a.b.JSONL", ("application/x-ndjson", None)),
        ("a.csv.gz", ("text/csv", "gzip")),
        ("a.parquet.zst", ("application/vnd.apache.parquet", "zstd")),
        ("a.arrows", ("application/vnd.apache.arrow.stream", None)),
    ],
)
def test_the_name_of_a_file_says_its_format(name: str, sent: tuple[str, str | None]) -> None:
    found = file_type(name, None, None)
    assert (found.content_type, found.content_encoding) == sent


@pytest.mark.parametrize("name", [None, "a", "a.gz", "a.json", "a.arrow", ".csv", ""])
def test_a_file_without_a_known_name_needs_its_format(name: str | None) -> None:
    with pytest.raises(DataNotSupported, match="format="):
        file_type(name, None, None)
    assert file_type(name, "csv", "zstd").content_type == "text/csv"
