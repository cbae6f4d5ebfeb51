"""One chunk of a result as values of JSON, or as lines of CSV. Neither needs Arrow."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from sluice_client.calls import Answer, Flow, Request
from sluice_client.errors import UnexpectedAnswer
from sluice_client.json_fields import fields_of
from sluice_client.retries import Context, retried


def get_json_rows(width: int, query_id: UUID, index: int, context: Context) -> Flow[list[list[Any]]]:
    """Returns the rows of one chunk, as lists of `width` values in the order of the columns.

    Raises:
        ResultExpired: the gateway does not have the rows any more.
        UnexpectedAnswer: the answer has other columns, or is damaged.
    """
    answer = yield from _chunk(query_id, index, "JSON", "application/json", context)
    rows = fields_of(answer).raw().get("rows")
    if not isinstance(rows, list) or not all(isinstance(row, list) and len(row) == width for row in rows):
        raise UnexpectedAnswer(f"chunk {index} does not have rows of {width} values", status=answer.status)
    return rows


def get_csv_lines(query_id: UUID, index: int, context: Context) -> Flow[bytes]:
    """Returns the lines of one chunk. The first chunk begins with the names of the columns.

    Raises:
        ResultExpired: the gateway does not have the rows any more.
        UnexpectedAnswer: the answer is not CSV.
    """
    answer = yield from _chunk(query_id, index, "CSV", "text/csv", context)
    if answer.media_type != "text/csv":
        raise UnexpectedAnswer(f"chunk {index} is {answer.media_type[:80]!r}, not CSV", status=answer.status)
    return answer.body


def _chunk(query_id: UUID, index: int, name: str, media_type: str, context: Context) -> Flow[Answer]:
    request = Request(
        method="GET",
        path=f"/query/{query_id}/chunks/{index}",
        parameters={"format": name},
        accept=media_type,
        max_bytes=context.bounds.max_chunk_bytes,
    )
    return (yield from retried(request, context))
