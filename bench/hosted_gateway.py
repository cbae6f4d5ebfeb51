"""A gateway inside this process, so that its Spark session can also be asked directly."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from typing import cast
from uuid import UUID

import uvicorn
from pyspark.sql import SparkSession

from api.bootstrap.logs import configure_logging
from api.bootstrap.settings import Settings
from api.bootstrap.wiring.build_gateway import build_gateway
from api.http.app import create_app
from api.http.http_server import bind, url_of
from api.http.protocol_servers import ProtocolFactory
from api.http.requests.stream_request import stream_definition
from api.http.stopping_server import Server
from bench.gateway_process import POLL_S, is_ready
from bench.lakehouse import Lake
from service.gateway import Gateway
from spark_session.engine.engine import SparkEngine

RECORDED_WITHIN_S = 10.0
IDLE_FOR_S = 3.0
IDLE_WITHIN_S = 300.0


@dataclass(frozen=True, slots=True)
class HostedGateway:
    """Its address, and a Spark session on the context that it keeps warm."""

    url: str
    gateway: Gateway
    spark: SparkSession

    def wait_until_recorded(self, query_id: str) -> None:
        """Returns when the work after an answer is done, so that it does not distort the next sample."""
        query = self.gateway.queries.registry.find(UUID(query_id))
        if query is not None:
            query.recorded.result(RECORDED_WITHIN_S)

    def wait_until_idle(self) -> None:
        """Returns when the engine has had nothing to do for a while, not even in the background."""
        tracker = self.spark.sparkContext.statusTracker()
        deadline = time.monotonic() + IDLE_WITHIN_S
        idle_since = time.monotonic()
        while time.monotonic() < min(deadline, idle_since + IDLE_FOR_S):
            if tracker.getActiveJobsIds():
                idle_since = time.monotonic()
            time.sleep(POLL_S)


@contextmanager
def hosted_gateway(
    lake: Lake, protocols: Sequence[ProtocolFactory] = (), flight_port: int | None = None
) -> Iterator[HostedGateway]:
    """Serves with the default settings from a thread, and stops at the end."""
    settings = Settings(
        data_dir=lake.data_dir,
        port=0,
        catalogs={k: dict(v) for k, v in lake.catalogs.items()},
        flight_port=flight_port,
    )
    (lake.data_dir / "logs").mkdir(parents=True, exist_ok=True)
    with (lake.data_dir / "logs" / "bench.log").open("w") as lines:
        with redirect_stderr(lines):
            configure_logging(settings.log_level, settings.log_format)
        gateway = build_gateway(settings, stream_definition)
        engine = cast(SparkEngine, gateway.queries.ports.engine)
        assert engine.session is not None
        spark = SparkSession(engine.session.context)
        with _served(settings, gateway, protocols) as url:
            yield HostedGateway(url, gateway, spark)


@contextmanager
def _served(settings: Settings, gateway: Gateway, protocols: Sequence[ProtocolFactory]) -> Iterator[str]:
    app = create_app(settings, lambda: gateway, protocols=protocols)
    config = uvicorn.Config(app, log_config=None, access_log=False, server_header=False, lifespan="on")
    server = Server(config, app.state.app_context.access, 0, settings.shutdown_timeout_s)
    with bind(settings.host, settings.port) as listening:
        url = url_of(listening)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, name="serve")
        thread.start()
        try:
            while not is_ready(url):
                time.sleep(POLL_S)
            yield url
        finally:
            server.should_exit = True
            thread.join()
