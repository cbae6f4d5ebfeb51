"""A whole result as one Arrow stream, read block by block. A lost block is asked for again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from uuid import UUID

import pyarrow as pa

from sluice_client.calls import Answer, Flow, Request
from sluice_client.errors import AnswerTooLarge, UnexpectedAnswer
from sluice_client.results.arrow_messages import ArrowMessages, NotPlain
from sluice_client.results.chunks import ARROW, check
from sluice_client.retries import Context, retried

_CONTENT_RANGE = re.compile(r"bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18})")
_SLACK_BYTES = 1 << 16


class WholeStream:
    """Reads one block after the other; each is one request, which may reach another gateway than the last.

    A block and the rest of the one before are in memory. `can_read` is False as soon as it turns out that the
    gateway, or a proxy, does not send parts of this result: then no row was read, and chunks have to be.
    """

    def __init__(self, query_id: UUID, context: Context) -> None:
        self._query_id = query_id
        self._context = context
        self._messages = ArrowMessages(context.bounds.max_chunk_bytes)
        self._offset = 0
        self._total: int | None = None
        self._tag = ""
        self._has_rows = False
        self.can_read = True

    @property
    def is_complete(self) -> bool:
        """Whether all blocks are read."""
        return self.can_read and self._total is not None and self._offset >= self._total

    def read(self) -> Flow[Sequence[pa.RecordBatch]]:
        """Returns the batches that are complete with the next block.

        Raises:
            ResultExpired: the gateway does not have the rows any more.
            UnexpectedAnswer: the answer is not the next part of an Arrow stream.
        """
        try:
            answer = yield from retried(self._request(), self._context)
            batches = list(self._messages.add(self._block(answer)))
        except AnswerTooLarge:
            if self._offset:
                raise
            self.can_read = False
            return ()
        except NotPlain:
            if self._has_rows:
                raise UnexpectedAnswer("the rows are not one plain Arrow stream") from None
            self.can_read = False
            return ()
        self._has_rows = self._has_rows or bool(batches)
        for batch in batches:
            _check(batch)
        if self.is_complete:
            self._messages.end()
        return batches

    def _request(self) -> Request:
        length = max(self._context.bounds.block_bytes, self._messages.missing)
        parts = {"Range": f"bytes={self._offset}-{self._offset + length - 1}"}
        return Request(
            method="GET",
            path=f"/query/{self._query_id}/result",
            parameters={"format": "ARROW_STREAM"},
            accept=ARROW,
            # A problem is an answer, too.
            max_bytes=length + _SLACK_BYTES,
            headers=parts | ({"If-Range": self._tag} if self._tag else {}),
        )

    def _block(self, answer: Answer) -> bytes:
        if answer.media_type != ARROW:
            raise UnexpectedAnswer(
                f"the result is {answer.media_type[:80]!r}, not an Arrow stream", status=answer.status
            )
        start, total = _place(answer)
        if start != self._offset or not answer.body or self._total not in (None, total):
            raise UnexpectedAnswer("the answer is not the next part of the result", status=answer.status)
        self._total, self._tag = total, answer.headers.get("etag", "")
        self._offset += len(answer.body)
        return answer.body


def _check(batch: pa.RecordBatch) -> None:
    try:
        check(batch)
    except pa.ArrowException as error:
        raise UnexpectedAnswer(f"the rows are not valid ({type(error).__name__})") from None


def _place(answer: Answer) -> tuple[int, int]:
    """Returns where the block begins, and the length of the whole stream."""
    if answer.status != 206:
        return 0, len(answer.body)
    found = _CONTENT_RANGE.fullmatch(answer.headers.get("content-range", ""))
    start, last, total = (0, -1, 0) if found is None else map(int, found.groups())
    if last - start + 1 != len(answer.body) or last >= total:
        raise UnexpectedAnswer("the answer does not say which part it is", status=answer.status)
    return start, total
