"""What a query did, or would do, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sluice_client.calls import Answer
from sluice_client.json_fields import Fields, fields_of
from sluice_client.query.query_answer import Selection


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """What one scan read of its table. `rows_read` is None if the query was only planned."""

    table: str
    partitions: Selection
    manifests: Selection
    data_files: Selection
    bytes: Selection
    rows_total: int
    rows_read: int | None
    has_run: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """One candidate of dynamic filtering, applied or not, with its reason."""

    filter_id: str
    probe_table: str
    probe_columns: tuple[str, ...]
    build_tables: tuple[str, ...]
    build_columns: tuple[str, ...]
    predicate: str
    source: str
    form: str
    values: int
    is_applied: bool
    reason: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The explanation of a query. `str` is a tree; in a notebook, it is a picture."""

    query_id: UUID | None
    """None: the query was only planned."""
    state: str
    sql: str
    rewritten_sql: str | None
    """None: the query runs as written."""
    error: str | None
    scans: tuple[Scan, ...]
    filters: tuple[Filter, ...]
    plans: Mapping[str, str]
    """By name: `ast`, `optimizedPhysical`, `execution` and `spark`."""
    timings_ms: Mapping[str, int]
    raw: Mapping[str, Any]
    """The whole answer of the gateway."""

    def __str__(self) -> str:
        from sluice_client.explaining.tree import tree

        return tree(self)

    def _repr_html_(self) -> str:
        from sluice_client.explaining.picture import picture

        return picture(self)


def explanation_of(answer: Answer) -> Explanation:
    """Reads an answer of /explain.

    Raises:
        UnexpectedAnswer: it is not one.
    """
    fields = fields_of(answer)
    error = fields.optional_object("error")
    return Explanation(
        query_id=fields.optional_uuid("queryId"),
        state=fields.text("state"),
        sql=fields.text("sql"),
        rewritten_sql=fields.optional_text("rewrittenSql"),
        error=None if error is None else f"{error.text('code')}: {error.text('detail')}",
        scans=tuple(map(_scan, fields.objects("scans"))),
        filters=tuple(map(_filter, fields.objects("filters"))),
        plans=_of_type(fields.object("plans"), str),
        timings_ms=_of_type(fields.object("timings"), int),
        raw=fields.raw(),
    )


def _scan(fields: Fields) -> Scan:
    rows = fields.object("rows")
    return Scan(
        table=fields.text("table"),
        partitions=_selection(fields.object("partitions")),
        manifests=_selection(fields.object("manifests")),
        data_files=_selection(fields.object("dataFiles")),
        bytes=_selection(fields.object("bytes")),
        rows_total=rows.integer("total"),
        rows_read=rows.optional_integer("read"),
        has_run=fields.boolean("hasRun"),
    )


def _filter(fields: Fields) -> Filter:
    probe, build = fields.object("probe"), fields.object("build")
    return Filter(
        filter_id=fields.text("filterId"),
        probe_table=probe.text("table"),
        probe_columns=probe.texts("columns"),
        build_tables=build.texts("tables"),
        build_columns=build.texts("columns"),
        predicate=build.optional_text("predicate") or "",
        source=fields.text("source"),
        form=fields.text("form"),
        values=fields.integer("values"),
        is_applied=fields.boolean("applied"),
        reason=fields.text("reason"),
        detail=fields.optional_text("detail") or "",
    )


def _selection(fields: Fields) -> Selection:
    return Selection(fields.integer("selected"), fields.integer("total"))


def _of_type(fields: Fields, kind: type[Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.raw().items() if isinstance(value, kind)}
