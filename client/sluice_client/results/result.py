"""The rows of a query, read part by part when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pyarrow as pa

from sluice_client.drivers.sync_driver import SyncDriver
from sluice_client.errors import SluiceError
from sluice_client.explaining.explanation import Explanation
from sluice_client.explaining.run_explain import explain_query
from sluice_client.progress.steps import Progress, reading
from sluice_client.query.query_answer import Column, Pruning
from sluice_client.query.queue_place import Reused
from sluice_client.results.chunks import get_chunk
from sluice_client.results.frames import PandasTypes, to_pandas, to_polars
from sluice_client.results.html_table import MAX_ROWS, html_table
from sluice_client.results.python_values import rows_of
from sluice_client.results.result_facts import ResultFacts, WholeRows, joined
from sluice_client.results.whole_stream import WholeStream
from sluice_client.retries import Context

if TYPE_CHECKING:
    import pandas
    import polars


class Result:
    """The result of a query that has succeeded. Nothing is read before it is asked for.

    Iterating, `batches()` and `reader()` have about two parts of `Bounds.block_bytes` in memory at a time.
    Each call reads the rows again, for as long as the gateway keeps them. A result that the gateway cut at a
    bound of its own raises `ResultTruncated` when its rows are read, unless the caller allowed it.
    """

    def __init__(
        self, facts: ResultFacts, driver: SyncDriver, context: Context, progress: Callable[[], Progress]
    ) -> None:
        self._facts = facts
        self._driver = driver
        self._context = context
        self._progress = progress

    @property
    def facts(self) -> ResultFacts:
        """All that is known without reading rows."""
        return self._facts

    @property
    def query_id(self) -> UUID:
        """The id of the query."""
        return self._facts.query_id

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns, with their SQL types."""
        return self._facts.columns

    @property
    def row_count(self) -> int:
        """The number of rows."""
        return self._facts.manifest.row_count

    @property
    def is_truncated(self) -> bool:
        """Whether rows were left out."""
        return self._facts.manifest.is_truncated

    @property
    def reused(self) -> Reused | None:
        """The earlier query whose result this is; None if this one ran itself."""
        return self._facts.reused

    @property
    def pruning(self) -> Pruning | None:
        """How much the scans read, of how much."""
        return self._facts.pruning

    def __len__(self) -> int:
        return self.row_count

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        for batch in self.batches():
            yield from rows_of(batch)

    def __repr__(self) -> str:
        names = ", ".join(column.name for column in self.columns[:8])
        cut = ", cut at a limit" if self.is_truncated else ""
        return f"<Result {self.query_id}: {self.row_count} rows of {names}{cut}>"

    def _repr_html_(self) -> str:
        # A notebook shows the text of an error, and no table, if this raises one.
        try:
            return html_table(self._facts, self._first_rows())
        except SluiceError as error:
            return html_table(self._facts, (), f"The rows cannot be shown: {error}")

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Lets other libraries read the rows: `polars.from_arrow(result)`, `duckdb.from_arrow(result)`."""
        stream: object = self.reader().__arrow_c_stream__(requested_schema)
        return stream

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yields the rows in Arrow, a part of them in memory at a time.

        Raises:
            ResultTruncated: the gateway cut the result.
            ResultExpired: the gateway does not have the rows any more.
        """
        for chunk in self._chunks():
            yield from chunk.to_batches()

    def reader(self) -> pa.RecordBatchReader:
        """Returns a reader in Arrow, which has a part of the rows in memory at a time."""
        chunks = self._chunks()
        first = next(chunks, None)
        first = joined([], self.columns) if first is None else first
        return pa.RecordBatchReader.from_batches(first.schema, _batches(first, chunks))

    def arrow(self) -> pa.Table:
        """Returns all rows as one table of Arrow."""
        progress = self._progress()
        chunks: list[pa.Table] = []
        try:
            for chunk in self._chunks():
                chunks.append(chunk)
                progress.show(reading(len(chunks), self._facts.manifest))
        finally:
            progress.close()
        return joined(chunks, self.columns)

    def rows(self) -> list[tuple[Any, ...]]:
        """Returns all rows as tuples of Python values."""
        return list(self)

    def pandas(self, types: PandasTypes = "arrow") -> pandas.DataFrame:
        """Returns all rows as a data frame of pandas.

        Args:
            types: `arrow` keeps the type of every column; `numpy` converts to numpy's types where it can.
        """
        return to_pandas(self.arrow(), types)

    def polars(self) -> polars.DataFrame:
        """Returns all rows as a data frame of polars."""
        return to_polars(self.arrow())

    def explain(self) -> Explanation:
        """Returns what the query did, and why. In a notebook, it is a picture."""
        return self._driver.run(explain_query(self.query_id, self._context))

    def _first_rows(self) -> list[tuple[Any, ...]]:
        if not self._facts.manifest.chunk_count:
            return []
        first = self._driver.run(get_chunk(self.query_id, 0, self._context))
        return [row for batch in first.slice(0, MAX_ROWS).to_batches() for row in rows_of(batch)]

    def _chunks(self) -> Iterator[pa.Table]:
        self._facts.check_whole()
        whole = WholeRows(self._facts.manifest)
        stream = WholeStream(self.query_id, self._context)
        if self._facts.manifest.chunk_count > 1:
            while stream.can_read and not stream.is_complete:
                for batch in self._driver.run(stream.read()):
                    yield whole.take(pa.Table.from_batches([batch]))
        if not stream.is_complete:
            for index in range(self._facts.manifest.chunk_count):
                yield whole.take(self._driver.run(get_chunk(self.query_id, index, self._context)))
        whole.end()


def _batches(first: pa.Table, others: Iterator[pa.Table]) -> Iterator[pa.RecordBatch]:
    yield from first.to_batches()
    for chunk in others:
        yield from chunk.to_batches()
