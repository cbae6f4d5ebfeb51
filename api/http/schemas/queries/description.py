"""The answer of POST /describe."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from api.http.schemas.queries.query_answer import ColumnAnswer
from api.http.schemas.wire import WireModel
from service.model.query.description import Description


class ParameterAnswer(WireModel):
    """One parameter of the query."""

    name: Annotated[str, Field(description="its name, or the number of a `?`, from 1 on")]
    type: Annotated[str | None, Field(description="SQL; null: the query leaves it open")]


class DescriptionAnswer(WireModel):
    """The columns of a query's result, and its parameters."""

    columns: list[ColumnAnswer]
    parameters: list[ParameterAnswer]


def description_answer(description: Description) -> DescriptionAnswer:
    """Returns the description as it is on the wire."""
    return DescriptionAnswer(
        columns=[
            ColumnAnswer(name=column.name, type=column.type_name, nullable=column.is_nullable)
            for column in description.columns
        ],
        parameters=[
            ParameterAnswer(name=parameter.name, type=parameter.type_name)
            for parameter in description.parameters
        ],
    )
