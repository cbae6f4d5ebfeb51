"""The work of `sluice ingest`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from sluice_client.calls import Body
from sluice_client.cli.command_session import Session, open_session
from sluice_client.cli.connection_options import ConnectionOptions
from sluice_client.cli.exits import WrongUsage
from sluice_client.cli.output import output_to
from sluice_client.cli.terminal.counted_body import CountedBody
from sluice_client.cli.terminal.screen import is_terminal, note
from sluice_client.cli.work.ingest_arguments import IngestArguments
from sluice_client.cli.work.ingest_text import ingest_document, ingest_lines
from sluice_client.errors import ConnectionFailed, DataNotSupported
from sluice_client.ingest.bodies import FileBody, SpooledBody, read_pieces
from sluice_client.ingest.file_types import file_type
from sluice_client.ingest.ingest_answer import IngestResult
from sluice_client.ingest.ingest_request import IngestRequest
from sluice_client.ingest.run_ingest import run_ingest

__all__ = ["IngestArguments", "run"]
_STANDARD_INPUT = Path("-")
_SPOOL_BYTES = 8 * 1024 * 1024
"""Input that can be read once is kept until it is accepted: in memory, then in a temporary file."""


def run(options: ConnectionOptions, arguments: IngestArguments) -> None:
    """Sends each file, and prints what became of it.

    Raises:
        WrongUsage: an argument is not valid, or a file cannot be read. Nothing was sent.
        SluiceError: a file was not written; those before it were.
    """
    files = tuple(arguments.files) or (_STANDARD_INPUT,)
    arguments.request()
    bodies = [_body(path, arguments) for path in files]
    with open_session(options) as session, output_to(None) as output:
        for path, body in zip(files, bodies, strict=True):
            result = _send(session, path, body, arguments)
            if arguments.is_json:
                output.text([json.dumps(ingest_document(result)) + "\n"])
            else:
                output.text(f"{line}\n" for line in ingest_lines(result, _name(path)))
            output.stream.flush()


def _send(session: Session, path: Path, body: Body, arguments: IngestArguments) -> IngestResult:
    asked = arguments.request()
    is_shown = is_terminal(sys.stderr) and not arguments.is_quiet
    sent = CountedBody(body, sys.stderr, _name(path)) if is_shown else body
    try:
        return session.run(run_ingest(asked, sent, session.context))
    except (ConnectionFailed, KeyboardInterrupt):
        _say_how_to_go_on(path, asked)
        raise


def _say_how_to_go_on(path: Path, asked: IngestRequest) -> None:
    note(f"{_name(path)} may have been written: with --request-id {asked.request_id} it is written once")


def _body(path: Path, arguments: IngestArguments) -> Body:
    is_input = path == _STANDARD_INPUT
    try:
        kind = file_type(
            None if is_input else path.name, arguments.file_format(), arguments.file_compression()
        )
    except DataNotSupported:
        raise WrongUsage(f"{_name(path)}: pass --format ndjson, csv, arrow or parquet") from None
    if is_input:
        return SpooledBody(kind, _standard_input(), _SPOOL_BYTES)
    try:
        if not path.is_file():
            # A pipe has no size, and is read once.
            return SpooledBody(kind, read_pieces(path.open("rb")), _SPOOL_BYTES)
        return FileBody(kind, path)
    except OSError as error:
        raise WrongUsage(f"{path}: {error.strerror}") from None


def _standard_input() -> Iterator[bytes]:
    yield from read_pieces(sys.stdin.buffer)


def _name(path: Path) -> str:
    return "standard input" if path == _STANDARD_INPUT else str(path)
