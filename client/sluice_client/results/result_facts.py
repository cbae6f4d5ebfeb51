"""The facts of a result before its rows are read, and the checks of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import pyarrow as pa

from sluice_client.errors import ResultTruncated, UnexpectedAnswer
from sluice_client.query.query_answer import Column, Manifest, Pruning, QueryStatus
from sluice_client.query.query_request import QueryRequest
from sluice_client.query.queue_place import Reused


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultFacts:
    """The shape of a result, and how the query ran."""

    query_id: UUID
    request_id: UUID | None
    manifest: Manifest
    pruning: Pruning | None
    queued_ms: int
    elapsed_ms: int
    was_sent_before: bool
    reused: Reused | None
    is_cut_by_surprise: bool

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns, with their SQL types."""
        return self.manifest.columns

    def check_whole(self) -> None:
        """Checks that the rows are all that the query has, or as many as the caller asked for.

        Raises:
            ResultTruncated: the gateway cut them at a bound of its own.
        """
        if self.is_cut_by_surprise:
            raise ResultTruncated(
                f"the gateway cut the result after {self.manifest.row_count} rows. Pass row_limit= or"
                " byte_limit= for more rows, or allow_truncated=True to read these"
            )


def result_facts(
    status: QueryStatus, asked: QueryRequest | None, *, allow_truncated: bool, request_id: UUID | None = None
) -> ResultFacts:
    """Returns the facts of a query that has succeeded."""
    manifest = status.manifest
    assert manifest is not None, "it has succeeded"
    return ResultFacts(
        query_id=status.query_id,
        request_id=asked.request_id if asked is not None else request_id,
        manifest=manifest,
        pruning=status.pruning,
        queued_ms=status.queued_ms,
        elapsed_ms=status.elapsed_ms,
        was_sent_before=status.was_sent_before,
        reused=status.reused,
        is_cut_by_surprise=manifest.is_truncated
        and not allow_truncated
        and not _is_as_asked(manifest, asked),
    )


def _is_as_asked(manifest: Manifest, asked: QueryRequest | None) -> bool:
    if asked is None:
        return False
    return isinstance(asked.byte_limit, int) or manifest.row_count == asked.row_limit


class WholeRows:
    """Checks that the chunks together are the result that the manifest describes."""

    def __init__(self, manifest: Manifest) -> None:
        self._manifest = manifest
        self._schema: pa.Schema | None = None
        self._row_count = 0

    def take(self, chunk: pa.Table) -> pa.Table:
        """Returns the chunk.

        Raises:
            UnexpectedAnswer: it does not fit the manifest, or the chunks before it.
        """
        schema = chunk.schema
        if self._schema is None and len(schema) != len(self._manifest.columns):
            raise UnexpectedAnswer(
                f"the rows have {len(schema)} columns, not the {len(self._manifest.columns)} of the result"
            )
        if self._schema is not None and not schema.equals(self._schema):
            raise UnexpectedAnswer("two chunks of the result have different columns")
        self._schema = schema
        self._row_count += chunk.num_rows
        if self._row_count > self._manifest.row_count:
            raise self._wrong_count()
        return chunk

    def end(self) -> None:
        """Checks that no row is missing.

        Raises:
            UnexpectedAnswer: rows are missing.
        """
        if self._row_count != self._manifest.row_count:
            raise self._wrong_count()

    def _wrong_count(self) -> UnexpectedAnswer:
        return UnexpectedAnswer(
            f"the chunks have {self._row_count} rows, not the {self._manifest.row_count} of the result"
        )


def joined(chunks: Sequence[pa.Table], columns: Sequence[Column]) -> pa.Table:
    """Returns the chunks as one table. Without any chunk, no type is known."""
    if chunks:
        return pa.concat_tables(chunks)
    schema = pa.schema([(column.name, pa.null()) for column in columns])
    return pa.Table.from_arrays([pa.nulls(0) for _ in columns], schema=schema)
