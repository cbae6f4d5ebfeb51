"""CSV as defined by RFC 4180; anything else is rejected."""

from __future__ import annotations

import csv
import io
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as some

from service.errors.ingest_errors import IngestInvalid
from service.ingest.decoding.csv.csv_records import NoCsv, csv_records
from service.ingest.decoding.csv.csv_rows import csv_names, csv_rows
from service.ingest.decoding.streams.plan import ReadPlan, ReadTarget
from service.ingest.decoding.streams.read_bounds import DEFAULT_BOUNDS
from service.ingest.decoding.streams.rows import FIRST, BadRow, Position
from service.model.ingest.ingest_request import Route
from service.model.tables.schemas import Field, ListOf, Primitive


def records(body: bytes) -> list[tuple[int, list[str | None]]]:
    return [(record.number, record.values()) for record in csv_records(io.BytesIO(body), 1024)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"a,b\n1,2\n", [(1, ["a", "b"]), (2, ["1", "2"])]),
        (b"a,b\r\n1,2\r\n", [(1, ["a", "b"]), (2, ["1", "2"])]),
        (b"\xef\xbb\xbfa\n1", [(1, ["a"]), (2, ["1"])]),
        (b'a\n"x\r\ny"\nz', [(1, ["a"]), (2, ["x\r\ny"]), (4, ["z"])]),
        (b'"a""b",,""\n', [(1, ['a"b', None, ""])]),
        (b"a b, c ", [(1, ["a b", " c "])]),
        ("ü,🙂".encode(), [(1, ["ü", "🙂"])]),
        (b"", []),
    ],
)
def test_records_may_go_over_lines_and_are_reported_by_their_first(
    body: bytes, expected: list[tuple[int, list[str | None]]]
) -> None:
    assert records(body) == expected


@pytest.mark.parametrize("raw", [b'5" wide', b'a,"b"c', b"\xff", b'a"b"'])
def test_what_is_no_record_is_reported(raw: bytes) -> None:
    [record] = csv_records(io.BytesIO(raw), 1024)
    with pytest.raises(NoCsv):
        record.values()


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (b'"open', 1),
        (b'a\n1\n"x\ny\n2\n', 3),
        (b'a,b\n"x\ny","z""\n1,2', 3),
        (b'a,b\n"x\n""y"",\n1,2', 2),
        (b'a\n"x"\n"', 3),
    ],
)
def test_what_breaks_off_within_quotes_is_reported_by_the_line_on_which_they_open(
    body: bytes, line: int
) -> None:
    with pytest.raises(IngestInvalid, match=f"opens on line {line} is never closed"):
        list(csv_records(io.BytesIO(body), 1024))
    with pytest.raises(IngestInvalid, match=f"opens on line {line + 7} is never closed"):
        list(csv_records(io.BytesIO(body), 1024, 7))


def test_a_stray_quote_spoils_its_own_line_alone() -> None:
    numbers = [record.number for record in csv_records(io.BytesIO(b'a,b\n5" pipe,1\nx,2\n'), 1024)]
    assert numbers == [1, 2, 3]


@given(
    some.lists(some.lists(some.text(alphabet='ab,"\n\r 🙂'), min_size=2, max_size=3), min_size=1, max_size=5)
)
def test_what_others_write_comes_back(rows: list[list[str]]) -> None:
    sink = io.StringIO(newline="")
    csv.writer(sink, quoting=csv.QUOTE_ALL).writerows(rows)
    assert [row for _, row in records(sink.getvalue().encode())] == rows


COLUMNS = (
    Field(1, "id", Primitive("long"), is_required=True),
    Field(2, "name", Primitive("string")),
    Field(3, "price", Primitive("decimal(7, 2)")),
    Field(4, "is_new", Primitive("boolean")),
    Field(5, "share", Primitive("double")),
    Field(6, "tags", ListOf(Field(7, "element", Primitive("string")))),
)
PLAN = ReadPlan((ReadTarget(COLUMNS),))


