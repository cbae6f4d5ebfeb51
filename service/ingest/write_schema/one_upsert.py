"""Checks that routed records of a request do not conflict with an upsert."""

from __future__ import annotations

from collections.abc import Iterable

from service.errors.ingest_errors import IngestInvalid
from service.model.ingest.writing import TableKey, WriteTarget


def check_one_upsert(targets: Iterable[WriteTarget]) -> None:
    """Checks that no other routed rows may hold the keys of an upsert.

    Rows of one target keep the order of their records, as do writes with records of their own. Records that a
    route sends to several targets are read target by target, so it is unknown which came last.

    Raises:
        IngestInvalid: an upsert is not alone.
    """
    by_key: dict[TableKey, set[WriteTarget]] = {}
    for target in targets:
        by_key.setdefault(target.key, set()).add(target)
    for key, group in by_key.items():
        if len(group) > 1 and any(target.is_upsert for target in group):
            raise IngestInvalid(
                f"{key.table} has routes of {len(group)} kinds in this request, one of them an upsert: "
                "all routes that upsert into a table have the same write schema, equality fields and order, "
                "and no other one leads to it. Send the others in `writes` with `records` of their own, or "
                "in requests of their own. Records that delete take the same route as the others, with "
                "`deleteWhen`."
            )
