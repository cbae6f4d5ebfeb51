"""Tests the methods of the protocol over a real connection, with a gateway in memory."""

from __future__ import annotations

import asyncio
import hashlib
from typing import Any
from uuid import UUID

import httpx
import pytest

from api.hive_server.calls.protocol_numbers import V6, V10, OperationState
from api.hive_server.calls.session_handles import SessionHandle, written_handle
from api.hive_server.wire import structs
from api.hive_server.wire.thrift_types import Struct
from service.errors.query_errors import QueryTimedOut
from service.errors.statement_errors import SqlSyntaxError
from service.model.query.query import QueryState
from tests.unit.api.hive_server.conftest import operation_of, rows_of, running
from tests.unit.api.hive_server.thrift_values import read_reply, written_call

pytestmark = pytest.mark.anyio
TOKENS = {"kim": hashlib.sha256(b"secret").hexdigest(), "lou": hashlib.sha256(b"other").hexdigest()}


async def test_a_statement_runs_and_its_rows_end_with_a_fetch_of_none() -> None:
    async with running() as server:
        client = await server.client(V10)
        operation = operation_of(await client.execute("SELECT 1", runAsync=True))
        status = await client.call("GetOperationStatus", operation, getProgressUpdate=True)
        assert (status[2], status[10][3]) == (OperationState.FINISHED, 1.0)
        metadata = await client.call("GetResultSetMetadata", operation)
        assert [column[1] for column in metadata[2][1]] == [b"d_moy", b"name"]
        first = await client.call("FetchResults", operation, maxRows=2, orientation=0)
        assert (rows_of(first)[0], first[2], first[3][1]) == ([1, 2], True, 0)
        assert rows_of(await client.call("FetchResults", operation, maxRows=2))[0] == [3]
        last = await client.call("FetchResults", operation, maxRows=2)
        assert (rows_of(last)[0], last[2]) == ([], False)
        again = await client.call("FetchResults", operation, maxRows=100, orientation=4)
        assert rows_of(again)[0] == [1, 2, 3]
        assert (await client.call("CloseOperation", operation))[1][1] == 0
        assert (await client.call("CloseOperation", operation))[1][1] == 0
        assert (await client.call("FetchResults", operation, maxRows=1))[1][1] == 3


async def test_the_chunk_that_is_being_read_is_kept_until_its_statement_ends() -> None:
    async with running() as server:
        client = await server.client()
        transport = httpx.ASGITransport(server.app)

        async def kept_bytes(web: httpx.AsyncClient) -> float:
            lines = (await web.get("/metrics")).text.splitlines()
            (line,) = [line for line in lines if line.startswith("sluice_hive_kept_chunks_bytes ")]
            return float(line.split()[1])

        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as web:
            for end in ("CloseOperation", "CloseSession"):
                operation = operation_of(await client.execute("SELECT 1"))
                first = await client.call("FetchResults", operation, maxRows=1)
                assert (rows_of(first)[0], await kept_bytes(web) > 0) == ([1], True)
                server.gateway.queries.is_expired = True
                assert (await client.call("FetchResults", operation, maxRows=1))[1][5].startswith(
                    b"RESULT_EXPIRED"
                )
                server.gateway.queries.is_expired = False
                # It is read no more: the fake would refuse.
                server.gateway.queries.is_gone_before_its_rows = True
                assert rows_of(await client.call("FetchResults", operation, maxRows=1))[0] == [2]
                server.gateway.queries.is_gone_before_its_rows = False
                again = await client.call("FetchResults", operation, maxRows=1, orientation=4)
                assert (rows_of(again)[0], await kept_bytes(web) > 0) == ([1], True)
                await client.call(end, operation if end == "CloseOperation" else client.session)
                assert await kept_bytes(web) == 0


async def test_the_query_has_the_callers_bounds_and_comes_from_its_session() -> None:
    async with running() as server:
        client = await server.client(
            configuration={"use:database": "empty", "spark.sql.ansi.enabled": "false"}
        )
        operation = operation_of(await client.execute('/* {"app": "dbt"} */ select 1', queryTimeout=7))
        (query,) = server.gateway.queries.by_id.values()
        asked = query.request
        assert (asked.timeout_ms, asked.schema, asked.row_limit) == (7_000, "empty", 1_000_000)
        assert asked.session is not None
        assert asked.session.values.settings == {"spark.sql.ansi.enabled": "false"}
        assert asked.tags == {"app": "dbt"}
        assert asked.request_id == UUID(bytes=operation["operationHandle"]["operationId"]["guid"])