def read(body: str, plan: ReadPlan = PLAN) -> tuple[list[dict[str, object]], list[BadRow]]:
    found = list(csv_rows(io.BytesIO(body.encode()), plan, FIRST, DEFAULT_BOUNDS))
    rows = [row for routed in found if not isinstance(routed, BadRow) for row in routed.rows.to_pylist()]
    return rows, [bad_row for bad_row in found if isinstance(bad_row, BadRow)]


def test_values_are_read_as_their_columns_want() -> None:
    rows, bad = read(
        'share,id,name,price,is_new,tags\n0.5,1,007,12.50,true,"[""a"",null]"\n,2,"",,,\n3,3,,,,'
    )
    assert bad == []
    empty: dict[str, object] = {"name": None, "price": None, "is_new": None, "share": None, "tags": None}
    first = {
        "id": 1,
        "name": "007",
        "price": Decimal("12.50"),
        "is_new": True,
        "share": 0.5,
        "tags": ["a", None],
    }
    assert rows == [first, empty | {"id": 2, "name": ""}, empty | {"id": 3, "share": 3.0}]


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("id", "x"),
        ("id", "1.0"),
        ("id", "+1"),
        ("id", " 1"),
        ("id", "01"),
        ("id", "9223372036854775808"),
        ("id", '""'),
        ("price", "1.234"),
        ("price", "nan"),
        ("is_new", "1"),
        ("is_new", "True"),
        ("share", "inf"),
        ("share", "1e999"),
        ("share", "0x1"),
        ("tags", "[1"),
        ("tags", "[1]"),
    ],
)
def test_values_that_do_not_fit_are_reported_with_their_line_and_a_body_of_their_own(
    header: str, value: str
) -> None:
    body = f"id,name\n1,a\n{value},b" if header == "id" else f"id,{header}\n1,\n2,{value}"
    rows, [bad] = read(body)
    assert [row["id"] for row in rows] == [1]
    assert bad.position == Position(3)
    assert bad.reason.startswith(f"{header}: ")
    lines = body.split("\n")
    assert bad.payload.decode() == f"{lines[0]}\n{lines[2]}"


def test_records_of_another_length_are_bad_and_empty_lines_are_none() -> None:
    rows, bad = read("id,name\n1\n\n2,a,b\n3,c\n")
    assert ([row["id"] for row in rows], [bad_row.position.number for bad_row in bad]) == ([3], [2, 4])
    # With one column, an empty line is a record like any other.
    rows, bad = read("name\na\n\n", ReadPlan((ReadTarget(COLUMNS[1:2]),)))
    assert rows == [{"name": "a"}, {"name": None}]


@pytest.mark.parametrize(
    "body", ["", "\n", "id,id\n1,2", "id,\n1,2", 'id,"\n', "id,nothing\n1,2", 'i"d,name\n', "\n1,2"]
)
def test_a_header_has_to_name_columns(body: str) -> None:
    with pytest.raises(IngestInvalid):
        read(body)


def test_columns_that_a_record_leaves_empty_need_not_be_its_targets() -> None:
    plan = ReadPlan((ReadTarget(COLUMNS[:1]), ReadTarget(COLUMNS[:2])), Route("kind", {"a": 0, "b": 1}))
    rows, bad = read("kind,id,name\na,1,\nb,2,x\na,3,y", plan)
    assert rows == [{"id": 1}, {"id": 2, "name": "x"}]
    assert [(bad_row.position.number, bad_row.reason, bad_row.target) for bad_row in bad] == [
        (4, "there is no field name", 0)
    ]
    body = io.BytesIO(b"kind,id,name\na,1,\nb,2,x")
    known = [{"id", "name"}, {"id", "name"}]
    assert csv_names(body, plan.route, known, DEFAULT_BOUNDS) == [{"id"}, {"id", "name"}]
