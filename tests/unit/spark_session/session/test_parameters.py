"""Values that do not fit their types. Tests on the real engine bind those that do."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.errors import PySparkException

from service.errors.statement_errors import ParameterInvalid
from service.model.query.query import JsonScalar, Parameter
from spark_session.session.parameters import spark_arguments

TYPES = [
    "STRING", "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE",
    "DECIMAL", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "BINARY",
]  # fmt: skip
REFUSED: list[tuple[str, JsonScalar]] = [
    ("STRING", 1),
    ("BOOLEAN", "true"),
    ("BOOLEAN", 1),
    ("TINYINT", 128),
    ("TINYINT", -129),
    ("SMALLINT", 32_768),
    ("INT", 2**31),
    ("INT", "2147483648"),
    ("INT", "one"),
    ("INT", ""),
    ("INT", 1.0),
    ("INT", True),
    ("INT", "1; DROP TABLE t"),
    ("INT", "9" * 5000),
    ("BIGINT", 2**63),
    ("BIGINT", -(2**63) - 1),
    ("FLOAT", "much"),
    ("DOUBLE", "NaN"),
    ("DOUBLE", "-Infinity"),
    ("DOUBLE", True),
    ("DOUBLE", 10**400),
    ("DECIMAL(7,2)", "1.001"),
    ("DECIMAL(7,2)", "100000.00"),
    ("DECIMAL(7,2)", "NaN"),
    ("DECIMAL(7,2)", "Infinity"),
    ("DECIMAL(7,2)", "a"),
    ("DECIMAL(7,2)", True),
    ("DECIMAL(7)", "1.5"),
    ("DECIMAL(7,2)", "1e999999999"),
    ("DECIMAL(38,0)", "1" * 39),
    ("FLOAT", 1e300),
    ("DATE", "2000-02-30"),
    ("DATE", "2000-01-01'; --"),
    ("DATE", 20000101),
    ("TIMESTAMP", "yesterday"),
    ("TIMESTAMP_NTZ", "2000-01-01T00:00:00+01:00"),
    ("BINARY", "not base64!"),
    ("BINARY", 7),
]
BOUND_BY_THE_ENGINE = [
    ("DECIMAL(7)", "1234567"),
    ("DECIMAL", "12345678901.5"),
    ("DECIMAL(38,0)", "1" * 38),
    ("DECIMAL(38,38)", "0." + "1" * 38),
]


@pytest.mark.parametrize(("type_name", "value"), REFUSED)
def test_a_value_that_does_not_fit_its_type_is_refused_by_name(type_name: str, value: JsonScalar) -> None:
    with pytest.raises(ParameterInvalid, match=r"^Parameter year: .* is not a value of type"):
        spark_arguments({"year": Parameter(value, type_name)})


@pytest.mark.parametrize(("type_name", "value"), BOUND_BY_THE_ENGINE)
def test_every_digit_that_the_type_has_is_accepted(type_name: str, value: str) -> None:
    # Without a JVM, PySpark cannot build the literal, but it fails only after the value was accepted.
    with suppress(AssertionError):
        spark_arguments({"price": Parameter(value, type_name)})


@pytest.mark.parametrize("type_name", ["VARCHAR(3)", "", "INT; DROP", "ARRAY<INT>", "NUMBER"])
def test_an_unknown_type_is_refused_with_the_known_ones(type_name: str) -> None:
    with pytest.raises(ParameterInvalid, match=r"is not one of BIGINT, .*, TINYINT"):
        spark_arguments((Parameter("1", type_name),))


def test_a_positional_value_is_named_by_its_place() -> None:
    with pytest.raises(ParameterInvalid, match="Parameter 2:"):
        spark_arguments((Parameter(1), Parameter("x", "INT")))


def test_nothing_to_bind_is_nothing() -> None:
    assert spark_arguments(()) == {}
    assert spark_arguments({}) == {}


@pytest.mark.parametrize("value", [1, None])
@pytest.mark.parametrize(
    "type_name", ["DECIMAL(7,2,1)", "DECIMAL(a,b)", "DECIMAL(7,2", "MONEY", "INT); SELECT", ""]
)
def test_a_type_that_does_not_exist_is_refused(type_name: str, value: JsonScalar) -> None:
    with pytest.raises(ParameterInvalid, match=r"is not one of BIGINT, BINARY"):
        spark_arguments({"year": Parameter(value, type_name)})


def test_an_integer_that_needs_more_than_64_bits_needs_a_type() -> None:
    with pytest.raises(ParameterInvalid, match="DECIMAL"):
        spark_arguments((Parameter(2**63),))


def test_values_without_a_type_go_as_they_are() -> None:
    values: tuple[JsonScalar, ...] = ("a'b", 1, 1.5, True, None)
    assert spark_arguments(tuple(Parameter(value) for value in values)) == list(values)
    assert spark_arguments({"a": Parameter("x"), "b": Parameter(None)}) == {"a": "x", "b": None}
    assert spark_arguments({"a": Parameter("x", " string "), "b": Parameter(True, "Boolean")}) == {
        "a": "x",
        "b": True,
    }


@settings(deadline=None)
@given(
    st.sampled_from([*TYPES, "DECIMAL(7,2)", "DECIMAL(", "DECIMAL(1000000000,1000000000)"]),
    st.one_of(st.text(), st.integers(), st.floats(), st.booleans(), st.sampled_from([10**400, "1e999999"])),
)
def test_no_value_breaks_the_conversion(type_name: str, value: JsonScalar) -> None:
    # The last two mean that the value was accepted, but the JVM is missing or its parser rejects the type.
    with suppress(ParameterInvalid, AssertionError, PySparkException):
        spark_arguments((Parameter(value, type_name),))
