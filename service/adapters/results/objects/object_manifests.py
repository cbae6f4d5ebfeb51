"""Manifests in the object store, parsed once for all chunks that are read one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from service.adapters.results.manifest_file import NAME, result_of
from service.adapters.results.objects.bucket import Bucket
from service.adapters.results.objects.store_failures import ObjectGone
from service.adapters.results.stored_result import StoredResult
from service.bounded_lru import BoundedLru

MAX_RESULTS = 256
MAX_BYTES = 64 << 20
_BATCH_BYTES = 500


@dataclass(frozen=True, slots=True)
class _Known:
    tag: str
    result: StoredResult


class ObjectManifests:
    """Asks the store at each read whether a manifest is still the same. Thread-safe."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket
        self._known: BoundedLru[UUID, _Known] = BoundedLru(MAX_RESULTS, MAX_BYTES)

    def read(self, query_id: UUID) -> StoredResult | None:
        """Returns the result of a query, expiring by the wall clock; None if none can be read.

        Raises:
            ResultStoreDown: the store does not answer.
        """
        known = self._known.get(query_id)
        try:
            found = self._bucket.get(str(query_id), NAME, known_tag=None if known is None else known.tag)
        except ObjectGone:
            self._known.drop(query_id)
            return None
        if found is None:
            return None if known is None else known.result
        result = result_of(found.data.decode(errors="replace"))
        if result is not None:
            count = sum(len(part.batches) for part in result.rows.parts)
            self._known.put(query_id, _Known(found.tag, result), _BATCH_BYTES * (count + 1))
        return result
