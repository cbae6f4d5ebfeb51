"""One filter, as an explanation shows it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from api.http.schemas.wire import WireModel
from service.model.filters.dynamic_filter import Build, JoinType, Probe
from service.model.filters.filter_record import FilterRecord, Reason
from service.model.filters.key_set import FilterForm, FilterSource


class ProbeAnswer(WireModel):
    """The scan that the filter can prune."""

    table: str
    columns: list[str]
    snapshot_id: int | None
    alias: Annotated[
        str | None,
        Field(description="alias of the table reference; null: there is no single reference"),
    ]
    table_reference: Annotated[
        int | None,
        Field(description="number of the table reference in the text with views expanded, from 1"),
    ]


class BuildAnswer(WireModel):
    """The tables that the keys are collected from. Snapshots are in the order of the tables."""

    tables: list[str]
    columns: list[str]
    predicate: str
    snapshot_ids: list[int | None]
    union: Annotated[
        bool, Field(description="the keys are the union of several build sides, which are not joined")
    ]


class FilterAnswer(WireModel):
    """One candidate, applied or not."""

    filter_id: str
    join_type: JoinType
    probe: ProbeAnswer
    build: BuildAnswer
    source: FilterSource
    values: Annotated[int, Field(description="number of keys, including NULL")]
    bytes: Annotated[int, Field(description="size of the keys, as they are cached")]
    form: FilterForm
    ranges: Annotated[
        list[tuple[int | str, int | str]],
        Field(description="both ends inclusive; for a composite key, of its first column"),
    ]
    exceeds_threshold: bool
    collect_ms: int
    applied: bool
    reason: Reason
    cache_note: Annotated[
        str, Field(description="why the filter cache could not be used; empty: it was not needed, or worked")
    ]
    detail: Annotated[
        str,
        Field(
            description="the exact cause behind the reason, the set that contained the keys, or what chose"
            " the files, in words; may be empty"
        ),
    ]


def filter_answer(record: FilterRecord) -> FilterAnswer:
    """Returns the filter as it is on the wire."""
    return FilterAnswer(
        filter_id=record.filter_id,
        join_type=record.join_type,
        probe=_probe(record.probe),
        build=_build(record.build),
        source=record.source,
        values=record.value_count,
        bytes=record.byte_count,
        form=record.form,
        ranges=_ranges(record),
        exceeds_threshold=record.exceeds_threshold,
        collect_ms=record.collection_ms,
        applied=record.is_applied,
        reason=record.reason,
        cache_note=record.cache_note,
        detail=record.detail,
    )


def _probe(probe: Probe) -> ProbeAnswer:
    return ProbeAnswer(
        table=str(probe.table),
        columns=list(probe.columns),
        snapshot_id=probe.snapshot_id,
        alias=probe.alias or None,
        table_reference=probe.table_reference,
    )


def _build(build: Build) -> BuildAnswer:
    return BuildAnswer(
        tables=[str(table) for table in build.tables],
        columns=list(build.columns),
        predicate=build.predicate,
        snapshot_ids=list(build.snapshot_ids),
        union=build.is_union,
    )


def _ranges(record: FilterRecord) -> list[tuple[int | str, int | str]]:
    read = int if record.probe.type_names[:1] in (("int",), ("long",)) else str
    return [(read(low), read(high)) for low, high in record.ranges]
