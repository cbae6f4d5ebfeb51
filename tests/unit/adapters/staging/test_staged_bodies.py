"""A body is staged where executors find it while they read it, and is removed afterwards."""

from __future__ import annotations

import io
import pickle
from pathlib import Path

import pytest

from service.adapters.staging.staged_bodies import StagedBodies
from service.errors.unavailable import StorageDown
from service.model.ingest.ingest_request import StreamedRecords
from service.model.ingest.record_formats import RecordFormat
from service.ports.engine.executors import StagedBody
from tests.contract.data_files.storages import DiskStorage

LARGE = b"0123456789abcdef" * 2**17


def body_of(data: bytes) -> StreamedRecords:
    return StreamedRecords(lambda: io.BytesIO(data), RecordFormat.NDJSON)


def read(staged: StagedBody) -> bytes:
    """Reads as an executor does, first from the middle."""
    there: StagedBody = pickle.loads(pickle.dumps(staged))
    with there.open() as opened:
        opened.seek(7)
        later = opened.read(9)
        opened.seek(0)
        found = opened.read()
    assert found[7:16] == later
    return found


@pytest.mark.parametrize("sees_disk", [True, False])
@pytest.mark.parametrize("data", [LARGE[:100], LARGE], ids=["small", "large"])
def test_executors_find_the_body_as_it_was_sent(tmp_path: Path, data: bytes, sees_disk: bool) -> None:
    with StagedBodies(sees_disk).staged(body_of(data), DiskStorage(tmp_path).table) as staged:
        assert read(staged) == data
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_what_lies_on_the_disk_that_they_see_is_not_copied(tmp_path: Path) -> None:
    (tmp_path / "spool").write_bytes(LARGE)
    body = StreamedRecords(lambda: (tmp_path / "spool").open("rb"), RecordFormat.NDJSON)
    with StagedBodies(sees_disk=True).staged(body, DiskStorage(tmp_path).table) as staged:
        assert read(staged) == LARGE
        assert [path.name for path in tmp_path.rglob("*")] == ["spool"]
    assert (tmp_path / "spool").read_bytes() == LARGE


def test_a_storage_that_fails_is_not_taken_for_a_body_that_is_damaged(tmp_path: Path) -> None:
    with StagedBodies(sees_disk=False).staged(body_of(LARGE), DiskStorage(tmp_path).table) as staged:
        with staged.open() as opened:
            assert opened.seek(2 * len(LARGE)) == 2 * len(LARGE)
            assert opened.read(1) == b""
            [file] = [path for path in tmp_path.rglob("*") if path.is_file()]
            file.write_bytes(b"")
            opened.seek(0)
            assert opened.read(1) == b""
        file.unlink()
        with pytest.raises(StorageDown, match="does not return the body"):
            staged.open()


def test_nothing_is_left_of_it_when_reading_it_fails(tmp_path: Path) -> None:
    def failing() -> None:
        with StagedBodies(sees_disk=False).staged(body_of(LARGE), DiskStorage(tmp_path).table):
            assert [path for path in tmp_path.rglob("*") if path.is_file()]
            raise LookupError

    with pytest.raises(LookupError):
        failing()
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_storage_that_has_no_place_for_it_is_reported(tmp_path: Path) -> None:
    storage = DiskStorage(tmp_path)
    storage.take_down()
    with (
        pytest.raises(StorageDown, match=r"lake\.s\.t"),
        StagedBodies(sees_disk=False).staged(body_of(LARGE), storage.table),
    ):
        pass
