"""What of a request may be in one snapshot with an upsert."""

from __future__ import annotations

from collections.abc import Iterable

from service.errors import IngestInvalid
from service.model.writing import TableKey, WriteTarget


def check_one_upsert(targets: Iterable[WriteTarget]) -> None:
    """Returns where no other rows of the request may hold the keys of an upsert.

    What one request has for a table and branch is one snapshot, and in it an equality delete takes no row
    away: of two targets with rows of the same key, both would be there. Within one target the last wins.

    Raises:
        IngestInvalid: an upsert is not alone.
    """
    by_key: dict[TableKey, set[WriteTarget]] = {}
    for each in targets:
        by_key.setdefault(each.key, set()).add(each)
    for key, group in by_key.items():
        if len(group) > 1 and any(each.is_upsert for each in group):
            raise IngestInvalid(
                f"{key.table} has writes of {len(group)} kinds in this request, one of them an upsert: "
                "in a request, all upserts to a table have the same write schema and equality fields, and "
                "nothing is appended to it. Send the others in requests of their own."
            )
