"""Iceberg's type `variant` in PyIceberg, which knows all other types of format version 3.

PyIceberg has no place to register a type, and rejects metadata that names an unknown one. It accepts a type
that is already one of its objects, so these are put into the JSON before PyIceberg reads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

import orjson
from pydantic import Field, ValidationError
from pyiceberg.exceptions import ValidationError as NotValid
from pyiceberg.io import InputFile
from pyiceberg.schema import Schema
from pyiceberg.serializers import Compressor
from pyiceberg.table.metadata import TableMetadata, TableMetadataUtil
from pyiceberg.typedef import TableVersion
from pyiceberg.types import ListType, MapType, NestedField, PrimitiveType, StructType

from service.model.tables.schemas import VARIANT

_QUOTED = f'"{VARIANT}"'.encode()
_FIRST_VERSION: Final = 3


class VariantType(PrimitiveType):
    """A value of any type of JSON, and some more, in a binary form.

    >>> str(VariantType()), VariantType() == VariantType()
    ('variant', True)
    """

    root: Literal["variant"] = Field(default="variant")

    def minimum_format_version(self) -> TableVersion:
        """The first format version with this type."""
        return _FIRST_VERSION


def variant_ids(schema: Schema) -> frozenset[int]:
    """Returns the ids of the fields that are variants, at any depth."""
    return frozenset(_variant_ids(schema.as_struct()))


def table_metadata(file: InputFile) -> TableMetadata:
    """Reads a metadata file, compressed or not.

    Raises:
        OSError: the file cannot be read.
        NotValid, ValueError: as `parsed_metadata`.
    """
    return parsed_metadata(metadata_bytes(file))


def metadata_bytes(file: InputFile) -> bytes:
    """Returns the JSON in a metadata file.

    Raises:
        OSError: the file cannot be read.
    """
    with Compressor.get_compressor(file.location).stream_decompressor(file.open()) as stream:
        text: bytes = stream.read()
    return text


def parsed_metadata(text: bytes) -> TableMetadata:
    """Returns the metadata that this JSON describes, as PyIceberg does, also with columns of variants.

    Raises:
        NotValid: it is not metadata that PyIceberg understands; its cause is Pydantic's error.
        ValueError: it is not JSON.
    """
    if _QUOTED not in text:
        # The usual case: PyIceberg reads text faster than objects.
        return TableMetadataUtil.parse_raw(text.decode())
    content = orjson.loads(text)
    try:
        return TableMetadataUtil.parse_obj(with_variants(content))
    except ValidationError as error:
        raise NotValid(error) from error


def with_variants(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the parsed JSON of a table's metadata with PyIceberg's objects for variants.

    Earlier format versions do not have the type: their metadata stays as it is, and PyIceberg rejects it.
    """
    content = dict(metadata)
    version = content.get("format-version")
    schemas = content.get("schemas")
    if isinstance(version, int) and version >= _FIRST_VERSION and isinstance(schemas, list):
        content["schemas"] = [_type(schema) for schema in schemas]
    return content


def _type(json: Any) -> Any:
    """Returns a type, or a schema, which is a struct, with objects for the variants inside."""
    if json == VARIANT:
        return VariantType()
    if not isinstance(json, dict):
        return json
    match json.get("type"):
        case "struct" if isinstance(json.get("fields"), list):
            return {**json, "fields": [_field(field) for field in json["fields"]]}
        case "list":
            return {**json, "element": _type(json.get("element"))}
        case "map":
            return {**json, "key": _type(json.get("key")), "value": _type(json.get("value"))}
        case _:
            return json


def _field(json: Any) -> Any:
    return {**json, "type": _type(json["type"])} if isinstance(json, dict) and "type" in json else json


def _variant_ids(struct: StructType) -> Iterator[int]:
    for field in struct.fields:
        yield from _variant_ids_in(field)


def _variant_ids_in(field: NestedField) -> Iterator[int]:
    match field.field_type:
        case VariantType():
            yield field.field_id
        case StructType() as struct:
            yield from _variant_ids(struct)
        case ListType() as listed:
            yield from _variant_ids_in(listed.element_field)
        case MapType() as mapped:
            yield from _variant_ids_in(mapped.key_field)
            yield from _variant_ids_in(mapped.value_field)
