from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from service.errors.query_errors import QueryFailed, QueryTimedOut
from service.errors.statement_errors import ColumnNotFound, SqlSyntaxError
from service.model.query.priority import Priority
from service.model.query.progress import QueuePlace
from service.model.query.query import Parameter, PruningRequest
from service.model.query.reuse import ReuseChoice, Reused, ReuseKind
from service.model.query.rewrites import RewriteKind
from tests.fakes.gateway import FakeGateway

pytestmark = pytest.mark.anyio


async def send(client: httpx.AsyncClient, sql: str = "select 1", **fields: Any) -> httpx.Response:
    return await client.post("/query", json={"sql": sql, **fields})


async def test_a_query_that_waits_says_where(client: httpx.AsyncClient, gateway: FakeGateway) -> None:
    gateway.queries.unfinished.add("select 1")
    gateway.queries.place = QueuePlace(3, 1800, "global.ann")
    response = await send(client, waitTimeout="0s")
    assert response.status_code == 202
    where = {"position": 3, "estimatedWaitMs": 1800, "group": "global.ann"}
    assert response.json()["status"]["queue"] == where
    again = await client.get(f"/query/{response.json()['queryId']}")
    assert again.json()["status"]["queue"] == where


async def test_a_finished_query_answers_with_its_first_rows(client: httpx.AsyncClient) -> None:
    response = await send(client)
    answer = response.json()
    query_id = answer["queryId"]
    assert response.status_code == 200
    assert answer == {
        "queryId": query_id,
        "status": {
            "state": "SUCCEEDED",
            "queue": None,
            "progress": None,
            "error": None,
            "queuedMs": 0,
            "elapsedMs": 6,
        },
        "sentBefore": False,
        "reused": None,
        "manifest": {
            "format": "JSON",
            "columns": [
                {"name": "d_moy", "type": "INT32", "nullable": True},
                {"name": "name", "type": "STRING", "nullable": True},
            ],
            "totalRowCount": 3,
            "totalByteCount": answer["manifest"]["totalByteCount"],
            "chunkCount": 2,
            "truncated": False,
        },
        "result": {
            "chunkIndex": 0,
            "rowOffset": 0,
            "rowCount": 2,
            "rows": [[1, "a"], [2, None]],
            "nextChunkLink": f"/query/{query_id}/chunks/1",
        },
        "write": None,
        "pruning": {
            "filters": 2,
            "applied": 1,
            "cached": 0,
            "dataFiles": {"total": 2003, "selected": 366},
            "bytes": {"total": 25_600_000, "selected": 4_900_000},
        },
        "links": {
            "self": f"/query/{query_id}",
            "explain": f"/explain/{query_id}",
            "cancel": f"/query/{query_id}",
        },
    }


async def test_a_query_that_runs_on_is_a_202(client: httpx.AsyncClient, gateway: FakeGateway) -> None:
    gateway.queries.unfinished.add("select slow")
    response = await send(client, "select slow", waitTimeout="0s")
    assert response.status_code == 202
    assert response.json()["status"]["state"] == "RUNNING"
    assert response.json()["manifest"] is response.json()["result"] is response.json()["pruning"] is None


async def test_a_wait_that_ends_can_cancel_the_query(client: httpx.AsyncClient, gateway: FakeGateway) -> None:
    gateway.queries.unfinished.add("select slow")
    response = await send(client, "select slow", waitTimeout="1ms", onWaitTimeout="CANCEL")
    assert response.status_code == 200
    assert response.json()["status"]["state"] == "CANCELED"
    assert response.json()["status"]["error"]["code"] == "QUERY_CANCELED"


