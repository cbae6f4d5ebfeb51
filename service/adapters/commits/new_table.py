"""A new table in PyIceberg's terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyiceberg.catalog import Catalog
from pyiceberg.partitioning import PARTITION_FIELD_ID_START, PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.sorting import SortOrder
from pyiceberg.transforms import parse_transform
from pyiceberg.typedef import Identifier

from service.adapters.catalogs.iceberg_schemas import pyiceberg_schema
from service.adapters.commits.iceberg_sort_orders import iceberg_sort_fields
from service.model.tables.table_creation import TableCreation, partition_name

_FORMAT = {"format-version": "2"}


@dataclass(frozen=True, slots=True)
class NewTable:
    """A new table, built once; `create` may be called several times."""

    schema: Schema
    spec: PartitionSpec
    order: SortOrder
    properties: Mapping[str, str]

    @classmethod
    def of(cls, creation: TableCreation) -> NewTable:
        """Converts the creation into PyIceberg's terms.

        Raises:
            ValueError, pyiceberg.exceptions.ValidationError: Iceberg does not allow such a table.
        """
        schema = pyiceberg_schema(creation.schema)
        layout = creation.layout
        partition_fields = [
            PartitionField(
                schema.find_field(field.source).field_id,
                PARTITION_FIELD_ID_START + index,
                parse_transform(field.transform),
                partition_name(field),
            )
            for index, field in enumerate(layout.partition_fields)
        ]
        sort_fields = iceberg_sort_fields(schema, layout.sort_fields)
        return cls(
            schema,
            PartitionSpec(*partition_fields),
            SortOrder(*sort_fields, order_id=1 if sort_fields else 0),
            {**layout.properties, **_FORMAT},
        )

    def create(self, catalog: Catalog, identifier: Identifier) -> None:
        """Creates the table; PyIceberg assigns new ids.

        Raises:
            TableAlreadyExistsError, NoSuchNamespaceError: as PyIceberg raises them.
        """
        # PyIceberg removes the format version from the properties that it is given.
        catalog.create_table(identifier, self.schema, None, self.spec, self.order, dict(self.properties))
