from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import httpx
import pytest

from api.http.problems.problems import failed_ingest_response
from api.http.schemas.ingests.ingest_answer import commit_answer
from service.errors.ingest_errors import CreationInvalid, RecordsInvalid, SchemaMismatch, WriteSchemaInvalid
from service.errors.table_errors import TableNotFound
from service.errors.unavailable import ShuttingDown
from service.model.ingest.ingest import BadRecord, IngestCommit, IngestRecord, Rejected, WrittenTarget
from service.model.ingest.ingest_request import (
    ColumnFields,
    ColumnNames,
    InferredColumns,
    Violation,
    WriteRule,
)
from service.model.ingest.record_deletes import DeleteWhen, Envelope
from service.model.ingest.writing import TableKey
from service.model.tables.schema_changes import DifferenceKind, SchemaDifference
from service.model.tables.table_creation import CreationFault, RequestedSchema, TableLayout
from service.model.tables.tables import PartitionField, SortField, TableName
from tests.fakes.gateway import FakeGateway

pytestmark = pytest.mark.anyio

JSON = {"Content-Type": "application/json"}
EVENTS = {"table": "lake.logs.events", "records": [{"id": 1}, {"id": 2}]}


async def send(client: httpx.AsyncClient, **body: Any) -> httpx.Response:
    return await client.post("/ingest", json=body)


async def test_an_ingest_is_answered_with_its_snapshot(client: httpx.AsyncClient) -> None:
    response = await send(client, **EVENTS)
    assert response.status_code == 200
    answer = response.json()
    assert answer == {
        "ingestId": answer["ingestId"],
        "state": "COMMITTED",
        "commits": [
            {
                "table": "lake.logs.events",
                "branch": "main",
                "snapshotId": 77,
                "addedRecords": 2,
                "addedDataFiles": 1,
                "addedBytes": 100,
                "deletedKeys": 0,
                "lateRecords": 0,
                "writeTargets": [
                    {
                        "writeSchemaColumnIds": [1, 2],
                        "sortOrderId": None,
                        "dataFiles": 1,
                        "records": 2,
                        "deletedKeys": 0,
                        "lateRecords": 0,
                        "upsert": None,
                    }
                ],
                "error": None,
                "postponed": None,
            }
        ],
        "rejected": {"count": 0, "samples": []},
        "evolutions": [],
        "note": None,
        "links": {"self": f"/ingest/{answer['ingestId']}"},
    }
    assert (await client.get(answer["links"]["self"])).json() == answer


