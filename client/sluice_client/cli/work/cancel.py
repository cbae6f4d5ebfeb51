"""The work of `sluice cancel`."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from sluice_client.cli.command_session import open_session
from sluice_client.cli.connection_options import ConnectionOptions
from sluice_client.cli.error_text import show_error
from sluice_client.cli.output import output_to
from sluice_client.errors import NotFound
from sluice_client.query.run_query import cancel_query


def run(options: ConnectionOptions, query_ids: Sequence[UUID]) -> None:
    """Cancels all of them. One that is not there keeps no other from it.

    Raises:
        NotFound: at least one is not there, or is another caller's.
    """
    missing: NotFound | None = None
    with open_session(options) as session, output_to(None) as output:
        for query_id in query_ids:
            try:
                session.run(cancel_query(query_id, session.context))
            except NotFound as error:
                if missing is not None:
                    show_error(missing, is_json=options.is_json_errors)
                missing = error
            else:
                output.text([f"query {query_id}: asked to end\n"])
    if missing is not None:
        raise missing
