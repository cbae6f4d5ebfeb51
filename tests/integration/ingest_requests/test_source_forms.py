"""Files of every format and compression, read by executors, into files with a write schema's columns."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
import zstandard
from pyiceberg.table import Table

from tests.integration.log_tables import lines, named
from tests.integration.readers import assert_read_alike, data_files, path_of

pytestmark = pytest.mark.integration

COLUMNS = ["amount", "id", "note"]
FILES, ROWS_OF_A_FILE = 4, 250
NOTES = ['a,"b"\r\nc', "🙂 ü", "", "plain", None]


def records(number: int) -> pa.Table:
    """Returns the records of one file, none of which is in another file."""
    ids = range(number * ROWS_OF_A_FILE, (number + 1) * ROWS_OF_A_FILE)
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "note": pa.array([NOTES[id_ % len(NOTES)] for id_ in ids]),
            "amount": pa.array([None if id_ % 7 == 0 else id_ * 10**14 - 2**62 for id_ in ids], pa.int64()),
        }
    )


def as_ndjson(table: pa.Table) -> bytes:
    return lines(table.to_pylist())


def as_csv(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pacsv.write_csv(table, sink)
    return sink.getvalue()


def as_parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, row_group_size=100)
    return sink.getvalue()


def as_arrow(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=100)
    return sink.getvalue()


FORMS: Mapping[str, Callable[[pa.Table], bytes]] = {
    "ndjson": as_ndjson,
    "csv": as_csv,
    "parquet": as_parquet,
    "arrow": as_arrow,
}
PACKED: Mapping[str, tuple[str, Callable[[bytes], bytes]]] = {
    "none": ("", bytes),
    "gzip": (".gz", gzip.compress),
    "zstd": (".zst", zstandard.compress),
}


def put_files(inbox: Path, form: str, packed: str) -> None:
    ending, pack = PACKED[packed]
    for number in range(FILES):
        (inbox / f"part-{number}.{form}{ending}").write_bytes(pack(FORMS[form](records(number))))


def send(
    gateway: httpx.Client, table: Table, uri: str, form: str, packed: str, **body: Any
) -> httpx.Response:
    source = {"uri": uri, "format": form}
    if form in ("parquet", "arrow"):
        # File names tell the compression only of text formats.
        source["compression"] = packed
    sent = {"table": named(table), "source": source, "writeSchema": COLUMNS} | body
    return gateway.post("/ingest", json=sent, timeout=120)


def check_that_nothing_is_there(table: Table) -> None:
    assert table.refresh().current_snapshot() is None
    assert not list(Path(table.location().removeprefix("file://")).rglob("*.parquet"))


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("form", FORMS)
def test_files_of_every_form_are_the_rows_that_are_in_them(
    gateway: httpx.Client, log_table: Table, inbox: Path, form: str, packed: str
) -> None:
    put_files(inbox, form, packed)
    # The glob matches neither of these files.
    (inbox / f"other-0.{form}").write_bytes(b"rubbish")
    (inbox / f".part-9.{form}").write_bytes(b"rubbish")
    answer = send(gateway, log_table, f"{inbox.as_uri()}/part-[0-9].{form}*", form, packed)
    assert answer.status_code == 200, answer.text
    [commit] = answer.json()["commits"]
    assert commit["addedRecords"] == FILES * ROWS_OF_A_FILE
    assert [target["writeSchemaColumnIds"] for target in commit["writeTargets"]] == [[4, 1, 3]]
    expected = [{"kind": None, **row} for number in range(FILES) for row in records(number).to_pylist()]
    assert_read_alike(gateway, log_table, expected)
    assert len(log_table.refresh().snapshots()) == 1
    assert {tuple(pq.read_schema(path_of(file)).names) for file in data_files(log_table)} == {tuple(COLUMNS)}


@pytest.mark.parametrize("form", FORMS)
def test_the_columns_that_files_have_may_be_inferred(
    gateway: httpx.Client, log_table: Table, inbox: Path, form: str
) -> None:
    put_files(inbox, form, "gzip")
    uri = f"{inbox.as_uri()}/part-[0-9].{form}*"
    answer = send(gateway, log_table, uri, form, "gzip", writeSchema="infer")
    assert answer.status_code == 200, answer.text
    [commit] = answer.json()["commits"]
    # No file has a `kind`; the other columns are in the table's order.
    assert [target["writeSchemaColumnIds"] for target in commit["writeTargets"]] == [[1, 3, 4]]
    expected = [{"kind": None, **row} for number in range(FILES) for row in records(number).to_pylist()]
    assert_read_alike(gateway, log_table, expected)


@pytest.mark.parametrize("on_error", ["REJECT_REQUEST", "DEAD_LETTER"])
@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("form", FORMS)
def test_one_file_that_breaks_off_leaves_nothing_of_the_others(
    gateway: httpx.Client, log_table: Table, inbox: Path, form: str, packed: str, on_error: str
) -> None:
    put_files(inbox, form, packed)
    [broken] = inbox.glob(f"part-2.{form}*")
    whole = broken.read_bytes()
    middle = len(whole) // 2
    # A text that is cut between two records, or within a number, is still valid.
    is_text = form in ("ndjson", "csv") and packed == "none"
    broken.write_bytes(whole[: whole.index(b'"', middle) + 1 if is_text else middle])
    answer = send(gateway, log_table, f"{inbox.as_uri()}/*", form, packed, onError=on_error)
    # A JSON record ends with its line, but a CSV quote may continue on the next line.
    if is_text and form == "ndjson" and on_error == "DEAD_LETTER":
        assert answer.status_code == 200, answer.text
        assert answer.json()["rejected"]["count"] == 1
        assert answer.json()["commits"][0]["addedRecords"] > (FILES - 1) * ROWS_OF_A_FILE
        return
    assert answer.status_code == 422, answer.text
    assert answer.json()["code"] in ("RECORDS_INVALID", "INGEST_INVALID", "SOURCE_INVALID")
    assert broken.name in answer.text
    check_that_nothing_is_there(log_table)


@pytest.mark.parametrize("form", FORMS)
def test_a_file_of_another_form_among_many_is_reported_by_its_name(
    gateway: httpx.Client, log_table: Table, inbox: Path, form: str
) -> None:
    put_files(inbox, form, "none")
    other = next(
        candidate for candidate in FORMS if candidate != form and {candidate, form} != {"ndjson", "csv"}
    )
    (inbox / f"part-2.{form}").write_bytes(FORMS[other](records(2)))
    answer = send(gateway, log_table, f"{inbox.as_uri()}/*.{form}", form, "none")
    assert answer.status_code == 422, answer.text
    assert f"part-2.{form}" in answer.text
    check_that_nothing_is_there(log_table)
