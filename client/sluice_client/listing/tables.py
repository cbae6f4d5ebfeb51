"""The tables that the caller may know of, and the columns of one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from sluice_client.calls import Flow, Request
from sluice_client.json_fields import Fields, fields_of
from sluice_client.retries import Context, retried


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a table; `type` is Iceberg's spelling, or SQL for a view."""

    name: str
    type: str
    is_required: bool
    doc: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableEntry:
    """One table or view of a list."""

    name: str
    """All of it, as queries take it."""
    catalog: str
    schema: str
    table: str
    kind: str = "TABLE"
    """`TABLE` or `VIEW`."""
    comment: str | None = None
    """None if it has none, or was not asked for."""
    columns: tuple[TableColumn, ...] | None = None
    """None if they were not asked for, or are not known now."""


@dataclass(frozen=True, slots=True)
class TableList:
    """Tables and views in the order of their names."""

    tables: tuple[TableEntry, ...]
    missing_catalogs: tuple[str, ...]
    """Catalogs that do not answer now; their tables are missing."""

    def __iter__(self) -> Iterator[TableEntry]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDescription:
    """A table as its catalog describes it now. Counts are None if the gateway does not say them."""

    name: str
    columns: tuple[TableColumn, ...]
    partitions: tuple[str, ...]
    snapshot_id: int | None
    record_count: int | None
    data_file_count: int | None
    total_bytes: int | None
    raw: dict[str, Any]


def list_tables(
    context: Context,
    catalog: str | None = None,
    schema: str | None = None,
    *,
    has_columns: bool = False,
    answer_s: float | None = None,
) -> Flow[TableList]:
    """Returns every table and view that the caller may know of, page by page.

    Args:
        context: the connection's settings.
        catalog: only its tables.
        schema: only its tables.
        has_columns: whether columns and comments are asked for.
        answer_s: the longest wait for bytes.
    """
    entries: list[TableEntry] = []
    missing: dict[str, None] = {}
    token: str | None = None
    while True:
        asked = {"catalog": catalog, "schema": schema, "pageToken": token}
        asked["columns"] = "true" if has_columns else None
        request = Request(
            method="GET",
            path="/tables",
            parameters={name: value for name, value in asked.items() if value is not None},
            max_bytes=context.bounds.max_answer_bytes,
            answer_s=answer_s,
        )
        fields = fields_of((yield from retried(request, context)))
        page = tuple(map(_entry, fields.objects("tables")))
        entries += page
        missing |= dict.fromkeys(fields.texts("missingCatalogs"))
        token = fields.optional_text("nextPageToken")
        # A page without tables cannot lead further.
        if token is None or not page:
            return TableList(tuple(entries), tuple(missing))


def describe_table(name: str, context: Context, *, answer_s: float | None = None) -> Flow[TableDescription]:
    """Returns one table. `answer_s`: the longest wait for bytes.

    Raises:
        NotFound: there is no such table.
    """
    request = Request(
        method="GET",
        path=f"/tables/{quote(name, safe='')}",
        max_bytes=context.bounds.max_answer_bytes,
        answer_s=answer_s,
    )
    fields = fields_of((yield from retried(request, context)))
    return TableDescription(
        name=fields.text("name"),
        columns=tuple(map(_column, fields.objects("columns"))),
        partitions=tuple(map(_partition, fields.objects("partitionSpec"))),
        snapshot_id=fields.optional_integer("snapshotId"),
        record_count=fields.optional_integer("recordCount"),
        data_file_count=fields.optional_integer("dataFileCount"),
        total_bytes=fields.optional_integer("totalBytes"),
        raw=dict(fields.raw()),
    )


def _entry(fields: Fields) -> TableEntry:
    has_columns = isinstance(fields.raw().get("columns"), list)
    return TableEntry(
        name=fields.text("name"),
        catalog=fields.text("catalog"),
        schema=fields.text("schema"),
        table=fields.text("table"),
        kind=fields.optional_text("kind") or "TABLE",
        comment=fields.optional_text("comment"),
        columns=tuple(map(_column, fields.objects("columns"))) if has_columns else None,
    )


def _column(fields: Fields) -> TableColumn:
    return TableColumn(
        fields.text("name"), fields.text("type"), fields.boolean("required"), fields.optional_text("doc")
    )


def _partition(fields: Fields) -> str:
    transform, source = fields.text("transform"), fields.text("source")
    return source if transform == "identity" else f"{transform}({source})"
