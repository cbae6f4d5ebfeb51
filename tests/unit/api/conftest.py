from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import httpx
import pytest
from fastapi import FastAPI

from api.bootstrap.logs import configure_logging
from api.bootstrap.settings import LogFormat, LogLevel, Settings
from api.http.app import create_app
from tests.fakes.gateway import FakeGateway

Running = Callable[[Settings], AbstractAsyncContextManager[httpx.AsyncClient]]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def _logs_of_this_test_alone() -> Iterator[None]:
    configure_logging(LogLevel.INFO, LogFormat.JSON)
    yield
    logging.getLogger("uvicorn.access").disabled = False


@pytest.fixture
def gateway() -> FakeGateway:
    return FakeGateway()


@asynccontextmanager
async def client_of(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with app.router.lifespan_context(app):
        await app.state.app_context.access.opened()
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            yield client


@pytest.fixture
def running(gateway: FakeGateway) -> Running:
    """Runs the app over the fake gateway, with these settings."""
    return lambda settings: client_of(create_app(settings, lambda: gateway))


@pytest.fixture
async def client(running: Running) -> AsyncIterator[httpx.AsyncClient]:
    async with running(Settings()) as client:
        yield client
