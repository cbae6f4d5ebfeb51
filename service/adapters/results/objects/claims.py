"""Who needs the objects of a result: its own query, and those that share its rows.

A result's manifest may name the parts of another one, its origin. Its query then has a claim, an empty
object beside these parts. Parts are deleted when there is neither a manifest nor a claim beside them.

Whoever shares writes its claim first, and then looks whether the shared manifest is still there. Whoever
deletes takes the manifest away first, and then looks for claims. A store whose answers are current shows at
least one of them what the other did.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from service.adapters.results.manifest_file import NAME
from service.adapters.results.notes import KEY, RIGHTS
from service.adapters.results.objects.bucket import Bucket, Listed

CLAIMS = "claims"


def claim(bucket: Bucket, origin: UUID, query_id: UUID) -> None:
    """Keeps the parts of the origin for this query.

    Raises:
        ResultStoreDown: the store does not answer.
    """
    bucket.put(b"", str(origin), CLAIMS, str(query_id))


def delete_result(bucket: Bucket, query_id: UUID, origin: UUID) -> None:
    """Deletes a result, and the parts that nobody needs any more.

    Raises:
        ResultStoreDown: the store does not answer; calling it again goes on.
    """
    own = str(query_id)
    # The manifest before the parts, so that no replica begins to read what is about to go.
    bucket.delete([(own, NAME), (own, KEY), (own, RIGHTS)])
    if origin != query_id:
        # Not with the manifest: a store deletes several objects in any order. Who shares this result while
        # its claim alone is gone would see the manifest, and the origin's deleter no claim.
        bucket.delete([(str(origin), CLAIMS, own)])
    for each in {query_id, origin}:
        delete_unneeded(bucket, each)


def delete_unneeded(bucket: Bucket, query_id: UUID) -> None:
    """Deletes all objects of a query, unless they belong to its result or to one that shares them.

    Raises:
        ResultStoreDown: the store does not answer.
    """
    found = bucket.list(str(query_id))
    if not is_needed(found):
        bucket.delete([listed.steps for listed in found])


def is_needed(objects: Sequence[Listed]) -> bool:
    """Whether the objects of a query have a manifest or claims among them."""
    return has_manifest(objects) or any(map(is_claim, objects))


def has_manifest(objects: Sequence[Listed]) -> bool:
    """Whether the objects of a query have a manifest among them."""
    return any(listed.steps[1:] == (NAME,) for listed in objects)


def is_claim(listed: Listed) -> bool:
    """Whether the object is a claim."""
    return listed.steps[1:2] == (CLAIMS,)
