"""Runs one statement: progress on standard error, rows to the output, and a summary."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sluice_client.cli.command_session import Session
from sluice_client.cli.exits import Failed
from sluice_client.cli.formats.row_format import FOR_PEOPLE, Format
from sluice_client.cli.output import Output
from sluice_client.cli.source import InSource, Source
from sluice_client.cli.terminal.safe_text import counted
from sluice_client.cli.terminal.screen import is_terminal, note, style_of
from sluice_client.cli.work.write_result import write_result
from sluice_client.errors import GatewayError, SessionExpired, SluiceError
from sluice_client.options import QueryOptions
from sluice_client.progress.steps import Progress, Silent, waiting
from sluice_client.progress.terminal import TerminalLine
from sluice_client.query.query_answer import Manifest, QueryStatus
from sluice_client.query.query_request import QueryRequest
from sluice_client.query.run_query import Watch, run_query

DEFAULT_MAX_ROWS = 1000
_NEEDS_SESSION = "SESSION_REQUIRED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How statements are run and shown."""

    format: Format
    parameters: Mapping[str, Any] = field(default_factory=dict)
    options: QueryOptions = field(default_factory=lambda: QueryOptions())
    max_rows: int = DEFAULT_MAX_ROWS
    is_quiet: bool = False
    """Without progress and summary."""
    has_others: bool = False
    """Whether other statements follow, so that a change of a session means something to them."""
    is_cut_allowed: bool = False
    """Whether a program may get rows that the gateway cut at a bound of its own."""


def run_statement(session: Session, source: Source, manner: Manner, output: Output) -> None:
    """Runs a statement and writes its rows. Ctrl-C cancels the query.

    Raises:
        InSource: the gateway reported an error.
        Failed: the gateway cut the result, and the format is for programs.
    """
    is_shown = is_terminal(sys.stderr) and not manner.is_quiet
    progress: Progress = TerminalLine(sys.stderr) if is_shown else Silent()
    try:
        watch = (lambda status: progress.show(waiting(status))) if is_shown else None
        asked, status = _run(session, source.sql, manner, watch)
        progress.close()
        manifest = status.manifest
        assert manifest is not None, "it has succeeded"
        is_cut = manifest.is_truncated and not _is_as_asked(manifest, asked)
        _check_whole(manifest, manner, is_cut=is_cut)
        write_result(session, status, manner.format, output, max_rows=manner.max_rows, progress=progress)
    except SluiceError as error:
        raise InSource(error, source) from None
    finally:
        progress.close()
    output.stream.flush()
    if not manner.is_quiet:
        note(style_of(sys.stderr).dim(", ".join(_summary(status, manifest, is_cut=is_cut))))


def _run(session: Session, sql: str, manner: Manner, watch: Watch | None) -> tuple[QueryRequest, QueryStatus]:
    """Runs a statement. If it needs a session that others may share, it is begun, and it runs in it."""
    asked = session.shared.request(sql, manner.parameters or None, manner.options)
    try:
        return asked, session.run(run_query(asked, session.context, watch))
    except SessionExpired:
        session.shared.forget()
        raise
    except GatewayError as error:
        if error.code != _NEEDS_SESSION or not manner.has_others or session.shared.has_begun:
            raise
    session.run(session.shared.begin(manner.options))
    asked = session.shared.request(sql, manner.parameters or None, manner.options)
    return asked, session.run(run_query(asked, session.context, watch))


def _check_whole(manifest: Manifest, manner: Manner, *, is_cut: bool) -> None:
    if is_cut and not manner.is_cut_allowed and manner.format not in FOR_PEOPLE:
        raise Failed(
            f"the gateway cut the result after {manifest.row_count} rows. Pass --row-limit for more, or"
            " --allow-truncated to get these"
        )


def _is_as_asked(manifest: Manifest, asked: QueryRequest) -> bool:
    return isinstance(asked.byte_limit, int) or manifest.row_count == asked.row_limit


def _summary(status: QueryStatus, manifest: Manifest, *, is_cut: bool) -> Iterator[str]:
    rows = counted(manifest.row_count, "row")
    more = " (there are more: the gateway cut the result, see --row-limit)" if is_cut else ""
    limited = " (as many as --row-limit allows)" if manifest.is_truncated and not is_cut else ""
    yield f"{rows}{more or limited} in {status.elapsed_ms / 1000:.2f} s"
    if status.pruning is not None and status.pruning.data_files.total:
        files = status.pruning.data_files
        yield f"{files.selected:,} of {files.total:,} files"
    yield f"query {status.query_id}"
