"""The explanation of a query: what it did or would do, and why."""

from __future__ import annotations

from typing import Any

from sluice_client.calls import Answer
from sluice_client.explaining.explanation_facts import ExplanationFacts, Filter, Scan
from sluice_client.explaining.picture import picture
from sluice_client.explaining.tree import tree
from sluice_client.json_fields import Fields, fields_of
from sluice_client.query.query_answer import Selection


class Explanation(ExplanationFacts):
    """The explanation of a query. `str` is a tree; in a notebook, it is a picture."""

    __slots__ = ()

    def __str__(self) -> str:
        return tree(self)

    def _repr_html_(self) -> str:
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
        row_groups=_optional_selection(fields, "rowGroups"),
        data_files_left_out=fields.optional_integer("dataFilesLeftOut") or 0,
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


def _optional_selection(fields: Fields, name: str) -> Selection | None:
    found = fields.optional_object(name)
    return None if found is None else _selection(found)


def _of_type(fields: Fields, kind: type[Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.raw().items() if isinstance(value, kind)}
