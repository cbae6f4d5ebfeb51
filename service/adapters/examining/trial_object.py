"""Tries what results in an object store need: to write, read, list and delete."""

from __future__ import annotations

from uuid import uuid4

from service.adapters.results.objects.bucket import Bucket
from service.adapters.results.objects.store_failures import ObjectGone
from service.errors.query_errors import ResultStoreDown

FOLDER = ".sluice-doctor"
_DATA = b"written by sluice doctor"
LOST = "The object store of results does not show what it has just accepted."


def trial_object(bucket: Bucket) -> None:
    """Writes an object that belongs to no result, reads and lists it, and deletes it.

    Raises:
        ResultStoreDown: one of them was not possible.
    """
    steps = (FOLDER, uuid4().hex)
    bucket.put(_DATA, *steps)
    try:
        is_read = bucket.get_range(0, len(_DATA), *steps) == _DATA
        is_listed = steps in [listed.steps for listed in bucket.list(FOLDER)]
    except ObjectGone as gone:
        raise ResultStoreDown(LOST) from gone
    finally:
        bucket.delete([steps])
    if not is_read or not is_listed:
        raise ResultStoreDown(LOST)