async def test_a_long_poll_answers_when_the_query_ends(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    gateway.queries.unfinished.add("select slow")
    sent = (await send(client, "select slow", waitTimeout="0s")).json()
    asked_before = gateway.queries.waits_asked_for
    poll = asyncio.create_task(client.get(sent["links"]["self"], params={"waitTimeout": "50s"}))
    while gateway.queries.waits_asked_for == asked_before:
        await asyncio.sleep(0)
    gateway.queries.finish(UUID(sent["queryId"]))
    response = await poll
    assert response.status_code == 200
    assert response.json()["status"]["state"] == "SUCCEEDED"


async def test_all_fields_reach_the_gateway(client: httpx.AsyncClient, gateway: FakeGateway) -> None:
    request_id = uuid4()
    response = await send(
        client,
        parameters={"year": 2000, "day": {"value": "2000-01-01", "type": "DATE"}},
        catalog="other",
        schema="sales",
        timeout="2m",
        rowLimit=5,
        byteLimit=2048,
        requestId=str(request_id),
        tags={"dashboard": "returns"},
        priority="HIGH",
        dynamicFiltering={
            "verify": True,
            "minTableBytes": 0,
            "maxFilterBytes": 1024,
            "collectTimeout": "500ms",
            "maxInList": 0,
            "maxRanges": 1,
            "rewrites": ["READ_OPTIONS"],
        },
    )
    assert response.status_code == 200
    [query] = gateway.queries.by_id.values()
    assert query.request.pruning == PruningRequest(
        is_verified=True,
        min_table_bytes=0,
        max_filter_bytes=1024,
        collect_timeout_ms=500,
        max_in_list=0,
        max_ranges=1,
        rewrites=frozenset({RewriteKind.READ_OPTIONS}),
    )
    assert query.request.parameters == {"year": Parameter(2000), "day": Parameter("2000-01-01", "DATE")}
    assert (query.request.catalog, query.request.schema) == ("other", "sales")
    bounds = (query.request.timeout_ms, query.request.row_limit, query.request.byte_limit)
    assert bounds == (120_000, 5, 2048)
    assert query.request.request_id == request_id
    assert query.request.tags == {"dashboard": "returns"}
    assert query.request.priority is Priority.HIGH


@pytest.mark.parametrize("priority", ["high", "URGENT", 1, None])
async def test_a_priority_that_is_none_is_refused(client: httpx.AsyncClient, priority: object) -> None:
    response = await send(client, priority=priority)
    assert (response.status_code, response.json()["code"]) == (422, "INVALID_REQUEST")


async def test_the_same_request_with_another_priority_is_another_one(client: httpx.AsyncClient) -> None:
    request_id = str(uuid4())
    await send(client, requestId=request_id, priority="LOW")
    assert (await send(client, requestId=request_id, priority="LOW")).json()["sentBefore"] is True
    assert (await send(client, requestId=request_id)).json()["code"] == "REQUEST_ID_REUSED"


async def test_positional_parameters_keep_their_order(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    await send(client, "select ?, ?", parameters=[1.5, None])
    [query] = gateway.queries.by_id.values()
    assert query.request.parameters == (Parameter(1.5), Parameter(None))


@pytest.mark.parametrize(
    ("sent", "choice"),
    [
        (True, ReuseChoice.USE),
        (False, ReuseChoice.NEVER),
        ("REFRESH", ReuseChoice.REFRESH),
        (None, None),
    ],
)
async def test_a_query_may_ask_for_an_earlier_result(
    client: httpx.AsyncClient, gateway: FakeGateway, sent: object, choice: ReuseChoice | None
) -> None:
    await send(client, reuseResult=sent)
    [query] = gateway.queries.by_id.values()
    assert query.request.reuse is choice


@pytest.mark.parametrize("sent", ["true", "refresh", 1, []])
async def test_any_other_way_to_ask_for_it_is_refused(client: httpx.AsyncClient, sent: object) -> None:
    response = await send(client, reuseResult=sent)
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"].startswith("/reuseResult")


@pytest.mark.parametrize("kind", list(ReuseKind))
async def test_an_answer_names_the_query_whose_result_it_is(
    client: httpx.AsyncClient, gateway: FakeGateway, kind: ReuseKind
) -> None:
    query_id = (await send(client)).json()["queryId"]
    query = gateway.queries.by_id[UUID(query_id)]
    query.record = replace(query.record, reused=Reused(UUID(int=7), 5_300, kind))
    reused = {"kind": kind.value, "from": str(UUID(int=7)), "ageMs": 5_300}
    assert (await client.get(f"/query/{query_id}")).json()["reused"] == reused
    explained = await client.get(f"/explain/{query_id}")
    assert explained.json()["reused"] == reused
    for accept in ("text/plain", "text/html"):
        text = (await client.get(f"/explain/{query_id}", headers={"Accept": accept})).text
        assert str(UUID(int=7)) in text


async def test_the_same_request_id_gives_the_same_query(client: httpx.AsyncClient) -> None:
    request_id = str(uuid4())
    first = (await send(client, requestId=request_id)).json()
    again = (await send(client, requestId=request_id)).json()
    other = await send(client, "select 2", requestId=request_id)
    assert (first["sentBefore"], again["sentBefore"]) == (False, True)
    assert again["queryId"] == first["queryId"]
    assert (other.status_code, other.json()["code"]) == (409, "REQUEST_ID_REUSED")


async def test_a_failure_within_the_wait_is_a_problem_that_names_the_query(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    gateway.queries.failures["selec"] = SqlSyntaxError("selec is no keyword", 1, 1)
    response = await send(client, "selec")
    problem = response.json()
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"
    assert problem["code"] == "SQL_SYNTAX"
    assert problem["errors"] == [{"detail": "selec is no keyword", "line": 1, "column": 1}]
    later = await client.get(f"/query/{problem['queryId']}")
    assert later.status_code == 200
    error = later.json()["status"]["error"]
    assert (error["code"], error["errors"][0]["line"]) == ("SQL_SYNTAX", 1)


async def test_a_failure_of_which_only_the_record_is_left_has_the_same_status(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    gateway.queries.has_failures_in_memory = False
    gateway.queries.failures["select late"] = QueryTimedOut()
    response = await send(client, "select late")
    assert (response.status_code, response.json()["code"]) == (504, "QUERY_TIMED_OUT")
    assert response.json()["queryId"]


async def test_an_unknown_column_comes_with_the_nearest_names(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    gateway.queries.failures["select d_yeer"] = ColumnNotFound("d_yeer", ["d_year"], 1, 8)
    problem = (await send(client, "select d_yeer")).json()
    assert problem["errors"][0]["nearest"] == ["d_year"]
    assert (problem["errors"][0]["line"], problem["errors"][0]["column"]) == (1, 8)


async def test_canceling_twice_is_fine(client: httpx.AsyncClient, gateway: FakeGateway) -> None:
    gateway.queries.unfinished.add("select slow")
    sent = (await send(client, "select slow", waitTimeout="0s")).json()
    answers = [await client.delete(sent["links"]["cancel"]) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert {answer.json()["status"]["state"] for answer in answers} == {"CANCELED"}


async def test_an_unknown_query_is_a_404(client: httpx.AsyncClient) -> None:
    response = await client.get(f"/query/{uuid4()}")
    assert (response.status_code, response.json()["code"]) == (404, "QUERY_NOT_FOUND")


async def test_a_result_that_expired_leaves_the_status(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    sent = (await send(client)).json()
    gateway.queries.is_expired = True
    answer = (await client.get(sent["links"]["self"])).json()
    assert (answer["status"]["state"], answer["manifest"], answer["result"]) == ("SUCCEEDED", None, None)
    chunk = await client.get(f"{sent['links']['self']}/chunks/0")
    assert (chunk.status_code, chunk.json()["code"]) == (410, "RESULT_EXPIRED")


async def test_a_request_id_whose_result_is_gone_is_a_problem_that_names_the_query(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    request_id = str(uuid4())
    sent = (await send(client, requestId=request_id)).json()
    gateway.queries.is_expired = True
    response = await send(client, requestId=request_id)
    problem = response.json()
    assert (response.status_code, problem["code"], problem["queryId"]) == (
        410,
        "RESULT_EXPIRED",
        sent["queryId"],
    )
    assert "new requestId" in problem["detail"]
    assert (await client.get(sent["links"]["self"])).status_code == 200


async def test_a_result_that_goes_while_it_is_answered_is_the_same_problem(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    gateway.queries.is_gone_before_its_rows = True
    response = await send(client)
    assert (response.status_code, response.json()["code"]) == (410, "RESULT_EXPIRED")


async def test_chunks_lead_to_all_rows(client: httpx.AsyncClient) -> None:
    link = (await send(client)).json()["result"]["nextChunkLink"]
    response = await client.get(link)
    again = await client.get(link)
    assert response.json()["rows"] == [[3, 'b,"c"']]
    assert response.json()["nextChunkLink"] is None
    assert response.content == again.content
    assert response.headers["etag"] == again.headers["etag"]
    for known in (response.headers["etag"], f"W/{response.headers['etag']}", "*"):
        unchanged = await client.get(link, headers={"If-None-Match": known})
        assert (unchanged.status_code, unchanged.content) == (304, b"")


async def test_rows_in_another_format_are_read_chunk_by_chunk(client: httpx.AsyncClient) -> None:
    sent = (await send(client, format="CSV")).json()
    assert sent["result"]["rows"] == []
    first = await client.get(sent["result"]["nextChunkLink"])
    second = await client.get(first.links["next"]["url"])
    assert first.headers["content-type"].startswith("text/csv")
    assert first.text + second.text == 'd_moy,name\r\n1,a\r\n2,\r\n3,"b,""c"""\r\n'
    assert "next" not in second.links


async def test_accept_decides_on_the_format_of_a_chunk(client: httpx.AsyncClient) -> None:
    sent = (await send(client, format="CSV")).json()
    link = sent["result"]["nextChunkLink"]
    arrow = await client.get(link, headers={"Accept": "application/vnd.apache.arrow.stream"})
    assert arrow.headers["content-type"] == "application/vnd.apache.arrow.stream"
    refused = await client.get(link, headers={"Accept": "image/png"})
    assert (refused.status_code, refused.json()["code"]) == (406, "NOT_ACCEPTABLE")


async def test_the_format_belongs_to_the_query(client: httpx.AsyncClient) -> None:
    sent = (await send(client, format="CSV")).json()
    found = (await client.get(f"/query/{sent['queryId']}")).json()
    assert (found["manifest"]["format"], found["result"]["rows"]) == ("CSV", [])
    chunk = await client.get(f"/query/{sent['queryId']}/chunks/0")
    assert chunk.headers["content-type"].startswith("text/csv")
    as_json = (await client.get(f"/query/{sent['queryId']}?format=JSON")).json()
    assert as_json["result"]["rows"]
    rest = await client.get(as_json["result"]["nextChunkLink"])
    assert rest.headers["content-type"] == "application/json"


async def test_accept_may_ask_for_the_rows_alone(client: httpx.AsyncClient, gateway: FakeGateway) -> None:
    csv = {"Accept": "text/csv"}
    sent = await client.post("/query", json={"sql": "select 1"}, headers=csv)
    assert sent.headers["content-type"].startswith("text/csv")
    second = await client.get(sent.links["next"]["url"], headers=csv)
    assert sent.text + second.text == 'd_moy,name\r\n1,a\r\n2,\r\n3,"b,""c"""\r\n'
    again = await client.get(f"/query/{sent.headers['X-Query-Id']}", headers=csv)
    assert again.text == sent.text
    refused = await client.post("/query", json={"sql": "select 1"}, headers={"Accept": "image/png"})
    assert (refused.status_code, refused.json()["code"]) == (406, "NOT_ACCEPTABLE")
    gateway.queries.failures["select 1/0"] = QueryFailed("division by zero")
    failed = await client.post("/query", json={"sql": "select 1/0"}, headers=csv)
    assert failed.headers["content-type"] == "application/problem+json"
    gateway.queries.unfinished.add("select slow")
    asked = {"sql": "select slow", "waitTimeout": "0s"}
    running = await client.post("/query", json=asked, headers=csv)
    assert (running.status_code, running.json()["status"]["state"]) == (202, "RUNNING")


async def test_a_failed_query_has_no_chunk(client: httpx.AsyncClient, gateway: FakeGateway) -> None:
    gateway.queries.failures["select 1/0"] = QueryFailed("division by zero")
    query_id = (await send(client, "select 1/0")).json()["queryId"]
    response = await client.get(f"/query/{query_id}/chunks/0")
    assert (response.status_code, response.json()["code"]) == (404, "CHUNK_NOT_FOUND")


async def test_tables_are_listed_and_described(client: httpx.AsyncClient, gateway: FakeGateway) -> None:
    listed = (await client.get("/tables", params={"schema": "tpcds"})).json()
    assert [table["name"] for table in listed["tables"]] == ["lake.tpcds.store_returns"]
    table = (await client.get("/tables/lake.tpcds.store_returns")).json()
    assert table["schema"] == "tpcds"
    assert table["partitionSpec"][0]["transform"] == "identity"
    assert (table["references"], table["identifierFields"]) == ([], [])
    gateway.identifier_fields = ("sr_returned_date_sk",)
    table = (await client.get("/tables/lake.tpcds.store_returns")).json()
    assert table["identifierFields"] == ["sr_returned_date_sk"]
    missing = await client.get("/tables/lake.tpcds.store_return")
    assert (missing.status_code, missing.json()["errors"][0]["nearest"]) == (
        404,
        ["lake.tpcds.store_returns"],
    )
    assert (await client.get("/tables/store_returns")).json()["code"] == "INVALID_REQUEST"


@pytest.mark.parametrize("path", ["/query", "/explain", "/tables/lake.shop.sales/maintenance", "/streams"])
@pytest.mark.parametrize("inner", ['"x": 1, "x": 2', '"a": {"x": 1, "x": 1}', '"a": [[{"x": 1, "x": 2}]]'])
async def test_a_name_that_stands_twice_is_refused(path: str, inner: str, client: httpx.AsyncClient) -> None:
    body = f'{{"sql": "SELECT :x", "parameters": {{{inner}}}}}'
    response = await client.post(path, content=body, headers={"Content-Type": "application/json"})
    assert (response.status_code, response.json()["code"]) == (400, "NOT_JSON")
    assert "'x' stands twice" in response.json()["detail"]


@pytest.mark.parametrize("path", ["/query", "/explain", "/ingest"])
async def test_a_number_that_is_too_long_is_reported_as_one(path: str, client: httpx.AsyncClient) -> None:
    body = f'{{"sql": "SELECT :x", "parameters": {{"x": {"7" * 5_000}}}}}'
    response = await client.post(path, content=body, headers={"Content-Type": "application/json"})
    assert (response.status_code, response.json()["code"]) == (422, "INVALID_REQUEST")
    assert "a number has 5000 digits" in response.json()["detail"]
    assert "sys." not in response.text
