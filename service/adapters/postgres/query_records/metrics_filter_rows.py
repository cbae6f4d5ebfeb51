"""Converts filter records to and from rows of the metrics store."""

from __future__ import annotations

from service.adapters.postgres.shared.metrics_tables import FilterRow
from service.adapters.postgres.shared.storable import storable
from service.model.filters.dynamic_filter import Build, JoinType, Probe
from service.model.filters.filter_record import FilterRecord, Reason
from service.model.filters.key_set import FilterForm, FilterSource
from service.model.query.query import QueryRecord
from service.model.tables.tables import TableName


def filter_values(record: QueryRecord) -> list[dict[str, object]]:
    """Returns the record's rows in `filters`."""
    return [
        {"query_id": record.query_id, "ordinal": ordinal, **_values(filter_record)}
        for ordinal, filter_record in enumerate(record.filters)
    ]


def filter_of(row: FilterRow) -> FilterRecord:
    """Returns the record that a row was made from."""
    return FilterRecord(
        filter_id=row.filter_id,
        join_type=JoinType(row.join_type),
        probe=_probe(row),
        build=_build(row),
        source=FilterSource(row.source),
        form=FilterForm(row.form),
        reason=Reason(row.reason),
        value_count=row.value_count,
        byte_count=row.byte_count,
        ranges=tuple((low, high) for low, high in row.ranges),
        exceeds_threshold=row.exceeds_threshold,
        collection_ms=row.collection_ms,
        cache_note=row.cache_note,
        detail=row.detail,
    )


def _values(record: FilterRecord) -> dict[str, object]:
    return {
        "filter_id": storable(record.filter_id),
        "join_type": record.join_type.value,
        **_probe_values(record.probe),
        **_build_values(record.build),
        "source": record.source.value,
        "form": record.form.value,
        "reason": record.reason.value,
        "value_count": record.value_count,
        "byte_count": record.byte_count,
        "ranges": [[storable(low), storable(high)] for low, high in record.ranges],
        "exceeds_threshold": record.exceeds_threshold,
        "collection_ms": record.collection_ms,
        "cache_note": storable(record.cache_note),
        "detail": storable(record.detail),
    }


def _probe_values(probe: Probe) -> dict[str, object]:
    return {
        "probe_table": storable(str(probe.table)),
        "probe_columns": [storable(column) for column in probe.columns],
        "probe_types": list(probe.type_names),
        "probe_snapshot_id": probe.snapshot_id,
        "probe_alias": storable(probe.alias),
        "probe_mention": probe.table_reference,
    }


def _build_values(build: Build) -> dict[str, object]:
    return {
        "build_tables": [storable(str(table)) for table in build.tables],
        "build_columns": [storable(column) for column in build.columns],
        "build_predicate": storable(build.predicate),
        "build_snapshot_ids": list(build.snapshot_ids),
        "build_is_union": build.is_union,
    }


def _probe(row: FilterRow) -> Probe:
    columns, types = tuple(row.probe_columns), tuple(row.probe_types)
    return Probe(
        TableName.of(row.probe_table),
        columns,
        types,
        row.probe_snapshot_id,
        row.probe_alias,
        row.probe_mention,
    )


def _build(row: FilterRow) -> Build:
    return Build(
        tables=tuple(TableName.of(table) for table in row.build_tables),
        columns=tuple(row.build_columns),
        predicate=row.build_predicate,
        snapshot_ids=tuple(row.build_snapshot_ids),
        is_union=row.build_is_union,
    )
