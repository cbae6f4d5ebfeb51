"""POST /explain: the plan of a query that does not run."""

from __future__ import annotations

import httpx
import pytest

from api.bootstrap.settings import Settings
from service.errors.query_errors import QueryFailed, TooManyQueries
from service.errors.statement_errors import SqlSyntaxError
from tests.fakes.gateway import FakeGateway

pytestmark = pytest.mark.anyio

SQL = "select * from store_returns, date_dim where sr_returned_date_sk = d_date_sk and d_year = 2000"


async def planned(client: httpx.AsyncClient, accept: str = "*/*", **body: object) -> httpx.Response:
    return await client.post("/explain", json={"sql": SQL} | body, headers={"Accept": accept})


async def test_it_has_the_shape_of_an_explanation_without_an_id(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    found = (await planned(client)).json()
    assert (found["queryId"], found["state"]) == (None, "PLANNED")
    assert found["scans"][0]["dataFiles"] == {"total": 2003, "selected": 366}
    assert found["scans"][0]["rows"] == {"total": 287_867, "read": None}
    assert [filter_["reason"] for filter_ in found["filters"]] == ["APPLIED", "THRESHOLD_EXCEEDED"]
    assert found["plans"]["spark"] == "* Scan"
    assert gateway.queries.by_id == {}


async def test_the_text_says_nothing_of_rows_that_nobody_has_read(client: httpx.AsyncClient) -> None:
    response = await planned(client, "text/plain")
    assert response.headers["content-type"].startswith("text/plain")
    assert "  data files  366 of 2003\n" in response.text
    assert "\n  rows " not in response.text
    assert "DynamicFilteringDataCollector" in response.text


async def test_the_page_says_what_would_be_read(client: httpx.AsyncClient) -> None:
    page = (await planned(client, "text/html")).text
    assert "<title>Plan</title>" in page
    assert "What would be read" in page
    assert "PLANNED" in page
    assert "None" not in page
    assert "<dt>rows</dt>" not in page


async def test_what_the_body_asks_reaches_the_gateway(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    gateway.queries.unfinished.add(SQL)
    response = await planned(client, timeout="1ms", dynamicFiltering={"minTableBytes": 0})
    assert (response.status_code, response.json()["code"]) == (504, "QUERY_TIMED_OUT")
    [stopped] = gateway.queries.stopped
    assert stopped.query.request.pruning.min_table_bytes == 0


@pytest.mark.parametrize(
    ("failure", "status"),
    [(SqlSyntaxError("Syntax error.", 1, 8), 422), (QueryFailed("No plan."), 422)],
)
async def test_a_query_that_cannot_be_planned_is_a_problem_without_an_id(
    client: httpx.AsyncClient, gateway: FakeGateway, failure: Exception, status: int
) -> None:
    gateway.queries.failures[SQL] = failure  # type: ignore[assignment]
    response = await planned(client)
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    assert "queryId" not in response.json()


async def test_bad_input_is_refused_as_for_a_query(client: httpx.AsyncClient, gateway: FakeGateway) -> None:
    assert (await client.post("/explain", content=b"{", headers={"Content-Type": "application/json"})).json()[
        "code"
    ] == "NOT_JSON"
    assert (await client.post("/explain", content=b"sql")).status_code == 415
    assert (await planned(client, rowLimit=Settings().max_row_limit + 1)).json()["code"] == "INVALID_REQUEST"
    assert (await planned(client, unknown=1)).status_code == 422
    assert (await planned(client, "image/png")).status_code == 406
    gateway.queries.refusal = TooManyQueries()
    assert (await planned(client)).status_code == 429
