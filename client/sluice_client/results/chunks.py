"""One chunk of a result, as Arrow."""

from __future__ import annotations

from uuid import UUID

import pyarrow as pa

from sluice_client.calls import Flow, Request
from sluice_client.errors import UnexpectedAnswer
from sluice_client.retries import Context, retried

ARROW = "application/vnd.apache.arrow.stream"


def get_chunk(query_id: UUID, index: int, context: Context) -> Flow[pa.Table]:
    """Returns the rows of one chunk. It is the same on every read, so a lost answer is read again.

    Raises:
        ResultExpired: the gateway does not have the rows any more.
        UnexpectedAnswer: the answer is not an Arrow stream.
    """
    request = Request(
        method="GET",
        path=f"/query/{query_id}/chunks/{index}",
        parameters={"format": "ARROW_STREAM"},
        accept=ARROW,
        max_bytes=context.bounds.max_chunk_bytes,
    )
    answer = yield from retried(request, context)
    if answer.media_type != ARROW:
        raise UnexpectedAnswer(
            f"chunk {index} is {answer.media_type[:80]!r}, not an Arrow stream", status=answer.status
        )
    return decoded(answer.body, index)


def decoded(data: bytes, index: int) -> pa.Table:
    """Reads an Arrow stream, and checks that no value points outside of it.

    Raises:
        UnexpectedAnswer: it is damaged.
    """
    try:
        with pa.ipc.open_stream(pa.py_buffer(data)) as reader:
            rows = reader.read_all()
        check(rows)
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        kind = type(error).__name__
        raise UnexpectedAnswer(f"chunk {index} is not a valid Arrow stream ({kind})") from None
    return rows


def check(rows: pa.Table | pa.RecordBatch) -> None:
    """Checks that no value points outside of the rows.

    Raises:
        ArrowInvalid: one does.
    """
    for column in rows.columns:
        try:
            column.validate(full=True)
        except pa.ArrowInvalid as error:
            # Spark does not promise that a STRING is UTF-8.
            if "UTF8" not in str(error):
                raise
            column.validate()
