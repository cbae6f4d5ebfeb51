"""The body of POST /query, and the query string of GET /query/{id}."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal, TypeVar
from uuid import UUID

from pydantic import AfterValidator, Field, StringConstraints

from api.bootstrap.spelling import NO_NUL, Spelled
from api.http.rendering.download_formats import DownloadFormat
from api.http.schemas.durations import DurationMs, WaitMs
from api.http.schemas.wire import StrictModel
from service.model.query.priority import Priority
from service.model.query.query import JsonScalar
from service.model.query.results import ResultFormat
from service.model.query.rewrites import RewriteKind


class OnWaitTimeout(StrEnum):
    """The action on a query that has not ended when the wait ends."""

    CONTINUE = "CONTINUE"
    CANCEL = "CANCEL"


T = TypeVar("T")


def _whole_characters(value: T) -> T:
    # JSON can spell a lone surrogate ("\ud800"), which neither the engine nor any store accepts.
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ValueError("the text has half of a character (a surrogate without its pair)") from None
    return value


SqlText = Annotated[str, AfterValidator(_whole_characters)]
Scalar = Annotated[JsonScalar, AfterValidator(_whole_characters)]
SqlType = Annotated[
    str,
    StringConstraints(max_length=64),
    Spelled(
        r"^[A-Za-z][A-Za-z_]{0,30}( ?\( ?[0-9]{1,2} ?(, ?[0-9]{1,2} ?)?\))?$",
        "it is not the type of a single value, such as DATE or DECIMAL(7,2)",
    ),
]
ParameterName = Annotated[
    str,
    Spelled(
        r"^[A-Za-z_][A-Za-z0-9_]{0,127}$",
        "a parameter's name has letters, digits and _, does not begin with a digit, and has 128"
        " characters at most; only the SQL has its colon",
    ),
]
Identifier = Annotated[str, StringConstraints(min_length=1, max_length=255), NO_NUL]
TagName = Annotated[str, StringConstraints(min_length=1, max_length=64)]
TagValue = Annotated[str, StringConstraints(max_length=256)]
Limit = Annotated[int, Field(ge=1, le=2**53)]
Format = Annotated[ResultFormat, Field(strict=False)]
Rewrite = Annotated[RewriteKind, Field(strict=False)]


class TypedParameter(StrictModel):
    """A value with its SQL type."""

    value: Scalar
    type: Annotated[SqlType, Field(description="a SQL type, such as `DATE` or `DECIMAL(7,2)`")]


Parameter = Scalar | TypedParameter

_REQUEST_ID = "the same id from the same caller gives the same query, never a second run"
_REUSE = (
    "true: an earlier result is the answer if a run would give the same now; false: the query runs; REFRESH:"
    " it runs, and its result replaces the one that is kept"
)
_FORMAT = "JSON has the first rows in this answer; CSV and ARROW_STREAM are read from `nextChunkLink`"


class DynamicFiltering(StrictModel):
    """How the scans of this query may be pruned by the keys that it joins.

    Values left out are the operator's, and no bound may be above the operator's.
    """

    enabled: Annotated[bool, Field(description="false: the query runs as written")] = True
    verify: Annotated[
        bool, Field(description="runs the query as written too, and fails if the rows differ")
    ] = False
    min_table_bytes: Annotated[
        int | None,
        Field(ge=0, le=2**53, description="smaller tables are not pruned; 0: all may be, whatever it costs"),
    ] = None
    max_filter_bytes: Annotated[
        int | None, Field(ge=0, le=2**53, description="larger sets of keys prune by ranges, if at all")
    ] = None
    collect_timeout: Annotated[
        DurationMs | None, Field(description="how long the query waits for its filters")
    ] = None
    max_in_list: Annotated[
        int | None, Field(ge=0, le=2**53, description="keys in a list at most; 0: ranges only")
    ] = None
    max_ranges: Annotated[int | None, Field(ge=1, le=2**53, description="ranges of one filter at most")] = (
        None
    )
    rewrites: Annotated[
        list[Rewrite] | None,
        Field(max_length=len(RewriteKind), description="other changes that the text may get; []: none"),
    ] = None


class QueryBody(StrictModel):
    """A query. `sql` alone is enough; other defaults are shown here, or are the operator's."""

    sql: Annotated[SqlText, Field(description="one SELECT, with `:name` or `?` for parameters")]
    parameters: Annotated[
        dict[ParameterName, Parameter] | list[Parameter],
        Field(description="by name or by position; typed by JSON, or as `{value, type}`"),
    ] = Field(default_factory=dict)
    catalog: Annotated[Identifier | None, Field(description="for names without a catalog")] = None
    schema_: Annotated[Identifier | None, Field(alias="schema", description="for names without a schema")] = (
        None
    )
    session_id: Annotated[
        UUID | None,
        Field(strict=False, description="a session of the caller's: its values, unless this body has others"),
    ] = None
    wait_timeout: Annotated[
        WaitMs,
        Field(
            default="10s",
            validate_default=True,
            description="how long this answer may take: 0s to 50s; 0s answers at once",
        ),
    ]
    on_wait_timeout: Annotated[
        OnWaitTimeout, Field(strict=False, description="what happens to the query when the wait ends")
    ] = OnWaitTimeout.CONTINUE
    timeout: Annotated[DurationMs | None, Field(description="ends the query itself")] = None
    row_limit: Annotated[
        Limit | Literal["MAX"] | None,
        Field(description="rows of the result at most; MAX: as many as the operator allows"),
    ] = None
    byte_limit: Annotated[
        Limit | Literal["MAX"] | None,
        Field(description="bytes of the result in Arrow at most; MAX: as many as the operator allows"),
    ] = None
    format: Annotated[Format, Field(description=_FORMAT)] = ResultFormat.JSON
    request_id: Annotated[UUID | None, Field(strict=False, description=_REQUEST_ID)] = None
    reuse_result: Annotated[
        bool | Literal["REFRESH"] | None,
        Field(description=_REUSE),
    ] = None
    priority: Annotated[
        Priority,
        Field(
            strict=False,
            description="HIGH goes before the caller's other waiting queries in its resource group, LOW after"
            " them; other callers' turns stay as they are",
        ),
    ] = Priority.NORMAL
    tags: Annotated[
        dict[TagName, TagValue], Field(max_length=32, description="kept with the query's record")
    ] = Field(default_factory=dict)
    dynamic_filtering: Annotated[
        DynamicFiltering, Field(description="dynamic partition pruning for this query")
    ] = DynamicFiltering()


class QueryQuery(StrictModel):
    """The query string of GET and DELETE /query/{id}."""

    wait_timeout: Annotated[
        WaitMs,
        Field(default="0s", validate_default=True, description="how long this answer may take: 0s to 50s"),
    ]
    format: Annotated[Format | None, Field(description=_FORMAT + "; the query's own unless given")] = None


class RequestQuery(QueryQuery):
    """The query string of DELETE /query."""

    request_id: Annotated[
        UUID, Field(strict=False, description="the `requestId` that the query was sent with")
    ]


class DownloadQuery(StrictModel):
    """The query string of GET /query/{id}/result."""

    format: Annotated[
        DownloadFormat | None,
        Field(strict=False, description="used when Accept leaves it open; like the query's own unless given"),
    ] = None


class ChunkQuery(StrictModel):
    """The query string of GET /query/{id}/chunks/{n}."""

    format: Annotated[
        Format | None, Field(description="used when Accept leaves it open; the query's own unless given")
    ] = None
