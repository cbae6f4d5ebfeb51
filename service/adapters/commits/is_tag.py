"""Whether a name is that of a tag, to which nothing can be committed."""

from __future__ import annotations

from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.refs import SnapshotRefType


def is_tag(metadata: TableMetadata, name: str) -> bool:
    """Whether the table has a tag of that name; False if it has no such reference."""
    ref = metadata.refs.get(name)
    return ref is not None and ref.snapshot_ref_type is not SnapshotRefType.BRANCH
