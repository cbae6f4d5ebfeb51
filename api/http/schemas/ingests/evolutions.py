"""Tables that an ingest created or changed, as its answer shows them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from api.http.schemas.wire import WireModel
from service.model.tables.schema_changes import ColumnChange, ColumnChangeKind, TableEvolution


class AddedColumn(WireModel):
    """An optional column that the ingest added to the table."""

    column: Annotated[str, Field(description="its path; dots lead into structs, `element`, `key`, `value`")]
    type: Annotated[str, Field(description="as Iceberg spells it, `struct<city: string>`")]


class WidenedColumn(WireModel):
    """A column whose type holds more values than before."""

    column: str
    from_: Annotated[str, Field(alias="from", description="the type before")]
    to: Annotated[str, Field(description="the type now")]


class EvolutionAnswer(WireModel):
    """One table that the ingest created or changed. The change stays even if the records are rejected."""

    table: str
    created: Annotated[bool, Field(description="the table did not exist before")]
    added: list[AddedColumn]
    widened: list[WidenedColumn]
    made_optional: Annotated[list[str], Field(description="columns that were required before")]


def evolution_answer(evolution: TableEvolution) -> EvolutionAnswer:
    """Returns the evolution as it is on the wire."""

    def of(kind: ColumnChangeKind) -> list[ColumnChange]:
        return [change for change in evolution.changes if change.kind is kind]

    return EvolutionAnswer(
        table=str(evolution.table),
        created=evolution.is_created,
        added=[
            AddedColumn(column=change.column, type=change.after or "")
            for change in of(ColumnChangeKind.ADDED)
        ],
        widened=[
            WidenedColumn(column=change.column, from_=change.before or "", to=change.after or "")
            for change in of(ColumnChangeKind.WIDENED)
        ],
        made_optional=[change.column for change in of(ColumnChangeKind.MADE_OPTIONAL)],
    )
