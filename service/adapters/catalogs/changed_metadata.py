"""Encodes changed metadata of format version 3, without losing what PyIceberg does not know of the version.

PyIceberg reads this version and applies changes to it, but does not write it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from pyiceberg.io import FileIO
from pyiceberg.table.metadata import TableMetadataV3
from pyiceberg.typedef import IcebergBaseModel

from service.adapters.catalogs.variant_type import metadata_bytes, parsed_metadata

# Lists whose entries never change, by what each entry is known by.
_BY_ID: Mapping[str, str] = {"snapshots": "snapshot-id", "schemas": "schema-id"}


def changed_metadata_json(metadata: TableMetadataV3, io: FileIO) -> str:
    """Returns the JSON of metadata that was changed since the newest file in its log.

    Whatever has not changed is what that file has, with fields that PyIceberg does not know.

    Raises:
        OSError: the file cannot be read.
        ValueError: there is no such file, or it is not metadata.
    """
    if not metadata.metadata_log:
        raise ValueError("a table of format version 3 is not created here")
    text = metadata_bytes(io.new_input(metadata.metadata_log[-1].metadata_file))
    written: dict[str, Any] = orjson.loads(text)
    before = parsed_metadata(text)
    if not isinstance(before, TableMetadataV3):
        raise ValueError("a table cannot be moved to format version 3 here")
    return orjson.dumps(_changed(written, _encoded(before), _encoded(metadata))).decode()


def _changed(
    written: Mapping[str, Any], before: Mapping[str, Any], after: Mapping[str, Any]
) -> dict[str, Any]:
    kept = {name: value for name, value in written.items() if name in after or name not in before}
    changed = {
        name: _with_known(written.get(name, []), value, _BY_ID[name]) if name in _BY_ID else value
        for name, value in after.items()
        if name not in before or before[name] != value
    }
    return kept | changed


def _with_known(
    written: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]], key: str
) -> list[Mapping[str, Any]]:
    known = {entry[key]: entry for entry in written}
    return [known.get(entry[key], entry) for entry in after]


def _encoded(metadata: TableMetadataV3) -> dict[str, Any]:
    # The class's own method refuses to encode.
    text = IcebergBaseModel.model_dump_json(metadata, exclude_none=True, by_alias=True)
    encoded: dict[str, Any] = orjson.loads(text)
    return encoded
