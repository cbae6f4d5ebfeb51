"""Tests a task's report of files that it cannot read, or that disappear while it reads them."""

from __future__ import annotations

import gzip
import io
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import pytest

from service.adapters.staging.task_spools import TaskSpools
from service.errors.gateway_error import CallerError
from service.errors.ingest_errors import TooManyIngests
from service.errors.source_errors import SourceChanged
from service.ingest.dead_letters.dead_letters import DeferredDeadLetters
from service.ingest.decoding.streams.plan import ReadPlan, ReadTarget
from service.ingest.decoding.streams.read_bounds import ReadBounds
from service.ingest.distributed.split_reader import SplitsOfSource
from service.ingest.distributed.split_task import SplitTask
from service.model.ingest.record_formats import RecordFormat
from service.model.ingest.sources import SourceFile, SourceRecords, SourceSplit
from tests.fakes.data_files import FakeDataFiles
from tests.unit.ingest.wide_table import ID

TASK = SplitTask((), FakeDataFiles(), DeferredDeadLetters(), reports_unreadable=True)
URI = "file:///in/a.json"


class Opened:
    """Returns the given contents one by one, once each; errors are raised."""

    def __init__(self, *given: bytes | CallerError) -> None:
        self._given = list(given)

    @contextmanager
    def __call__(self, split: SourceSplit) -> Iterator[BinaryIO]:  # noqa: ARG002
        found = self._given.pop(0)
        if isinstance(found, CallerError):
            raise found
        yield io.BytesIO(found)


def reader(*given: bytes | CallerError, bounds: ReadBounds) -> SplitsOfSource:
    source = SourceRecords("file:///in", RecordFormat.NDJSON)
    return SplitsOfSource(ReadPlan((ReadTarget((ID,)),)), source, Opened(*given), bounds, TaskSpools())


@pytest.mark.parametrize("failure", [SourceChanged(f"{URI} was changed."), TooManyIngests("full")])
def test_a_file_that_goes_before_it_is_found_out_which_are_unreadable_is_refused(
    failure: CallerError,
) -> None:
    too_long = b'{"id": 1, "note": "%s"}' % (b"x" * 100)
    read = reader(too_long, failure, bounds=ReadBounds(line_bytes=50))
    outcome = TASK.read(read, [SourceSplit(SourceFile(URI, 1, 1))])
    # A raised error would fail the whole job, and count as a fault of the executors.
    assert (outcome.failure, outcome.unreadable) == (failure, ())
    assert isinstance(pickle.loads(pickle.dumps(outcome)).failure, type(failure))


@pytest.mark.parametrize(
    ("name", "content", "setting"),
    [
        ("a.json", b'{"id": %s1}' % (b" " * 100), "SLUICE_INGEST_MAX_LINE_BYTES"),
        ("a.json.gz", gzip.compress(b'{"id": 1}\n' * 10, mtime=0), "SLUICE_INGEST_SOURCE_MAX_BYTES"),
    ],
)
def test_a_file_that_is_more_than_the_operator_allows_is_reported_with_the_setting(
    name: str, content: bytes, setting: str
) -> None:
    read = reader(content, content, bounds=ReadBounds(body_bytes=50, line_bytes=50))
    outcome = TASK.read(read, [SourceSplit(SourceFile(f"file:///in/{name}", 1, 1))])
    [reported] = outcome.unreadable
    assert setting in reported.reason
