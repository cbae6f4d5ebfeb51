"""Encodes a table's metadata as JSON; most parts are cached from the version before.

PyIceberg calls Python code for each column and each snapshot whenever one of them is encoded.
"""

from __future__ import annotations

from functools import lru_cache
from threading import Lock

from cachetools import LRUCache, cached
from pyiceberg.schema import Schema
from pyiceberg.table.metadata import TableMetadata, TableMetadataV2
from pyiceberg.table.snapshots import Snapshot

from service.model.identity import Identity

_MAX_CACHED_SCHEMAS = 256
_MAX_CACHED_SNAPSHOTS = 20_000


def metadata_json(metadata: TableMetadata) -> str | None:
    """Returns PyIceberg's JSON in another order; None if PyIceberg itself must encode it."""
    # Without a snapshot, the value written instead depends on PyIceberg's own configuration.
    if not isinstance(metadata, TableMetadataV2) or metadata.current_snapshot_id is None:
        return None
    rest = metadata.model_dump_json(exclude={"schemas", "snapshots"})
    schemas = ",".join(map(schema_json, metadata.schemas))
    snapshots = ",".join(map(_snapshot_json, metadata.snapshots))
    return f'{rest[:-1]},"schemas":[{schemas}],"snapshots":[{snapshots}]}}'


def schema_json(schema: Schema) -> str:
    """Returns a schema as PyIceberg writes it."""
    return _schema(Identity(schema))


@lru_cache(_MAX_CACHED_SCHEMAS)
def _schema(schema: Identity[Schema]) -> str:
    return schema.value.model_dump_json()


def _snapshot_key(snapshot: Snapshot) -> tuple[object, ...]:
    # A snapshot never changes. Compared by identity, the cache would hold each version of the metadata.
    return snapshot.snapshot_id, snapshot.manifest_list, snapshot.sequence_number, snapshot.timestamp_ms


@cached(LRUCache(_MAX_CACHED_SNAPSHOTS), key=_snapshot_key, lock=Lock())
def _snapshot_json(snapshot: Snapshot) -> str:
    return snapshot.model_dump_json()
