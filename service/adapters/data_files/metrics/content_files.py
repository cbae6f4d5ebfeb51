"""Converts data files to and from Iceberg's JSON, which every Iceberg library can commit.

Source: Iceberg's `ContentFileParser`, as of 1.12; "Appendix D: Single-value serialization" of the table
specification for partition values.
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, cast
from uuid import UUID

import orjson
from pyiceberg.conversions import from_json, to_bytes, to_json
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.partitioning import PartitionSpec, _to_partition_representation
from pyiceberg.schema import Schema
from pyiceberg.typedef import Record
from pyiceberg.types import IcebergType, NestedField, PrimitiveType, StructType, UUIDType

from service.adapters.data_files.layout.partitions import PartitionValues
from service.adapters.data_files.metrics.file_metrics import FileMetrics
from service.model.identity import Identity

_MAX_CACHED_TYPES = 64
# The fields before it, the content's kind and the spec's number, cannot contain this text.
_FILE_PATH = re.compile(r'"file-path"\s*:\s*(?=")')
_DECODER = json.JSONDecoder()


def content_file_json(
    location: str,
    byte_count: int,
    spec_id: int,
    partition: Sequence[object],
    sort_order_id: int,
    metrics: FileMetrics,
    equality_field_ids: Sequence[int] = (),
) -> str:
    """Describes a data file, or, if ids of equality fields are given, a file of equality deletes.

    `partition` has JSON values, one for each field of the spec: see `partition_json`.
    """
    content = {
        "spec-id": spec_id,
        "content": "equality-deletes" if equality_field_ids else "data",
        "file-path": location,
        "file-format": "parquet",
        "partition": list(partition),
        "file-size-in-bytes": byte_count,
        "record-count": metrics.record_count,
        "column-sizes": _map_json(metrics.column_sizes),
        "value-counts": _map_json(metrics.value_counts),
        "null-value-counts": _map_json(metrics.null_value_counts),
        "nan-value-counts": _map_json(metrics.nan_value_counts),
        "lower-bounds": _map_json({key: value.hex() for key, value in metrics.lower_bounds.items()}),
        "upper-bounds": _map_json({key: value.hex() for key, value in metrics.upper_bounds.items()}),
        "split-offsets": list(metrics.split_offsets),
        "sort-order-id": sort_order_id,
    } | ({"equality-ids": list(equality_field_ids)} if equality_field_ids else {})
    return orjson.dumps(content).decode()


def locations_of(files: Iterable[str]) -> list[str]:
    """Returns these files' locations. The rest, a thousand numbers in wide tables, is not parsed."""
    return [_text_at(file, _FILE_PATH.search(file)) for file in files]


def _text_at(content: str, key: re.Match[str] | None) -> str:
    if key is None:
        raise ValueError("This is no data file: it has no path.")
    found: str = _DECODER.raw_decode(content, key.end())[0]
    return found


def partition_json(spec: PartitionSpec, schema: Schema, values: PartitionValues) -> list[object]:
    """Converts a partition's values to JSON values.

    Raises:
        ValueError: one of them cannot be written as JSON.
    """
    fields = _partition_type(Identity(spec), Identity(schema)).fields
    return [_partition_value_json(field, value) for field, value in zip(fields, values, strict=True)]


def data_file(text: str, schema: Schema, spec: PartitionSpec) -> DataFile:
    """Returns the data file that this JSON describes, with its spec id, as PyIceberg commits it.

    Raises:
        ValueError: the JSON does not describe a data file, or describes one of another spec.
    """
    content = orjson.loads(text)
    if (content["spec-id"], content["content"].lower()) != (spec.spec_id, "data"):
        raise ValueError(
            f"This is no data file of spec {spec.spec_id}: spec {content['spec-id']}, {content['content']}."
        )
    return _file(content, DataFileContent.DATA, schema, spec)


def delete_file(text: str, schema: Schema, spec: PartitionSpec) -> DataFile:
    """Returns the file with equality deletes that this JSON describes.

    Raises:
        ValueError: the JSON does not describe one, or describes one of another spec.
    """
    content = orjson.loads(text)
    if (content["spec-id"], content["content"].lower()) != (spec.spec_id, "equality-deletes"):
        raise ValueError(f"These are no equality deletes of spec {spec.spec_id}.")
    return _file(content, DataFileContent.EQUALITY_DELETES, schema, spec)


