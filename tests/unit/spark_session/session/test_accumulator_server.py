"""Faults of PySpark's server of accumulators are lines of the log."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from pyspark.accumulators import AccumulatorTCPServer, _start_update_server
from structlog.testing import capture_logs

from spark_session.session.accumulator_server import log_faults
from tests.polling import until

TOKEN = "a-token"


@pytest.fixture
def server() -> Iterator[AccumulatorTCPServer]:
    server = _start_update_server(TOKEN, is_unix_domain_sock=False)
    assert isinstance(server, AccumulatorTCPServer)
    yield server
    server.shutdown()


@pytest.mark.parametrize("sent", [TOKEN.encode(), b"another", b""], ids=["JVM ends", "stranger", "nothing"])
def test_a_connection_that_fails_is_one_line(
    server: AccumulatorTCPServer, sent: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    log_faults(SimpleNamespace(_accumulatorServer=server))  # type: ignore[arg-type]
    with capture_logs() as lines:
        with socket.create_connection(("localhost", server.server_address[1])) as connection:
            connection.sendall(sent)
        until(lambda: lines)
    assert [line["event"] for line in lines] == ["accumulator_connection_ended"]
    assert capfd.readouterr().err == ""
