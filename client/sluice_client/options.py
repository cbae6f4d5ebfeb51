"""The keyword arguments of calls, and the connection's defaults for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict
from uuid import UUID

from sluice_client.ingest.ingest_request import Mode, OnError, Wait, WriteSchema
from sluice_client.query.parameters import Parameters
from sluice_client.query.query_request import QueryRequest
from sluice_client.session_calls import SessionOptions


class QueryOptions(TypedDict, total=False):
    """The options of a query. The gateway has a default for each that is left out."""

    catalog: str
    """For names without a catalog."""
    schema: str
    """For names without a schema."""
    timeout_s: float
    """Ends the query itself."""
    row_limit: int | Literal["MAX"]
    """Rows of the result at most; `MAX`: as many as the gateway's operator allows."""
    byte_limit: int | Literal["MAX"]
    """Bytes of the result in Arrow at most; `MAX` as above."""
    tags: Mapping[str, str]
    """Kept with the query's record."""
    dynamic_filtering: Mapping[str, Any]
    """How scans may be pruned, as the field `dynamicFiltering` of POST /query has it."""
    reuse_result: bool | Literal["REFRESH"]
    """Whether an earlier result may be the answer; `REFRESH` runs the query and replaces that result."""
    priority: Literal["HIGH", "NORMAL", "LOW"]
    """Which of the caller's own queries goes first while several wait; others' turns stay as they are."""
    request_id: UUID
    """Made by the client, unless it is given. The same id is the same query, which does not run again."""


class IngestOptions(TypedDict, total=False):
    """The options of an ingest. The gateway has a default for each that is left out."""

    write_schema: WriteSchema
    """The columns that the data files hold: names, an Iceberg schema, or `infer`."""
    branch: str
    mode: Mode
    equality_fields: Sequence[str]
    """For an upsert or a delete: the columns that identify a row."""
    delete_when: Mapping[str, Any]
    """For an upsert: the `field` and `values` of records that only delete the rows of their keys."""
    envelope: Literal["debezium"]
    """For an upsert: the form of JSON records that are events of change data capture."""
    order_by: str
    """For an upsert: the column by which late records lose."""
    rest: str
    """The column that takes the fields of a record that no written column has, as one JSON object."""
    sort_order: Sequence[Mapping[str, Any]]
    schema: Mapping[str, Any]
    """An Iceberg schema that the table is matched against."""
    evolve: bool
    """Whether the table may change to match `schema`."""
    drop_required: bool
    create: Mapping[str, Any]
    """Creates the table from `schema` if it is missing; `{}` is enough."""
    wait: Wait
    """`COMMITTED`, the default: in the table. `ACCEPTED`: durable, and committed later."""
    on_error: OnError
    request_id: UUID
    """Made by the client, unless it is given. The same id is written once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryDefaults:
    """The options of all queries of a connection, unless they have their own."""

    catalog: str | None = None
    schema: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    session_id: UUID | None = None
    """The session that the queries are sent in."""

    def in_session(self) -> QueryDefaults:
        """Returns those of queries in a session, which has a catalog and a schema of its own."""
        return QueryDefaults(tags=self.tags)

    def session(self, options: SessionOptions) -> SessionOptions:
        """Returns the values of a new session. A catalog of its own does not go with the default schema."""
        mine: SessionOptions = {}
        if self.catalog is not None:
            mine["catalog"] = self.catalog
        if self.schema is not None and "catalog" not in options:
            mine["schema"] = self.schema
        return {**mine, **options}

    def request(self, sql: str, parameters: Parameters | None, options: QueryOptions) -> QueryRequest:
        """Returns a query with these defaults. A catalog of its own does not go with the default schema."""
        mine: QueryOptions = {}
        if self.catalog is not None:
            mine["catalog"] = self.catalog
        if self.schema is not None and "catalog" not in options:
            mine["schema"] = self.schema
        tags = {**self.tags, **options.get("tags", {})}
        chosen: QueryOptions = {**mine, **options, "tags": tags}
        return QueryRequest(sql=sql, parameters=parameters, session_id=self.session_id, **chosen)
