"""Tests that no result is whole in memory: chunks are read when the rows before them are written."""

from __future__ import annotations

import io
from uuid import UUID

import pyarrow as pa
import pytest

from service.query.lookup.query_results import ResultChunk
from sluice_client.cli.command_session import open_session
from sluice_client.cli.connection_options import ConnectionOptions
from sluice_client.cli.formats.row_format import Format
from sluice_client.cli.output import Output
from sluice_client.cli.source import Source
from sluice_client.cli.work.run_statement import Manner, run_statement
from tests.client.gateways import DuckQueries, Served

CHUNKS, CHUNK_ROWS = 40, 50
SQL = f"SELECT range AS n FROM range({CHUNKS * CHUNK_ROWS})"


class CountedQueries(DuckQueries):
    """Counts the chunks that were read."""

    def __init__(self) -> None:
        super().__init__()
        self.chunk_rows = CHUNK_ROWS
        self.chunks_read = 0

    def chunk(self, query_id: UUID, index: int, caller: str) -> ResultChunk:
        self.chunks_read += 1
        return super().chunk(query_id, index, caller)


class Ledger(io.BytesIO):
    """Notes for each write how many chunks had been read, and does not keep the bytes."""

    def __init__(self, queries: CountedQueries) -> None:
        super().__init__()
        self._queries = queries
        self.sizes: list[int] = []
        self.chunks_before: list[int] = []

    def write(self, data: object) -> int:
        size = memoryview(data).nbytes  # type: ignore[arg-type]  # bytes, or what Arrow writes
        self.sizes.append(size)
        self.chunks_before.append(self._queries.chunks_read)
        return size


@pytest.fixture
def queries(gateway: Served) -> CountedQueries:
    counted = CountedQueries()
    gateway.gateway.queries = counted
    return counted


def options(url: str) -> ConnectionOptions:
    nothing = dict.fromkeys(("profile", "token_file", "ca_file", "certificate", "key"))
    return ConnectionOptions(url=url, is_json_errors=False, **nothing)


@pytest.mark.parametrize("asked", list(Format), ids=[known.value for known in Format])
def test_a_chunk_is_written_before_the_next_one_is_read(
    gateway: Served, queries: CountedQueries, asked: Format
) -> None:
    ledger = Ledger(queries)
    with open_session(options(gateway.url)) as session:
        manner = Manner(format=asked, max_rows=0, is_quiet=True, is_cut_allowed=True)
        run_statement(session, Source(SQL), manner, Output(ledger, is_screen=False))
    assert queries.chunks_read == CHUNKS
    # Something of each chunk is written while the next one is not read.
    assert set(ledger.chunks_before) >= set(range(1, CHUNKS))
    # The footer of Parquet, which describes each chunk, is one write.
    assert sorted(ledger.sizes)[-2] < sum(ledger.sizes) / 4
    queries.close()


@pytest.mark.parametrize("asked", [Format.TABLE, Format.VERTICAL, Format.MARKDOWN])
def test_people_get_as_many_rows_as_they_read_and_the_others_are_not_fetched(
    gateway: Served, queries: CountedQueries, asked: Format
) -> None:
    written = io.BytesIO()
    with open_session(options(gateway.url)) as session:
        manner = Manner(format=asked, max_rows=60, is_quiet=True)
        run_statement(session, Source(SQL), manner, Output(written, is_screen=False))
    assert queries.chunks_read == 2
    assert "(60 of 2,000 rows are shown: --max-rows 0 shows all)" in written.getvalue().decode()
    queries.close()


def test_a_table_is_laid_out_page_by_page(gateway: Served, queries: CountedQueries) -> None:
    queries.chunk_rows = 5000
    queries.answers["SELECT wide"] = pa.table({"name": ["a"] * 1000 + ["a longer one"] * 10})
    written = io.BytesIO()
    with open_session(options(gateway.url)) as session:
        manner = Manner(format=Format.TABLE, max_rows=0, is_quiet=True)
        run_statement(session, Source("SELECT wide"), manner, Output(written, is_screen=False))
    lines = written.getvalue().decode().splitlines()
    assert lines[:3] == ["name", "────", "a"]
    assert lines[1002:1006] == ["", "name", "────────────", "a longer one"]
    queries.close()
