"""The status of a query, for its caller."""

from __future__ import annotations

from dataclasses import dataclass

from service.errors.gateway_error import GatewayError
from service.model.query.progress import QueryProgress, QueuePlace
from service.model.query.query import QueryRecord
from service.model.query.results import Manifest, ResultFormat


@dataclass(frozen=True, slots=True)
class QueryStatus:
    """A query as it stands now.

    `manifest` is set while the result exists. `failure` is the error that ended the query, with all its
    facts. `format` is the one that its caller asked for. `progress` is None unless it runs, and `queue`
    unless it waits. `is_elsewhere`: it is open at another replica, and both are that one's last report, if
    there is one.
    """

    record: QueryRecord
    elapsed_ms: int
    manifest: Manifest | None = None
    failure: GatewayError | None = None
    format: ResultFormat = ResultFormat.JSON
    progress: QueryProgress | None = None
    queue: QueuePlace | None = None
    is_elsewhere: bool = False
