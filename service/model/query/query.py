"""A query, from the caller's request to the record that it leaves."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from service.model.audit.events import Origin
from service.model.filters.filter_record import FilterRecord
from service.model.policies.decisions import FULL_ACCESS, Access
from service.model.query.lineage import ResultLineage
from service.model.query.priority import Priority
from service.model.query.results import ResultFormat
from service.model.query.reuse import ReuseChoice, Reused
from service.model.query.rewrites import RewriteKind, RewriteRecord
from service.model.query.scan_metrics import ScanRecord
from service.model.query.verification import Verification
from service.model.sessions.sessions import SessionUse
from service.model.writes.writes import WriteRecord
from service.tracing import TraceContext

JsonScalar = str | int | float | bool | None


class QueryState(StrEnum):
    """The state of a query; the last three are final."""

    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    CANCELED = "CANCELED"

    @property
    def is_final(self) -> bool:
        """Whether the query will never change state again."""
        return self in (QueryState.SUCCEEDED, QueryState.FAILED, QueryState.CANCELED)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One value that the engine binds; it is never pasted into the text.

    `type_name` is a SQL type such as `DATE` or `DECIMAL(7,2)`; None takes the type from the JSON value.
    """

    value: JsonScalar
    type_name: str | None = None


Parameters = Mapping[str, Parameter] | tuple[Parameter, ...]
"""Named (`:name` in the text) or positional (`?`)."""


def positional_name(number: int) -> str:
    """Returns the name of a positional parameter in queries with named parameters; the first has number 1."""
    return f"positional_{number}"


def by_name(parameters: Parameters) -> Mapping[str, Parameter]:
    """Returns the same parameters by name; positional ones get names.

    >>> list(by_name((Parameter(7), Parameter(8))))
    ['positional_1', 'positional_2']
    """
    if isinstance(parameters, Mapping):
        return parameters
    return {positional_name(number): parameter for number, parameter in enumerate(parameters, start=1)}


@dataclass(frozen=True, slots=True)
class PruningRequest:
    """A caller's options for dynamic filtering; None means the operator's setting.

    `rewrites` are made besides filters, as far as the operator allows them.
    """

    is_enabled: bool = True
    is_verified: bool = False
    min_table_bytes: int | None = None
    max_filter_bytes: int | None = None
    collect_timeout_ms: int | None = None
    max_in_list: int | None = None
    max_ranges: int | None = None
    rewrites: frozenset[RewriteKind] | None = None

    @property
    def is_always_worth_it(self) -> bool:
        """Whether the caller wants filters whatever they cost."""
        return self.min_table_bytes == 0

    def allows(self, kind: RewriteKind) -> bool:
        """Returns whether the caller allows this rewrite of the text."""
        return self.rewrites is None or kind in self.rewrites


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """A caller's request; every bound is already resolved to a number."""

    sql: str
    parameters: Parameters = ()
    catalog: str | None = None
    schema: str | None = None
    timeout_ms: int = 300_000
    row_limit: int = 10_000
    byte_limit: int = 100 * 1024 * 1024
    request_id: UUID | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    pruning: PruningRequest = PruningRequest()
    format: ResultFormat = ResultFormat.JSON
    reuse: ReuseChoice | None = None
    """None: the operator's setting."""
    session: SessionUse | None = None
    priority: Priority = Priority.NORMAL

    def text_fingerprint(self) -> str:
        """Returns a text that is the same for two requests of one text with the same values."""
        asked = (self.sql, self.catalog, self.schema, repr(self.parameters))
        return hashlib.sha256(repr(asked).encode(errors="surrogatepass")).hexdigest()

    def fingerprint(self) -> str:
        """Returns a text that is the same for two requests exactly when they ask the same thing."""
        parameters = (
            {name: [parameter.value, parameter.type_name] for name, parameter in self.parameters.items()}
            if isinstance(self.parameters, Mapping)
            else [[parameter.value, parameter.type_name] for parameter in self.parameters]
        )
        # The values of the session may have changed since the same request was sent before.
        place = [str(self.session.session_id)] if self.session else [self.catalog, self.schema]
        asked = [self.sql, parameters, *place, self.timeout_ms]
        bounds = [self.row_limit, self.byte_limit, dict(self.tags), asdict(self.pruning)]
        if self.reuse is not None:
            bounds.append(self.reuse.value)
        if self.priority is not Priority.NORMAL:
            bounds.append(self.priority.value)
        text = json.dumps(asked + bounds, sort_keys=True, default=sorted)
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class QueryError:
    """The reason why a query did not succeed; `code` is a stable code of docs/reference/errors.md."""

    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class EngineRun:
    """The engine's report on a query that started to run, whether or not it succeeded.

    `applied` are the names of the policies that it applied; None: it did not say.
    """

    planning_ms: int
    running_ms: int
    scans: tuple[ScanRecord, ...]
    plan_text: str
    applied: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class QueryRecord:
    """The record of a query, whatever its end; the metrics store keeps it.

    A worker's time is split where the plan was ready: `queued_ms`, `planning_ms` and `running_ms` add up to
    the time from submission to end. `parse_ms`, `detect_ms` and `filters_ms` are parts of `planning_ms`.

    `rewritten_sql` is None when the query ran as its caller wrote it. `verification` is None when none was
    requested, or the query did not get that far. `trace` is None when the request was not traced. `lineage`
    is for lineage consumers. `origin`, `access`, and the names of the policies that the engine `applied` are
    for the audit log: the metrics store does not keep them here. `reused` is None when the query ran itself.
    `write` is what a statement that writes has begun; the store keeps it in a table of its own.
    """

    query_id: UUID
    caller: str
    sql: str
    state: QueryState
    submitted_at: datetime
    catalog: str | None = None
    schema: str | None = None
    request_id: UUID | None = None
    fingerprint: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)
    error: QueryError | None = None
    queued_ms: int = 0
    planning_ms: int = 0
    running_ms: int = 0
    row_count: int = 0
    byte_count: int = 0
    scans: tuple[ScanRecord, ...] = ()
    spark_plan: str = ""
    filters: tuple[FilterRecord, ...] = ()
    rewritten_sql: str | None = None
    parse_ms: int = 0
    detect_ms: int = 0
    filters_ms: int = 0
    rewrites: tuple[RewriteRecord, ...] = ()
    verification: Verification | None = None
    lineage: ResultLineage | None = None
    trace: TraceContext | None = None
    origin: Origin | None = None
    access: Access = FULL_ACCESS
    applied: tuple[str, ...] | None = None
    reused: Reused | None = None
    write: WriteRecord | None = None
