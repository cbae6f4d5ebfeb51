"""Checks that a request does not write its dead letters into a table that it upserts into."""

from __future__ import annotations

from service.errors.ingest_errors import IngestInvalid
from service.model.ingest.ingest import OnError
from service.model.ingest.ingest_request import IngestRequest, WriteFault
from service.model.ingest.writing import TableKey
from service.model.tables.dead_letter_names import dead_letter_name


def check_separate_dead_letters(request: IngestRequest) -> None:
    """Checks that no upsert goes to a table that dead letters of the same request may go to.

    Dead letters come in the order in which records are read, so it would be undefined which of them an upsert
    replaces.

    Raises:
        IngestInvalid: an upsert does.
    """
    if request.on_error is not OnError.DEAD_LETTER:
        return
    dead_letters = {TableKey(dead_letter_name(write.key.table)) for write in request.writes}
    for write in request.writes:
        if write.is_upsert and write.key in dead_letters:
            reason = (
                f"{write.key.table} receives the dead letters of this request, which have no defined order"
                " among its writes. Send the upsert in a request of its own."
            )
            raise IngestInvalid(reason, [WriteFault(write.place, reason)])
