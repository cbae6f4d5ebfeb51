"""The layout of a table that is created: a part of the body of POST /ingest."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from api.bootstrap.spelling import NO_CONTROLS, NO_NUL
from api.http.schemas.wire import StrictModel

_Name = Annotated[str, StringConstraints(min_length=1, max_length=1024), NO_CONTROLS]
# Pydantic describes only the values of names that fit the pattern. This excludes all other names.
_OF_NAMES: dict[str, Any] = {
    "propertyNames": {"pattern": NO_CONTROLS.pattern, "minLength": 1, "maxLength": 1024}
}
_Source = Annotated[_Name, Field(description="a column; dots lead into structs")]
_Transform = Annotated[
    str,
    StringConstraints(min_length=1, max_length=64),
    Field(description="identity, bucket[n], truncate[n], year, month, day or hour"),
]
_Value = Annotated[str, StringConstraints(max_length=1024), NO_NUL]


class Direction(StrEnum):
    """The direction of a sort order."""

    ASC = "asc"
    DESC = "desc"


class NullOrder(StrEnum):
    """Where a sort order puts NULLs."""

    FIRST = "nulls-first"
    LAST = "nulls-last"


class PartitionBody(StrictModel):
    """One field of the partition spec. Its default name is Iceberg's, such as `id_bucket` or `at_day`."""

    source: _Source
    transform: _Transform = "identity"
    name: _Name | None = None


class SortBody(StrictModel):
    """One field of the sort order."""

    source: _Source
    transform: _Transform = "identity"
    direction: Annotated[Direction, Field(strict=False)] = Direction.ASC
    null_order: Annotated[
        NullOrder | None, Field(strict=False, description="left out: first when ascending, else last")
    ] = None


class CreateBody(StrictModel):
    """The layout of a new table. Properties that choose code or a location are rejected."""

    partition_spec: Annotated[list[PartitionBody], Field(max_length=100, default_factory=list)]
    sort_order: Annotated[list[SortBody], Field(max_length=100, default_factory=list)]
    properties: Annotated[
        dict[_Name, _Value], Field(max_length=1000, default_factory=dict, json_schema_extra=_OF_NAMES)
    ]
