"""What an ingest has made and changed of its tables, in its answer."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from api.http.schemas.wire import WireModel
from service.model.tables.schema_changes import ColumnChange, ColumnChangeKind, TableEvolution


class AddedColumn(WireModel):
    """A column that the table did not have; it is optional."""

    column: Annotated[str, Field(description="with dots into structs, `element`, `key` and `value`")]
    type: Annotated[str, Field(description="as Iceberg spells it, `struct<city: string>`")]


class WidenedColumn(WireModel):
    """A column whose type holds more values than before."""

    column: str
    from_: Annotated[str, Field(alias="from", description="the type before")]
    to: Annotated[str, Field(description="the type now")]


class EvolutionAnswer(WireModel):
    """One table. What was made and changed stays, whatever becomes of the records."""

    table: str
    created: Annotated[bool, Field(description="the table was not there before")]
    added: list[AddedColumn]
    widened: list[WidenedColumn]
    made_optional: Annotated[list[str], Field(description="columns that were required before")]


def evolution_answer(evolution: TableEvolution) -> EvolutionAnswer:
    """The evolution on the wire."""

    def of(kind: ColumnChangeKind) -> list[ColumnChange]:
        return [each for each in evolution.changes if each.kind is kind]

    return EvolutionAnswer(
        table=str(evolution.table),
        created=evolution.is_created,
        added=[AddedColumn(column=each.column, type=each.after or "") for each in of(ColumnChangeKind.ADDED)],
        widened=[
            WidenedColumn(column=each.column, from_=each.before or "", to=each.after or "")
            for each in of(ColumnChangeKind.WIDENED)
        ],
        made_optional=[each.column for each in of(ColumnChangeKind.MADE_OPTIONAL)],
    )
