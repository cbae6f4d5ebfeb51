"""What of a request may be in one snapshot with an upsert."""

from __future__ import annotations

from collections.abc import Sequence

from service.errors import IngestInvalid
from service.model.ingest import Write
from service.model.writing import TableKey


def check_one_upsert(writes: Sequence[Write]) -> None:
    """Returns where no other write of the request may hold the keys of an upsert.

    What one request has for a table and branch is one snapshot, and in it an equality delete takes no row
    away: the rows of two writes with the same key would both be there. Within one write the last wins.

    Raises:
        IngestInvalid: an upsert is not alone.
    """
    by_key: dict[TableKey, list[Write]] = {}
    for each in writes:
        by_key.setdefault(each.key, []).append(each)
    for key, group in by_key.items():
        if len(group) > 1 and any(each.is_upsert for each in group):
            raise IngestInvalid(
                f"{key.table} has {len(group)} writes in this request, and one of them is an upsert: "
                "send an upsert's records in one write, and other writes to its table in other requests."
            )