async def test_a_failed_statement_has_its_code_and_state() -> None:
    async with running() as server:
        server.gateway.queries.failures["SELEC"] = SqlSyntaxError("It ends too early.")
        client = await server.client()
        at_once = await client.execute("SELEC")
        assert (at_once[1][1], at_once[1][3]) == (3, b"42601")
        assert at_once[1][5] == b"SQL_SYNTAX: It ends too early."
        operation = operation_of(await client.execute("SELEC", runAsync=True))
        status = await client.call("GetOperationStatus", operation)
        assert (status[1][1], status[2], status[3]) == (0, OperationState.ERROR, b"42601")
        assert (await client.call("FetchResults", operation, maxRows=1))[1][5].startswith(b"SQL_SYNTAX")


@pytest.mark.parametrize(("protocol", "state"), [(V6, OperationState.ERROR), (V10, OperationState.TIMEDOUT)])
async def test_a_timeout_is_told_as_clients_know_it(protocol: int, state: OperationState) -> None:
    async with running() as server:
        server.gateway.queries.failures["SLOW"] = QueryTimedOut("It took too long.")
        client = await server.client(protocol)
        operation = operation_of(await client.execute("SLOW", runAsync=True))
        assert (await client.call("GetOperationStatus", operation))[2] == state


async def test_a_result_that_was_cut_is_an_error() -> None:
    async with running() as server:
        server.gateway.queries.is_truncated = True
        client = await server.client()
        assert (await client.execute("SELECT 1"))[1][5].startswith(b"RESULT_TOO_LARGE")


async def test_cancel_close_session_and_a_closed_socket_cancel_what_runs() -> None:
    async with running() as server:
        queries = server.gateway.queries
        queries.unfinished |= {"CANCELED", "CLOSED", "IN SESSION", "GONE", "GONE WAITING"}

        def states() -> set[tuple[str, QueryState]]:
            return {(query.request.sql, query.record.state) for query in queries.by_id.values()}

        client = await server.client()
        canceled = operation_of(await client.execute("CANCELED", runAsync=True))
        await client.call("CancelOperation", canceled)
        assert (await client.call("GetOperationStatus", canceled))[2] == OperationState.CANCELED
        closed = operation_of(await client.execute("CLOSED", runAsync=True))
        await client.call("CloseOperation", closed)
        operation_of(await client.execute("IN SESSION", runAsync=True))
        await client.call("CloseSession", client.session)
        await client.open()
        operation_of(await client.execute("GONE", runAsync=True))
        client.writer.close()
        waiting = await server.client()
        waiting.send(
            written_call(
                "ExecuteStatement", structs.EXECUTE, {**waiting.session, "statement": "GONE WAITING"}
            )
        )
        await waiting.writer.drain()
        while not any(sql == "GONE WAITING" for sql, _ in states()):
            await asyncio.sleep(0.01)
        waiting.writer.close()
        async with asyncio.timeout(30):
            while {state for _, state in states()} != {QueryState.CANCELED}:
                await asyncio.sleep(0.05)


async def test_a_handle_with_the_session_of_another_caller_ends_nothing() -> None:
    async with running(api_tokens=TOKENS) as server:
        owner, thief = await server.connect(), await server.connect()
        for client, name, password in ((owner, "kim", "secret"), (thief, "lou", "other")):
            assert await client.sasl(name, password) == (5, b"")
            await client.open()
        running_operation = operation_of(await owner.execute("SELECT 1", runAsync=True))
        session_id = UUID(bytes=owner.session["sessionHandle"]["sessionId"]["guid"])
        forged = written_handle(SessionHandle(session_id, V10, is_plain=False), "lou")
        await thief.call("CloseSession", {"sessionHandle": forged})
        assert (await owner.call("GetOperationStatus", running_operation))[1][1] == 0
        assert (await owner.execute("SELECT 1"))[1][1] == 0


