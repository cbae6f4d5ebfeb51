"""A stream's progress, read from Spark's report on its query."""

from __future__ import annotations

import json
from typing import Any

import pytest

from service.model.ingest.stream_standing import StreamProgress
from spark_session.streaming.stream_progress import stream_progress

IDLE = {"message": "Waiting for data to arrive", "isDataAvailable": False, "isTriggerActive": False}


def progress(*sources: dict[str, Any]) -> str:
    return json.dumps({"batchId": 3, "sources": sources})


@pytest.mark.parametrize(
    "change",
    [
        {"isDataAvailable": True},
        {"isTriggerActive": True},
        # The source has never answered.
        {"message": "Initializing sources"},
    ],
)
def test_a_stream_has_nothing_to_do_only_when_its_source_said_so(change: dict[str, Any]) -> None:
    assert stream_progress(IDLE, None) == StreamProgress(has_nothing_to_do=True)
    assert stream_progress(IDLE | change, None) == StreamProgress(has_nothing_to_do=False)


def test_what_kafka_has_and_nobody_read_is_summed_over_partitions() -> None:
    source = {
        "endOffset": {"clicks": {"0": 90, "1": 100}},
        "latestOffset": {"clicks": {"0": 100, "1": 100, "2": 5}},
    }
    assert stream_progress(IDLE, progress(source)).messages_behind == 15


def test_a_folder_does_not_tell_how_much_is_left() -> None:
    source = {"endOffset": {"logOffset": 4}, "latestOffset": None}
    assert stream_progress(IDLE, progress(source)).messages_behind is None
