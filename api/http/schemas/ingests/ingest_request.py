"""The body of POST /ingest."""

from __future__ import annotations

from enum import StrEnum
from itertools import islice
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    WithJsonSchema,
)

from api.bootstrap.spelling import NO_CONTROLS
from api.http.schemas.ingests.matched_table import MatchedTable
from api.http.schemas.ingests.schema_json import SchemaJson
from api.http.schemas.ingests.table_creation import SortBody
from api.http.schemas.wire import StrictModel, has_field, tag_of
from service.model.ingest.ingest import OnError

# PostgreSQL stores names, and cannot store all characters: see NO_CONTROLS.
# Only for the description: `table_name` rejects other names with a better message.
_FULL_NAME = r"^[^.\x00-\x1f\x7f]+(\.[^.\x00-\x1f\x7f]+){2,}$"
FullName = Annotated[
    str,
    StringConstraints(min_length=1, max_length=1024),
    NO_CONTROLS,
    Field(description="catalog.schema.table", json_schema_extra={"pattern": _FULL_NAME}),
]
Branch = Annotated[str, StringConstraints(min_length=1, max_length=255), NO_CONTROLS]
ColumnName = Annotated[str, StringConstraints(min_length=1, max_length=1024)]
MAX_WRITES = 1000
MAX_FAULTS = 100
JsonRecord = Annotated[dict[str, Any], Field(description="the fields by name")]

_WRITE_SCHEMA = (
    "the columns that the data files hold, in their order: names, with dots into structs; an Iceberg schema; "
    "or `infer`, the columns that the records have. Left out: all of the table's. It never changes the table."
)


def _kind_of_write_schema(value: object) -> str | None:
    match value:
        case "infer":
            return "infer"
        case list():
            return "names"
        case dict():
            return "schema"
        case _:
            return None


_WriteSchema = Annotated[
    Annotated[Literal["infer"], Tag("infer")]
    | Annotated[list[ColumnName], Tag("names")]
    | Annotated[SchemaJson, Tag("schema")],
    Discriminator(
        _kind_of_write_schema,
        custom_error_type="write_schema",
        custom_error_message="Input should be 'infer', a list of names, or an Iceberg schema",
    ),
]
WriteSchemaBody = Annotated[_WriteSchema | None, Field(description=_WRITE_SCHEMA)]


class IngestWait(StrEnum):
    """The state that the answer waits for."""

    ACCEPTED = "ACCEPTED"
    COMMITTED = "COMMITTED"


def _deleting_value(value: object) -> object:
    if not isinstance(value, str | int):
        raise ValueError("a text, a whole number or a boolean is wanted: NULL never deletes")
    return value


_DeletingValue = Annotated[
    Any,
    AfterValidator(_deleting_value),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "boolean"}, {"type": "integer"}]}),
]


class DeleteWhenBody(StrictModel):
    """The records of an upsert that only delete the rows of their keys."""

    field: Annotated[
        ColumnName, Field(description="a field of the records; it need not be a column of the table")
    ]
    values: Annotated[
        list[_DeletingValue],
        Field(
            min_length=1,
            max_length=1000,
            description="a record with one of them deletes. Numbers and booleans match as JSON spells them. "
            "A record without the field, or with NULL in it, does not delete",
        ),
    ]


def _is_left_out(value: object) -> bool:
    """Whether a field that earlier versions did not have stays out of the request's fingerprint."""
    return value is None


class _Target(MatchedTable):
    table: FullName
    branch: Branch = "main"
    mode: Annotated[
        Literal["append", "upsert", "delete"],
        Field(
            description="upsert: each record replaces the rows with equal values in the equality fields; "
            "delete: each record has the equality fields alone, and deletes these rows"
        ),
    ] = "append"
    equality_fields: Annotated[
        list[ColumnName] | None,
        Field(
            description="for an upsert or a delete: the columns that identify a row; "
            "left out: the table's identifier fields"
        ),
    ] = None
    delete_when: Annotated[
        DeleteWhenBody | None,
        Field(
            exclude_if=_is_left_out,
            description="for an upsert: the records that only delete the rows of their keys",
        ),
    ] = None
    envelope: Annotated[
        Literal["debezium"] | None,
        Field(
            exclude_if=_is_left_out,
            description="for an upsert of JSON records: each record is an event of Debezium, which says "
            "whether it writes or deletes",
        ),
    ] = None
    order_by: Annotated[
        ColumnName | None,
        Field(
            exclude_if=_is_left_out,
            description="for an upsert: a column that is written. A record, also one that deletes, loses "
            "against a row or a record of its key with a greater value there. Left out: the last record wins",
        ),
    ] = None
    rest: Annotated[
        ColumnName | None,
        Field(
            exclude_if=_is_left_out,
            description="a column that is written. It takes the fields of a record that no written column "
            "has, as one JSON object or variant; NULL where there are none. Left out: such a record does not "
            "fit",
        ),
    ] = None
    write_schema: WriteSchemaBody = None
    sort_order: Annotated[
        list[SortBody] | None,
        Field(
            max_length=100,
            description="the sort order of the rows in each data file; its columns must be among those "
            "written; `[]`: none. Left out: the table's own sort order, if its columns are written",
        ),
    ] = None


