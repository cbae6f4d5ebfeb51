from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import registry

from tests.client.dialect.lake import Lake
from tests.client.gateways import Served, furnished, serving
from tests.fakes.gateway import FakeGateway

NAMES = "SELECT current_catalog(), current_schema()"
MakeEngine = Callable[..., sa.Engine]


@pytest.fixture(autouse=True, scope="session")
def _dialects() -> None:
    """Registers the dialects, as an installed package does by its entry points."""
    registry.register("sluice", "sluice_client.sqlalchemy", "SluiceDialect")
    registry.register("sluice.http", "sluice_client.sqlalchemy", "SluiceDialect")
    registry.register("sluice.https", "sluice_client.sqlalchemy", "SluiceHttpsDialect")


@pytest.fixture(scope="package")
def lake() -> Iterator[tuple[str, FakeGateway]]:
    with serving(Lake()) as running:
        yield running


@pytest.fixture
def gateway(lake: tuple[str, FakeGateway]) -> Iterator[Served]:
    with furnished(*lake) as running:
        running.queries.answers[NAMES] = pa.table({"catalog": ["lake"], "schema": ["shop"]})
        yield running


@pytest.fixture
def make_engine(gateway: Served) -> Iterator[MakeEngine]:
    """Makes engines, and closes their connections at the end."""
    made: list[sa.Engine] = []

    def make(path: str = "/lake/shop", **options: Any) -> sa.Engine:
        address = gateway.url.replace("http://", "sluice://") + path
        made.append(sa.create_engine(address, **options))
        return made[-1]

    yield make
    for engine in made:
        engine.dispose()


@pytest.fixture
def engine(make_engine: MakeEngine) -> sa.Engine:
    return make_engine()
