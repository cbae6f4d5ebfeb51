"""The async twin of `Result`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pyarrow as pa

from sluice_client.drivers.async_driver import AsyncDriver
from sluice_client.explaining.explanation import Explanation
from sluice_client.explaining.run_explain import explain_query
from sluice_client.progress.steps import Progress, reading
from sluice_client.query.query_answer import Column, Pruning
from sluice_client.query.queue_place import Reused
from sluice_client.results.chunks import get_chunk
from sluice_client.results.frames import PandasTypes, to_pandas, to_polars
from sluice_client.results.html_table import html_table
from sluice_client.results.python_values import rows_of
from sluice_client.results.result_facts import ResultFacts, WholeRows, joined
from sluice_client.results.whole_stream import WholeStream
from sluice_client.retries import Context

if TYPE_CHECKING:
    import pandas
    import polars


class AsyncResult:
    """The result of a query that has succeeded: see `Result`. Reading is awaited."""

    def __init__(
        self, facts: ResultFacts, driver: AsyncDriver, context: Context, progress: Callable[[], Progress]
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

    async def __aiter__(self) -> AsyncIterator[tuple[Any, ...]]:
        async for batch in self.batches():
            for row in rows_of(batch):
                yield row

    def __repr__(self) -> str:
        names = ", ".join(column.name for column in self.columns[:8])
        cut = ", cut at a limit" if self.is_truncated else ""
        return f"<AsyncResult {self.query_id}: {self.row_count} rows of {names}{cut}>"

    def _repr_html_(self) -> str:
        return html_table(self._facts, (), "Rows are read with await, such as await result.polars()")

    async def batches(self) -> AsyncIterator[pa.RecordBatch]:
        """Yields the rows in Arrow, a part of them in memory at a time.

        Raises:
            ResultTruncated: the gateway cut the result.
            ResultExpired: the gateway does not have the rows any more.
        """
        async for chunk in self._chunks():
            for batch in chunk.to_batches():
                yield batch

    async def arrow(self) -> pa.Table:
        """Returns all rows as one table of Arrow."""
        progress = self._progress()
        chunks: list[pa.Table] = []
        try:
            async for chunk in self._chunks():
                chunks.append(chunk)
                progress.show(reading(len(chunks), self._facts.manifest))
        finally:
            progress.close()
        return joined(chunks, self.columns)

    async def rows(self) -> list[tuple[Any, ...]]:
        """Returns all rows as tuples of Python values."""
        return [row async for row in self]

    async def pandas(self, types: PandasTypes = "arrow") -> pandas.DataFrame:
        """Returns all rows as a data frame of pandas: see `Result.pandas`."""
        return to_pandas(await self.arrow(), types)

    async def polars(self) -> polars.DataFrame:
        """Returns all rows as a data frame of polars."""
        return to_polars(await self.arrow())

    async def explain(self) -> Explanation:
        """Returns what the query did, and why. In a notebook, it is a picture."""
        return await self._driver.run(explain_query(self.query_id, self._context))

    async def _chunks(self) -> AsyncIterator[pa.Table]:
        self._facts.check_whole()
        whole = WholeRows(self._facts.manifest)
        stream = WholeStream(self.query_id, self._context)
        if self._facts.manifest.chunk_count > 1:
            while stream.can_read and not stream.is_complete:
                for batch in await self._driver.run(stream.read()):
                    yield whole.take(pa.Table.from_batches([batch]))
        if not stream.is_complete:
            for index in range(self._facts.manifest.chunk_count):
                yield whole.take(await self._driver.run(get_chunk(self.query_id, index, self._context)))
        whole.end()
