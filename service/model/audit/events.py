"""One event of the audit log, and how events are selected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

ANONYMOUS = "anonymous"


class Action(StrEnum):
    """The kind of request that an event reports."""

    QUERY = "QUERY"
    QUERY_CANCELED = "QUERY_CANCELED"
    EXPLAIN = "EXPLAIN"
    INGEST = "INGEST"
    SESSION_CREATED = "SESSION_CREATED"
    SESSION_CHANGED = "SESSION_CHANGED"
    SESSION_ENDED = "SESSION_ENDED"
    SAVED_QUERY_CREATED = "SAVED_QUERY_CREATED"
    SAVED_QUERY_CHANGED = "SAVED_QUERY_CHANGED"
    SAVED_QUERY_DELETED = "SAVED_QUERY_DELETED"
    STREAM_CREATED = "STREAM_CREATED"
    STREAM_STOPPED = "STREAM_STOPPED"
    STREAM_RESUMED = "STREAM_RESUMED"
    MAINTENANCE = "MAINTENANCE"
    FILTERS_DELETED = "FILTERS_DELETED"
    CACHE_EMPTIED = "CACHE_EMPTIED"
    KEY_CREATED = "KEY_CREATED"
    KEY_REVOKED = "KEY_REVOKED"
    KEYS_LISTED = "KEYS_LISTED"
    LOGIN = "LOGIN"
    LOGOUT = "LOGOUT"
    AUDIT_READ = "AUDIT_READ"
    POLICIES_CHANGED = "POLICIES_CHANGED"
    POLICIES_READ = "POLICIES_READ"
    READ = "READ"
    """Any other read. Only refused ones are audited."""
    AUTHENTICATION = "AUTHENTICATION"
    """Only failed ones are audited, summed up by address and minute."""


class Outcome(StrEnum):
    """How an action ended.

    `ALLOWED`: the gateway has accepted it, and it ends later. `REFUSED`: nothing was done, because the
    request was not allowed, not valid, or too much. `FAILED`: it was begun and had an error, or a part was
    down.
    """

    ALLOWED = "ALLOWED"
    SUCCEEDED = "SUCCEEDED"
    REFUSED = "REFUSED"
    FAILED = "FAILED"


class WhenFull(StrEnum):
    """The policy for a full buffer: audited requests are refused, or new events are dropped."""

    REFUSE = "refuse"
    DROP = "drop"


@dataclass(frozen=True, slots=True)
class Origin:
    """Who sent a request, and from where.

    `kind`, `roles`, `caller_class` and `key_id` are those of the principal. `address` is that of the
    connection. It is None where there is no request, as for a micro-batch of a stream.
    """

    principal: str = ANONYMOUS
    kind: str = ""
    roles: tuple[str, ...] = ()
    caller_class: str = ""
    key_id: str | None = None
    address: str | None = None
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class Details:
    """The subject of an action, as far as it is known.

    `target` is the id of a key, a stream or a filter, or the path of a refused read. `fingerprint` is the
    SHA-256 of the statement; `statement` is its text, if the operator wants it. `columns` lists columns by
    table. `policies` are the names of the policies that were applied. `is_shortened` means that names or
    text were too many or too long, and the rest is missing here.
    """

    query_id: UUID | None = None
    ingest_id: UUID | None = None
    target: str | None = None
    fingerprint: str | None = None
    statement: str | None = None
    tables: tuple[str, ...] = ()
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    policies: tuple[str, ...] = ()
    row_count: int | None = None
    byte_count: int | None = None
    is_shortened: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent:
    """One event. `at` is when the action began, and `count` how many requests the event sums up.

    `action` and `outcome` are texts, because a newer version may have stored other ones.
    """

    event_id: UUID
    at: datetime
    action: str
    outcome: str
    origin: Origin = Origin()
    details: Details = Details()
    error_code: str | None = None
    duration_ms: int | None = None
    count: int = 1


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """A stored event. Later entries have higher positions."""

    position: int
    stored_at: datetime
    event: AuditEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSelection:
    """The entries to read, in the order of their positions. `since` and `until` bound when they were stored.

    `until` is exclusive.
    """

    after: int = 0
    since: datetime | None = None
    until: datetime | None = None
    principal: str | None = None
    action: str | None = None
    limit: int = 500


@dataclass(frozen=True, slots=True)
class AuditUse:
    """The events in the buffer, and the counts since the start.

    `refused` counts requests that the gateway refused because they could not be audited.
    """

    waiting: int = 0
    capacity: int = 0
    written: int = 0
    dropped: int = 0
    refused: int = 0