async def test_a_running_statement_is_waited_for_a_second_at_most() -> None:
    async with running() as server:
        server.gateway.queries.unfinished.add("SLOW")
        client = await server.client()
        operation = operation_of(await client.execute("SLOW", runAsync=True))
        polling = asyncio.create_task(client.call("GetOperationStatus", operation))
        assert (await polling)[2] == OperationState.RUNNING
        (query_id,) = server.gateway.queries.by_id
        server.gateway.queries.finish(query_id)
        assert (await client.call("GetOperationStatus", operation))[2] == OperationState.FINISHED


async def test_metadata_calls_are_operations_with_rows() -> None:
    async with running() as server:
        client = await server.client()
        asked: dict[str, tuple[dict[str, Any], int, list[bytes]]] = {
            "GetCatalogs": ({}, 0, [b"lake"]),
            "GetSchemas": ({"schemaName": "t%"}, 0, [b"tpcds"]),
            "GetTables": ({"tableName": "%", "tableTypes": ["TABLE"]}, 2, [b"store_returns"]),
            "GetColumns": ({"tableName": "store_returns"}, 5, [b"BIGINT"]),
            "GetTableTypes": ({}, 0, [b"TABLE", b"VIEW"]),
            "GetPrimaryKeys": ({}, 0, []),
            "GetCrossReference": ({}, 0, []),
        }
        for method, (request, place, expected) in asked.items():
            operation = operation_of(await client.call(method, client.session, **request))
            assert (await client.call("GetOperationStatus", operation))[2] == OperationState.FINISHED
            assert rows_of(await client.call("FetchResults", operation, maxRows=9))[place] == expected
        server.gateway.identifier_fields = ("sr_returned_date_sk",)
        key = operation_of(
            await client.call("GetPrimaryKeys", client.session, schemaName="tpcds", tableName="store_returns")
        )
        columns = rows_of(await client.call("FetchResults", key, maxRows=9))
        assert columns[:5] == [[b"lake"], [b"tpcds"], [b"store_returns"], [b"sr_returned_date_sk"], [1]]
        types = operation_of(await client.call("GetTypeInfo", client.session))
        assert b"DECIMAL" in rows_of(await client.call("FetchResults", types, maxRows=99))[0]
        functions = operation_of(await client.call("GetFunctions", client.session, functionName="2"))
        assert rows_of(await client.call("FetchResults", functions, maxRows=9))[2] == [b"2"]


async def test_the_server_tells_what_it_is() -> None:
    async with running() as server:
        client = await server.client()
        assert (await client.call("GetInfo", client.session, infoType=17))[2] == {1: b"Spark SQL"}
        assert (await client.call("GetInfo", client.session, infoType=99))[2] == {1: b""}
        assert (await client.call("GetDelegationToken", client.session))[1][1] == 3


async def test_use_default_is_the_operators_schema() -> None:
    async with running() as server:
        client = await server.client(configuration={"use:database": "empty"})
        used = operation_of(await client.execute("USE `default`"))
        assert rows_of(await client.call("FetchResults", used, maxRows=1)) == [[]]
        await client.execute("SELECT 1")
        (query,) = server.gateway.queries.by_id.values()
        assert query.request.schema == "tpcds"


@pytest.mark.parametrize(
    ("configuration", "text"),
    [
        ({"hive.server2.proxy.user": "lou"}, b"another's name"),
        ({"spark.sql.caseSensitive": "true"}, b"spark.sql.caseSensitive"),
        ({"set:hivevar:day": "1"}, b"variables"),
        ({"use:database": "nothing"}, b"nothing"),
    ],
    ids=["proxy", "setting", "variable", "schema"],
)
async def test_sessions_that_would_not_be_as_asked_are_refused(
    configuration: dict[str, str], text: bytes
) -> None:
    async with running() as server:
        client = await server.connect()
        await client.sasl()
        answer = await client.open(configuration=configuration)
        assert answer[1][1] == 3
        assert text in answer[1][5]


async def test_old_versions_are_refused_and_new_ones_answered_with_the_last_known() -> None:
    async with running() as server:
        client = await server.connect()
        await client.sasl()
        assert b"version 5" in (await client.open(4))[1][5]
        assert (await client.open(10))[2] == V10


