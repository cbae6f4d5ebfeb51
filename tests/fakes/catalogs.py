"""In-memory catalogs, each of which can be taken down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from service.adapters.catalogs.nearest_names import nearest_names
from service.errors.table_errors import TableAmbiguous, TableNotFound
from service.errors.unavailable import CatalogDown
from service.model.operations.health import PartHealth, PartState
from service.model.tables.reserved_names import is_reserved
from service.model.tables.tables import (
    NOW,
    PartitionField,
    Snapshot,
    SortField,
    TableAt,
    TableColumn,
    TableFacts,
    TableListing,
    TableName,
    TableVersion,
    VersionKind,
)


def facts_of_empty_table(
    name: TableName,
    columns: tuple[TableColumn, ...] = (),
    partition_fields: tuple[PartitionField, ...] = (),
    sort_fields: tuple[SortField, ...] = (),
) -> TableFacts:
    return TableFacts(
        name=name,
        table_uuid=uuid4(),
        format_version=2,
        location=f"memory:/{name}",
        schema_id=0,
        spec_id=0,
        snapshot_id=None,
        columns=columns,
        partition_fields=partition_fields,
        sort_fields=sort_fields,
        snapshots=(),
        record_count=0,
        data_file_count=0,
        total_bytes=0,
        metadata_location=f"memory:/{name}/metadata/{uuid4()}.json",
    )


class FakeCatalogs:
    def __init__(self, names: Iterable[str] = ("lake",), tables: Iterable[TableFacts] = ()) -> None:
        self._names = tuple(names)
        self._tables = {table.name: table for table in tables}
        self._past: dict[TableName, list[TableFacts]] = {}
        self.down: set[str] = set()

    def put(self, facts: TableFacts) -> None:
        self._tables[facts.name] = facts

    def append(self, name: TableName, record_count: int) -> None:
        before = self._tables[name]
        self._past.setdefault(name, []).append(before)
        snapshot_id = len(before.snapshots) + 1
        # No two commits have the same time, as in a real table.
        committed_at = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=snapshot_id)
        snapshot = Snapshot(snapshot_id, before.snapshot_id, committed_at, "append")
        self._tables[name] = replace(
            before,
            snapshot_id=snapshot_id,
            snapshots=(snapshot, *before.snapshots)[:100],
            record_count=before.record_count + record_count,
            data_file_count=before.data_file_count + 1,
            total_bytes=before.total_bytes + record_count,
            metadata_location=f"memory:/{name}/metadata/{uuid4()}.json",
        )

    def tables(self, catalog: str | None = None, schema: str | None = None) -> TableListing:
        asked = [name for name in self._names if catalog in (None, name)]
        missing = tuple(name for name in asked if name in self.down)
        if asked and len(missing) == len(asked):
            raise CatalogDown(_sentence(asked[0]) if len(asked) == 1 else "No catalog answers.")
        found = (
            table
            for table in self._tables
            if catalog in (None, table.catalog)
            and schema in (None, table.schema)
            and table.catalog not in missing
        )
        return TableListing(tuple(sorted(found)), missing)

    def facts(self, name: TableName) -> TableFacts:
        self._check_up(name.catalog)
        if name not in self._tables:
            raise TableNotFound(str(name), self.nearest(str(name)))
        if self._is_planted(name):
            raise TableAmbiguous(str(name))
        return self._tables[name]

    def facts_of(self, tables: Sequence[TableAt]) -> Mapping[TableAt, TableFacts]:
        up = (table for table in tables if table.name.catalog not in self.down)
        asked = (
            table_at
            for table_at in up
            if table_at.unless not in self._tables and not self._is_planted(table_at.name)
        )
        return {table_at: facts for table_at in asked if (facts := self._at(table_at)) is not None}

    def _at(self, asked: TableAt) -> TableFacts | None:
        now = self._tables.get(asked.name)
        past = [] if now is None else [now, *self._past.get(asked.name, ())]
        wanted = asked.version
        if wanted.kind is VersionKind.TIMESTAMP and now is not None:
            at = [
                snapshot
                for snapshot in now.snapshots
                if snapshot.committed_at.timestamp() * 1000 <= int(wanted.value)
            ]
            wanted = TableVersion(VersionKind.SNAPSHOT, at[0].snapshot_id if at else -1)
        if wanted.kind in (VersionKind.REF, VersionKind.BRANCH):
            wanted = NOW if wanted.value == "main" else TableVersion(VersionKind.SNAPSHOT, -1)
        is_now = wanted == NOW
        return next((facts for facts in past if is_now or facts.snapshot_id == wanted.value), None)

    def nearest(self, dotted: str) -> Sequence[str]:
        return nearest_names(dotted, (str(table) for table in self._tables if table.catalog not in self.down))

    def health(self) -> Sequence[PartHealth]:
        return [
            PartHealth(f"catalog:{name}", PartState.DOWN, _sentence(name))
            if name in self.down
            else PartHealth(f"catalog:{name}", PartState.UP)
            for name in self._names
        ]

    def _is_planted(self, name: TableName) -> bool:
        above, _, last = name.schema.rpartition(".")
        return is_reserved(name.table) and TableName(name.catalog, above, last) in self._tables

    def _check_up(self, name: str) -> None:
        if name in self.down:
            raise CatalogDown(_sentence(name))


def _sentence(name: str) -> str:
    return f"The catalog {name} does not answer."
