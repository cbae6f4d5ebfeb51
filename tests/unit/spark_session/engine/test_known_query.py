"""The address of a kept plan has all that an analysis depends on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from service.model.policies.decisions import FULL_ACCESS, FullAccess
from service.model.query.query import Parameter
from service.model.sessions.sessions import SessionValues
from service.ports.engine.query_engine import Statement
from spark_session.engine.known_query import key_of

STATEMENT = Statement(
    query_id=UUID(int=1),
    sql="SELECT k FROM lake.shop.fact VERSION AS OF 7",
    parameters={"year": Parameter(1999), "month": Parameter(3)},
    catalog="lake",
    schema="shop",
    row_limit=100,
    byte_limit=1 << 20,
    is_canceled=lambda: False,
    access=FULL_ACCESS,
    relations={"dim_rows_1": "a1"},
    properties={"spark.sql.x": "1"},
    session=SessionValues(settings={"spark.sql.session.timeZone": "UTC"}),
    states={"lake.shop.fact": "uuid file:/7.json"},
)


@pytest.mark.parametrize(
    "change",
    [
        {"sql": "SELECT k FROM lake.shop.fact VERSION AS OF 8"},
        {"parameters": {"year": Parameter(2000), "month": Parameter(3)}},
        {"parameters": {"year": Parameter("1999"), "month": Parameter(3)}},
        {"parameters": {"year": Parameter(1999, "BIGINT"), "month": Parameter(3)}},
        {"parameters": (Parameter(1999), Parameter(3))},
        {"catalog": "other"},
        {"schema": None},
        {"relations": {"dim_rows_1": "b2"}},
        {"relations": {}},
        {"properties": {"spark.sql.x": "2"}},
        {"session": None},
        {"session": SessionValues(settings={"spark.sql.session.timeZone": "Asia/Tokyo"})},
        {"states": {"lake.shop.fact": "uuid file:/8.json"}},
        {"states": {"lake.shop.fact": "other file:/7.json"}},
    ],
    ids=str,
)
def test_another_input_of_an_analysis_has_another_address(change: dict[str, Any]) -> None:
    assert key_of(replace(STATEMENT, **change)) != key_of(STATEMENT)


@pytest.mark.parametrize(
    "change",
    [
        {"query_id": UUID(int=2)},
        {"row_limit": 7},
        {"caller": "ann"},
        {"origin": "SELECT k FROM fact"},
        {"access": FullAccess()},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_an_analysis_does_not_depend_on_is_not_part_of_it(change: dict[str, Any]) -> None:
    assert key_of(replace(STATEMENT, **change)) == key_of(STATEMENT)
