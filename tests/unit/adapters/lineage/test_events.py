"""Every event conforms to the specification."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openlineage.client.event_v2 import RunEvent

from service.adapters.lineage.dataset_names import DatasetNames
from service.adapters.lineage.emitter import LARGEST_EVENT, as_json
from service.adapters.lineage.lineage_tables import KnownTables
from service.adapters.lineage.query_run_events import QueryEvents
from service.adapters.lineage.write_events import WriteEvents
from service.model.ingest.ingest import IngestCommit, IngestRecord, WrittenTarget
from service.model.ingest.writing import TableKey
from service.model.operations.maintenance import (
    MaintenanceBounds,
    MaintenanceOperation,
    MaintenanceRecord,
    MaintenanceRequest,
    MaintenanceState,
)
from service.model.query.lineage import (
    ColumnLineage,
    ColumnSources,
    EndedRound,
    Influence,
    ResultLineage,
    Source,
)
from service.model.query.query import QueryError, QueryRecord, QueryState
from service.model.query.results import Column
from service.model.tables.tables import TableColumn, TableName
from tests.fakes.catalogs import FakeCatalogs, facts_of_empty_table
from tests.fakes.query_records import full_record, scan, short_record
from tests.openlineage.checked import OWN, check

NOW = datetime(2026, 1, 1, 13, tzinfo=UTC)
SALES = TableName("lake", "shop", "sales")
COLUMNS = (
    TableColumn(1, "id", "int", is_required=True),
    TableColumn(2, "price", "decimal(9, 2)", is_required=False, doc="in euros"),
)
CATALOGS = {"lake": {"type": "rest", "uri": "https://catalog.example"}}


def catalogs() -> FakeCatalogs:
    return FakeCatalogs(tables=[facts_of_empty_table(SALES, COLUMNS)])


def query_events(*, is_sql_reported: bool = False, of: FakeCatalogs | None = None) -> QueryEvents:
    tables = KnownTables(of or catalogs())
    return QueryEvents("sluice", DatasetNames(CATALOGS, "sluice"), tables, is_sql_reported)


def write_events(of: FakeCatalogs | None = None) -> WriteEvents:
    return WriteEvents("sluice", DatasetNames(CATALOGS, "sluice"), KnownTables(of or catalogs()))


def reported(event: RunEvent) -> dict[str, Any]:
    """Returns the event as JSON, after checks against the specification and for valid Unicode."""
    found: dict[str, Any] = json.loads(as_json(event))
    check(found)
    json.dumps(found, ensure_ascii=False).encode()
    return found


def lineage(*sources: Source, rows: tuple[Source, ...] = ()) -> ResultLineage:
    return ResultLineage((Column("n", "BIGINT", True),), ColumnLineage((ColumnSources("n", sources),), rows))


def succeeded(**changes: Any) -> QueryRecord:
    record = replace(short_record(), scans=(scan(str(SALES), 9, 1),), row_count=3, byte_count=40)
    return replace(record, **changes)


def test_a_query_begins_and_ends_as_one_run_of_one_job() -> None:
    record = succeeded()
    events = query_events()
    begun, ended = reported(events.taken(record)), reported(events.ended(record, NOW))
    assert (begun["eventType"], ended["eventType"]) == ("START", "COMPLETE")
    assert begun["run"]["runId"] == ended["run"]["runId"] == str(record.query_id)
    assert begun["job"] == ended["job"]
    assert begun["eventTime"] == "2026-01-01T12:30:15.123456+00:00"


@pytest.mark.parametrize(
    ("state", "code", "expected"),
    [(QueryState.FAILED, "QUERY_FAILED", "FAIL"), (QueryState.CANCELED, "QUERY_CANCELED", "ABORT")],
)
def test_why_a_query_failed_is_reported_by_its_code_alone(
    state: QueryState, code: str, expected: str
) -> None:
    error = QueryError(code, "Cannot cast 'hunter2' to INT.")
    event = reported(query_events().ended(succeeded(state=state, error=error), NOW))
    assert event["eventType"] == expected
    assert event["run"]["facets"]["errorMessage"]["message"] == code
    assert "hunter2" not in json.dumps(event)


def test_a_table_that_was_read_is_reported_with_schema_version_and_what_was_read_of_it() -> None:
    event = reported(query_events().ended(succeeded(), NOW))
    [table] = event["inputs"]
    assert (table["namespace"], table["name"]) == ("https://catalog.example", "lake.shop.sales")
    assert [(field["name"], field["type"]) for field in table["facets"]["schema"]["fields"]] == [
        ("id", "int"),
        ("price", "decimal(9, 2)"),
    ]
    assert table["facets"]["version"]["datasetVersion"] == str(2**63 - 1)
    statistics = table["inputFacets"]["inputStatistics"]
    assert (statistics["rowCount"], statistics["fileCount"], statistics["size"]) == (5, 3, 1 << 40)
    pruned = table["inputFacets"]["sluice_prunedScans"]
    assert pruned["dataFiles"] == {"selected": 3, "total": 27}


def test_a_table_that_is_read_twice_is_one_input() -> None:
    scans = (scan(str(SALES), 9, 1), replace(scan(str(SALES), 9, 0), has_run=False))
    [table] = reported(query_events().ended(succeeded(scans=scans), NOW))["inputs"]
    assert table["inputFacets"]["sluice_prunedScans"]["scanCount"] == 2
    assert table["inputFacets"]["sluice_prunedScans"]["skippedScanCount"] == 1


def test_a_table_of_a_catalog_that_is_down_is_reported_by_its_name() -> None:
    down = catalogs()
    down.down.add("lake")
    [table] = reported(query_events(of=down).ended(succeeded(), NOW))["inputs"]
    assert table["name"] == "lake.shop.sales"
    assert "schema" not in table["facets"]


def test_a_result_is_reported_with_what_its_columns_come_from() -> None:
    known = lineage(
        Source(str(SALES), "price", Influence.AGGREGATION),
        Source(str(SALES), "id", Influence.CONDITIONAL),
        rows=(Source(str(SALES), "id", Influence.FILTER), Source("v", "x", Influence.FILTER)),
    )
    event = reported(query_events().ended(succeeded(lineage=known), NOW))
    [result] = event["outputs"]
    assert (result["namespace"], result["name"]) == ("inmemory://", f"sluice/{event['job']['name']}")
    assert result["outputFacets"]["outputStatistics"]["rowCount"] == 3
    facet = result["facets"]["columnLineage"]
    by_field = {field["field"]: field["transformations"][0] for field in facet["fields"]["n"]["inputFields"]}
    assert (by_field["price"]["type"], by_field["price"]["subtype"]) == ("DIRECT", "AGGREGATION")
    assert (by_field["id"]["type"], by_field["id"]["subtype"]) == ("INDIRECT", "CONDITIONAL")
    # A source that is not a table, here `v`, is not a dataset.
    assert [column["name"] for column in facet["dataset"]] == ["lake.shop.sales"]


def test_rows_that_were_in_memory_are_reported_as_those_of_their_table() -> None:
    known = replace(
        lineage(Source("sales_rows_1", "id", Influence.IDENTITY)),
        cached_tables=(("Sales_rows_1", str(SALES)),),
    )
    [result] = reported(query_events().ended(succeeded(lineage=known), NOW))["outputs"]
    [field] = result["facets"]["columnLineage"]["fields"]["n"]["inputFields"]
    assert field["name"] == "lake.shop.sales"


def test_an_eliminated_join_is_reported_all_the_same() -> None:
    record = replace(full_record(), state=QueryState.SUCCEEDED, error=None, lineage=lineage())
    [result] = reported(query_events().ended(record, NOW))["outputs"]
    joined = {
        (column["name"], column["field"], column["transformations"][0]["subtype"])
        for column in result["facets"]["columnLineage"]["dataset"]
    }
    assert joined == {
        ("lake.tpcds.store_returns", "sr_returned_date_sk", "JOIN"),
        ("lake.tpcds.date_dim", "d_date_sk", "JOIN"),
    }


def test_the_text_is_reported_only_if_the_operator_wants_it() -> None:
    record = succeeded(sql="SELECT 'hunter2'")
    assert "hunter2" not in json.dumps(reported(query_events().ended(record, NOW)))
    event = reported(query_events(is_sql_reported=True).ended(record, NOW))
    assert event["job"]["facets"]["sql"] == event["job"]["facets"]["sql"] | {
        "query": "SELECT 'hunter2'",
        "dialect": "spark",
    }


def test_the_event_that_the_documentation_shows_is_one() -> None:
    check(json.loads((OWN / "query.json").read_text(encoding="utf-8")))


def test_callers_and_their_tags_are_reported_and_no_tag_passes_for_a_caller() -> None:
    event = reported(query_events().ended(succeeded(tags={"dashboard": "x", "caller": "somebody else"}), NOW))
    tags = {tag["key"]: tag["value"] for tag in event["run"]["facets"]["tags"]["tags"]}
    assert tags == {"caller": "ann", "dashboard": "x"}


def test_an_event_that_is_too_large_goes_without_schemas() -> None:
    wide = tuple(TableColumn(number, f"{'c' * 400}{number}", "string", False) for number in range(4_000))
    events = query_events(of=FakeCatalogs(tables=[facts_of_empty_table(SALES, wide)]))
    content = as_json(events.ended(succeeded(), NOW))
    assert len(content) < LARGEST_EVENT
    check(json.loads(content))
    assert "schema" not in json.loads(content)["inputs"][0]["facets"]


def target(columns: tuple[int, ...] | None, rows: int, table: TableName = SALES) -> WrittenTarget:
    return WrittenTarget(TableKey(table), columns, 1, rows, rows * 10)


def ingest(*targets: WrittenTarget) -> IngestRecord:
    commits = tuple(
        IngestCommit(key, tuple(target for target in targets if target.key == key))
        for key in dict.fromkeys(target.key for target in targets)
    )
    return IngestRecord(uuid4(), "ann", None, "", NOW, commits, write_ms=250)


def test_an_ingest_is_reported_with_what_it_wrote_under_which_write_schemas() -> None:
    record = ingest(target((1,), 3), target((2, 1), 4), target(None, 1))
    start, end = map(reported, write_events().accepted(record, "s3a://inbox/a.ndjson"))
    assert (start["eventType"], end["eventType"]) == ("START", "COMPLETE")
    assert start["eventTime"] == "2026-01-01T12:59:59.750000+00:00"
    assert end["job"]["name"] == "ingest.lake.shop.sales"
    assert [(dataset["namespace"], dataset["name"]) for dataset in end["inputs"]] == [
        ("s3://inbox", "a.ndjson")
    ]
    [table] = end["outputs"]
    assert table["outputFacets"]["outputStatistics"]["rowCount"] == 8
    schemas = table["outputFacets"]["sluice_writeSchemas"]["writeSchemas"]
    assert [schema.get("columns") for schema in schemas] == [["id"], ["price", "id"], None]
    assert [schema["rowCount"] for schema in schemas] == [3, 4, 1]
    assert "version" not in table["facets"]


def test_an_ingest_of_two_tables_has_two_outputs_and_one_without_rows_is_not_reported() -> None:
    other = TableName("lake", "shop", "other")
    [_, end] = write_events().accepted(ingest(target(None, 1), target(None, 2, other)), "")
    assert [dataset["name"] for dataset in reported(end)["outputs"]] == ["lake.shop.sales", "lake.shop.other"]
    assert write_events().accepted(ingest(), "") == []


def ended_round(error_code: str | None = None) -> EndedRound:
    snapshot_id = 77 if error_code is None else None
    ids = (uuid4(), uuid4())
    return EndedRound(TableKey(SALES, "audit"), uuid4(), ids, (target((1,), 3),), snapshot_id, error_code, 40)


def test_a_commit_round_is_reported_with_the_snapshot_that_it_made() -> None:
    ended = ended_round()
    start, end = map(reported, write_events().committed(ended, NOW))
    assert start["run"]["runId"] == end["run"]["runId"] == str(ended.round_id)
    assert end["job"]["name"] == "commit.lake.shop.sales@audit"
    [table] = end["outputs"]
    assert table["facets"]["version"]["datasetVersion"] == "77"
    assert table["outputFacets"]["outputStatistics"] == table["outputFacets"]["outputStatistics"] | {
        "rowCount": 3,
        "size": 30,
        "fileCount": 1,
    }
    facet = end["run"]["facets"]["sluice_committedIngests"]
    assert facet["ingestIds"] == [str(ingest_id) for ingest_id in ended.ingest_ids]


def test_a_round_that_was_refused_has_written_nothing() -> None:
    start, end = map(reported, write_events().committed(ended_round("TABLE_CHANGED"), NOW))
    assert end["eventType"] == "FAIL"
    assert end["run"]["facets"]["errorMessage"]["message"] == "TABLE_CHANGED"
    assert "errorMessage" not in start["run"]["facets"]
    assert end["outputs"][0].get("outputFacets", {}) == {}


def maintenance(*operations: MaintenanceOperation, **changes: Any) -> MaintenanceRecord:
    bounds = MaintenanceBounds(snapshot_age=timedelta(1), snapshots_kept=1, orphan_age=timedelta(1))
    request = MaintenanceRequest(TableKey(SALES), operations, bounds)
    record = MaintenanceRecord(uuid4(), request, "ann", NOW, MaintenanceState.SUCCEEDED, 1, NOW, NOW)
    return replace(record, **changes)


def test_a_compaction_reads_and_writes_its_table_and_other_maintenance_is_not_reported() -> None:
    _, end = map(reported, write_events().maintained(maintenance(MaintenanceOperation.COMPACT), NOW))
    assert end["job"]["name"] == "compact.lake.shop.sales"
    assert [dataset["name"] for dataset in end["inputs"] + end["outputs"]] == ["lake.shop.sales"] * 2
    failed = maintenance(
        MaintenanceOperation.COMPACT, state=MaintenanceState.FAILED, error_code="MAINTENANCE_FAILED"
    )
    assert reported(write_events().maintained(failed, NOW)[1])["eventType"] == "FAIL"
    assert write_events().maintained(maintenance(MaintenanceOperation.EXPIRE), NOW) == []


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
SENT_TEXTS = st.text(max_size=30)
"""JSON may contain lone surrogates."""
PLAIN = st.from_regex(r"[A-Za-z0-9_ü.'`\"-]{1,20}", fullmatch=True)
NUMBERS = st.integers(0, 2**62)


@given(
    sql=SENT_TEXTS,
    tags=st.dictionaries(SENT_TEXTS, SENT_TEXTS, max_size=3),
    tables=st.lists(st.tuples(PLAIN, PLAIN), max_size=4),
    state=st.sampled_from([QueryState.SUCCEEDED, QueryState.FAILED, QueryState.CANCELED]),
    columns=st.lists(TEXTS, max_size=4),
    influence=st.sampled_from(Influence),
    numbers=NUMBERS,
)
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_whatever_a_query_was_its_events_are_as_the_specification_has_them(
    sql: str,
    tags: dict[str, str],
    tables: list[tuple[str, str]],
    state: QueryState,
    columns: list[str],
    influence: Influence,
    numbers: int,
) -> None:
    names = [f"lake.{schema}.{table}" for schema, table in tables]
    sources = tuple(Source(name, column, influence) for name in names for column in columns)
    record = replace(
        short_record(),
        sql=sql,
        tags=tags,
        state=state,
        error=None if state is QueryState.SUCCEEDED else QueryError("QUERY_FAILED", sql),
        scans=tuple(scan(name, 3, 1) for name in names),
        row_count=numbers,
        lineage=ResultLineage(
            tuple(Column(column, "STRING", True) for column in columns),
            ColumnLineage(tuple(ColumnSources(column, sources) for column in columns), sources),
        ),
    )
    events = query_events(is_sql_reported=bool(numbers % 2))
    reported(events.taken(record))
    event = reported(events.ended(record, NOW))
    assert {dataset["name"] for dataset in event["inputs"]} == set(names)
