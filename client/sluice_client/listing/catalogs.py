"""The catalogs and schemas that the caller may know of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sluice_client.calls import Flow, Request
from sluice_client.json_fields import Fields, fields_of
from sluice_client.retries import Context, retried


@dataclass(frozen=True, slots=True)
class SchemaEntry:
    """One schema. The levels of a nested one are joined by dots."""

    catalog: str
    schema: str
    comment: str | None

    @property
    def name(self) -> str:
        """Both names."""
        return f"{self.catalog}.{self.schema}"


@dataclass(frozen=True, slots=True)
class SchemaList:
    """Schemas in the order of their names."""

    schemas: tuple[SchemaEntry, ...]
    missing_catalogs: tuple[str, ...]
    """Catalogs that do not answer now; their schemas are missing."""

    def __iter__(self) -> Iterator[SchemaEntry]:
        return iter(self.schemas)

    def __len__(self) -> int:
        return len(self.schemas)


def list_catalogs(context: Context) -> Flow[tuple[str, ...]]:
    """Returns the name of every catalog."""
    request = Request(method="GET", path="/catalogs", max_bytes=context.bounds.max_answer_bytes)
    fields = fields_of((yield from retried(request, context)))
    return tuple(entry.text("name") for entry in fields.objects("catalogs"))


def list_schemas(context: Context, catalog: str | None = None) -> Flow[SchemaList]:
    """Returns every schema, or those of one catalog."""
    request = Request(
        method="GET",
        path="/schemas",
        parameters={} if catalog is None else {"catalog": catalog},
        max_bytes=context.bounds.max_answer_bytes,
    )
    fields = fields_of((yield from retried(request, context)))
    return SchemaList(tuple(map(_schema, fields.objects("schemas"))), fields.texts("missingCatalogs"))


def _schema(fields: Fields) -> SchemaEntry:
    return SchemaEntry(fields.text("catalog"), fields.text("schema"), fields.optional_text("comment"))
