"""NaN and infinity: the rows of a query bring them back as floats, in every form."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sluice_client import Connection
from tests.client.gateways import Served

SQL = "SELECT x"
Numbers = st.lists(st.none() | st.floats(), max_size=20)


def texts(values: list[object]) -> list[str]:
    # Two NaN are not equal, and minus zero equals zero.
    return list(map(repr, values))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(Numbers)
def test_doubles_come_back_as_they_are(
    gateway: Served, connection: Connection, values: list[float | None]
) -> None:
    gateway.queries.answers[SQL] = pa.table({"x": pa.array(values, pa.float64())})
    result = connection.query(SQL)
    assert texts([x for (x,) in result.rows()]) == texts(list(values))
    assert texts(result.arrow().column("x").to_pylist()) == texts(list(values)) if values else True
    assert texts(result.polars()["x"].to_list()) == texts(list(values))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf], ids=str)
def test_they_come_back_inside_of_other_values(gateway: Served, connection: Connection, value: float) -> None:
    kinds = {
        "list": pa.array([[value]], pa.list_(pa.float64())),
        "struct": pa.array([{"x": value}], pa.struct([("x", pa.float32())])),
        "map": pa.array([[("k", value)]], pa.map_(pa.string(), pa.float64())),
    }
    gateway.queries.answers[SQL] = pa.table(kinds)
    [(of_list, of_struct, of_map)] = connection.query(SQL).rows()
    assert texts([of_list, of_struct, of_map]) == texts([[value], {"x": value}, [("k", value)]])
