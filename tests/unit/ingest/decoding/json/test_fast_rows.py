"""Arrow's fast path reads the same rows as the path that reads records one by one."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from service.ingest.decoding.json.fast_columns import fast_column
from service.ingest.decoding.json.json_lines import json_lines
from service.ingest.decoding.json.ndjson import is_plain, ndjson_rows
from service.ingest.decoding.streams.plan import ReadPlan, ReadTarget
from service.ingest.decoding.streams.read_bounds import DEFAULT_BOUNDS
from service.ingest.decoding.streams.rows import FIRST, BadRow, Rows
from service.ingest.decoding.values.record_rows import RecordRows
from service.ingest.decoding.values.sent_types import MIDNIGHTS
from service.model.ingest.ingest_request import Route
from service.model.tables.schemas import Field, Primitive

TYPES = (
    "boolean",
    "int",
    "long",
    "float",
    "double",
    "decimal(7, 2)",
    "decimal(9, 0)",
    "decimal(15, 15)",
    "decimal(18, 2)",
    "decimal(38, 0)",
    "decimal(38, 10)",
    "string",
    "date",
    "time",
    "timestamp",
    "timestamptz",
    "uuid",
    "binary",
    "fixed[2]",
    MIDNIGHTS,
)
Outcome = tuple[dict[int, list[str]], dict[int, tuple[str, bytes, int | None, int | None]]]


def outcome(rows: Iterable[Rows]) -> Outcome:
    """Returns rows by target, in order and compared bit by bit, and bad rows by line."""
    good: dict[int, list[str]] = {}
    bad: dict[int, tuple[str, bytes, int | None, int | None]] = {}
    for row in rows:
        if isinstance(row, BadRow):
            bad[row.position.number] = (row.reason, row.payload, row.target, row.position.column)
        else:
            row.rows.validate(full=True)
            good.setdefault(row.target, []).extend(map(exactly, row.rows.to_pylist()))
    return good, bad


def exactly(row: dict[str, object]) -> str:
    # This distinguishes -0.0 from 0.0, and NaN equals NaN.
    return repr(row)


def one_by_one(block: bytes, plan: ReadPlan) -> Outcome:
    return outcome(json_lines(enumerate(block.split(b"\n"), 1), RecordRows(plan)))


def at_once(block: bytes, plan: ReadPlan, block_bytes: int | None = None) -> Outcome:
    return outcome(ndjson_rows(BytesIO(block), plan, FIRST, DEFAULT_BOUNDS, block_bytes))


def fields(*types: str, required: bool = False) -> tuple[Field, ...]:
    return tuple(Field(index, f"c{index}", Primitive(name), required) for index, name in enumerate(types))


digits = some.integers(min_value=-(10**40), max_value=10**40).map(str)
KNOWN = (Path(__file__).parents[1] / "fixtures" / "json_values.txt").read_text("utf-8").splitlines()
LITERALS = some.sampled_from(KNOWN)
NUMBERS = some.one_of(
    digits,
    some.floats(allow_nan=False).map(repr),
    some.floats(width=32, allow_nan=False, allow_infinity=False).map(repr),
    some.decimals(allow_nan=False, allow_infinity=False, places=3).map(str),
)
TEXTS = some.one_of(
    some.text().map(json.dumps),
    some.text().map(lambda text: json.dumps(text, ensure_ascii=False)),
    some.decimals(allow_nan=False, allow_infinity=False).map(lambda number: f'"{number}"'),
    some.dates().map(lambda day: f'"{day}"'),
    some.datetimes().map(lambda moment: f'"{moment.isoformat()}"'),
    some.datetimes().map(lambda moment: f'"{moment.isoformat()}Z"'),
    some.times().map(lambda time: f'"{time}"'),
    some.uuids().map(lambda uuid: f'"{uuid}"'),
)
VALUES = some.one_of(LITERALS, LITERALS, NUMBERS, TEXTS)


@pytest.mark.parametrize("name", TYPES)
def test_known_values_of_every_type_are_those_that_come_one_by_one(name: str) -> None:
    plan = ReadPlan((ReadTarget(fields(name)),))
    for value in KNOWN:
        block = f'{{"c0":{value}}}\n{{"c0":null}}\n'.encode()
        assert at_once(block, plan) == one_by_one(block, plan), value


@pytest.mark.parametrize("name", TYPES)
@settings(max_examples=60, deadline=None)
@given(data=some.data())
def test_values_of_every_type_are_those_that_come_one_by_one(name: str, data: some.DataObject) -> None:
    values = data.draw(some.lists(VALUES, min_size=1, max_size=4))
    required = data.draw(some.booleans())
    plan = ReadPlan((ReadTarget(fields(name, required=required)),))
    block = "".join(f'{{"c0":{value}}}\n' for value in values).encode("utf-8", "surrogatepass")
    assert at_once(block, plan) == one_by_one(block, plan)


LINES = some.one_of(
    some.sampled_from(
        [
            b'{"c0":1,"c1":"a","kind":"x"}',
            b'{"kind":"y","c0":2}',
            b'{"kind":"x","c0":3,"c0":4}',
            b'{"kind":"x","kind":"y","c0":5}',
            b'{"kind":null,"c0":6}',
            b'{"kind":7,"c0":6}',
            b'{"kind":7.0,"c0":6}',
            b'{"kind":true,"c0":6}',
            b'{"kind":["x"],"c0":6}',
            b'{"k\\u0069nd":"x","c0":7}',
            b'{"c0":8}',
            b'{"kind":"x","c0":8,"extra":1}',
            b'{"kind":"x"}',
            b'{"kind":"x","c0":null}',
            b"{}",
            b"",
            b" ",
            b"[]",
            b"1",
            b'{"kind":"x","c0":',
            b"9}",
            b'{"kind":"x","c1":[{}',
            b"{}]}",
            b'{"kind":"x","c0":1}{"kind":"x","c0":2}',
            b'{"kind":"x","c0":1} {"kind":"x","c0":2}',
            b'{"kind":"x","c0":1}\r',
            b' {"kind":"x","c0":1}',
            b'\t{"kind":"x","c0":1} ',
            b'{"kind":"x","c0":1}\0',
            b'{"kind":"x","c1":"\xff"}',
            b'{"kind":"\xed\xa0\x80","c0":1}',
            b'\xef\xbb\xbf{"kind":"x","c0":1}',
            b'{"kind":"x","c0":1}\x0b',
            b'{"kind":"x","c1":"a\tb"}',
            b'{"kind":"x","c1":"\\ud800"}',
            b'{"\\ud800":"x"}',
            '{"kind":"ü","c1":"🙂"}'.encode(),
            b"{" * 20_000,
            b'{"c1":' + b"[" * 2000 + b"]" * 2000 + b"}",
        ]
    ),
    some.binary(max_size=20).map(lambda raw: raw.replace(b"\n", b"")),
    some.dictionaries(
        some.sampled_from(["c0", "c1", "kind", "other"]),
        some.one_of(some.integers(), some.text(), some.none(), some.floats(allow_nan=False)),
    ).map(lambda record: json.dumps(record).encode()),
)
OTHERWISE = some.sampled_from([None, 1])


@settings(max_examples=300, deadline=None)
@given(some.lists(LINES, max_size=8), OTHERWISE, some.booleans(), some.integers(1, 200), some.booleans())
def test_lines_of_any_kind_go_where_those_go_that_are_read_one_by_one(
    lines: list[bytes], otherwise: int | None, has_route: bool, block_bytes: int, has_kind: bool
) -> None:
    target = ReadTarget(fields("long", "string"))
    kind = Field(9, "kind", Primitive("string"))
    other = ReadTarget((*fields("double", "string"), *([kind] if has_kind else [])))
    route = Route("kind", {"x": 0, "y": 1, "7": 0, "true": 1, "ü": 0}, otherwise)
    plan = ReadPlan((target, other), route) if has_route else ReadPlan((target,))
    block = b"\n".join(lines)
    # A byte order mark at the start is not part of the first line.
    expected = one_by_one(block.removeprefix(b"\xef\xbb\xbf"), plan)
    if block.startswith(b"\xef\xbb\xbf"):
        block_bytes = max(block_bytes, 3)
    assert at_once(block, plan, block_bytes) == expected


@pytest.mark.parametrize("name", TYPES)
def test_every_scalar_type_has_a_fast_way(name: str) -> None:
    assert fast_column(Field(1, "a", Primitive(name))) is not None


def test_usual_records_take_the_fast_way() -> None:
    record = {
        "c0": True,
        "c1": 1,
        "c2": -(2**63),
        "c3": 0.1,
        "c4": math.pi,
        "c5": "12345.67",
        "c6": "123456789",
        "c7": None,
        "c8": "12345.67",
        "c9": "7",
        "c10": "1.5",
        "c11": "naïve",
        "c12": "2026-01-31",
        "c13": "13:45:00",
        "c14": "2026-01-31T13:45:00.123",
        "c15": "2026-01-31T13:45:00Z",
        "c16": "00000000-0000-0000-0000-000000000007",
        "c17": "AAE=",
        "c18": "AAE=",
        "c19": "2026-01-31",
    }
    block = (json.dumps(record, ensure_ascii=False) + "\n").encode() * 3
    assert is_plain(block, 3)
    found = list(ndjson_rows(BytesIO(block), ReadPlan((ReadTarget(fields(*TYPES)),)), FIRST, DEFAULT_BOUNDS))
    assert [type(routed).__name__ for routed in found] == ["TargetRows"]
    assert outcome(found) == one_by_one(block, ReadPlan((ReadTarget(fields(*TYPES)),)))
