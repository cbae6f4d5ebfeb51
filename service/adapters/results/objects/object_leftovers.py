"""Deletes what no replica deletes any more: results of lost replicas, and rows of unfinished queries."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from uuid import UUID

import structlog

from service.adapters.results.leftovers import GRACE
from service.adapters.results.manifest_file import milliseconds
from service.adapters.results.objects.bucket import Bucket, Listed
from service.adapters.results.objects.claims import delete_result, has_manifest, is_claim
from service.adapters.results.objects.object_manifests import ObjectManifests
from service.adapters.results.store_bounds import ResultBounds

log = structlog.get_logger(__name__)

LISTED_AT_MOST = 20_000
"""A sweep lists so many objects, and the next one goes on after them."""


class Leftovers:
    """Looks at the objects below the prefix, a part of them each time. Not thread-safe."""

    def __init__(
        self,
        bucket: Bucket,
        manifests: ObjectManifests,
        bounds: ResultBounds,
        is_own: Callable[[UUID], bool],
    ) -> None:
        """`is_own` tells this process's results."""
        self._bucket = bucket
        self._manifests = manifests
        self._expected_age = bounds.time_to_live + GRACE
        self._unfinished_age = max(bounds.unfinished_after, self._expected_age)
        self._is_own = is_own
        self._after = ""

    def delete(self, now: datetime) -> None:
        """Deletes expired results of others, and objects without a manifest that nobody writes any more.

        Objects that are not below a query's id are left alone.

        Raises:
            ResultStoreDown: the store does not answer.
        """
        listed = self._bucket.list(after=self._after, at_most=LISTED_AT_MOST)
        is_whole = len(listed) < LISTED_AT_MOST
        self._after = "" if is_whole else self._bucket.access.key(*listed[-1].steps)
        for query_id, newest in _newest_by_query(listed).items():
            # Objects that are younger need no question: they were not left.
            if now > newest + self._expected_age and not self._is_own(query_id):
                self._examine(query_id, now)

    def _examine(self, query_id: UUID, now: datetime) -> None:
        result = self._manifests.read(query_id)
        if result is None:
            self._examine_unfinished(query_id, now)
        elif milliseconds(now - GRACE) > result.expires_at_ms:
            log.info("leftover_result_deleted", query_id=str(query_id))
            delete_result(self._bucket, query_id, result.origin)

    def _examine_unfinished(self, query_id: UUID, now: datetime) -> None:
        """Deletes the objects of a query without a result, if they are old and nobody shares them."""
        objects = self._bucket.list(str(query_id))
        if any(now <= listed.modified + self._unfinished_age for listed in objects):
            return
        claims = [listed for listed in objects if is_claim(listed)]
        if any(self._is_claimed(listed) for listed in claims):
            return
        self._bucket.delete([listed.steps for listed in claims])
        # A query that has just begun to share them has a claim that is not old.
        left = self._bucket.list(str(query_id))
        if not any(map(is_claim, left)):
            log.info("leftover_result_deleted", query_id=str(query_id))
            self._bucket.delete([listed.steps for listed in left])

    def _is_claimed(self, listed: Listed) -> bool:
        claimant = _query_id(listed.steps[-1])
        # Whether there is a manifest, not whether this version can read it.
        return claimant is not None and has_manifest(self._bucket.list(str(claimant)))


def _newest_by_query(listed: list[Listed]) -> dict[UUID, datetime]:
    newest: dict[UUID, datetime] = {}
    for found in listed:
        query_id = _query_id(found.steps[0])
        if query_id is not None and len(found.steps) > 1:
            newest[query_id] = max(found.modified, newest.get(query_id, found.modified))
    return newest


def _query_id(name: str) -> UUID | None:
    try:
        return UUID(name)
    except ValueError:
        return None