async def test_an_ingest_that_its_table_did_not_take_is_a_problem_and_can_be_looked_at(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    gateway.ingests.commit_error = ("TABLE_CHANGED", "column kind is gone.")
    response = await send(client, **EVENTS)
    assert response.status_code == 409
    assert response.headers["Content-Type"] == "application/problem+json"
    problem = response.json()
    assert (problem["code"], problem["detail"]) == ("TABLE_CHANGED", "column kind is gone.")
    assert problem["errors"] == [{"detail": "lake.logs.events: TABLE_CHANGED: column kind is gone."}]
    # Every part failed, so the whole request may be sent again.
    assert not {"commits", "note"} & problem.keys()
    found = await client.get(f"/ingest/{problem['ingestId']}")
    assert (found.status_code, found.json()["state"]) == (200, "FAILED")


async def test_a_table_that_took_its_part_is_reported_where_another_did_not(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    gateway.ingests.commit_error = ("TABLE_CHANGED", "column kind is gone.")
    gateway.ingests.refusing_table = TableName("lake", "logs", "errors")
    other = {"table": "lake.logs.errors", "records": [{"id": 3}]}
    response = await send(client, writes=[EVENTS, other])
    assert (response.status_code, response.json()["code"]) == (409, "TABLE_CHANGED")
    problem = response.json()
    assert len(problem["errors"]) == 1
    found = await client.get(f"/ingest/{problem['ingestId']}")
    assert problem["commits"] == found.json()["commits"]
    assert [(commit["snapshotId"], commit["error"]) for commit in problem["commits"]] == [
        (77, None),
        (None, {"code": "TABLE_CHANGED", "detail": "column kind is gone."}),
    ]
    assert "committed on its own" in problem["note"]
    assert "Send only the records for those with an error again, under a new requestId" in problem["note"]


def test_where_a_table_failed_it_is_reported_whose_part_dead_letters_are() -> None:
    keys = [TableKey(TableName("lake", "logs", name)) for name in ("events", "events__dead_letter")]
    taken, refused = IngestCommit(keys[1], (), 7), IngestCommit(keys[0], (), None, "TABLE_CHANGED", "gone")
    record = IngestRecord(uuid4(), "ann", None, "", datetime.now(UTC), (refused, taken), Rejected(1))
    problem = json.loads(bytes(failed_ingest_response(record, "/ingest").body))
    assert "Records that did not fit belong to the commit of the dead letters" in problem["note"]
    without = failed_ingest_response(replace(record, rejected=Rejected()), "/ingest")
    assert "dead letters" not in json.loads(bytes(without.body))["note"]


def test_why_an_ingest_still_waits_is_reported_and_is_no_error() -> None:
    key = TableKey(TableName("lake", "logs", "a"))
    answer = commit_answer(IngestCommit(key, (), error_detail="There is no table."))
    assert (answer.error, answer.postponed) == (None, "There is no table.")
    answer = commit_answer(IngestCommit(key, (), None, "TABLE_NOT_FOUND", "There is no table."))
    assert (answer.error and answer.error.code, answer.postponed) == ("TABLE_NOT_FOUND", None)
    answer = commit_answer(IngestCommit(key, (), 7, error_detail="There is no table."))
    assert (answer.snapshot_id, answer.error, answer.postponed) == (7, None, None)


async def test_who_waits_for_no_commit_is_answered_when_it_is_durable(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    gateway.ingests.delays_commits = True
    response = await send(client, **EVENTS, wait="ACCEPTED")
    assert response.status_code == 202
    assert (response.json()["state"], response.json()["commits"][0]["snapshotId"]) == ("ACCEPTED", None)


async def test_an_ingest_that_is_not_there_or_anothers_is_not_found(client: httpx.AsyncClient) -> None:
    response = await client.get(f"/ingest/{uuid4()}")
    assert (response.status_code, response.json()["code"]) == (404, "INGEST_NOT_FOUND")


@pytest.mark.parametrize(
    ("write_schema", "expected"),
    [
        (None, None),
        ("infer", InferredColumns.INFER),
        (["id", "place.city"], ColumnNames(("id", "place.city"))),
    ],
)
async def test_a_write_schema_is_names_or_infer_or_nothing(
    client: httpx.AsyncClient, gateway: FakeGateway, write_schema: object, expected: object
) -> None:
    assert (await send(client, **EVENTS, writeSchema=write_schema)).status_code == 200
    [write] = gateway.ingests.requests[0].writes
    assert write.write_schema == expected
    assert write.key == TableKey(TableName("lake", "logs", "events"), "main")
    assert list(write.records) == EVENTS["records"]


async def test_a_write_schema_may_be_icebergs_json(client: httpx.AsyncClient, gateway: FakeGateway) -> None:
    schema = {"type": "struct", "fields": [{"id": 1, "name": "id"}]}
    assert (await send(client, **EVENTS, writeSchema=schema)).status_code == 200
    [write] = gateway.ingests.requests[0].writes
    assert isinstance(write.write_schema, ColumnFields)
    assert [column.name for column in write.write_schema.columns] == ["id"]
    refused = await send(client, **EVENTS, writeSchema={"nothing": 1})
    assert (refused.status_code, refused.json()["code"]) == (422, "INGEST_INVALID")


async def test_all_that_are_no_schemas_are_reported_with_their_places(client: httpx.AsyncClient) -> None:
    none = {"nothing": 1}
    both = {"table": "lake.logs.events", "schema": none, "writeSchema": none}
    bodies: list[tuple[dict[str, Any], str, str]] = [
        ({"writes": [both | EVENTS, EVENTS, EVENTS | both]}, "/writes/0", "/writes/2"),
        (
            {"route": {"field": "id", "to": {"a/b": both, "*": both}}, "records": EVENTS["records"]},
            "/route/to/a~1b",
            "/route/to/*",
        ),
    ]
    for body, first, second in bodies:
        refused = await send(client, **body)
        assert (refused.status_code, refused.json()["code"]) == (422, "INGEST_INVALID"), refused.text
        pointers = list(dict.fromkeys(error["pointer"] for error in refused.json()["errors"]))
        assert pointers == [
            f"{place}/{name}" for place in (first, second) for name in ("schema", "writeSchema")
        ]


async def test_several_tables_are_written_with_one_request(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    other = {"table": "lake.logs.errors", "branch": "audit", "records": [{"id": 3}]}
    response = await send(client, writes=[EVENTS, other])
    assert [commit["table"] for commit in response.json()["commits"]] == [
        "lake.logs.events",
        "lake.logs.errors",
    ]
    assert "committed on its own" in response.json()["note"]
    assert [write.place for write in gateway.ingests.requests[0].writes] == ["/writes/0", "/writes/1"]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/table"),
        ({"table": "lake.logs.events"}, "/records"),
        ({"table": "lake.logs.events", "records": []}, "/records"),
        ({"table": "lake.logs.events", "records": [1]}, "/records/0"),
        ({"table": "events", "records": [{}]}, "/table"),
        ({"writes": [EVENTS, {"table": "a.b", "records": [{}]}]}, "/writes/1/table"),
        ({**EVENTS, "writes": [EVENTS]}, "/table"),
        ({"writes": []}, "/writes"),
        ({"writes": [{"table": "lake.logs.events"}]}, "/writes/0/records"),
        ({**EVENTS, "wait": "SOMETIME"}, "/wait"),
        ({**EVENTS, "mode": "merge"}, "/mode"),
        ({**EVENTS, "writeSchema": "all"}, "/writeSchema"),
        ({**EVENTS, "extra": 1}, "/extra"),
        ({**EVENTS, "branch": "a\0b"}, "/branch"),
        ({**EVENTS, "table": "a.b.c\0"}, "/table"),
    ],
)
async def test_a_request_that_is_not_understood_is_rejected_with_the_place(
    client: httpx.AsyncClient, gateway: FakeGateway, body: dict[str, Any], pointer: str
) -> None:
    response = await send(client, **body)
    assert (response.status_code, response.json()["code"]) == (422, "INVALID_REQUEST")
    assert pointer in [error["pointer"] for error in response.json()["errors"]]
    assert not gateway.ingests.requests


async def test_every_rule_that_is_broken_is_reported_with_its_column(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    violation = Violation("day", WriteRule.PARTITION_SOURCE_SKIPPED, "The table is partitioned by day.", "/w")
    gateway.ingests.refusal = WriteSchemaInvalid("The write schema breaks 1 rule.", [violation])
    response = await send(client, **EVENTS)
    assert (response.status_code, response.json()["code"]) == (422, "WRITE_SCHEMA_INVALID")
    assert response.json()["errors"] == [
        {
            "detail": "The table is partitioned by day.",
            "pointer": "/w/writeSchema",
            "field": "day",
            "rule": "PARTITION_SOURCE_SKIPPED",
        }
    ]


async def test_what_is_wrong_with_equality_fields_is_reported_for_them(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    rule = WriteRule.NO_EQUALITY_FIELDS
    violation = Violation("", rule, "Name the fields.", "/writes/1", is_of_equality_fields=True)
    gateway.ingests.refusal = WriteSchemaInvalid("Name the fields.", [violation])
    [error] = (await send(client, **EVENTS)).json()["errors"]
    assert error["pointer"] == "/writes/1/equalityFields"


async def test_every_bad_record_is_reported_with_its_place(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    gateway.ingests.refusal = RecordsInvalid(
        "1 of 2 records do not fit.", [BadRecord("/records/1", "id is required")]
    )
    response = await send(client, **EVENTS)
    assert (response.status_code, response.json()["code"]) == (422, "RECORDS_INVALID")
    assert response.json()["errors"] == [{"detail": "id is required", "pointer": "/records/1"}]


async def test_nothing_is_taken_in_at_the_end(client: httpx.AsyncClient, gateway: FakeGateway) -> None:
    gateway.ingests.refusal = ShuttingDown()
    response = await send(client, **EVENTS)
    assert (response.status_code, response.headers["Retry-After"]) == (503, "5")


async def test_the_same_body_has_the_same_fingerprint(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    bodies = (EVENTS, {**EVENTS, "wait": "ACCEPTED"}, {**EVENTS, "branch": "b"})
    for body in bodies:
        await send(client, **body, requestId=str(uuid4()))
    first, second, third = (request.fingerprint for request in gateway.ingests.requests)
    assert first == second != third


async def test_a_schema_to_match_against_comes_with_its_layout(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    create = {
        "partitionSpec": [{"source": "day"}, {"source": "id", "transform": "bucket[8]", "name": "b"}],
        "sortOrder": [{"source": "id"}, {"source": "day", "direction": "desc", "nullOrder": "nulls-first"}],
        "properties": {"comment": "ours"},
    }
    schema = {"fields": [{"name": "id", "id": 7}, {"name": "day"}]}
    assert (await send(client, **EVENTS, schema=schema, evolve=True, create=create)).status_code == 200
    [write] = gateway.ingests.requests[0].writes
    assert write.schema is not None
    assert write.schema.schema is not None
    assert [(column.name, column.field_id) for column in write.schema.schema.columns] == [
        ("id", 1),
        ("day", 2),
    ]
    assert write.schema.evolves
    assert write.schema.create == TableLayout(
        (PartitionField("", "day", "identity"), PartitionField("b", "id", "bucket[8]")),
        (
            SortField("id", "identity", "asc", "nulls-first"),
            SortField("day", "identity", "desc", "nulls-first"),
        ),
        {"comment": "ours"},
    )


async def test_required_columns_become_optional_only_where_a_request_evolves_and_says_so(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    schema = {"fields": [{"name": "id"}]}
    for asked, drops_required in (({}, False), ({"dropRequired": True}, True)):
        assert (await send(client, **EVENTS, schema=schema, evolve=True, **asked)).status_code == 200
        assert gateway.ingests.requests[-1].writes[0].schema is not None
        assert gateway.ingests.requests[-1].writes[0].schema.drops_required is drops_required
    refused = await send(client, **EVENTS, schema=schema, dropRequired=True)
    assert refused.status_code == 422
    assert [error["pointer"] for error in refused.json()["errors"]] == ["/dropRequired"]


async def test_a_write_may_have_a_sort_order_of_its_own(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    order = [{"source": "id"}, {"source": "day", "transform": "month", "direction": "desc"}]
    asked = (
        SortField("id", "identity", "asc", "nulls-first"),
        SortField("day", "month", "desc", "nulls-last"),
    )
    routed = {"route": {"field": "id", "to": {"1": {"table": EVENTS["table"], "sortOrder": order}}}}
    for body in (
        {**EVENTS, "sortOrder": order},
        {"writes": [{**EVENTS, "sortOrder": order}]},
        {**routed, "records": EVENTS["records"]},
    ):
        assert (await send(client, **body)).status_code == 200
        assert gateway.ingests.requests[-1].writes[0].sort_order == asked
    await send(client, **EVENTS, sortOrder=[])
    await send(client, **EVENTS)
    assert [request.writes[0].sort_order for request in gateway.ingests.requests[-2:]] == [(), None]
    refused = await send(client, **EVENTS, sortOrder=[{"source": "id", "direction": "up"}])
    assert [error["pointer"] for error in refused.json()["errors"]] == ["/sortOrder/0/direction"]


async def test_a_write_may_delete_by_its_mode_by_a_field_or_by_events(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    await send(client, **EVENTS, mode="delete")
    await send(client, **EVENTS, mode="upsert", deleteWhen={"field": "op", "values": ["D", True, 7, "7"]})
    await send(client, **EVENTS, mode="upsert", envelope="debezium")
    delete, by_field, events = (request.writes[0] for request in gateway.ingests.requests)
    assert (delete.is_delete, delete.is_upsert) == (True, True)
    assert (by_field.is_delete, by_field.delete_when) == (
        False,
        DeleteWhen("op", frozenset({"D", "true", "7"})),
    )
    assert (events.envelope, events.is_upsert) == (Envelope.DEBEZIUM, True)


@pytest.mark.parametrize(
    ("sent", "pointer"),
    [
        ({"mode": "remove"}, "/mode"),
        ({"mode": "upsert", "deleteWhen": {"field": "op"}}, "/deleteWhen/values"),
        ({"mode": "upsert", "deleteWhen": {"field": "op", "values": []}}, "/deleteWhen/values"),
        ({"mode": "upsert", "deleteWhen": {"field": "op", "values": ["D", None]}}, "/deleteWhen/values/1"),
        ({"mode": "upsert", "deleteWhen": {"field": "op", "values": [1.5]}}, "/deleteWhen/values/0"),
        ({"mode": "upsert", "envelope": "maxwell"}, "/envelope"),
    ],
)
async def test_what_deletes_is_spelled_exactly(
    client: httpx.AsyncClient, gateway: FakeGateway, sent: dict[str, Any], pointer: str
) -> None:
    response = await send(client, **EVENTS, **sent)
    assert (response.status_code, response.json()["code"]) == (422, "INVALID_REQUEST")
    assert {error["pointer"][: len(pointer)] for error in response.json()["errors"]} == {pointer}
    assert not gateway.ingests.requests


def test_keys_that_were_only_deleted_are_counted_and_no_row_is_said_to_be_replaced() -> None:
    key = TableKey(TableName("lake", "logs", "events"))
    targets = (
        WrittenTarget(key, (1,), 0, 0, 0, (1,), delete_count=2),
        WrittenTarget(key, None, 1, 3, 30, (1,), delete_count=1),
    )
    found = commit_answer(IngestCommit(key, targets))
    assert (found.added_records, found.deleted_keys) == (3, 3)
    assert [target.deleted_keys for target in found.write_targets] == [2, 1]
    notes = [target.upsert.note for target in found.write_targets if target.upsert]
    assert ["NULL" in note for note in notes] == [False, True]


async def test_without_a_schema_nothing_is_matched(client: httpx.AsyncClient, gateway: FakeGateway) -> None:
    await send(client, **EVENTS)
    assert gateway.ingests.requests[0].writes[0].schema is None
    await send(client, **EVENTS, create={})
    assert gateway.ingests.requests[1].writes[0].schema == RequestedSchema(None, False, TableLayout())


async def test_every_table_that_is_not_there_is_reported(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    gateway.ingests.refusal = TableNotFound("a.b.c", (), [TableNotFound("a.b.d", ["a.b.e"])])
    response = await send(client, **EVENTS)
    assert (response.status_code, response.json()["detail"]) == (404, "There is no table a.b.c.")
    assert response.json()["errors"] == [
        {"detail": "There is no table a.b.c.", "nearest": []},
        {"detail": "There is no table a.b.d. Did you mean a.b.e?", "nearest": ["a.b.e"]},
    ]


@pytest.mark.parametrize("more", [{}, {"create": {}}, {"schema": None}])
async def test_a_table_does_not_evolve_to_no_schema(client: httpx.AsyncClient, more: dict[str, Any]) -> None:
    asked = {**EVENTS, "evolve": True, **more}
    routed = {"route": {"field": "id", "to": {"1": {"table": EVENTS["table"], "evolve": True, **more}}}}
    for body, pointer in (
        (asked, "/evolve"),
        ({"writes": [EVENTS, asked]}, "/writes/1/evolve"),
        ({**routed, "records": EVENTS["records"]}, "/route/to/1/evolve"),
    ):
        response = await send(client, **body)
        assert (response.status_code, response.json()["code"]) == (422, "INVALID_REQUEST")
        [error] = response.json()["errors"]
        assert error["pointer"] == pointer
        assert "send it as schema" in error["detail"]
    # The hint is absent if nothing would have to change, or if the schema is invalid.
    assert (await send(client, **EVENTS, evolve=False, **more)).status_code == 200
    refused = await send(client, **EVENTS, evolve=True, schema=1)
    assert [error["pointer"] for error in refused.json()["errors"]] == ["/schema"]


@pytest.mark.parametrize(
    ("create", "pointer"),
    [
        ({"partitionSpec": [{"transform": "day"}]}, "/create/partitionSpec/0/source"),
        ({"sortOrder": [{"source": "id", "direction": "up"}]}, "/create/sortOrder/0/direction"),
        ({"sortOrder": [{"source": "id", "nullOrder": "first"}]}, "/create/sortOrder/0/nullOrder"),
        ({"properties": {"comment": 1}}, "/create/properties/comment"),
        ({"location": "s3://elsewhere"}, "/create/location"),
        ({"partitionSpec": [{"source": "a"}] * 101}, "/create/partitionSpec"),
        ({"partitionSpec": [{"source": "a\ud800"}]}, "/create/partitionSpec/0/source"),
        ({"partitionSpec": [{"source": "a", "name": "\0"}]}, "/create/partitionSpec/0/name"),
        ({"properties": {"write.metadata.metrics.column.\ud800": "none"}}, "/create/properties"),
        ({"properties": {"comment": "\ud800"}}, "/create/properties/comment"),
        ({"properties": {"comment": "\0"}}, "/create/properties/comment"),
    ],
)
async def test_a_layout_that_is_not_understood_is_rejected_with_the_place(
    client: httpx.AsyncClient, create: dict[str, Any], pointer: str
) -> None:
    body = EVENTS | {"schema": {"fields": [{"name": "id"}]}, "create": create}
    response = await client.post("/ingest", content=json.dumps(body), headers=JSON)
    assert response.json()["code"] == "INVALID_REQUEST"
    assert pointer in [error["pointer"] for error in response.json()["errors"]]


async def test_every_difference_and_every_reason_is_reported_with_its_place(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    difference = SchemaDifference("id", DifferenceKind.TYPE_DIFFERS, "id is int.", "/writes/1")
    gateway.ingests.refusal = SchemaMismatch("The schema differs.", [difference])
    response = await send(client, **EVENTS)
    assert (response.status_code, response.json()["code"]) == (422, "SCHEMA_MISMATCH")
    assert response.json()["errors"] == [
        {"detail": "id is int.", "pointer": "/writes/1/schema", "field": "id", "rule": "TYPE_DIFFERS"}
    ]
    gateway.ingests.refusal = CreationInvalid(
        "It cannot be made.", [CreationFault("/create/properties/a", "not taken")]
    )
    response = await send(client, **EVENTS)
    assert (response.status_code, response.json()["code"]) == (422, "CREATION_INVALID")
    assert response.json()["errors"] == [{"detail": "not taken", "pointer": "/create/properties/a"}]


ONE = {"table": "lake.logs.events", "records": [{"id": 1}]}
ROUTE = {"field": "kind", "to": {"*": {"table": "lake.logs.events"}}}
SOURCE = {"uri": "s3://b/*", "format": "json"}
FORMS: dict[str, dict[str, Any]] = {
    "one write": ONE,
    "many writes": {"writes": [ONE]},
    "routed": {"route": ROUTE, "records": [{"id": 1}]},
    "source": {"table": "lake.logs.events", "source": SOURCE},
    "routed source": {"route": ROUTE, "source": SOURCE},
}


async def faults_of(client: httpx.AsyncClient, path: str, body: object) -> list[tuple[str, str]]:
    response = await client.post(path, json=body)
    assert (response.status_code, response.json()["code"]) == (422, "INVALID_REQUEST")
    return [(error["pointer"], error["detail"]) for error in response.json()["errors"]]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
async def test_a_mistake_in_one_form_is_not_reported_as_those_of_all_forms(
    client: httpx.AsyncClient, form: dict[str, Any]
) -> None:
    extra = "There is no field of this name: check its spelling, or leave it out"
    assert await faults_of(client, "/ingest", form | {"bogus": 1}) == [("/bogus", extra)]
    [(pointer, detail)] = await faults_of(client, "/ingest", form | {"requestId": "6f1d"})
    assert pointer == "/requestId"
    assert "valid UUID" in detail
    [(pointer, detail)] = await faults_of(client, "/ingest", form | {"records": []})
    assert pointer == "/records"
    assert "at least 1 item" in detail if "records" in form else detail == extra


@pytest.mark.parametrize(
    ("write_schema", "place", "words"),
    [
        (7, "", "'infer', a list of names, or an Iceberg schema"),
        ("all", "", "'infer', a list of names, or an Iceberg schema"),
        (["id", 1], "/1", "valid string"),
    ],
)
async def test_a_wrong_write_schema_is_reported_as_the_kind_that_it_is(
    client: httpx.AsyncClient, write_schema: object, place: str, words: str
) -> None:
    wrong = {"writeSchema": write_schema}
    route = ROUTE | {"to": {"*": {"table": "lake.logs.events"} | wrong}}
    for body, where in (
        (ONE | wrong, ""),
        ({"writes": [ONE, ONE | wrong]}, "/writes/1"),
        ({"route": route, "records": [{}]}, "/route/to/*"),
    ):
        [(pointer, detail)] = await faults_of(client, "/ingest", body)
        assert pointer == f"{where}/writeSchema{place}"
        assert words in detail


@pytest.mark.parametrize(
    ("body", "pointers"),
    [
        ({}, ["/table", "/records"]),
        ({"writes": [{}]}, ["/writes/0/table", "/writes/0/records"]),
        ({"route": {}}, ["/route/field", "/route/to", "/records"]),
        ({"source": {}}, ["/table", "/source/uri", "/source/format"]),
    ],
)
async def test_what_is_missing_is_what_the_form_that_is_meant_would_have(
    client: httpx.AsyncClient, body: dict[str, Any], pointers: list[str]
) -> None:
    assert [pointer for pointer, _ in await faults_of(client, "/ingest", body)] == pointers
