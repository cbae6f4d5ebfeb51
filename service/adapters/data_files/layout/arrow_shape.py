"""A file's Arrow types, and the conversion of batches into them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby

import pyarrow as pa
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.schema import Schema, sanitize_column_names

from service.adapters.data_files.layout.is_alike import is_alike
from service.adapters.data_files.layout.stored_variants import filled_variants, has_variant, stored_schema
from service.errors.ingest_errors import IngestInvalid, RecordsInvalid

# Batches with this many rows are not worth copying.
_MANY_ROWS = 1_000


@dataclass(frozen=True, slots=True)
class _ShapedColumn:
    """One column's types. `is_plain`: values in the type `given` can be written as they are."""

    name: str
    given: pa.DataType
    filed: pa.DataType
    is_required: bool
    is_plain: bool
    has_variant: bool

    @staticmethod
    def of(given: pa.Field, filed: pa.Field) -> _ShapedColumn:
        is_plain = given.type.equals(filed.type, check_metadata=True)
        return _ShapedColumn(
            given.name, given.type, filed.type, not filed.nullable, is_plain, has_variant(filed.type)
        )

    def fitted(self, array: pa.Array) -> pa.Array:
        if self.is_required and array.null_count:
            raise RecordsInvalid(f"A value of the required column {self.name} is missing.")
        # A cast releases the interpreter lock to other threads, even if there is nothing to cast.
        if self.is_plain and array.type.equals(self.given):
            return array
        if not is_alike(array.type, self.given):
            raise RecordsInvalid(
                f"Column {self.name}: values of type {array.type} are not accepted as {self.given}."
            )
        try:
            cast = array.cast(self.given)
            return _retyped(filled_variants(cast, self.filed) if self.has_variant else cast, self.filed)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
            message = str(error).splitlines()[0]
            raise RecordsInvalid(f"Column {self.name}: {message}") from error


@dataclass(frozen=True, slots=True)
class ArrowShape:
    """The schema of incoming batches (`given`), and that of the file (`filed`).

    The latter has field ids, declares required what the table requires, and uses the names that Iceberg's own
    writers give to columns in files. `short` is the same shape with 32-bit string offsets, which many senders
    use; None if there are no strings. Both produce the same file.
    """

    given: pa.Schema
    filed: pa.Schema
    columns: tuple[_ShapedColumn, ...]
    short: ArrowShape | None = None

    @staticmethod
    def of(schema: Schema) -> ArrowShape:
        """Returns the shape of a file with these fields.

        Raises:
            IngestInvalid: two of them would have the same name in the file.
        """
        stored = stored_schema(schema)
        given = pa.schema([_optional(field) for field in schema_to_pyarrow(stored, include_field_ids=False)])
        try:
            filed = schema_to_pyarrow(sanitize_column_names(stored))
        except ValueError as error:
            raise IngestInvalid(f"One data file cannot hold these columns: {error}.") from error
        has_texts = pa.large_string() in given.types
        short = ArrowShape._between(_shortened(given), _shortened(filed)) if has_texts else None
        return replace(ArrowShape._between(given, filed), short=short)

    @staticmethod
    def _between(given: pa.Schema, filed: pa.Schema) -> ArrowShape:
        pairs = zip(given, filed, strict=True)
        return ArrowShape(given, filed, tuple(_ShapedColumn.of(*pair) for pair in pairs))

    def nearest(self, schema: pa.Schema) -> ArrowShape:
        """Returns the short shape if the first string column of `schema` has short offsets, else this one.

        Other string columns are cast.
        """
        if self.short is None:
            return self
        place = next(
            place for place, column in enumerate(self.columns) if pa.types.is_large_string(column.given)
        )
        # Missing columns are rejected when their rows are converted.
        is_short = place < len(schema) and pa.types.is_string(schema.field(place).type)
        return self.short if is_short else self

    def table(self, batches: Iterable[pa.RecordBatch]) -> pa.Table:
        """Converts the batches' rows into the file's types, and joins small batches to larger chunks.

        Raises:
            RecordsInvalid: the columns are different, or a value does not fit its column.
        """
        return pa.concat_tables([self._fitted(table) for table in _joined(batches)])

    def _fitted(self, batch: pa.RecordBatch) -> pa.Table:
        if batch.schema.names != self.given.names:
            raise RecordsInvalid(f"The columns are {batch.schema.names}, and not {self.given.names}.")
        columns = [column.fitted(array) for column, array in zip(self.columns, batch.columns, strict=True)]
        return pa.Table.from_arrays(columns, schema=self.filed)


def _joined(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Joins small adjacent batches of one schema: each batch has a cost, as has a copy of large ones."""
    for schema, group in groupby(batches, key=lambda batch: batch.schema):
        found = list(group)
        if len(found) > 1 and sum(table.num_rows for table in found) < _MANY_ROWS * len(found):
            yield from pa.Table.from_batches(found, schema).combine_chunks().to_batches()
        else:
            yield from found


def _retyped(array: pa.Array, kind: pa.DataType) -> pa.Array:
    # A view has the same bytes. It checks that required values are present, and adds field ids.
    return array if array.type.equals(kind, check_metadata=True) else array.view(kind)


def _shortened(schema: pa.Schema) -> pa.Schema:
    kinds = [pa.string() if pa.types.is_large_string(kind) else kind for kind in schema.types]
    return pa.schema([field.with_type(kind) for field, kind in zip(schema, kinds, strict=True)])


def _optional(field: pa.Field) -> pa.Field:
    return pa.field(field.name, _optional_inside(field.type), nullable=True)


def _optional_inside(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(kind):
        return pa.struct([_optional(kind.field(index)) for index in range(kind.num_fields)])
    if pa.types.is_large_list(kind):
        return pa.large_list(_optional(kind.value_field))
    if pa.types.is_map(kind):
        key = pa.field(kind.key_field.name, _optional_inside(kind.key_type), nullable=False)
        return pa.map_(key, _optional(kind.item_field))
    return kind
