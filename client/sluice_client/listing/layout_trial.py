"""Trials of advice on the layout of a table."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote
from uuid import UUID

from sluice_client.calls import Flow, JsonBody, Request, pause
from sluice_client.json_fields import Fields, fields_of
from sluice_client.retries import Context, retried

_ENDS = frozenset({"SUCCEEDED", "FAILED", "CANCELED"})


@dataclass(frozen=True, slots=True)
class TriedBytes:
    """Bytes that scans select of the table now, by prediction, and of the changed copy."""

    now: int
    predicted: int
    seen: int

    @property
    def difference(self) -> float | None:
        """Predicted less seen bytes, as a share of the seen ones; None if nothing was seen of something."""
        if self.predicted == self.seen:
            return 0.0
        return (self.predicted - self.seen) / self.seen if self.seen else None


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedFilter:
    """Equal scans, by the columns that they were filtered by."""

    columns: tuple[str, ...]
    scan_count: int
    bytes: TriedBytes


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialReport:
    """The sums of all scans, and the filters that read most."""

    columns: tuple[str, ...]
    scan_count: int
    bytes: TriedBytes
    table_bytes_now: int
    table_bytes_seen: int
    """Those of the changed copy. Sorted rows often take less space."""
    difference_at_size: float | None
    """The difference of `bytes`, if the size of the copy had been known."""
    is_size_predicted: bool
    """Whether the prediction knew how well rows compress after the change; older gateways never do."""
    filters: tuple[TriedFilter, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutTrial:
    """A trial, as it is now."""

    trial_id: UUID
    table: str
    kind: str
    """`PARTITION`, `SORT`, `BLOOM_FILTER`, `FILE_SIZE` or `COMPACTION`."""
    state: str
    """`ADVISING`, `REWRITING`, `MEASURING`, or an end: `SUCCEEDED`, `FAILED`, `CANCELED`."""
    report: TrialReport | None
    error_code: str | None
    error_detail: str | None
    raw: dict[str, Any]

    @property
    def is_ended(self) -> bool:
        """Whether nothing changes any more."""
        return self.state in _ENDS


def begin_trial(table: str, kind: str, context: Context, days: int | None = None) -> Flow[LayoutTrial]:
    """Begins a trial, and returns it at once.

    Args:
        table: catalog.schema.table.
        kind: the kind of advice to try.
        context: the connection's settings.
        days: only for scans of so many days; None: as many as the operator has set.

    Raises:
        NotFound: there is no such table.
        GatewayError: trials are off, another one runs, or the caller may not have one.
    """
    values = {"kind": kind} if days is None else {"kind": kind, "days": days}
    body = JsonBody(json.dumps(values).encode())
    request = Request(
        method="POST",
        path=_path(table),
        max_bytes=context.bounds.max_answer_bytes,
        body=body,
        is_repeatable=False,
    )
    return _trial(fields_of((yield from retried(request, context))))


def find_trial(table: str, trial_id: UUID, context: Context) -> Flow[LayoutTrial]:
    """Returns the trial as it is now.

    Raises:
        NotFound: the table has none with this id.
    """
    return (yield from _one("GET", table, trial_id, context))


def cancel_trial(table: str, trial_id: UUID, context: Context) -> Flow[LayoutTrial]:
    """Asks for the end of the trial, and returns it as it is now. One that has ended stays as it is.

    Raises:
        NotFound: the table has none with this id.
    """
    return (yield from _one("DELETE", table, trial_id, context))


def list_trials(table: str, context: Context) -> Flow[tuple[LayoutTrial, ...]]:
    """Returns the newest trials of the table, the newest first."""
    request = Request(method="GET", path=_path(table), max_bytes=context.bounds.max_answer_bytes)
    fields = fields_of((yield from retried(request, context)))
    return tuple(map(_trial, fields.objects("trials")))


def awaited_trial(trial: LayoutTrial, state: str, context: Context, every_s: float) -> Flow[LayoutTrial]:
    """Returns the trial once it has ended, or is in another state than this one.

    Raises:
        NotFound: it was deleted.
    """
    while not trial.is_ended and trial.state == state:
        yield from pause(every_s)
        trial = yield from find_trial(trial.table, trial.trial_id, context)
    return trial


def _one(method: Any, table: str, trial_id: UUID, context: Context) -> Flow[LayoutTrial]:
    request = Request(
        method=method, path=f"{_path(table)}/{trial_id}", max_bytes=context.bounds.max_answer_bytes
    )
    return _trial(fields_of((yield from retried(request, context))))


def _path(table: str) -> str:
    return f"/advice/{quote(table, safe='')}/trials"


def _trial(fields: Fields) -> LayoutTrial:
    report, error = fields.optional_object("report"), fields.optional_object("error")
    return LayoutTrial(
        trial_id=fields.uuid("trialId"),
        table=fields.text("table"),
        kind=fields.text("kind"),
        state=fields.text("state"),
        report=None if report is None else _report(report),
        error_code=None if error is None else error.text("code"),
        error_detail=None if error is None else error.text("detail"),
        raw=dict(fields.raw()),
    )


def _report(fields: Fields) -> TrialReport:
    return TrialReport(
        columns=fields.texts("columns"),
        scan_count=fields.integer("scans"),
        bytes=_bytes(fields),
        table_bytes_now=fields.object("tableNow").integer("bytes"),
        table_bytes_seen=fields.object("tableSeen").integer("bytes"),
        difference_at_size=fields.optional_number("differenceAtSize"),
        is_size_predicted=fields.raw().get("isSizePredicted") is True,
        filters=tuple(map(_filter, fields.objects("filters"))),
    )


def _filter(fields: Fields) -> TriedFilter:
    return TriedFilter(
        columns=fields.texts("columns"), scan_count=fields.integer("scans"), bytes=_bytes(fields)
    )


def _bytes(fields: Fields) -> TriedBytes:
    return TriedBytes(
        fields.object("now").integer("bytes"),
        fields.object("predicted").integer("bytes"),
        fields.object("seen").integer("bytes"),
    )
