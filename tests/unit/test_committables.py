"""Write results as bytes: every version stays readable, and invalid bytes never give a wrong result."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.committables import write_results_from_bytes, write_results_to_bytes
from service.errors.ingest_errors import CommittableUnreadable, CommittableVersionUnknown
from service.model.ingest.writing import TableKey, WriteResult, WriteTarget
from service.model.tables.tables import TableName

GOLDEN = Path(__file__).parent / "golden"
KEY = TableKey(TableName("lake", "game.eu", "logs"), "audit")
TABLE_UUID = UUID("5f3d5d2e-1f0b-4a0e-9b7a-0123456789ab")
PROJECTED = WriteResult(
    WriteTarget(KEY, 3, 1, False, (), (7, 2, 5), TABLE_UUID),
    ('{"file-path":"s3://ü/1"}', "{}"),
    (),
    20,
    2_000,
)
WHOLE = WriteResult(WriteTarget(KEY, 3, 1, True, (2,)), ('{"file-path":"s3://ü/2"}',), ("{ }",), 5, 500)
SORTED = WriteResult(
    WriteTarget(KEY, 3, 1, False, (), (7, 2, 5), TABLE_UUID, sort_order_id=4),
    PROJECTED.data_files,
    (),
    20,
    2_000,
)
GONE = WriteResult(WriteTarget(KEY, 3, 1, True, (2,), (2,)), (), ('{"file-path":"s3://ü/3"}',), 0, 0, 7)
ORDERED = replace(GONE, target=replace(GONE.target, order_field_id=6))
VERSION_1 = (
    WriteResult(WriteTarget(KEY, 3, 1), PROJECTED.data_files, (), 20, 2_000),
    WHOLE,
)

integers = st.integers(-(2**31), 2**63)
ids = st.lists(integers, max_size=5).map(tuple)
texts = st.lists(st.text(max_size=30), max_size=4).map(tuple)
names = st.builds(TableName, st.text(), st.text(), st.text())
targets = st.builds(
    WriteTarget,
    st.builds(TableKey, names, st.text()),
    integers,
    integers,
    st.booleans(),
    ids,
    st.none() | ids,
    st.none() | st.uuids(),
    st.none() | integers,
    st.none() | integers,
)
write_results = st.builds(WriteResult, targets, texts, texts, integers, integers, integers)


@given(st.lists(write_results, max_size=4).map(tuple))
def test_results_come_back_as_they_were(results: tuple[WriteResult, ...]) -> None:
    assert write_results_from_bytes(write_results_to_bytes(results)) == results


def test_version_2_is_written_as_it_always_was() -> None:
    assert write_results_to_bytes([PROJECTED, WHOLE]) == (GOLDEN / "write_results_v2.bin").read_bytes()


def test_version_2_is_read() -> None:
    assert write_results_from_bytes((GOLDEN / "write_results_v2.bin").read_bytes()) == (PROJECTED, WHOLE)


def test_version_4_is_written_where_keys_are_only_deleted() -> None:
    data = (GOLDEN / "write_results_v4.bin").read_bytes()
    assert write_results_to_bytes([GONE, SORTED]) == data
    assert write_results_from_bytes(data) == (GONE, SORTED)


def test_deletes_without_rows_are_of_version_4_whatever_they_count() -> None:
    # Files of several results were merged, and the first one has the whole count.
    data = write_results_to_bytes([replace(GONE, delete_count=0)])
    assert data[4:8] == (4).to_bytes(4)


def test_version_5_is_written_where_records_have_an_order() -> None:
    data = (GOLDEN / "write_results_v5.bin").read_bytes()
    assert write_results_to_bytes([ORDERED, SORTED]) == data
    assert write_results_from_bytes(data) == (ORDERED, SORTED)


def test_version_3_is_written_where_a_target_has_a_sort_order() -> None:
    data = (GOLDEN / "write_results_v3.bin").read_bytes()
    assert write_results_to_bytes([SORTED, WHOLE]) == data
    assert write_results_from_bytes(data) == (SORTED, WHOLE)


def test_version_1_is_read_as_written_whole() -> None:
    assert write_results_from_bytes((GOLDEN / "write_results_v1.bin").read_bytes()) == VERSION_1


def test_the_order_of_columns_is_preserved() -> None:
    [result] = write_results_from_bytes(write_results_to_bytes([PROJECTED]))
    assert result.target.write_schema_column_ids == (7, 2, 5)


def test_no_columns_are_something_else_than_all_columns() -> None:
    none = WriteResult(WriteTarget(KEY, 0, 0, write_schema_column_ids=()), (), (), 0, 0)
    [result] = write_results_from_bytes(write_results_to_bytes([none]))
    assert result.target.write_schema_column_ids == ()


def test_texts_of_more_than_65535_bytes_fit() -> None:
    file = json.dumps({"file-path": "x" * 200_000})
    wide = WriteResult(
        WriteTarget(KEY, 0, 0, write_schema_column_ids=tuple(range(100_000))), (file,), (), 1, 1
    )
    assert write_results_from_bytes(write_results_to_bytes([wide])) == (wide,)


@pytest.mark.parametrize("version", [0, 6, 2**32 - 1])
def test_an_unknown_version_is_an_error_of_its_own(version: int) -> None:
    data = b"SLWR" + version.to_bytes(4) + b"whatever that version has"
    with pytest.raises(CommittableVersionUnknown, match=f"version {version};"):
        write_results_from_bytes(data)


@pytest.mark.parametrize("name", ["write_results_v1.bin", "write_results_v2.bin", "write_results_v3.bin"])
def test_whatever_is_cut_off_is_noticed(name: str) -> None:
    data = (GOLDEN / name).read_bytes()
    for length in range(len(data)):
        with pytest.raises(CommittableUnreadable):
            write_results_from_bytes(data[:length])


def test_whatever_is_added_is_noticed() -> None:
    with pytest.raises(CommittableUnreadable, match="something follows"):
        write_results_from_bytes(write_results_to_bytes([WHOLE]) + b"\0")


@given(st.binary())
def test_rubbish_is_unreadable(data: bytes) -> None:
    with pytest.raises(CommittableUnreadable):
        write_results_from_bytes(data)


@given(st.binary(), st.sampled_from([1, 2, 3]))
def test_rubbish_behind_a_right_beginning_is_unreadable_or_nothing(data: bytes, version: int) -> None:
    try:
        results = write_results_from_bytes(b"SLWR" + version.to_bytes(4) + data)
    except CommittableUnreadable:
        return
    assert (results, data) == ((), bytes(4))


def test_a_count_of_billions_takes_no_memory() -> None:
    with pytest.raises(CommittableUnreadable, match="4294967295 announced"):
        write_results_from_bytes(b"SLWR" + (2).to_bytes(4) + b"\xff\xff\xff\xff")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("table", ["lake", "logs"]),
        ("table", "lake.game.logs"),
        ("branch", None),
        ("schema-id", "3"),
        ("spec-id", True),
        ("is-upsert", 1),
        ("equality-field-ids", [1.5]),
        ("write-schema-column-ids", {"1": 2}),
        ("table-uuid", "no uuid"),
        ("record-count", None),
    ],
)
def test_a_head_with_a_wrong_field_is_unreadable(field: str, value: object) -> None:
    with pytest.raises(CommittableUnreadable):
        write_results_from_bytes(with_head({field: value}))


def test_a_head_that_is_no_object_is_unreadable() -> None:
    data = b"SLWR" + (2).to_bytes(4) + (1).to_bytes(4) + (2).to_bytes(4) + b"[]" + bytes(8)
    with pytest.raises(CommittableUnreadable, match="an object is missing"):
        write_results_from_bytes(data)


def test_version_2_without_the_column_ids_is_unreadable() -> None:
    with pytest.raises(CommittableUnreadable, match="write-schema-column-ids is missing"):
        write_results_from_bytes(with_head({}, without="write-schema-column-ids"))


def with_head(changed: dict[str, object], without: str = "") -> bytes:
    """Returns `WHOLE` as bytes with a changed head."""
    data = write_results_to_bytes([WHOLE])
    length = int.from_bytes(data[12:16])
    head = json.loads(data[16 : 16 + length]) | changed
    head.pop(without, None)
    text = json.dumps(head).encode()
    return data[:12] + len(text).to_bytes(4) + text + data[16 + length :]
