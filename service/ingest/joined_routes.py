"""Joins routes that lead to the same upsert."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from service.errors.ingest_errors import IngestInvalid
from service.ingest.decoding.streams.plan import ReadTarget
from service.model.ingest.ingest_request import Route
from service.model.ingest.writing import Destination, WriteTarget


def joined_routes(
    route: Route | None, destinations: Sequence[Destination], targets: Sequence[ReadTarget]
) -> Route | None:
    """Returns the route with all writes of the same upsert replaced by the first of them.

    Records are read target by target. If records of a key came by two routes, the last record of the key
    would no longer be the last one read.

    Raises:
        IngestInvalid: the writes of one upsert read their records in different ways.
    """
    if route is None:
        return None
    first: dict[WriteTarget, int] = {}
    joined: dict[int, int] = {}
    for index, target in enumerate(destination.target for destination in destinations):
        if target.is_upsert:
            joined[index] = first.setdefault(target, index)
            if targets[index] != targets[joined[index]]:
                raise IngestInvalid(
                    f"Several routes upsert into {target.key.table} and read records in different ways: "
                    "give them the same `schema` and `deleteWhen`, or send what goes by each in a request of "
                    "its own."
                )
    return replace(
        route,
        targets={value: joined.get(index, index) for value, index in route.targets.items()},
        otherwise=None if route.otherwise is None else joined.get(route.otherwise, route.otherwise),
    )
