"""Sessions, saved queries and metadata over HTTP: two gateways share them, and serve each other's changes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pyarrow as pa
import pytest

from tests.integration.replicas import replicas
from tests.polling import until

pytestmark = pytest.mark.integration

TOKENS = {"alice": "alices-token-for-sessions", "bob": "bobs-token-for-sessions"}
ANSI = "spark.sql.ansi.enabled"
STAR = (
    "SELECT count(*) AS n FROM sales JOIN calendar ON sales.day_key = calendar.day_key"
    " WHERE calendar.month = 2"
)
ALWAYS: dict[str, Any] = {"dynamicFiltering": {"minTableBytes": 0}}


@dataclass(frozen=True)
class Both:
    here: httpx.Client
    there: httpx.Client
    bob: httpx.Client


@pytest.fixture(scope="module")
def both(folder: Path) -> Iterator[Both]:
    hashes = {caller: hashlib.sha256(token.encode()).hexdigest() for caller, token in TOKENS.items()}
    settings = {
        "SLUICE_API_TOKENS": json.dumps(hashes),
        "SLUICE_MAX_SESSIONS_PER_CALLER": "20",
        "SLUICE_MAX_SESSION_VIEWS": "3",
    }
    with replicas(folder / "sessions", settings) as started, ExitStack() as stack:
        here, there = (
            stack.enter_context(gateway.client_with(TOKENS["alice"]))
            for gateway in (started.here, started.there)
        )
        yield Both(here, there, stack.enter_context(started.there.client_with(TOKENS["bob"])))


def sent(client: httpx.Client, sql: str, session_id: str | None = None, **fields: Any) -> httpx.Response:
    body = {"sql": sql, "waitTimeout": "50s"} | fields
    return client.post("/query", json=body if session_id is None else body | {"sessionId": session_id})


def rows(client: httpx.Client, sql: str, session_id: str | None = None, **fields: Any) -> list[list[Any]]:
    answer = sent(client, sql, session_id, **fields)
    assert answer.status_code == 200, answer.text
    found: list[list[Any]] = answer.json()["result"]["rows"]
    return found


def code(answer: httpx.Response) -> str:
    return str(answer.json()["code"])


@pytest.fixture
def session_id(both: Both) -> Iterator[str]:
    made = both.here.post("/sessions", json={})
    assert made.status_code == 201, made.text
    yield made.json()["sessionId"]
    both.here.delete(f"/sessions/{made.json()['sessionId']}")


def test_both_gateways_serve_a_session(both: Both, session_id: str) -> None:
    assert rows(both.here, "SET TIME ZONE 'Asia/Tokyo'", session_id) == [
        ["spark.sql.session.timeZone", "Asia/Tokyo"]
    ]
    assert rows(both.there, "SELECT current_timezone()", session_id) == [["Asia/Tokyo"]]
    assert (
        rows(both.there, "CREATE TEMP VIEW few AS SELECT * FROM calendar WHERE month = 1", session_id) == []
    )
    [[count]] = rows(both.here, "SELECT count(*) FROM few", session_id)
    assert count > 0
    assert rows(both.here, "USE lake.shop_archive", session_id) == []
    assert rows(both.there, "SELECT current_schema(), (SELECT count(*) FROM few)", session_id) == [
        ["shop_archive", count]
    ]
    found = both.there.get(f"/sessions/{session_id}").json()
    assert (found["catalog"], found["schema"], found["timeZone"]) == ("lake", "shop_archive", "Asia/Tokyo")
    assert [view["name"] for view in found["views"]] == ["few"]
    assert rows(both.there, "DROP VIEW few", session_id) == []
    assert code(sent(both.here, "SELECT * FROM few", session_id)) == "TABLE_NOT_FOUND"
    assert rows(both.there, "RESET", session_id) == []
    assert both.here.get(f"/sessions/{session_id}").json()["settings"] == {}


def test_an_ended_session_is_gone_everywhere(both: Both) -> None:
    session_id = both.here.post("/sessions", json={"schema": "shop"}).json()["sessionId"]
    assert both.there.delete(f"/sessions/{session_id}").status_code == 204
    for client in (both.here, both.there):
        for answer in (
            client.get(f"/sessions/{session_id}"),
            client.delete(f"/sessions/{session_id}"),
            sent(client, "SELECT 1", session_id),
            client.post("/describe", json={"sql": "SELECT 1", "sessionId": session_id}),
            client.post("/explain", json={"sql": "SELECT 1", "sessionId": session_id}),
        ):
            assert (answer.status_code, code(answer)) == (404, "SESSION_NOT_FOUND")


def test_a_session_belongs_to_its_caller(both: Both, session_id: str) -> None:
    for answer in (
        both.bob.get(f"/sessions/{session_id}"),
        both.bob.delete(f"/sessions/{session_id}"),
        both.bob.put(f"/sessions/{session_id}/views/v", json={"sql": "SELECT 1"}),
        both.bob.delete(f"/sessions/{session_id}/views/v"),
        sent(both.bob, "SELECT 1", session_id),
    ):
        assert (answer.status_code, code(answer)) == (404, "SESSION_NOT_FOUND")
    assert both.there.get(f"/sessions/{session_id}").status_code == 200


def test_bad_sessions_get_a_stable_code(both: Both, session_id: str) -> None:
    for body, expected in (
        ({"settings": {"spark.master": "local"}}, "SESSION_SETTING_REFUSED"),
        ({"timeZone": "Nowhere"}, "SESSION_SETTING_REFUSED"),
        ({"settings": {ANSI: "perhaps"}}, "SESSION_SETTING_REFUSED"),
        ({"settings": {ANSI: True}}, "INVALID_REQUEST"),
        ({"catalogue": "lake"}, "INVALID_REQUEST"),
        ({"catalog": "a\0"}, "INVALID_REQUEST"),
    ):
        answer = both.here.post("/sessions", json=body)
        assert (answer.status_code, code(answer)) == (422, expected), body
    assert (
        code(sent(both.here, "SET spark.sql.caseSensitive = true", session_id)) == "SESSION_SETTING_REFUSED"
    )
    assert code(sent(both.here, "SET spark.sql.ansi.enabled = false")) == "SESSION_REQUIRED"
    for name in ("a", "b", "c"):
        assert (
            both.here.put(f"/sessions/{session_id}/views/{name}", json={"sql": "SELECT 1"}).status_code == 200
        )
    answer = both.here.put(f"/sessions/{session_id}/views/d", json={"sql": "SELECT 1"})
    assert (answer.status_code, code(answer)) == (422, "SESSION_TOO_LARGE")
    assert code(sent(both.there, "CREATE TEMP VIEW d AS SELECT 1", session_id)) == "SESSION_TOO_LARGE"
    for sql, expected in (
        ("DROP TABLE sales", "STATEMENT_NOT_ALLOWED"),
        ("EXPLAIN SELECT 1", "STATEMENT_NOT_ALLOWED"),
        ("SELECT * FROM nope", "TABLE_NOT_FOUND"),
        ("SELECT :x", "PARAMETER_MISSING"),
        ("SELEC 1", "SQL_SYNTAX"),
    ):
        answer = both.here.put(f"/sessions/{session_id}/views/a", json={"sql": sql})
        assert code(answer) == expected, sql
    gone = both.here.delete(f"/sessions/{session_id}/views/nope")
    assert (gone.status_code, code(gone)) == (404, "SESSION_VIEW_NOT_FOUND")


def test_sessions_of_a_caller_are_bounded(both: Both) -> None:
    made = [both.bob.post("/sessions", json={}) for _ in range(21)]
    assert [answer.status_code for answer in made] == [201] * 20 + [429]
    assert code(made[-1]) == "TOO_MANY_SESSIONS"
    assert "Retry-After" in made[-1].headers
    for answer in made[:-1]:
        assert both.bob.delete(f"/sessions/{answer.json()['sessionId']}").status_code == 204


def test_a_request_id_is_the_same_query_whatever_became_of_the_session(both: Both, session_id: str) -> None:
    request_id = str(uuid4())
    first = sent(both.here, "SELECT current_schema()", session_id, requestId=request_id)
    rows(both.here, "USE lake.shop_archive", session_id)
    # The other gateway knows a query once it is recorded, which happens just after its answer.
    recorded = f"/explain/{first.json()['queryId']}"
    until(lambda: both.there.get(recorded).status_code == 200)
    again = sent(both.there, "SELECT current_schema()", session_id, requestId=request_id)
    assert again.json()["queryId"] == first.json()["queryId"]
    assert code(sent(both.there, "SELECT current_schema()", requestId=request_id)) == "REQUEST_ID_REUSED"


def test_statements_without_columns_have_all_formats(both: Both, session_id: str) -> None:
    for accept in ("application/json", "text/csv", "application/vnd.apache.arrow.stream"):
        body = {"sql": "USE lake.shop", "waitTimeout": "50s", "sessionId": session_id}
        answer = both.here.post("/query", json=body, headers={"Accept": accept})
        assert answer.status_code == 200, answer.text
    assert pa.ipc.open_stream(answer.content).read_all().num_columns == 0
    shown = both.here.post(
        "/query", json={"sql": "SHOW CATALOGS", "format": "CSV"}, headers={"Accept": "text/csv"}
    )
    assert "lake" in shown.text


# ---- pruning --------------------------------------------------------------------------------------


def reasons(client: httpx.Client, answer: httpx.Response) -> set[str]:
    explained = client.get(f"/explain/{answer.json()['queryId']}").json()
    return {found["reason"] for found in explained["filters"]}


def test_only_a_session_that_changes_how_texts_are_read_keeps_a_query_from_being_pruned(
    both: Both, session_id: str
) -> None:
    expected = rows(both.here, STAR)
    plain = sent(both.here, STAR, session_id, **ALWAYS)
    assert "APPLIED" in reasons(both.here, plain)
    rows(both.there, "SET spark.sql.shuffle.partitions = 3", session_id)
    assert "APPLIED" in reasons(both.here, sent(both.here, STAR, session_id, **ALWAYS))
    rows(both.there, f"SET {ANSI} = false", session_id)
    unpruned = sent(both.here, STAR, session_id, **ALWAYS)
    assert reasons(both.here, unpruned) == {"SESSION_SETTING"}
    assert unpruned.json()["result"]["rows"] == expected
    rows(both.there, "RESET", session_id)
    rows(both.there, "CREATE TEMP VIEW calendar AS SELECT * FROM calendar WHERE day_key < 0", session_id)
    view = sent(both.here, STAR, session_id, **ALWAYS)
    assert "APPLIED" in reasons(both.here, view)
    assert view.json()["result"]["rows"] == [[0]]
    explained = both.here.get(f"/explain/{view.json()['queryId']}").json()
    assert ("VIEW_EXPANDED", "calendar") in {
        (each["rewrite"], each["table"]) for each in explained["rewrites"]
    }
    sampled = STAR.replace("JOIN calendar", "JOIN calendar TABLESAMPLE (100 PERCENT)")
    assert reasons(both.here, sent(both.here, sampled, session_id, **ALWAYS)) == {"SESSION_VIEW"}


def test_explain_shows_the_text_as_it_would_run(both: Both) -> None:
    rows(both.here, STAR, **ALWAYS)
    [[pruned]] = rows(both.here, f"EXPLAIN {STAR}", **ALWAYS)
    [[written]] = rows(both.here, f"EXPLAIN {STAR}", dynamicFiltering={"enabled": False})
    assert "Physical Plan" in pruned
    assert pruned != written
    assert "day_key" in written


# ---- metadata over HTTP ---------------------------------------------------------------------------


def test_lists_have_catalogs_schemas_tables_and_columns(both: Both) -> None:
    assert both.here.get("/catalogs").json() == {"catalogs": [{"name": "lake"}]}
    schemas = both.here.get("/schemas", params={"catalog": "lake"}).json()
    assert [entry["schema"] for entry in schemas["schemas"]] == sorted(
        entry["schema"] for entry in schemas["schemas"]
    )
    assert {"shop", "shop_archive"} <= {entry["schema"] for entry in schemas["schemas"]}
    assert code(both.here.get("/schemas", params={"catalog": "nope"})) == "SQL_INVALID"
    everything = both.here.get("/tables").json()["tables"]
    pages, token = [], None
    while True:
        asked = {"limit": "1", "columns": "true"} | ({} if token is None else {"pageToken": token})
        page = both.there.get("/tables", params=asked).json()
        pages += page["tables"]
        token = page["nextPageToken"]
        if token is None:
            break
    assert [entry["name"] for entry in pages] == [entry["name"] for entry in everything]
    [sales] = [entry for entry in pages if entry["name"] == "lake.shop.sales"]
    assert sales["kind"] == "TABLE"
    assert "day_key" in [column["name"] for column in sales["columns"]]
    assert code(both.here.get("/tables", params={"pageToken": "x"})) == "INVALID_REQUEST"


def test_a_table_says_which_filters_it_takes(both: Both) -> None:
    rows(both.here, STAR, **ALWAYS)
    sales = both.here.get("/tables/lake.shop.sales").json()
    assert {"column": "day_key", "by": "PARTITION"} in sales["acceptedFilterColumns"]


def test_a_query_is_described(both: Both, session_id: str) -> None:
    rows(both.there, "CREATE TEMP VIEW v AS SELECT day_key, month FROM calendar", session_id)
    body = {"sql": "SELECT month FROM v WHERE day_key = :day", "sessionId": session_id}
    found = both.here.post("/describe", json=body).json()
    assert [column["name"] for column in found["columns"]] == ["month"]
    assert [parameter["name"] for parameter in found["parameters"]] == ["day"]
    assert found["parameters"][0]["type"] is not None
    for sql, expected in (
        ("SHOW TABLES", "STATEMENT_NOT_ALLOWED"),
        ("SELECT * FROM nope", "TABLE_NOT_FOUND"),
        ("", "SQL_EMPTY"),
    ):
        assert code(both.here.post("/describe", json={"sql": sql})) == expected


def test_both_gateways_serve_saved_queries(both: Both) -> None:
    text = {"name": "The answer", "sql": "SELECT 41 + 1 AS answer", "shared": True}
    made = both.here.post("/saved-queries", json=text)
    assert made.status_code == 201, made.text
    place = f"/saved-queries/{made.json()['savedQueryId']}"
    found = both.bob.get(place).json()
    assert (found["sql"], found["isOwn"]) == (text["sql"], False)
    assert rows(both.bob, found["sql"]) == [[42]]
    hidden = both.there.put(place, json=text | {"shared": False}, headers={"If-Match": made.headers["ETag"]})
    assert hidden.status_code == 200, hidden.text
    assert code(both.bob.get(place)) == "SAVED_QUERY_NOT_FOUND"
    late = both.here.put(place, json=text, headers={"If-Match": made.headers["ETag"]})
    assert (late.status_code, code(late)) == (412, "SAVED_QUERY_CHANGED")
    assert both.here.delete(place, headers={"If-Match": hidden.headers["ETag"]}).status_code == 204
    assert both.there.get("/saved-queries?scope=OWN").json()["savedQueries"] == []
