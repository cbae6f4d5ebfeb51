"""Decides whether executors write a request."""

from __future__ import annotations

from io import SEEK_END

from service.ingest.distributed.large_parts import LargeInputs
from service.ingest.distributed.split_body import is_splittable
from service.model.ingest.ingest_request import IngestRequest, StreamedRecords


def is_executed(request: IngestRequest, large: LargeInputs) -> bool:
    """Returns whether executors write this request."""
    if request.executed is not None:
        return True
    match request.shared:
        case StreamedRecords() as body:
            return is_splittable(body) and _byte_count(body) >= large.bounds.body_bytes
        case _:
            return False


def _byte_count(body: StreamedRecords) -> int:
    """Returns how many bytes were sent."""
    with body.open() as stream:
        return stream.seek(0, SEEK_END)
