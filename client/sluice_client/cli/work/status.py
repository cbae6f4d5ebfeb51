"""The work of `sluice status`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import typer

from sluice_client.calls import Flow
from sluice_client.cli.command_session import Session, open_session
from sluice_client.cli.connection_options import ConnectionOptions
from sluice_client.cli.error_text import error_document, error_lines
from sluice_client.cli.exits import ExitCode
from sluice_client.cli.formats.row_format import Format
from sluice_client.cli.output import Output, output_to
from sluice_client.cli.source import Source
from sluice_client.cli.terminal.safe_text import counted
from sluice_client.cli.work.ingest_text import ingest_document, ingest_lines
from sluice_client.cli.work.write_list import write_list
from sluice_client.errors import GatewayError, NotFound
from sluice_client.ingest.ingest_answer import IngestResult
from sluice_client.ingest.run_ingest import await_commit, get_ingest
from sluice_client.listing.readiness import gateway_state
from sluice_client.progress.steps import waiting
from sluice_client.query.query_answer import QueryStatus
from sluice_client.query.run_query import await_query, get_query


def run(options: ConnectionOptions, identifier: UUID | None, *, is_waiting: bool, is_json: bool) -> None:
    """Prints a state.

    Raises:
        NotFound: neither a query nor an ingest has this id.
        typer.Exit: it failed, or the gateway is not ready.
    """
    with open_session(options) as session, output_to(None) as output:
        code = (
            _show_gateway(session, output, is_json=is_json)
            if identifier is None
            else _show_one(session, identifier, output, is_waiting=is_waiting, is_json=is_json)
        )
    if code is not ExitCode.FINE:
        raise typer.Exit(code.value)


def _show_gateway(session: Session, output: Output, *, is_json: bool) -> ExitCode:
    state = session.run(gateway_state(session.context))
    if is_json:
        _write_json(output, state.raw)
    else:
        rows = [(part.name, part.state, part.detail) for part in state.parts]
        write_list({"part": "STRING", "state": "STRING", "detail": "STRING"}, rows, Format.TABLE, output)
        output.text([f"{'ready' if state.is_ready else 'not ready'}: {session.context.base_url}\n"])
    return ExitCode.FINE if state.is_ready else ExitCode.NOT_REACHED


def _show_one(
    session: Session, identifier: UUID, output: Output, *, is_waiting: bool, is_json: bool
) -> ExitCode:
    try:
        status = session.run(_query(identifier, session, is_waiting=is_waiting))
    except NotFound as no_query:
        try:
            ingest = session.run(_ingest(identifier, session, is_waiting=is_waiting))
        except NotFound:
            raise no_query from None
        return _show_ingest(ingest, output, is_json=is_json)
    if is_json:
        _write_json(output, _query_document(status))
    else:
        output.text(f"{line}\n" for line in _query_lines(status, output))
    return ExitCode.FAILED if status.state in ("FAILED", "CANCELED") else ExitCode.FINE


def _query(query_id: UUID, session: Session, *, is_waiting: bool) -> Flow[QueryStatus]:
    if is_waiting:
        try:
            yield from await_query(query_id, None, session.context)
        except NotFound:
            raise
        except GatewayError:
            # It has ended; its status says how.
            pass
    return (yield from get_query(query_id, None, session.context))


def _ingest(ingest_id: UUID, session: Session, *, is_waiting: bool) -> Flow[IngestResult]:
    found = yield from get_ingest(ingest_id, session.context)
    if is_waiting and found.state == "ACCEPTED":
        try:
            return (yield from await_commit(found, session.context))
        except NotFound:
            raise
        except GatewayError:
            return (yield from get_ingest(ingest_id, session.context))
    return found


def _show_ingest(ingest: IngestResult, output: Output, *, is_json: bool) -> ExitCode:
    if is_json:
        _write_json(output, ingest_document(ingest))
    else:
        output.text(f"{line}\n" for line in ingest_lines(ingest, f"ingest {ingest.ingest_id}"))
    return ExitCode.FAILED if ingest.state == "FAILED" else ExitCode.FINE


def _query_lines(status: QueryStatus, output: Output) -> Iterator[str]:
    name = output.style.bold(f"query {status.query_id}")
    if not status.is_final:
        yield f"{name}: {waiting(status).text}"
        return
    yield f"{name}: {status.state.lower()} in {status.elapsed_ms / 1000:.2f} s"
    if status.manifest is not None:
        truncated = ", cut at a limit" if status.manifest.is_truncated else ""
        columns = len(status.manifest.columns)
        yield f"{counted(status.manifest.row_count, 'row')} of {counted(columns, 'column')}{truncated}"
    elif status.state == "SUCCEEDED":
        yield "its rows are not there any more"
    if status.pruning is not None:
        files = status.pruning.data_files
        filters = counted(status.pruning.applied, "filter")
        yield f"{files.selected:,} of {files.total:,} files, {filters} applied"
    if status.error is not None:
        yield from error_lines(status.error, Source(""), output.style)


def _query_document(status: QueryStatus) -> dict[str, Any]:
    document: dict[str, Any] = {
        "queryId": str(status.query_id),
        "state": status.state,
        "queuedMs": status.queued_ms,
        "elapsedMs": status.elapsed_ms,
    }
    if status.live.percent is not None:
        document["percent"] = status.live.percent
    if status.queue is not None:
        document["queuePosition"] = status.queue.position
        document["estimatedWaitMs"] = status.queue.estimated_wait_ms
        document["resourceGroup"] = status.queue.group
    if status.manifest is not None:
        document["rowCount"] = status.manifest.row_count
        document["truncated"] = status.manifest.is_truncated
    if status.error is not None:
        document["error"] = error_document(status.error)
    return document


def _write_json(output: Output, document: Any) -> None:
    output.text([json.dumps(document, indent=2) + "\n"])
