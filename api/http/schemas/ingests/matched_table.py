"""The part of the body of POST /ingest that a table is matched against before it is written to."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field, ValidationInfo, field_validator
from pydantic.config import JsonDict

from api.http.schemas.ingests.schema_json import SchemaJson
from api.http.schemas.ingests.table_creation import CreateBody
from api.http.schemas.wire import StrictModel

_SCHEMA = (
    "an Iceberg schema that the table is matched against, by name; ids may be left out. Columns of "
    "the table that are wider, or are not in it, are fine; other differences are errors without `evolve`"
)
_EVOLVE = (
    "changes the table where the schema asks for it: adds optional fields, widens types, nested ones too, as "
    "one commit of its own before the records. Nothing is dropped, and fields that the schema does not have "
    "stay as they are"
)
_DROP_REQUIRED = (
    "with `evolve`: required fields that the schema does not have, or has as optional, become optional. "
    "Without it they stay required, and a record that lacks one is rejected"
)
_CREATE = "creates the table from `schema` if it is missing, and the schemas around it; ignored if it exists"


# The conditions that the validators below check, for clients that build requests from the description.
_EVOLVES_TO_A_SCHEMA: JsonDict = {
    "anyOf": [
        {"properties": {"evolve": {"const": False}}},
        {"properties": {"schema": {"type": "object"}}, "required": ["schema"]},
    ]
}
_DROPS_WHERE_IT_EVOLVES: JsonDict = {
    "anyOf": [
        {"properties": {"dropRequired": {"const": False}}},
        {"properties": {"evolve": {"const": True}}, "required": ["evolve"]},
    ]
}


class MatchedTable(StrictModel):
    """A table and the schema that it is matched against. Without a schema, it is used as it is."""

    model_config = ConfigDict(json_schema_extra={"allOf": [_EVOLVES_TO_A_SCHEMA, _DROPS_WHERE_IT_EVOLVES]})

    schema_: Annotated[SchemaJson | None, Field(alias="schema", description=_SCHEMA)] = None
    evolve: Annotated[bool, Field(description=_EVOLVE)] = False
    drop_required: Annotated[bool, Field(description=_DROP_REQUIRED)] = False
    create: Annotated[CreateBody | None, Field(description=_CREATE)] = None

    @field_validator("evolve")
    @classmethod
    def _has_a_schema(cls, evolves: bool, info: ValidationInfo) -> bool:
        # An invalid schema is not in the data, and has its own error already.
        if evolves and "schema_" in info.data and info.data["schema_"] is None:
            raise ValueError("a table evolves to a schema: send it as schema, or leave evolve out")
        return evolves

    @field_validator("drop_required")
    @classmethod
    def _evolves_as_well(cls, drops: bool, info: ValidationInfo) -> bool:
        if drops and info.data.get("evolve") is False:
            raise ValueError(
                'columns become optional where the table may change: send "evolve": true as well'
            )
        return drops
