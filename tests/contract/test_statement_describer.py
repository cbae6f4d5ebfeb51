"""The contract of `Describer`, for every implementation."""

from __future__ import annotations

from uuid import uuid4

import pytest

from service.errors.gateway_error import CallerError
from service.model.policies.decisions import FULL_ACCESS
from service.model.query.results import Column
from service.ports.engine.query_engine import Describer, Statement
from spark_session.engine.engine import SparkEngine
from tests.fakes.describer import FakeDescriber

SQL = "SELECT id, sum(id) AS total FROM range(3) GROUP BY id"


@pytest.fixture(params=["fake", pytest.param("spark", marks=pytest.mark.integration)])
def describer(request: pytest.FixtureRequest) -> Describer:
    if request.param == "fake":
        fake = FakeDescriber()
        fake.columns[SQL] = (
            Column("id", "BIGINT", is_nullable=False),
            Column("total", "BIGINT", is_nullable=True),
        )
        return fake
    engine: SparkEngine = request.getfixturevalue("engine")
    return engine


def statement(sql: str) -> Statement:
    return Statement(uuid4(), sql, {}, None, None, 10, 1 << 20, lambda: False, FULL_ACCESS)


def test_the_columns_of_a_text_are_described(describer: Describer) -> None:
    described = describer.describe(statement(SQL))
    assert [(column.name, column.type_name, column.is_nullable) for column in described.columns] == [
        ("id", "BIGINT", False),
        ("total", "BIGINT", True),
    ]


def test_another_text_is_the_callers_error(describer: Describer) -> None:
    with pytest.raises(CallerError):
        describer.describe(statement("SELECT FROM WHERE"))
