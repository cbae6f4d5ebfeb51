"""Results as Parquet files that are read in parts: written once, by whichever request needs one first."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

import pyarrow as pa

from api.http.gateway_access import GatewayAccess
from api.http.problems.http_errors import NotAcceptable
from api.http.rendering.download_formats import DownloadFormat, FormatUnfit, writer_of
from service.ports.stores.result_files import StoredFile

WRITER = 1
"""Raise it with each change of the writer that changes its bytes."""
NAME = f"parquet-{WRITER}-{pa.__version__}"
"""Other versions may write other bytes of the same rows, and a reader must not get parts of both."""


async def parquet_file(access: GatewayAccess, query_id: UUID, caller: str) -> StoredFile | None:
    """Returns the file, which is written first if it is not there; None if this gateway keeps none.

    Raises:
        NotAcceptable: Parquet has no type for a column.
        GatewayBusy: it is not written in time. It is there later.
        GatewayError: as `QueryResults.formatted`.
    """
    results = access.gateway.queries.results
    try:
        return await access.write_file(
            (query_id, NAME), lambda: results.formatted(query_id, caller, NAME, written), caller
        )
    except FormatUnfit as unfit:
        raise unfit_for(unfit) from unfit


def written(chunks: Iterator[pa.Table]) -> Iterator[bytes]:
    """Yields the bytes of the file: the same as those of a download without parts."""
    writer = writer_of(DownloadFormat.PARQUET)
    for rows in chunks:
        yield writer.add(rows)
    yield writer.end()


def unfit_for(unfit: FormatUnfit) -> NotAcceptable:
    """Returns the error for rows that the format cannot hold."""
    return NotAcceptable(f"{unfit} Ask for another format.")
