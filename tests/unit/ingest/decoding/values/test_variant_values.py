"""The encoder of variants, whose bytes PySpark's decoder reads."""

from __future__ import annotations

import json
from decimal import Decimal, localcontext
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.variant_utils import VariantUtils

from service.ingest.decoding.values.exact_json import exact_json
from service.ingest.decoding.values.nested_values import struct_values
from service.ingest.decoding.values.record_rests import values_with_rest
from service.ingest.decoding.values.variant_values import MAX_VARIANT_BYTES, variant_value
from service.model.ingest.record_rest import MAX_REST_DEPTH, RecordRest
from service.model.tables.schemas import VARIANT, Field, Primitive

FIELDS = (Field(1, "id", Primitive("long")), Field(2, "more", Primitive(VARIANT)))
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.text(st.characters(codec="utf-8"), max_size=80)
    | st.integers(-(10**38) + 1, 10**38 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.decimals(-1000, 1000, places=30),
    lambda inside: st.lists(inside) | st.dictionaries(st.text(st.characters(codec="utf-8")), inside),
)


def decoded(value: object) -> Any:
    columns = variant_value(value, MAX_REST_DEPTH)
    # The decoder computes decimals, and would round them.
    with localcontext(prec=50):
        return VariantUtils.to_python(columns["value"], columns["metadata"])


@given(VALUES)
def test_values_are_read_as_they_were(value: object) -> None:
    assert decoded(value) == _exactly(value)


def _exactly(value: object) -> object:
    """Returns the value with floats as decimals, as Spark has them where they have no exponent."""
    match value:
        case list():
            return [_exactly(item) for item in value]
        case dict():
            return {name: _exactly(item) for name, item in value.items()}
        case float():
            return value if "e" in repr(value) else Decimal(repr(value))
        case _:
            return value


@pytest.mark.parametrize("count", [0, 1, 31, 255, 256, 70_000])
def test_objects_and_arrays_may_have_any_size(count: int) -> None:
    named = {f"k{number}": number for number in range(count)}
    assert decoded(named) == named
    assert decoded(list(named)) == list(named)


@pytest.mark.parametrize(
    "text",
    [
        "0",
        "-0.05",
        "1.50",
        "1000.0",
        "127",
        "128",
        "-32769",
        "2147483648",
        "9223372036854775808",
        "0.10000000000000000001",
        "123456789.123456789",
        "1e3",
        '"a"',
        '{"b":1,"a":{"b":null}}',
    ],
)
def test_values_and_sizes_are_those_of_pyspark_which_may_keep_zeros(text: str) -> None:
    columns = variant_value(exact_json(text), MAX_REST_DEPTH)
    value, metadata = VariantUtils.parse_json(text)
    found = VariantUtils.to_python(columns["value"], columns["metadata"])
    assert found == VariantUtils.to_python(value, metadata)
    assert len(columns["value"]) <= len(value)


@pytest.mark.parametrize(
    "text",
    [
        "9" * 39,
        "9" * 4000,
        "1e400",
        "1e-400",
        "0." + "1" * 39,
        "1." + "1" * 5000,
    ],
    ids=["integer", "long", "huge", "tiny", "fraction", "digits"],
)
def test_numbers_that_would_be_rounded_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="has a number of more than 38 digits"):
        variant_value(exact_json(text), MAX_REST_DEPTH)


@pytest.mark.parametrize("text", ["9" * 38, "0." + "1" * 38, "0.12345678901234567890" + "0" * 40])
def test_numbers_of_38_digits_are_exact(text: str) -> None:
    assert decoded(exact_json(text)) == Decimal(text)


def test_names_and_values_have_a_bound_each() -> None:
    with pytest.raises(ValueError, match="a variant at most"):
        variant_value("x" * MAX_VARIANT_BYTES, 1)
    with pytest.raises(ValueError, match="a variant at most"):
        variant_value({"x" * MAX_VARIANT_BYTES: 1}, 1)


def test_the_deepest_value_is_taken_and_a_deeper_one_is_not() -> None:
    deepest: object = []
    for depth in range(1, MAX_REST_DEPTH):
        deepest = [deepest] if depth % 2 else {"x": deepest}
    # PySpark's decoder does not read as deep. An array takes four bytes or more, and an object six.
    assert len(variant_value(deepest, MAX_REST_DEPTH)["value"]) > 4 * MAX_REST_DEPTH
    with pytest.raises(ValueError, match="nested deeper than 500"):
        variant_value([deepest], MAX_REST_DEPTH)


def test_the_rest_of_a_record_is_a_variant_in_a_column_of_that_type() -> None:
    convert = values_with_rest(FIELDS, RecordRest("more"), struct_values)
    assert convert({"id": 1}) == {"id": 1, "more": None}
    row = convert({"id": 1, "x": {"y": [1]}})
    assert isinstance(row, dict)
    assert json.loads(VariantUtils.to_json(row["more"]["value"], row["more"]["metadata"])) == {
        "x": {"y": [1]}
    }


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"x": 10**38}, "more: the rest of the record has a number of more than 38 digits"),
        ({"x": "\ud800"}, "more: the rest of the record has a text that is not Unicode"),
        ({"\ud800": 1}, "more: the rest of the record has a text that is not Unicode"),
        ({"x": "y" * 100}, "more: the rest of the record has 115 bytes, and at most 100 are taken"),
        ({"more": {}}, "more takes the rest of the record"),
    ],
    ids=["digits", "text", "name", "size", "itself"],
)
def test_a_rest_that_no_variant_holds_does_not_fit(record: dict[str, object], reason: str) -> None:
    convert = values_with_rest(FIELDS, RecordRest("more", 100), struct_values)
    with pytest.raises(ValueError, match=reason):
        convert({"id": 1} | record)


def test_a_column_of_variants_takes_the_rest_alone() -> None:
    convert = struct_values(FIELDS)
    assert convert({"id": 1, "more": None}) == {"id": 1, "more": None}
    with pytest.raises(ValueError, match="takes the rest of records alone"):
        convert({"id": 1, "more": {"x": 1}})
