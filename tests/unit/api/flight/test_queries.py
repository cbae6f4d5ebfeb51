"""Tests how statements are run, prepared, streamed and canceled over a real connection."""

from __future__ import annotations

import pyarrow as pa

from tests.fakes.queries import ROWS
from tests.unit.api.flight.conftest import RunningFlight, answer, info_of, prepared, rows_of


def test_a_statement_is_answered_in_arrow(running: RunningFlight) -> None:
    with running.client() as client:
        info = info_of(client, "CommandStatementQuery", query="SELECT 1")
        [asked] = running.asked()
        [query_id] = running.queries.by_id
        assert (asked.sql, asked.request_id, info.app_metadata) == ("SELECT 1", None, str(query_id).encode())
        assert rows_of(client, info) == ROWS
        assert answer(client, "CommandGetTableTypes").to_pydict() == {"table_type": ["TABLE", "VIEW"]}


def test_a_prepared_statement_runs_each_time(running: RunningFlight) -> None:
    with running.client() as client:
        made = prepared(client, "SELECT 1")
        assert pa.ipc.read_schema(pa.py_buffer(made.dataset_schema)) == ROWS.schema
        assert made.parameter_schema == b""
        for count in (1, 2):
            handle = made.prepared_statement_handle
            found = answer(client, "CommandPreparedStatementQuery", prepared_statement_handle=handle)
            assert (found, len(running.asked())) == (ROWS, count)
