"""Derives the rules for a table's partition values from its partition spec."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from service.ingest.write_schema.rules.partition_sources import VOID
from service.model.identity import Identity
from service.model.ingest.writing import WritableTable
from service.model.tables.partition_rules import NO_RULES, FolderBounds, PartitionRule, PartitionRules
from service.model.tables.schemas import Field, Primitive, TableSchema, fields_with_paths
from service.model.tables.tables import PartitionField

_MAX_CACHED = 256
_FLOATING = ("float", "double")
_WHOLE = ("int", "long")
_TEXT = ("string", "binary")


def partition_rules(table: WritableTable) -> PartitionRules:
    """Returns rules for those partition fields whose sources may have values without a partition."""
    if not table.partition_fields:
        return NO_RULES
    return _rules(Identity(table.schema), table.partition_fields, table.folder_bounds)


@lru_cache(_MAX_CACHED)
def _rules(
    schema: Identity[TableSchema], fields: tuple[PartitionField, ...], folders: FolderBounds | None
) -> PartitionRules:
    by_path = dict(fields_with_paths(schema.value.columns))
    by_name = {".".join(path): path for path in by_path}
    found = (
        _rule(by_path, by_name[field.source], field, folders) for field in fields if field.source in by_name
    )
    return PartitionRules(tuple(rule for every in found for rule in every), folders)


def _rule(
    by_path: dict[tuple[str, ...], Field],
    path: tuple[str, ...],
    field: PartitionField,
    folders: FolderBounds | None,
) -> Iterator[PartitionRule]:
    kind, transform = by_path[path].type, field.transform
    if transform == VOID or not isinstance(kind, Primitive):
        return
    above = (by_path[path[:end]] for end in range(1, len(path)))
    is_required = by_path[path].is_required and not all(parent.is_required for parent in above)
    is_truncated = transform.startswith("truncate")
    if (
        is_required
        or (transform == "identity" and kind.name in _FLOATING)
        or (is_truncated and (kind.name.startswith("decimal") or kind.name in _WHOLE))
        or (folders is not None and (is_truncated or transform == "identity") and kind.name in _TEXT)
    ):
        yield PartitionRule(field.name, path, kind.name, transform, is_required)
