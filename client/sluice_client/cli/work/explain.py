"""The work of `sluice explain`."""

from __future__ import annotations

import tempfile
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from sluice_client.cli.command_session import Session, open_session
from sluice_client.cli.connection_options import ConnectionOptions
from sluice_client.cli.exits import WrongUsage
from sluice_client.cli.output import output_to
from sluice_client.cli.query_parameters import query_parameters
from sluice_client.cli.source import InSource, Source
from sluice_client.cli.statements import statements_of
from sluice_client.cli.terminal.screen import note
from sluice_client.cli.work.query import QueryArguments, query_options
from sluice_client.cli.work.run_sql import sql_text
from sluice_client.errors import SluiceError
from sluice_client.explaining.run_explain import explanation_page

_MEDIA_TYPES = {"text": "text/plain", "json": "application/json", "html": "text/html"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainArguments:
    """The arguments, as they were typed."""

    query: str | None
    file: Path | None
    parameters: Sequence[str]
    catalog: str | None
    schema: str | None
    format: str
    output: Path | None
    is_opened: bool


def run(options: ConnectionOptions, arguments: ExplainArguments) -> None:
    """Prints an explanation, or opens it in a browser.

    Raises:
        NotFound: there is no such query.
    """
    if arguments.format not in _MEDIA_TYPES:
        raise WrongUsage(f"--format is one of {', '.join(_MEDIA_TYPES)}, not {arguments.format!r}")
    query_id = _query_id(arguments.query) if arguments.file is None else None
    source = None if query_id is not None else _source(arguments)
    media_type = _MEDIA_TYPES["html" if arguments.is_opened else arguments.format]
    with open_session(options) as session:
        page = _page(session, query_id, source, arguments, media_type)
    if arguments.is_opened:
        _open(page)
        return
    with output_to(arguments.output) as output:
        output.raw(page if page.endswith(b"\n") else page + b"\n")


def _page(
    session: Session,
    query_id: UUID | None,
    source: Source | None,
    arguments: ExplainArguments,
    media_type: str,
) -> bytes:
    if source is None:
        assert query_id is not None, "there is one of them"
        return session.run(explanation_page(query_id, media_type, session.context))
    chosen = query_options(
        QueryArguments(sql=None, file=None, catalog=arguments.catalog, schema=arguments.schema)
    )
    try:
        asked = session.defaults.request(source.sql, query_parameters(arguments.parameters) or None, chosen)
        return session.run(explanation_page(asked, media_type, session.context))
    except SluiceError as error:
        raise InSource(error, source) from None


def _source(arguments: ExplainArguments) -> Source:
    text = sql_text(arguments.query, arguments.file)
    if text is None:
        raise WrongUsage("pass the id of a query, or SQL")
    found = statements_of(text[0])
    if len(found) != 1:
        raise WrongUsage(f"pass one statement, not {len(found)}")
    return Source(found[0].sql, found[0].first_line, text[1])


def _query_id(text: str | None) -> UUID | None:
    try:
        return None if text is None else UUID(text.strip())
    except ValueError:
        return None


def _open(page: bytes) -> None:
    # The page is fetched here, as a browser does not have the credentials. Only this user may read it.
    with tempfile.NamedTemporaryFile(prefix="sluice-explain-", suffix=".html", delete=False) as file:
        file.write(page)
    path = Path(file.name)
    if not webbrowser.open(path.as_uri()):
        note(f"there is no browser here; the page is {path}")
