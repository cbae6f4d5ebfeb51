"""The body of POST /ingest."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from api.schemas.wire import StrictModel

FullName = Annotated[str, StringConstraints(min_length=1, max_length=1024)]
Branch = Annotated[str, StringConstraints(min_length=1, max_length=255)]
ColumnName = Annotated[str, StringConstraints(min_length=1, max_length=1024)]
JsonRecord = Annotated[dict[str, Any], Field(description="the fields by name")]

_WRITE_SCHEMA = (
    "the columns that the data files hold, in their order: names, with dots into structs; an Iceberg schema; "
    "or `infer`, the columns that the records have. Left out: all columns of the table. It never changes it."
)


class IngestWait(StrEnum):
    """What the answer waits for."""

    ACCEPTED = "ACCEPTED"
    COMMITTED = "COMMITTED"


class WriteBody(StrictModel):
    """Records for one table, under one write schema."""

    table: Annotated[FullName, Field(description="catalog.schema.table")]
    branch: Branch = "main"
    mode: Literal["append"] = "append"
    write_schema: Annotated[
        Literal["infer"] | list[ColumnName] | dict[str, Any] | None, Field(description=_WRITE_SCHEMA)
    ] = None
    records: Annotated[list[JsonRecord], Field(min_length=1)]


class IngestBody(StrictModel):
    """Records to write: `table` and `records` for one table, or `writes` for several at once."""

    table: Annotated[FullName | None, Field(description="catalog.schema.table")] = None
    branch: Branch = "main"
    mode: Literal["append"] = "append"
    write_schema: Annotated[
        Literal["infer"] | list[ColumnName] | dict[str, Any] | None, Field(description=_WRITE_SCHEMA)
    ] = None
    records: Annotated[list[JsonRecord] | None, Field(min_length=1)] = None
    writes: Annotated[list[WriteBody] | None, Field(min_length=1, max_length=1000)] = None
    request_id: Annotated[
        UUID | None,
        Field(
            strict=False, description="the same id from the same caller is written once, however often sent"
        ),
    ] = None
    wait: Annotated[
        IngestWait,
        Field(strict=False, description="ACCEPTED: durable, 202; COMMITTED: in the tables, 200"),
    ] = IngestWait.COMMITTED