async def test_an_unknown_method_is_answered_and_the_connection_goes_on() -> None:
    async with running() as server:
        client = await server.client()
        with_handle = Struct(structs.OF_SESSION.fields)
        reply = await client.reply(written_call("CloseImpalaOperation", with_handle, client.session))
        assert (reply.type, reply.fields[2]) == (3, 1)
        assert (await client.execute("SELECT 1"))[1][1] == 0


async def test_handles_are_their_callers_alone() -> None:
    async with running(api_tokens=TOKENS) as server:
        kim, lou = await server.connect(), await server.connect()
        assert await kim.sasl("kim", "secret") == (5, b"")
        assert await lou.sasl("lou", "other") == (5, b"")
        await kim.open()
        await lou.open()
        operation = operation_of(await kim.execute("SELECT 1"))
        assert (await lou.call("FetchResults", operation, maxRows=1))[1][1] == 3
        lou.session = kim.session
        assert b"SESSION_NOT_FOUND" in (await lou.execute("SELECT 1"))[1][5]


async def test_wrong_passwords_and_other_names_are_refused() -> None:
    async with running(api_tokens=TOKENS) as server:
        for name, password in (("kim", "wrong"), ("lou", "secret"), ("kim", "")):
            client = await server.connect()
            status, text = await client.sasl(name, password)
            assert (status, await client.is_closed()) == (3, True)
            assert text.startswith(b"UNAUTHENTICATED")


async def test_plain_sessions_have_the_names_alone_in_show_tables() -> None:
    import pyarrow as pa

    async with running() as server:
        server.gateway.queries.rows = pa.table(
            {"namespace": ["a"], "tableName": ["t"], "isTemporary": [False]}
        )
        plain = await server.client()
        shown = operation_of(await plain.execute("show tables"))
        assert rows_of(await plain.call("FetchResults", shown, maxRows=9)) == [[b"t"]]
        other = await server.client(V6, configuration={"spark.sql.ansi.enabled": "false"})
        shown = operation_of(await other.execute("show tables"))
        assert len(rows_of(await other.call("FetchResults", shown, maxRows=9))) == 3


async def test_operations_of_a_session_are_bounded_and_forgotten_with_it() -> None:
    async with running(hive_max_operations_per_session=1) as server:
        client = await server.client()
        operation_of(await client.execute("SELECT 1"))
        assert b"TOO_MANY_QUERIES" in (await client.execute("SELECT 1"))[1][5]
        await client.call("CloseSession", client.session)
        await client.open()
        operation_of(await client.execute("SELECT 1"))


async def test_messages_are_answered_over_http_with_a_name_and_a_password() -> None:
    async with running(hive_port=None, hive_http=True, api_tokens=TOKENS) as server:
        transport = httpx.ASGITransport(server.app)
        message = written_call("OpenSession", structs.OPEN_SESSION, {"client_protocol": V10})
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            for path in ("/cliservice", "/cliservice/", "/sql/protocolv1/o/1/2"):
                for auth in (("kim", "secret"), ("token", "other")):
                    answer = await client.post(path, content=message, auth=auth)
                    assert read_reply(answer.content).fields[0][1][1] == 0
            assert (await client.post("/cliservice", content=message, auth=("kim", "no"))).status_code == 401
            assert (
                await client.post("/cliservice", content=message, auth=("lou", "secret"))
            ).status_code == 401
            assert (await client.post("/query", json={"sql": "x"}, auth=("kim", "secret"))).status_code == 401
            bearer = {"Authorization": "Bearer secret"}
            assert (await client.post("/cliservice", content=b"no", headers=bearer)).status_code == 422


async def test_health_and_metrics_tell_of_the_listener() -> None:
    async with running() as server:
        client = await server.client()
        await client.execute("SELECT 1")
        transport = httpx.ASGITransport(server.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as web:
            assert (await web.get("/readyz")).json()["parts"]["hiveServer"]["state"] == "UP"
            metrics = (await web.get("/metrics")).text
            assert "sluice_hive_connections 1.0" in metrics
            assert 'sluice_hive_operations_total{kind="statement",outcome="succeeded"} 1.0' in metrics
            assert server.server.listener is not None
            await server.server.listener.stop()
            assert (await web.get("/readyz")).json()["parts"]["hiveServer"]["state"] == "DOWN"
