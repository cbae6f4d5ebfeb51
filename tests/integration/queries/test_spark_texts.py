"""Generated values of all types: the answer in every format equals Spark's own CAST to text.

Documented differences: timestamps have a `T`, an offset and six digits; intervals are ISO 8601; binary is
base64; floating-point values are numbers.
"""

from __future__ import annotations

import base64
import csv
import io
import itertools
import math
import struct
from ctypes import c_float
from dataclasses import dataclass
from typing import Any

import httpx
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as some

from api.http.rendering.json_values import json_values
from tests.integration.asking import JsonObject, ask
from tests.integration.running import RunningGateway
from tests.integration.spark_texts import KINDS, WHOLE_TEXTS

pytestmark = pytest.mark.integration

# Few queries with many values, as a query takes longer than its values.
GENERATED = settings(
    max_examples=4,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
ROWS_AT_ONCE = 100


def in_every_format(client: httpx.Client, answer: JsonObject) -> list[list[Any]]:
    """Returns the JSON rows, after asserting that CSV and Arrow have the same."""
    rows: list[list[Any]] = answer["result"]["rows"]
    path = f"/query/{answer['queryId']}/chunks/0"
    table = pa.ipc.open_stream(client.get(f"{path}?format=ARROW_STREAM").content).read_all()
    table.validate(full=True)
    columns = [list(itertools.chain(*map(json_values, column.chunks))) for column in table.columns]
    assert [list(row) for row in zip(*columns, strict=True)] == rows
    _, *lines = csv.reader(io.StringIO(client.get(f"{path}?format=CSV").text, newline=""))
    texts = [[value for value in row if isinstance(value, str)] for row in rows]
    same = [
        [field for field, value in zip(line, row, strict=True) if isinstance(value, str)]
        for line, row in zip(lines, rows, strict=True)
    ]
    assert same == texts
    return rows


def values_and_texts(
    client: httpx.Client, literals: list[str], sql_type: str, *, has_null: bool = True
) -> list[list[Any]]:
    """Returns each answered value with Spark's text of it, after checking NULL too."""
    values = [*literals, f"CAST(NULL AS {sql_type})"] if has_null else literals
    listed = ", ".join(f"({number}, {value})" for number, value in enumerate(values))
    sql = f"SELECT v, CAST(v AS STRING) FROM VALUES {listed} AS t(n, v) ORDER BY n"
    rows = in_every_format(client, ask(client, sql, rowLimit=30_000))
    if has_null:
        assert rows.pop() == [None, None]
    return rows


@pytest.mark.parametrize("name", KINDS)
@GENERATED
@given(data=some.data())
def test_a_value_is_answered_as_spark_writes_it(
    name: str, running: RunningGateway, data: some.DataObject
) -> None:
    kind = KINDS[name]
    drawn = data.draw(some.lists(kind.values, min_size=ROWS_AT_ONCE, max_size=ROWS_AT_ONCE))
    literals = [kind.literal(item) for item in drawn]
    for value, text in values_and_texts(running.client, literals, kind.sql_type, has_null=kind.has_null):
        assert kind.text(value) == text


@pytest.mark.parametrize(("sql_type", "code"), [("DOUBLE", ">d"), ("FLOAT", ">f")])
@GENERATED
@given(data=some.data())
def test_a_floating_number_is_the_one_that_spark_has(
    sql_type: str, code: str, running: RunningGateway, data: some.DataObject
) -> None:
    numbers = some.floats(width=64 if sql_type == "DOUBLE" else 32)
    drawn = data.draw(some.lists(numbers, min_size=ROWS_AT_ONCE, max_size=ROWS_AT_ONCE))
    literals = [f"CAST('{item!r}' AS {sql_type})".replace("inf'", "Infinity'") for item in drawn]
    found = values_and_texts(running.client, literals, sql_type)
    for number, (value, text) in zip(drawn, found, strict=True):
        if math.isfinite(number):
            assert isinstance(value, int | float)
            assert struct.pack(code, value) == struct.pack(code, number)
            assert sql_type == "DOUBLE" or c_float(float(text)).value == c_float(value).value
            assert sql_type == "FLOAT" or float(text) == value
        else:
            assert value == text


@GENERATED
@given(data=some.data())
def test_bytes_are_the_ones_that_spark_has(running: RunningGateway, data: some.DataObject) -> None:
    drawn = data.draw(some.lists(some.binary(max_size=40), min_size=ROWS_AT_ONCE, max_size=ROWS_AT_ONCE))
    listed = ", ".join(f"({number}, X'{value.hex()}')" for number, value in enumerate(drawn))
    sql = f"SELECT v, hex(v) FROM VALUES {listed} AS t(n, v) ORDER BY n"
    rows = in_every_format(running.client, ask(running.client, sql, rowLimit=30_000))
    assert rows == [[base64.b64encode(value).decode(), value.hex().upper()] for value in drawn]


@dataclass(frozen=True, slots=True)
class Nested:
    """A nested type of this kind (array, map or struct), with kinds by name or nested types as its parts."""

    kind: str
    parts: tuple[str | Nested, ...]


PARTS = [name for name, kind in KINDS.items() if kind.has_null]


def mostly(often: some.SearchStrategy[str], seldom: some.SearchStrategy[str]) -> some.SearchStrategy[str]:
    return some.integers(0, 5).flatmap(lambda number: seldom if number == 5 else often)


TYPES: some.SearchStrategy[str | Nested] = some.recursive(
    some.sampled_from(["void", *PARTS]),
    lambda below: some.one_of(
        below.map(lambda part: Nested("array", (part,))),
        some.tuples(some.sampled_from([part for part in PARTS if KINDS[part].is_key]), below).map(
            lambda parts: Nested("map", parts)
        ),
        some.lists(below, min_size=1, max_size=3).map(lambda parts: Nested("struct", tuple(parts))),
    ),
    max_leaves=5,
)


def sql_type(kind: str | Nested) -> str:
    if isinstance(kind, str):
        return "VOID" if kind == "void" else KINDS[kind].sql_type
    inside = [sql_type(part) for part in kind.parts]
    if kind.kind == "struct":
        return f"STRUCT<{', '.join(f'f{number}: {field_type}' for number, field_type in enumerate(inside))}>"
    return f"{kind.kind.upper()}<{', '.join(inside)}>"


def expressions(kind: str | Nested, *, is_optional: bool = True) -> some.SearchStrategy[str]:
    null = some.just("NULL" if kind == "void" else f"CAST(NULL AS {sql_type(kind)})")
    if kind == "void":
        return null
    filled = KINDS[kind].values.map(KINDS[kind].literal) if isinstance(kind, str) else _nested(kind)
    return mostly(filled, null) if is_optional else filled


def _nested(kind: Nested) -> some.SearchStrategy[str]:
    empty = some.just(f"CAST({kind.kind}() AS {sql_type(kind)})")
    match kind.kind:
        case "array":
            items = some.lists(expressions(kind.parts[0]), min_size=1, max_size=3)
            return mostly(items.map(lambda found: f"array({', '.join(found)})"), empty)
        case "map":
            # Spark rejects duplicate keys.
            keys = expressions(kind.parts[0], is_optional=False)
            entries = some.dictionaries(keys, expressions(kind.parts[1]), min_size=1, max_size=1)
            return mostly(
                entries.map(lambda found: f"map({', '.join(itertools.chain(*found.items()))})"), empty
            )
        case _:
            fields = some.tuples(*map(expressions, kind.parts))
            return fields.map(_struct)


def _struct(values: tuple[str, ...]) -> str:
    named = (f"'f{number}', {value}" for number, value in enumerate(values))
    return f"named_struct({', '.join(named)})"


def is_whole_text(kind: str | Nested) -> bool:
    """Returns whether the whole value is answered as Spark's text, as a part has no Arrow type."""
    return kind in WHOLE_TEXTS if isinstance(kind, str) else any(map(is_whole_text, kind.parts))


def reported(value: Any, kind: str | Nested) -> str:
    """Writes an answer's value as Spark does."""
    if value is None:
        return "null"
    if isinstance(kind, str):
        return KINDS[kind].text(value)
    match kind.kind:
        case "array":
            return f"[{', '.join(reported(item, kind.parts[0]) for item in value)}]"
        case "map":
            pairs = (
                value.items()
                if isinstance(value, dict)
                else [(entry["key"], entry["value"]) for entry in value]
            )
            texts = (
                f"{reported(key, kind.parts[0])} -> {reported(item, kind.parts[1])}" for key, item in pairs
            )
            return f"{{{', '.join(texts)}}}"
        case _:
            return (
                f"{{{', '.join(reported(*pair) for pair in zip(value.values(), kind.parts, strict=True))}}}"
            )


@pytest.mark.parametrize("row_limit", [10, 30_000])
@settings(GENERATED, max_examples=8)
@given(data=some.data())
def test_nested_values_are_answered_as_spark_writes_them(
    row_limit: int, running: RunningGateway, data: some.DataObject
) -> None:
    kinds = data.draw(some.lists(TYPES, min_size=12, max_size=12))
    drawn = [data.draw(expressions(kind)) for kind in kinds]
    selected = (
        f"{expression} AS v{at}, CAST({expression} AS STRING) AS t{at}" for at, expression in enumerate(drawn)
    )
    sql = f"SELECT {', '.join(selected)} FROM range(1)"
    answer = ask(running.client, sql, rowLimit=row_limit)
    [row] = in_every_format(running.client, answer)
    for kind, value, text in zip(kinds, row[::2], row[1::2], strict=True):
        is_text = value is None or (isinstance(kind, Nested) and is_whole_text(kind))
        assert text == (value if is_text else reported(value, kind))
