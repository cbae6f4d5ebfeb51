"""Catalogs in memory: any of them can be taken down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

from service.adapters.nearest_names import nearest_names
from service.errors import CatalogDown, TableNotFound
from service.model.health import PartHealth, PartState
from service.model.tables import PartitionField, Snapshot, SortField, TableColumn, TableFacts, TableName


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
    )


class FakeCatalogs:
    def __init__(self, names: Iterable[str] = ("lake",), tables: Iterable[TableFacts] = ()) -> None:
        self._names = tuple(names)
        self._tables = {each.name: each for each in tables}
        self.down: set[str] = set()

    def put(self, facts: TableFacts) -> None:
        self._tables[facts.name] = facts

    def append(self, name: TableName, record_count: int) -> None:
        before = self._tables[name]
        snapshot_id = len(before.snapshots) + 1
        snapshot = Snapshot(snapshot_id, before.snapshot_id, datetime.now(UTC), "append")
        self._tables[name] = replace(
            before,
            snapshot_id=snapshot_id,
            snapshots=(snapshot, *before.snapshots)[:100],
            record_count=before.record_count + record_count,
            data_file_count=before.data_file_count + 1,
            total_bytes=before.total_bytes + record_count,
        )

    def tables(self, catalog: str | None = None, schema: str | None = None) -> Sequence[TableName]:
        for name in self._names:
            if catalog in (None, name):
                self._check_up(name)
        return sorted(
            each for each in self._tables if catalog in (None, each.catalog) and schema in (None, each.schema)
        )

    def facts(self, name: TableName) -> TableFacts:
        self._check_up(name.catalog)
        if name not in self._tables:
            raise TableNotFound(str(name), self.nearest(str(name)))
        return self._tables[name]

    def facts_of(self, names: Sequence[TableName]) -> Mapping[TableName, TableFacts]:
        return {
            each: self._tables[each]
            for each in names
            if each in self._tables and each.catalog not in self.down
        }

    def nearest(self, dotted: str) -> Sequence[str]:
        return nearest_names(dotted, (str(each) for each in self._tables if each.catalog not in self.down))

    def health(self) -> Sequence[PartHealth]:
        return [
            PartHealth(f"catalog:{name}", PartState.DOWN, _sentence(name))
            if name in self.down
            else PartHealth(f"catalog:{name}", PartState.UP)
            for name in self._names
        ]

    def _check_up(self, name: str) -> None:
        if name in self.down:
            raise CatalogDown(_sentence(name))


def _sentence(name: str) -> str:
    return f"The catalog {name} does not answer."
