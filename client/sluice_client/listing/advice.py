"""Advice on the layout of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from sluice_client.calls import Flow, Request
from sluice_client.json_fields import Fields, fields_of
from sluice_client.retries import Context, retried


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutAdvice:
    """One change of a table's layout, with what recorded scans read before and after it."""

    kind: str
    """`PARTITION`, `SORT`, `BLOOM_FILTER`, `FILE_SIZE` or `COMPACTION`."""
    reason: str
    columns: tuple[str, ...]
    bytes_before: int
    bytes_after: int
    """Predicted. Those of a bloom filter are bytes of row groups."""
    files_before: int
    files_after: int
    statements: tuple[str, ...]
    """Spark SQL that makes the change, in this order."""

    @property
    def saved_share(self) -> float:
        """The saved bytes as a share of those before; negative if more would be read."""
        return 1 - self.bytes_after / self.bytes_before if self.bytes_before else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TableAdvice:
    """Advice for one table, what saves most first."""

    table: str
    scan_count: int
    """The recorded scans that it is for."""
    recorded_bytes: int
    """The bytes that these scans have read."""
    advice: tuple[LayoutAdvice, ...]
    notes: tuple[str, ...]
    """Whatever was left out, with the reason."""
    raw: dict[str, Any]


def advise(
    name: str, context: Context, days: int | None = None, *, answer_s: float | None = None
) -> Flow[TableAdvice]:
    """Returns advice for one table, by its full name.

    Args:
        name: catalog.schema.table.
        context: the connection's settings.
        days: only for scans of so many days; None: as many as the operator has set.
        answer_s: the longest wait for bytes.

    Raises:
        NotFound: there is no such table.
    """
    request = Request(
        method="GET",
        path=f"/advice/{quote(name, safe='')}",
        parameters={} if days is None else {"days": str(days)},
        max_bytes=context.bounds.max_answer_bytes,
        answer_s=answer_s,
    )
    fields = fields_of((yield from retried(request, context)))
    workload = fields.object("workload")
    return TableAdvice(
        table=fields.text("table"),
        scan_count=workload.integer("scans"),
        recorded_bytes=workload.object("recorded").integer("bytes"),
        advice=tuple(map(_advice, fields.objects("advice"))),
        notes=tuple(fields.texts("notes")),
        raw=dict(fields.raw()),
    )


def _advice(fields: Fields) -> LayoutAdvice:
    before, after = fields.object("before"), fields.object("after")
    return LayoutAdvice(
        kind=fields.text("kind"),
        reason=fields.text("reason"),
        columns=tuple(fields.texts("columns")),
        bytes_before=before.integer("bytes"),
        bytes_after=after.integer("bytes"),
        files_before=before.integer("dataFiles"),
        files_after=after.integer("dataFiles"),
        statements=tuple(fields.texts("statements")),
    )
