"""Lines of upserts and deletes that are read at once give the rows that single records give."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from service.ingest.decoding.json.changing_lines import ChangingLines
from service.ingest.decoding.json.json_lines import json_lines
from service.ingest.decoding.streams.plan import ReadPlan, ReadTarget
from service.ingest.decoding.streams.rows import BadRow
from service.ingest.decoding.values.record_rows import RecordRows
from service.model.ingest.record_deletes import DeleteWhen, RecordDeletes
from service.model.tables.schemas import Field, Primitive

FIELDS = (
    Field(1, "id", Primitive("long"), is_required=True),
    Field(2, "name", Primitive("string"), is_required=True),
    Field(3, "price", Primitive("double")),
)
WHEN = DeleteWhen("op", frozenset({"D", "gone"}))
TARGET = ReadTarget(FIELDS, deletes=RecordDeletes(("id",), WHEN))


def slowly(lines: list[bytes]) -> list[Any] | None:
    """Returns the rows of single records; None if one of them does not fit."""
    rows: list[Any] = []
    for part in json_lines(enumerate(lines), RecordRows(ReadPlan((TARGET,)))):
        if isinstance(part, BadRow):
            return None
        rows += part.rows.to_pylist()
    return rows


def at_once(lines: list[bytes]) -> list[Any] | None:
    rows = ChangingLines(TARGET, WHEN).read(b"\n".join(lines), len(lines))
    return None if rows is None else rows.to_pylist()


def spelled(*records: dict[str, Any]) -> list[bytes]:
    return [json.dumps(record).encode() for record in records]


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_rows_and_deletes_keep_their_order(share: float) -> None:
    chance = random.Random(7)
    records = [
        {"id": chance.randrange(9), "op": "D", "name": None, "other": [number]}
        if chance.random() < share
        else {"id": chance.randrange(9), "name": f"n{number}", "op": chance.choice(["U", None, "d"])}
        for number in range(500)
    ]
    found = at_once(spelled(*records))
    assert found is not None
    assert found == slowly(spelled(*records))


@pytest.mark.parametrize(
    "records",
    [
        [{"id": 1, "name": "a", "op": 7}],
        [{"id": 1, "name": "a", "op": ["D"]}],
        [{"id": "x", "op": "D"}, {"id": 1, "name": "a"}],
        [{"name": "a", "op": "gone"}],
        [{"id": 1, "name": "a"}, {"id": 1, "op": "U"}],
        [{"id": 1, "name": "a", "extra": 1}],
    ],
)
def test_what_is_uncertain_is_left_to_single_records(records: list[dict[str, Any]]) -> None:
    assert at_once(spelled(*records)) is None


def test_a_reader_that_gave_up_reads_the_next_lines_afresh() -> None:
    reader = ChangingLines(TARGET, WHEN)
    assert reader.read(b'{"id": 1, "op": "D"}\n{"id": "x", "op": "D"}', 2) is None
    rows = reader.read(b'{"id": 2, "op": "D"}', 1)
    assert rows is not None
    assert [row["id"] for row in rows.to_pylist()] == [2]


def test_a_field_named_twice_is_left_to_single_records() -> None:
    for line in (b'{"id": 1, "op": "U", "op": "D"}', b'{"id": 1, "name": "a", "op": "D", "op": "U"}'):
        assert at_once([line]) is None
        assert slowly([line]) is None
