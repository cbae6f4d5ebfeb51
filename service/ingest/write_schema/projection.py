"""A table's schema, with the part of it that data files will hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from service.model.ingest.writing import WritableTable
from service.model.tables.schemas import Field, Struct, fields_with_paths, path_of
from service.model.tables.tables import SortField


@dataclass(frozen=True, slots=True)
class Projection:
    """The columns of a table that are written."""

    table: WritableTable
    column_ids: tuple[int, ...]
    equality_field_ids: tuple[int, ...] = ()
    sort_fields: tuple[SortField, ...] = ()
    """The fields of the requested sort order; not the table's own, which files may ignore."""

    def skipped(self) -> Iterator[tuple[str, Field]]:
        """Yields the fields that the files leave out, by their dotted names.

        Fields nested in them are not listed.
        """
        return ((".".join(path), field) for path, field in self._skipped_paths())

    def is_written(self, dotted: str) -> bool:
        """Returns whether the files hold the whole field of that name."""
        path = path_of(self.table.schema.columns, dotted)
        # Compares paths: if there is a column `day.part`, not every name that begins with `day.` is in `day`.
        return not any(
            skipped[: len(path)] == path or path[: len(skipped)] == skipped
            for skipped, _ in self._skipped_paths()
        )

    def dotted(self, field_id: int) -> str:
        """Returns the name of the table's field with this id; the id itself where there is none."""
        found = fields_with_paths(self.table.schema.columns)
        return next((".".join(path) for path, field in found if field.field_id == field_id), f"#{field_id}")

    def _skipped_paths(self) -> Iterator[tuple[tuple[str, ...], Field]]:
        return _skipped(self.table.schema.columns, frozenset(self.column_ids), ())


def _skipped(
    fields: tuple[Field, ...], written: frozenset[int], parents: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Field]]:
    for field in fields:
        path = (*parents, field.name)
        if field.field_id in written:
            continue
        if isinstance(field.type, Struct) and _has_any(field.type.fields, written):
            yield from _skipped(field.type.fields, written, path)
        else:
            yield path, field


def _has_any(fields: tuple[Field, ...], ids: frozenset[int]) -> bool:
    return any(field.field_id in ids for _, field in fields_with_paths(fields))