def _with_few_faults(records: object) -> object:
    """Cuts the list after `MAX_FAULTS` items that are not objects: more faults would not be reported."""
    if not isinstance(records, list):
        return records
    wrong = (at for at, record in enumerate(records) if not isinstance(record, dict))
    last = next(islice(wrong, MAX_FAULTS - 1, None), None)
    return records if last is None else records[: last + 1]


Records = Annotated[list[JsonRecord], Field(min_length=1), BeforeValidator(_with_few_faults)]


class _Write(_Target):
    records: Records


class _Ingest(StrictModel):
    request_id: Annotated[
        UUID | None,
        Field(
            strict=False,
            description="the same id from the same caller is written once, however often it is sent",
        ),
    ] = None
    wait: Annotated[
        IngestWait,
        Field(strict=False, description="ACCEPTED: durable, 202; COMMITTED: in the tables, 200"),
    ] = IngestWait.COMMITTED
    on_error: Annotated[
        OnError,
        Field(
            strict=False,
            description="REJECT_REQUEST: if one record does not fit, nothing is written; DEAD_LETTER: "
            "such records go to `<table>__dead_letter`, and the rest is written",
        ),
    ] = OnError.REJECT_REQUEST


class TargetBody(_Target):
    """A table, and the write schema of the records that are sent to it."""


class RouteBody(StrictModel):
    """Chooses the table of each record by the value of one field."""

    field: Annotated[str, Field(min_length=1, max_length=1024)]
    to: Annotated[
        dict[str, TargetBody],
        Field(
            min_length=1,
            max_length=1000,
            description="maps a value of the field to the table of its records; `*` takes other values",
        ),
    ]


class WriteBody(_Write):
    """Records for one table, under one write schema."""


class OneWrite(_Write, _Ingest):
    """Records for one table, under one write schema."""


class ManyWrites(_Ingest):
    """Records for several tables, or under several write schemas."""

    writes: Annotated[list[WriteBody], Field(min_length=1, max_length=MAX_WRITES)]


class RoutedWrites(_Ingest):
    """Records that are routed by one of their fields."""

    route: RouteBody
    records: Records


class SourceBody(StrictModel):
    """Files that Spark's executors read, if the operator allows it."""

    uri: Annotated[
        str,
        StringConstraints(min_length=1, max_length=4096),
        NO_CONTROLS,
        Field(description="the address, such as s3://bucket/folder/*.json.gz; `**` is any number of folders"),
    ]
    format: Literal["json", "ndjson", "csv", "parquet", "arrow"]
    compression: Annotated[
        Literal["none", "gzip", "zstd"] | None, Field(description="left out: by each file's name")
    ] = None


class SourceWrite(_Target, _Ingest):
    """Files for one table, under one write schema."""

    source: SourceBody


class SourceRoute(_Ingest):
    """Files whose records are routed by one of their fields."""

    route: RouteBody
    source: SourceBody


def _form(body: object) -> str:
    """Chooses the form that the caller meant, so that a mistake is reported for this form alone."""
    if has_field(body, "writes"):
        return tag_of(ManyWrites)
    if has_field(body, "route"):
        return tag_of(SourceRoute if has_field(body, "source") else RoutedWrites)
    return tag_of(SourceWrite if has_field(body, "source") else OneWrite)


IngestBody = Annotated[
    Annotated[OneWrite, Tag(tag_of(OneWrite))]
    | Annotated[ManyWrites, Tag(tag_of(ManyWrites))]
    | Annotated[RoutedWrites, Tag(tag_of(RoutedWrites))]
    | Annotated[SourceWrite, Tag(tag_of(SourceWrite))]
    | Annotated[SourceRoute, Tag(tag_of(SourceRoute))],
    Discriminator(_form),
]


class StreamedWrite(_Target, _Ingest):
    """The query string beside a body of records for one table."""


class StreamedRoute(_Ingest):
    """The query string beside a body of records that are routed by one of their fields."""

    route: RouteBody
