"""An answer that cannot be completed ends in a way that its client notices."""

from __future__ import annotations

import httpx
import pytest
from structlog.testing import capture_logs

from api.http.rendering.download_formats import DownloadFormat
from tests.fakes.gateway import FakeGateway
from tests.unit.api.http.connections.conftest import Serving

CODINGS = ("identity", "gzip", "zstd")


@pytest.mark.parametrize("download_format", DownloadFormat)
def test_a_download_whose_result_is_lost_is_not_complete(
    serving: Serving, gateway: FakeGateway, download_format: DownloadFormat
) -> None:
    host, port = serving()().address
    with httpx.Client(base_url=f"http://{host}:{port}") as client:
        sent = client.post("/query", json={"sql": "select 1"}).json()
        path = f"/query/{sent['queryId']}/result?format={download_format}"
        for coding in CODINGS:
            headers = {"Accept-Encoding": coding}
            gateway.queries.is_gone_after_its_first_rows = False
            whole = client.get(path, headers=headers)
            assert (whole.status_code, whole.http_version) == (200, "HTTP/1.1")
            gateway.queries.is_gone_after_its_first_rows = True
            with capture_logs() as lines, pytest.raises(httpx.RemoteProtocolError):
                client.get(path, headers=headers)
            events = [line["event"] for line in lines]
            assert "answer_cut_off" in events
            assert "request_crashed" not in events
        assert client.get("/livez").status_code == 200


def test_what_is_lost_before_its_first_rows_is_a_problem(serving: Serving, gateway: FakeGateway) -> None:
    host, port = serving()().address
    with httpx.Client(base_url=f"http://{host}:{port}") as client:
        sent = client.post("/query", json={"sql": "select 1"}).json()
        gateway.queries.is_expired = True
        for download_format in DownloadFormat:
            for coding in CODINGS:
                path = f"/query/{sent['queryId']}/result?format={download_format}"
                gone = client.get(path, headers={"Accept-Encoding": coding})
                assert (gone.status_code, gone.json()["code"]) == (410, "RESULT_EXPIRED")


def test_the_head_of_a_download_leaves_the_connection_in_order(
    serving: Serving, gateway: FakeGateway
) -> None:
    host, port = serving()().address
    with httpx.Client(base_url=f"http://{host}:{port}", limits=httpx.Limits(max_connections=1)) as client:
        sent = client.post("/query", json={"sql": "select 1"}).json()
        paths = [f"/query/{sent['queryId']}/result?format={each}" for each in DownloadFormat]
        for path in (*paths, f"/query/{sent['queryId']}/chunks/0"):
            for coding in CODINGS:
                head = client.head(path, headers={"Accept-Encoding": coding})
                assert (head.status_code, head.content) == (200, b"")
                whole = client.get(path, headers={"Accept-Encoding": coding})
                assert whole.status_code == 200
                length = head.headers.get("Content-Length")
                assert length == whole.headers.get("Content-Length")
                # Bytes after a head would be read as the next answer.
                assert client.get("/livez").status_code == 200
    assert gateway.queries.formatted.written == 1
