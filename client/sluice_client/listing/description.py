"""The columns and parameters of a query, before it runs."""

from __future__ import annotations

from dataclasses import dataclass

from sluice_client.calls import Flow, Request
from sluice_client.json_fields import fields_of
from sluice_client.query.query_answer import Column
from sluice_client.query.query_request import QueryRequest
from sluice_client.retries import Context, retried


@dataclass(frozen=True, slots=True)
class ParameterType:
    """One parameter of a query."""

    name: str
    """Its name, or the number of a `?`, from 1 on."""
    type: str | None
    """SQL; None: the query leaves it open."""


@dataclass(frozen=True, slots=True)
class QueryDescription:
    """The columns of a query's result, and its parameters."""

    columns: tuple[Column, ...]
    parameters: tuple[ParameterType, ...]


def describe_query(asked: QueryRequest, context: Context) -> Flow[QueryDescription]:
    """Returns the columns and parameters. The query is analyzed, and not run.

    Raises:
        SqlInvalid: the text cannot be run.
    """
    request = Request(
        method="POST",
        path="/describe",
        body=asked.to_explain(),
        wait_s=asked.timeout_s or context.timeouts.request_s,
        max_bytes=context.bounds.max_answer_bytes,
    )
    fields = fields_of((yield from retried(request, context)))
    return QueryDescription(
        columns=tuple(
            Column(column.text("name"), column.text("type"), column.boolean("nullable"))
            for column in fields.objects("columns")
        ),
        parameters=tuple(
            ParameterType(parameter.text("name"), parameter.optional_text("type"))
            for parameter in fields.objects("parameters")
        ),
    )
