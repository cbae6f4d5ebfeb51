from __future__ import annotations

import os
import signal
import socket
import threading

import httpx
import pytest

from api.bootstrap.settings import Settings
from api.http.app import create_app
from api.http.http_server import bind, serve
from service.errors.gateway_error import CannotStart
from service.gateway import Gateway
from service.model.operations.health import Liveness, PartHealth, PartState
from tests.fakes.gateway import FakeGateway


@pytest.mark.anyio
async def test_while_the_engine_starts_the_process_is_alive_but_not_ready() -> None:
    may_start, gateway = threading.Event(), FakeGateway()

    def factory() -> Gateway:
        may_start.wait()
        return gateway

    app = create_app(Settings(), factory)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client,
    ):
        alive = await client.get("/healthz")
        may_go_on = await client.get("/livez")
        ready = await client.get("/readyz")
        query = await client.post("/query", json={"sql": "select 1"})
        numbers = await client.get("/metrics")
        may_start.set()
        await app.state.app_context.access.opened()
        ready_then = await client.get("/readyz")
        numbers_then = await client.get("/metrics")
    assert alive.status_code == 200
    assert (may_go_on.status_code, may_go_on.json()["status"]) == (200, "UP")
    assert numbers.status_code == 200
    assert {"sluice_ready 0.0", "process_open_fds"} <= set(numbers.text.replace("fds ", "fds\n").splitlines())
    assert "sluice_ready 1.0" in numbers_then.text.splitlines()
    assert (ready.status_code, ready.json()["status"]) == (503, "NOT_READY")
    assert ready.json()["parts"]["engine"]["state"] == "STARTING"
    assert (query.status_code, query.json()["code"]) == (503, "ENGINE_NOT_READY")
    assert query.headers["retry-after"]
    assert (ready_then.status_code, ready_then.json()["status"]) == (200, "READY")
    assert gateway.is_closed


@pytest.mark.anyio
async def test_an_engine_that_stays_down_has_the_process_restarted(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    gateway.alive = Liveness(engine_down_s=315, engine_max_down_s=315)
    assert (await client.get("/livez")).json() == {"status": "UP", "detail": ""}
    gateway.alive = Liveness(engine_down_s=316, engine_max_down_s=315)
    response = await client.get("/livez")
    assert (response.status_code, response.json()["status"]) == (503, "STUCK")
    assert response.json()["detail"] == "The engine has been down for 316 s, and none could be started."


@pytest.mark.anyio
async def test_a_part_that_queries_can_do_without_is_named(
    client: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    gateway.parts = (*gateway.parts, PartHealth("metrics_store", PartState.DOWN, "does not answer"))
    response = await client.get("/readyz")
    assert (response.status_code, response.json()["status"]) == (200, "DEGRADED")
    assert response.json()["parts"]["metrics_store"] == {"state": "DOWN", "detail": "does not answer"}
    gateway.parts = (PartHealth("engine", PartState.DOWN, is_required=True),)
    assert (await client.get("/readyz")).status_code == 503


@pytest.mark.anyio
async def test_a_stop_during_the_start_closes_the_gateway_all_the_same() -> None:
    may_start, gateway = threading.Event(), FakeGateway()

    def factory() -> Gateway:
        may_start.wait()
        return gateway

    app = create_app(Settings(), factory)
    async with app.router.lifespan_context(app):
        may_start.set()
    assert gateway.is_closed


@pytest.mark.parametrize(
    ("error", "sentence"),
    [(CannotStart("Java 17 is missing."), "Java 17 is missing."), (KeyError("x"), "The log has the cause")],
)
def test_a_start_that_fails_ends_the_server_with_one_sentence(error: Exception, sentence: str) -> None:
    def factory() -> Gateway:
        raise error

    urls: list[str] = []
    with pytest.raises(CannotStart, match=sentence):
        serve(Settings(port=0), factory, urls.append)
    assert urls[0].startswith("http://127.0.0.1:")


def test_a_port_that_is_taken_is_said_with_its_cure() -> None:
    with bind("127.0.0.1", 0) as taken, pytest.raises(CannotStart, match=r"is taken: .* SLUICE_PORT"):
        bind("127.0.0.1", taken.getsockname()[1])


def test_an_address_of_another_machine_is_said_with_its_cure() -> None:
    with pytest.raises(CannotStart, match="SLUICE_HOST"):
        bind("192.0.2.1", 0)


def test_a_bound_socket_listens() -> None:
    with bind("127.0.0.1", 0) as listening:
        assert listening.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) == 1


def test_a_signal_stops_the_server_and_those_who_wait_get_an_answer() -> None:
    gateway = FakeGateway()
    gateway.queries.unfinished.add("select slow")
    answers: list[httpx.Response] = []
    clients: list[threading.Thread] = []

    def wait_at(url: str) -> None:
        while httpx.get(f"{url}/readyz").status_code != 200:
            pass
        asked = {"sql": "select slow", "waitTimeout": "50s"}
        answers.append(httpx.post(f"{url}/query", json=asked, timeout=60))

    def stop_when_asked() -> None:
        gateway.queries.is_waited_for.wait()
        os.kill(os.getpid(), signal.SIGTERM)

    def on_listening(url: str) -> None:
        clients.extend(threading.Thread(target=target) for target in (lambda: wait_at(url), stop_when_asked))
        for client in clients:
            client.start()

    before = signal.getsignal(signal.SIGTERM)
    serve(Settings(port=0, shutdown_delay_s=0, shutdown_timeout_s=1), lambda: gateway, on_listening)
    for client in clients:
        client.join()
    assert gateway.is_closed
    assert signal.getsignal(signal.SIGTERM) is before
    assert answers[0].status_code == 200
    assert answers[0].json()["status"]["state"] == "CANCELED"
