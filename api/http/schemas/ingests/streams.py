"""Streams on the wire."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, Discriminator, Field, StringConstraints, Tag, TypeAdapter

from api.bootstrap.spelling import NO_CONTROLS, NO_CONTROLS_OR_EMPTY, Spelled
from api.http.schemas.durations import parse_duration
from api.http.schemas.ingests.ingest_request import RouteBody, TargetBody
from api.http.schemas.wire import StrictModel, WireModel, has_field, tag_of
from service.model.ingest.ingest import OnError
from service.model.ingest.stream_standing import StreamLag
from service.model.ingest.streams import StreamRecord, StreamState

_Text = Annotated[str, StringConstraints(min_length=1, max_length=4096), NO_CONTROLS]

_TOPIC = Spelled(
    r"^[A-Za-z0-9._-]{1,249}$", "a topic's name has letters, digits, dots, _ and -, and 249 of them at most"
)


def _interval(text: str) -> str:
    if not 100 <= parse_duration(text) <= 86_400_000:
        raise ValueError("interval is between 100ms and a day")
    return text


class DirectoryBody(StrictModel):
    """Files that arrive in a folder. Each is read once, and must arrive complete, by a rename."""

    directory: Annotated[_Text, Field(description="an address such as s3://bucket/folder, without globs")]
    glob: Annotated[_Text | None, Field(description="which file names are read, such as *.ndjson")] = None
    format: Literal["json", "ndjson", "csv", "parquet", "arrow"] = "ndjson"
    compression: Annotated[
        Literal["none", "gzip", "zstd"] | None, Field(description="left out: by each file's name")
    ] = None
    files_per_batch: Annotated[int, Field(ge=1, le=100_000)] = 1_000


class KafkaBody(StrictModel):
    """A topic whose messages are records."""

    bootstrap_servers: Annotated[_Text, Field(description="host:port, separated by commas")]
    topic: Annotated[str, _TOPIC]
    starting_offsets: Literal["earliest", "latest"] = "earliest"
    messages_per_batch: Annotated[int, Field(ge=1, le=100_000_000)] = 100_000


class KafkaSourceBody(StrictModel):
    """Messages, each with one JSON object."""

    kafka: KafkaBody
    format: Literal["json", "ndjson"] = "json"


def _form_of_source(source: object) -> str:
    return tag_of(KafkaSourceBody if has_field(source, "kafka") else DirectoryBody)


_Source = Annotated[
    Annotated[DirectoryBody, Tag(tag_of(DirectoryBody))]
    | Annotated[KafkaSourceBody, Tag(tag_of(KafkaSourceBody))],
    Discriminator(_form_of_source),
]


class _Stream(StrictModel):
    request_id: Annotated[
        UUID | None,
        Field(
            strict=False,
            description="the same id from the same caller is one stream, however often it is sent",
        ),
    ] = None
    name: Annotated[str, StringConstraints(max_length=255), NO_CONTROLS_OR_EMPTY] = ""
    source: _Source
    interval: Annotated[
        str,
        AfterValidator(_interval),
        Field(
            description="how often new input is written: 100ms at least, a day at most",
            # Only for the description, and stricter than `_interval`, whose messages are better.
            json_schema_extra={"pattern": r"^([1-9][0-9]{2,6}ms|[1-9][0-9]{0,3}s|[1-9][0-9]{0,2}m)$"},
            examples=["60s"],
        ),
    ] = "60s"
    on_error: Annotated[OnError, Field(strict=False)] = OnError.REJECT_REQUEST

    @property
    def interval_ms(self) -> int:
        """The interval in milliseconds."""
        return parse_duration(self.interval)


class StreamToTable(TargetBody, _Stream):
    """All records go to one table."""


class StreamByRoute(_Stream):
    """Records are routed by one of their fields."""

    route: RouteBody


def _form(body: object) -> str:
    return tag_of(StreamByRoute if has_field(body, "route") else StreamToTable)


StreamBody = Annotated[
    Annotated[StreamToTable, Tag(tag_of(StreamToTable))]
    | Annotated[StreamByRoute, Tag(tag_of(StreamByRoute))],
    Discriminator(_form),
]
STREAM_BODY: TypeAdapter[StreamBody] = TypeAdapter(StreamBody)


class StreamError(WireModel):
    """The error that ended a stream, or that keeps a running stream from continuing for now."""

    code: str
    detail: str


class StreamsQuery(StrictModel):
    """The query string of GET /streams."""

    principal: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=255,
            description="only this caller's; administrators by policies may name another one, or `*` for all",
        ),
    ] = None


class StreamProgress(WireModel):
    """The batches and records that a stream has read and written so far."""

    batches: int
    records: int
    rejected: int
    last_batch_id: int | None
    last_batch_at: datetime | None


class StreamLagAnswer(WireModel):
    """How far a stream is behind."""

    lag_ms: Annotated[
        int, Field(description="since it last finished a batch or had nothing to read, in milliseconds")
    ]
    messages: Annotated[int | None, Field(description="messages not read yet; null: not counted")]


class StreamAnswer(WireModel):
    """A stream, as it is now."""

    stream_id: UUID
    principal: Annotated[str, Field(description="its creator, for whom it writes")]
    roles: Annotated[
        list[str], Field(description="the creator's roles when it created or last resumed the stream")
    ]
    name: str
    state: StreamState
    error: StreamError | None
    created_at: datetime
    checkpoint_id: UUID | None
    progress: StreamProgress
    lag: Annotated[
        StreamLagAnswer | None, Field(description="null: the gateway that answers does not run the stream")
    ]
    definition: dict[str, Any]
    links: dict[str, str]


class StreamList(WireModel):
    """A caller's streams, the newest first."""

    streams: list[StreamAnswer]


def stream_answer(record: StreamRecord, lag: StreamLag | None) -> StreamAnswer:
    """Returns the stream as it is on the wire."""
    error = None
    if record.error_code is not None:
        error = StreamError(code=record.error_code, detail=record.error_detail or "")
    return StreamAnswer(
        stream_id=record.stream_id,
        principal=record.caller,
        roles=[] if record.creator_roles is None else sorted(record.creator_roles.roles),
        name=record.name,
        state=record.state,
        error=error,
        created_at=record.created_at,
        checkpoint_id=record.checkpoint_id,
        progress=StreamProgress(
            batches=record.batch_count,
            records=record.record_count,
            rejected=record.rejected_count,
            last_batch_id=record.last_batch_id,
            last_batch_at=record.last_batch_at,
        ),
        lag=None if lag is None else StreamLagAnswer(lag_ms=lag.lag_ms, messages=lag.messages),
        definition=dict(record.body),
        links={"self": f"/streams/{record.stream_id}", "resume": f"/streams/{record.stream_id}/resume"},
    )
