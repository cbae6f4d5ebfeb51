"""An answer that cannot be completed ends in a way that its client notices."""

from __future__ import annotations

import httpx
import pytest
from structlog.testing import capture_logs

from tests.fakes.gateway import FakeGateway
from tests.unit.api.http.connections.conftest import Serving


@pytest.mark.parametrize("download_format", ["JSON_LINES", "PARQUET", "ARROW_STREAM"])
def test_a_download_whose_result_is_lost_is_not_complete(
    serving: Serving, gateway: FakeGateway, download_format: str
) -> None:
    gateway.queries.is_gone_after_its_first_rows = True
    host, port = serving()().address
    with httpx.Client(base_url=f"http://{host}:{port}") as client:
        sent = client.post("/query", json={"sql": "select 1"}).json()
        path = f"/query/{sent['queryId']}/result?format={download_format}"
        with capture_logs() as lines, pytest.raises(httpx.RemoteProtocolError):
            client.get(path, headers={"Accept-Encoding": "identity"})
        assert client.get("/livez").status_code == 200
    events = [line["event"] for line in lines]
    assert "answer_cut_off" in events
    assert "request_crashed" not in events
