"""The steps of a stop, on a real server: callers that switch to another gateway in time see no failure."""

from __future__ import annotations

import contextlib
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx
import pytest

from api.bootstrap.settings import Settings
from api.http.app import create_app
from api.http.http_server import bind, server_of, url_of
from api.http.stopping_server import met_last
from tests.fakes.gateway import FakeGateway
from tests.polling import until

UNFINISHED = "select held"


class Serving:
    """A server in a thread, which receives signals as its process would."""

    def __init__(self, settings: Settings, gateway: FakeGateway, listening: socket.socket) -> None:
        app = create_app(settings, lambda: gateway)
        self.stops = 0
        self.server = server_of(settings, app, self._count)
        self.url = url_of(listening)
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [listening]})
        self.thread.start()

    def _count(self) -> None:
        self.stops += 1

    def send(self, number: int) -> None:
        self.server.handle_exit(number, None)
        # On exit, uvicorn raises the recorded signals again, which only the main thread can do.
        self.server._captured_signals.clear()

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=30, trust_env=False)

    def is_ready(self) -> bool:
        with contextlib.suppress(httpx.TransportError), self.client() as client:
            return client.get("/readyz").status_code == 200
        return False

    def is_leaving(self) -> bool:
        with self.client() as client:
            return client.get("/readyz").status_code == 503


Start = Callable[..., Serving]


@contextmanager
def started(settings: Settings, gateway: FakeGateway) -> Iterator[Serving]:
    with bind("127.0.0.1", 0) as listening:
        serving = Serving(settings, gateway, listening)
        try:
            until(serving.is_ready)
            yield serving
        finally:
            serving.send(signal.SIGINT)
            for id_ in gateway.queries.by_id:
                if not gateway.queries.by_id[id_].record.state.is_final:
                    gateway.queries.finish(id_)
            serving.thread.join()


def test_after_sigterm_everything_is_served_on_and_each_answer_closes_its_connection(
    gateway: FakeGateway,
) -> None:
    settings = Settings(port=0, shutdown_delay_s=60, shutdown_timeout_s=5)
    with started(settings, gateway) as serving, serving.client() as idle, serving.client() as client:
        assert "connection" not in idle.get("/healthz").headers
        serving.send(signal.SIGTERM)
        until(serving.is_leaving)
        ready = client.get("/readyz").json()
        assert ready["parts"]["engine"]["detail"] == "The gateway is shutting down."
        assert client.get("/livez").status_code == 200
        for one in (idle, client):
            answer = one.post("/query", json={"sql": "select 1"})
            assert (answer.status_code, answer.headers["connection"]) == (200, "close")
        assert not gateway.queries.is_draining
        # A second signal ends the wait.
        serving.send(signal.SIGTERM)
        until(lambda: gateway.is_closed)
        serving.thread.join()
        assert serving.stops == 1
    with pytest.raises(httpx.ConnectError), serving.client() as late:
        late.get("/healthz")


def test_in_the_drain_queries_are_refused_and_those_there_are_can_be_looked_at(gateway: FakeGateway) -> None:
    gateway.queries.unfinished.add(UNFINISHED)
    settings = Settings(port=0, shutdown_delay_s=0, shutdown_timeout_s=30)
    with started(settings, gateway) as serving, serving.client() as client:
        asked = client.post("/query", json={"sql": UNFINISHED, "waitTimeout": "0s"}).json()
        ended = client.post("/query", json={"sql": "select 1"}).json()
        serving.send(signal.SIGTERM)
        until(lambda: gateway.queries.is_draining)
        refused = client.post("/query", json={"sql": "select 1"})
        assert (refused.status_code, refused.json()["code"]) == (503, "SHUTTING_DOWN")
        assert refused.headers["retry-after"]
        chunk = client.get(f"/query/{ended['queryId']}/chunks/1")
        assert (chunk.status_code, chunk.headers["connection"]) == (200, "close")
        assert client.get(asked["links"]["self"]).json()["status"]["state"] == "RUNNING"
        records = {"table": "lake.tpcds.store_returns", "writeSchema": ["n"], "records": [{"n": 1}]}
        assert client.post("/ingest", json=records).status_code == 200
        for query_id in gateway.queries.by_id:
            if not gateway.queries.by_id[query_id].record.state.is_final:
                gateway.queries.finish(query_id)
        serving.thread.join()
    assert gateway.is_closed
    # The remaining time is used to close the parts.
    assert gateway.closed_within_s is not None
    assert 0 < gateway.closed_within_s < 30


def test_sigint_does_not_wait(gateway: FakeGateway) -> None:
    with started(Settings(port=0, shutdown_delay_s=600), gateway) as serving:
        serving.send(signal.SIGINT)
        serving.thread.join(20)
        assert gateway.is_closed


def test_who_has_connected_before_the_address_is_closed_is_met() -> None:
    with bind("127.0.0.1", 0) as listening:
        address = listening.getsockname()
        with socket.create_connection(address) as first, socket.create_connection(address) as second:
            met = list(met_last(listening))
            assert {connection.getpeername() for connection in met} == {
                first.getsockname(),
                second.getsockname(),
            }
            for connection in met:
                connection.close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address)


def test_a_gateway_that_listens_when_it_is_ready_refuses_connections_until_then(gateway: FakeGateway) -> None:
    settings = Settings(port=0, shutdown_delay_s=0, listen_when_ready=True)
    may_start = threading.Event()

    def factory() -> FakeGateway:
        may_start.wait()
        return gateway

    listens = threading.Event()
    with bind("127.0.0.1", 0, is_listening=False) as listening:
        server = server_of(settings, create_app(settings, factory))
        server.on_started = listens.set
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(listening.getsockname())
        assert not listens.is_set()
        may_start.set()
        assert listens.wait(20)
        answer = httpx.get(f"{url_of(listening)}/readyz", trust_env=False)
        assert answer.status_code == 200
        server.should_exit = True
        thread.join()
