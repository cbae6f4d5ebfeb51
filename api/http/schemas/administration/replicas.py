"""The query string and the answer of GET /replicas."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from api.http.schemas.wire import StrictModel, WireModel
from service.model.query.replicas import SeenReplica


class ReplicasQuery(StrictModel):
    """The query string of GET /replicas."""

    limit: Annotated[int, Field(strict=False, ge=1, le=1000, description="maximum number of replicas")] = 100


class ReplicaAnswer(WireModel):
    """One run of one gateway process. A restart is another replica."""

    replica_id: UUID
    name: Annotated[str, Field(description="for people, such as the name of its host")]
    started_at: datetime
    silent_ms: Annotated[
        int | None,
        Field(description="since it last reported that it is alive; null: it reported that it ends"),
    ]
    open_queries: Annotated[
        int, Field(description="queries that are queued or run there, as far as it reported them")
    ]
    is_this_one: Annotated[bool, Field(description="the replica that answers this request")]


class ReplicasAnswer(WireModel):
    """Those that were seen last come first. Some may have ended: they are forgotten after a day."""

    replicas: list[ReplicaAnswer]
    lost_after_ms: Annotated[
        int, Field(description="the open queries of a replica that is silent for so long are REPLICA_LOST")
    ]


def replica_answer(seen: SeenReplica) -> ReplicaAnswer:
    """Returns the replica as it is on the wire."""
    return ReplicaAnswer(
        replica_id=seen.replica.replica_id,
        name=seen.replica.name,
        started_at=seen.started_at,
        silent_ms=seen.silent_ms,
        open_queries=seen.open_queries,
        is_this_one=seen.is_this_one,
    )
