"""One engine, without a gateway, with tables and views that policies show to some."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession

from service.errors.gateway_error import GatewayError
from service.model.policies.decisions import FULL_ACCESS, Access
from service.model.query.query import Parameters
from service.model.query.statement_text import query_text
from service.model.sessions.sessions import SessionValues
from service.policies.compiled_policies import CompiledPolicies, RoleAccess
from service.ports.engine.query_engine import EngineResult, Statement
from spark_session.engine.engine import SparkEngine
from spark_session.settings.settings import SparkSettings
from tests.integration.engines import jars
from tests.integration.sql.engine_calls import root_of
from tests.unit.policies.by_hand import ByHand

SETUP = (
    "CREATE NAMESPACE lake.shop COMMENT 'sales of shops'",
    "CREATE NAMESPACE lake.hr",
    "CREATE NAMESPACE lake.empty",
    "CREATE TABLE lake.shop.orders (id BIGINT COMMENT 'the key', card STRING, day DATE, at TIMESTAMP)"
    " USING iceberg PARTITIONED BY (day) COMMENT 'all orders'"
    " TBLPROPERTIES ('owner.note' = 'x', 'note.path' = 's3://b/place')",
    "INSERT INTO lake.shop.orders SELECT id, concat('card', id), DATE'2024-01-01' + int(id % 3),"
    " timestamp_seconds(1704067200 + id * 3600) FROM range(30)",
    "CREATE TABLE lake.shop.items (id BIGINT, name STRING) USING iceberg",
    "INSERT INTO lake.shop.items SELECT id, string(id) FROM range(5)",
    "CREATE TABLE lake.hr.pay (id BIGINT, amount DECIMAL(7, 2)) USING iceberg",
    "CREATE NAMESPACE mem.shop",
    "CREATE NAMESPACE mem.hr",
    "CREATE TABLE mem.shop.base (id BIGINT, card STRING) USING iceberg",
    "INSERT INTO mem.shop.base SELECT id, concat('card', id) FROM range(4)",
    "CREATE VIEW mem.shop.some AS SELECT id, card FROM mem.shop.base WHERE id < 3",
    "CREATE VIEW mem.hr.secret AS SELECT id FROM mem.shop.base",
)


@dataclass
class Asking:
    """Sends statements to the engine as a query does."""

    engine: SparkEngine

    def run(
        self,
        sql: str,
        access: Access = FULL_ACCESS,
        session: SessionValues | None = None,
        parameters: Parameters = (),
        **changed: Any,
    ) -> EngineResult:
        return self.engine.run(self.statement(sql, access, session, parameters, **changed))

    def statement(
        self,
        sql: str,
        access: Access = FULL_ACCESS,
        session: SessionValues | None = None,
        parameters: Parameters = (),
        **changed: Any,
    ) -> Statement:
        text = query_text(sql)
        values = session or SessionValues()
        statement = Statement(
            query_id=uuid4(),
            sql=text.sql,
            parameters=parameters,
            catalog=values.catalog or "lake",
            schema=values.schema,
            row_limit=1000,
            byte_limit=10**6,
            is_canceled=lambda: False,
            access=access,
            explain=text.explain,
            session=session,
        )
        return replace(statement, **changed)

    def rows(
        self, sql: str, access: Access = FULL_ACCESS, session: SessionValues | None = None
    ) -> list[tuple[Any, ...]]:
        return [tuple(row.values()) for row in self.run(sql, access, session).rows.to_pylist()]

    def error(self, sql: str, access: Access = FULL_ACCESS, session: SessionValues | None = None) -> str:
        """Returns the code of the statement's error and what it says; empty if it has rows."""
        try:
            self.run(sql, access, session)
        except GatewayError as failure:
            return f"{failure.code}: {failure.detail}"
        return ""

    @contextmanager
    def spark(self) -> Iterator[SparkSession]:
        """Yields a session that runs statements without checks."""
        session = self.engine.session
        assert session is not None
        with session.children.taken("lake", None, "test") as child:
            yield child


@pytest.fixture(scope="package")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asking]:
    folder = tmp_path_factory.mktemp("metadata")
    catalogs: dict[str, str] = {}
    for name in ("lake", "mem"):
        catalog = f"spark.sql.catalog.{name}"
        catalogs |= {
            catalog: "org.apache.iceberg.spark.SparkCatalog",
            f"{catalog}.catalog-impl": "org.apache.iceberg.inmemory.InMemoryCatalog",
            f"{catalog}.warehouse": f"file://{folder}/warehouse/{name}",
            f"{catalog}.io-impl": "org.apache.iceberg.hadoop.HadoopFileIO",
            f"{catalog}.cache-enabled": "false",
        }
    settings = SparkSettings("local[2]", jars(), folder, catalogs, ("lake", "mem"), "lake", "1g")
    engine = SparkEngine(settings)
    engine.start()
    for command in SETUP:
        root_of(engine).sql(command)
    yield Asking(engine)
    engine.close()
    del engine
    gc.collect()


Rules = tuple[tuple[str, str], ...]


def access(*rules: tuple[str, str]) -> Access:
    """Returns the access of a role with these rules, spelled as in the route matrix."""
    policies = ByHand({"role": rules}).policies()
    return RoleAccess(CompiledPolicies(policies), frozenset({"role"}))


ADMIN = access(("*.*.*", "admin"))
READER = access(("lake.shop.orders", "select"))
DESCRIBER = access(("lake.shop.orders", "describe"))
FILTERED = access(("lake.shop.*", "select"), ("lake.shop.orders", "rows:id < 5"))
MASKED = access(("lake.shop.*", "select"), ("lake.shop.orders", "mask:card=NULL"))
NOBODY = access()
