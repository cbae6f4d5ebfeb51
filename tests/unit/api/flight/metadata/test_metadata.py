"""Tests the answers to metadata commands, in the schemas of the specification."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.flight as flight
import pytest

from api.flight.metadata import answer_schemas
from api.flight.metadata.sql_info import InfoBounds, infos, sql_info
from api.flight.metadata.type_info import TYPES
from api.flight.wire.messages import new, packed
from service.model.tables.contents import SchemaEntry
from tests.unit.api.flight.conftest import JDBC, RunningFlight, answer, flight_of, open_settings

KNOWN = infos(InfoBounds(max_sql_bytes=10, max_prepared_statements=20, prepared_statement_ttl_ms=30))
SPECIFIED = [*range(12), 100, 101, *range(500, 577)]


def test_every_ability_of_the_specification_is_told(client: flight.FlightClient) -> None:
    told = answer(client, "CommandGetSqlInfo")
    told.validate(full=True)
    assert told.column("info_name").to_pylist() == SPECIFIED


def test_abilities_have_the_members_that_drivers_read() -> None:
    kinds = {0: 0, 3: 1, 8: 3, 541: 2, 508: 4, 517: 5, 6: 0}
    value = sql_info(KNOWN, kinds).column("value").combine_chunks()
    assert value.type_codes.to_pylist() == list(kinds.values())
    assert [field.name for field in value.type] == [
        "string_value",
        "bool_value",
        "bigint_value",
        "int32_bitmask",
        "string_list",
        "int32_to_int32_list_map",
    ]


def test_only_what_is_asked_and_known_is_told(client: flight.FlightClient) -> None:
    told = answer(client, "CommandGetSqlInfo", info=[557, 0, 9_999, 8])
    assert told.column("info_name").to_pylist() == [557, 0, 8]
    assert told.column("value").to_pylist() == [256 * 1024, "Sluice", 0]


@pytest.mark.parametrize("name", list(answer_schemas.METADATA))
def test_every_command_answers_in_its_schema(client: flight.FlightClient, name: str) -> None:
    told = answer(client, name)
    assert told.schema.equals(answer_schemas.METADATA[name], check_metadata=True)
    assert client.get_schema(flight.FlightDescriptor.for_command(packed(new(name)))).schema == told.schema


def test_types_are_in_order_of_their_codes(client: flight.FlightClient) -> None:
    told = answer(client, "CommandGetXdbcTypeInfo")
    codes = told.column("data_type").to_pylist()
    assert (codes, len(codes)) == (sorted(codes), len(TYPES))
    assert answer(client, "CommandGetXdbcTypeInfo", data_type=4).column("type_name").to_pylist() == ["INT"]
    assert answer(client, "CommandGetXdbcTypeInfo", data_type=77).num_rows == 0


def test_catalogs_and_schemas_are_listed(running: RunningFlight, client: flight.FlightClient) -> None:
    running.gateway.contents._schemas = [SchemaEntry("lake", "tpcds"), SchemaEntry("lake", "empty")]
    assert answer(client, "CommandGetCatalogs").to_pylist() == [{"catalog_name": "lake"}]
    assert answer(client, "CommandGetDbSchemas").column("db_schema_name").to_pylist() == ["empty", "tpcds"]
    for asked, found in (
        ({"catalog": "lake", "db_schema_filter_pattern": "tp%"}, ["tpcds"]),
        ({"catalog": "nope"}, []),
        ({"catalog": ""}, []),
    ):
        told = answer(client, "CommandGetDbSchemas", None, **asked)
        assert told.column("db_schema_name").to_pylist() == found


def tables(client: flight.FlightClient, **asked: Any) -> list[str]:
    found: list[str] = answer(client, "CommandGetTables", None, **asked).column("table_name").to_pylist()
    return found


def test_tables_are_listed_by_patterns(client: flight.FlightClient) -> None:
    assert tables(client) == tables(client, catalog="lake") == ["store_returns"]
    assert tables(client, table_name_filter_pattern="STORE\\_%") == ["store_returns"]
    assert tables(client, table_name_filter_pattern="store") == []
    assert tables(client, table_types=["TABLE", "SYSTEM TABLE"]) == ["store_returns"]
    assert tables(client, table_types=["VIEW"]) == tables(client, table_types=["X"]) == []
    assert tables(client, catalog="") == tables(client, catalog="nope") == []


def test_a_statement_in_the_place_of_a_name_asks_no_catalog(
    running: RunningFlight, client: flight.FlightClient
) -> None:
    # pandas does this before each query.
    running.gateway.missing_catalogs = ("lake",)
    asked: list[object] = []
    running.gateway.tables = lambda *names: asked.append(names)  # type: ignore[method-assign,assignment]
    assert tables(client, table_name_filter_pattern="select a_b,\n'%' from t") == []
    assert tables(client, table_name_filter_pattern="%" * 5_000) == []
    assert asked == []


def test_tables_bring_their_columns(client: flight.FlightClient) -> None:
    [row] = answer(client, "CommandGetTables", include_schema=True).to_pylist()
    schema = pa.ipc.read_schema(pa.py_buffer(row["table_schema"]))
    [field] = schema
    assert (field.name, field.type, field.nullable) == ("sr_returned_date_sk", pa.int64(), True)
    assert field.metadata[b"ARROW:FLIGHT:SQL:TYPE_NAME"] == b"BIGINT"
    assert field.metadata[b"ARROW:FLIGHT:SQL:TABLE_NAME"] == b"store_returns"


def test_primary_keys_are_identifier_fields(running: RunningFlight, client: flight.FlightClient) -> None:
    def keys(**asked: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = answer(client, "CommandGetPrimaryKeys", None, **asked).to_pylist()
        return found

    assert keys(table="store_returns") == []
    running.gateway.identifier_fields = ("sr_returned_date_sk",)
    try:
        key = {
            "catalog_name": "lake",
            "db_schema_name": "tpcds",
            "table_name": "store_returns",
            "column_name": "sr_returned_date_sk",
            "key_name": None,
            "key_sequence": 1,
        }
        assert (
            keys(table="store_returns")
            == keys(catalog="lake", db_schema="tpcds", table="store_returns")
            == [key]
        )
        for asked in ({"catalog": ""}, {"db_schema": ""}, {"db_schema": "tp%"}, {"table": "store%"}):
            assert keys(**{"table": "store_returns", **asked}) == []
    finally:
        running.gateway.identifier_fields = ()


def test_too_many_tables_are_an_error() -> None:
    with flight_of(open_settings(max_listed_entries=100)) as running, running.client() as client:
        running.gateway.contents._schemas = [SchemaEntry("lake", f"s{number}") for number in range(101)]
        with pytest.raises(flight.FlightServerError, match="RESULT_TOO_LARGE"):
            answer(client, "CommandGetDbSchemas")


def test_java_programs_are_answered_too(running: RunningFlight) -> None:
    with running.client(generic_options=[("grpc.primary_user_agent", JDBC)]) as client:
        assert len(answer(client, "CommandGetSqlInfo")) == len(SPECIFIED)
        assert answer(client, "CommandGetTables", include_schema=True).num_rows == 1