def equality_ids_of(text: str) -> tuple[int, ...]:
    """Returns the field ids of the keys in a file with equality deletes.

    Raises:
        LookupError, ValueError: the JSON does not describe such a file.
    """
    return tuple(orjson.loads(text)["equality-ids"])


def spec_id_of(text: str) -> int:
    """Returns the id of a file's partition spec.

    Raises:
        LookupError, ValueError: the JSON does not describe a file.
    """
    return int(orjson.loads(text)["spec-id"])


def _file(content: Mapping[str, Any], kind: DataFileContent, schema: Schema, spec: PartitionSpec) -> DataFile:
    read = DataFile.from_args(
        content=kind,
        file_path=content["file-path"],
        file_format=FileFormat(content["file-format"].upper()),
        partition=_partition_record(spec, schema, content["partition"]),
        record_count=content["record-count"],
        file_size_in_bytes=content["file-size-in-bytes"],
        column_sizes=_map_of(content, "column-sizes"),
        value_counts=_map_of(content, "value-counts"),
        null_value_counts=_map_of(content, "null-value-counts"),
        nan_value_counts=_map_of(content, "nan-value-counts"),
        lower_bounds=_bounds_of(content, "lower-bounds"),
        upper_bounds=_bounds_of(content, "upper-bounds"),
        split_offsets=content.get("split-offsets"),
        sort_order_id=content.get("sort-order-id"),
    )
    # PyIceberg ignores the argument of this name.
    read.spec_id = spec.spec_id
    return read


def _partition_fields(spec: PartitionSpec, schema: Schema) -> list[PrimitiveType]:
    kinds = [field.field_type for field in _partition_type(Identity(spec), Identity(schema)).fields]
    return [kind for kind in kinds if isinstance(kind, PrimitiveType)]


@lru_cache(_MAX_CACHED_TYPES)
def _partition_type(spec: Identity[PartitionSpec], schema: Identity[Schema]) -> StructType:
    # PyIceberg builds it again each time, which takes as long as a column of the file.
    return spec.value.partition_type(schema.value)


def _partition_record(spec: PartitionSpec, schema: Schema, values: Sequence[object]) -> Record:
    kinds = _partition_fields(spec, schema)
    return Record(*(_value(kind, value) for kind, value in zip(kinds, values, strict=True)))


def _partition_value_json(field: NestedField, value: object) -> object:
    if value is not None:
        return _value_json(field.field_type, value)
    if field.required:
        # PyIceberg requires a value if the source is required, though an enclosing struct or `void` can
        # produce NULL.
        raise ValueError(
            f"NULL in the partition field {field.name}, whose source is required, cannot be committed."
        )
    return None


def _value_json(kind: IcebergType, value: Any) -> object:
    try:
        # A manifest encodes it in this way. A transform may leave the type of its source, for example
        # `truncate` of -999.99.
        to_bytes(cast(PrimitiveType, kind), value)
        if isinstance(kind, UUIDType):
            return str(UUID(bytes=value))
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{value} of the type {kind} cannot be a partition value.")
        return to_json(cast(PrimitiveType, kind), value)
    except (OverflowError, TypeError, struct.error) as error:
        raise ValueError(f"{value!r} of the type {kind} cannot be a partition value.") from error


def _value(kind: PrimitiveType, value: Any) -> Any:
    if value is None:
        return None
    if isinstance(kind, UUIDType):
        return UUID(value).bytes
    return _to_partition_representation(kind, from_json(kind, value))


def _map_json(values: Mapping[int, object]) -> dict[str, list[Any]]:
    return {"keys": list(values), "values": list(values.values())}


def _map_of(content: Mapping[str, Any], name: str) -> dict[int, Any] | None:
    found = content.get(name)
    return None if found is None else dict(zip(found["keys"], found["values"], strict=True))


def _bounds_of(content: Mapping[str, Any], name: str) -> dict[int, bytes] | None:
    found = _map_of(content, name)
    return None if found is None else {key: bytes.fromhex(value) for key, value in found.items()}
