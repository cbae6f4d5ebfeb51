"""Converts the body of POST /query to the gateway's request: checks bounds and fills in defaults."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from api.bootstrap.settings import Settings
from api.http.problems.http_errors import InvalidRequest
from api.http.schemas.queries.query_request import DynamicFiltering, QueryBody, TypedParameter
from api.http.schemas.queries.query_request import Parameter as ParameterBody
from service.faults import Fault
from service.model.query.query import Parameter, Parameters, PruningRequest, QueryRequest
from service.model.query.reuse import ReuseChoice
from service.model.sessions.sessions import SessionUse


def query_request(body: QueryBody, settings: Settings, session: SessionUse | None = None) -> QueryRequest:
    """The request, with every bound resolved. Names have the body's catalog and schema, or its session's.

    Raises:
        InvalidRequest: a bound is above the operator's maximum.
    """
    faults = list(_faults(body, settings))
    if faults:
        raise InvalidRequest(faults)
    catalog, schema = place_of(body.catalog, body.schema_, settings, session)
    return QueryRequest(
        sql=body.sql,
        parameters=_parameters(body),
        catalog=catalog,
        schema=schema,
        session=session,
        timeout_ms=body.timeout or settings.query_timeout_s * 1000,
        row_limit=_limit(body.row_limit, settings.row_limit, settings.max_row_limit),
        byte_limit=_limit(body.byte_limit, settings.byte_limit, settings.max_byte_limit),
        request_id=body.request_id,
        tags=body.tags,
        pruning=_pruning(body.dynamic_filtering),
        format=body.format,
        reuse=_reuse(body.reuse_result),
        priority=body.priority,
    )


def _limit(asked: int | Literal["MAX"] | None, default: int, maximum: int) -> int:
    if asked is None:
        return default
    return maximum if asked == "MAX" else asked


def _reuse(asked: bool | str | None) -> ReuseChoice | None:
    if asked is None:
        return None
    if isinstance(asked, str):
        return ReuseChoice.REFRESH
    return ReuseChoice.USE if asked else ReuseChoice.NEVER


def place_of(
    catalog: str | None, schema: str | None, settings: Settings, session: SessionUse | None
) -> tuple[str, str | None]:
    """Returns the catalog and schema of names without one. A catalog comes with a schema of its own."""
    if catalog is not None:
        return catalog, schema
    if session is not None and session.values.catalog is not None:
        return session.values.catalog, schema or session.values.schema
    of_session = None if session is None else session.values.schema
    return settings.default_catalog, schema or of_session or settings.default_schema


def _pruning(asked: DynamicFiltering) -> PruningRequest:
    return PruningRequest(
        is_enabled=asked.enabled,
        is_verified=asked.verify,
        min_table_bytes=asked.min_table_bytes,
        max_filter_bytes=asked.max_filter_bytes,
        collect_timeout_ms=asked.collect_timeout,
        max_in_list=asked.max_in_list,
        max_ranges=asked.max_ranges,
        rewrites=None if asked.rewrites is None else frozenset(asked.rewrites),
    )


def _faults(body: QueryBody, settings: Settings) -> Iterator[Fault]:
    if body.timeout == 0:
        yield Fault("a timeout is at least 1ms", "/timeout")
    filtering = body.dynamic_filtering
    timeout_ms = settings.dynamic_filtering_collect_timeout_s * 1000
    max_filter_bytes = settings.dynamic_filtering_max_filter_bytes
    bounds: list[tuple[str, int | str | None, int, str]] = [
        ("timeout", body.timeout, settings.max_query_timeout_s * 1000, "ms"),
        ("rowLimit", body.row_limit, settings.max_row_limit, " rows"),
        ("byteLimit", body.byte_limit, settings.max_byte_limit, " bytes"),
        ("parameters", len(body.parameters), settings.max_parameters, " parameters"),
        ("dynamicFiltering/maxFilterBytes", filtering.max_filter_bytes, max_filter_bytes, " bytes"),
        ("dynamicFiltering/collectTimeout", filtering.collect_timeout, timeout_ms, "ms"),
        (
            "dynamicFiltering/maxInList",
            filtering.max_in_list,
            settings.dynamic_filtering_max_in_list,
            " keys",
        ),
        (
            "dynamicFiltering/maxRanges",
            filtering.max_ranges,
            settings.dynamic_filtering_max_ranges,
            " ranges",
        ),
    ]
    for name, value, maximum, unit in bounds:
        if isinstance(value, int) and value > maximum:
            yield Fault(f"this gateway allows {maximum}{unit} at most", f"/{name}")


def _parameters(body: QueryBody) -> Parameters:
    if isinstance(body.parameters, dict):
        return {name: _parameter(parameter) for name, parameter in body.parameters.items()}
    return tuple(_parameter(parameter) for parameter in body.parameters)


def _parameter(sent: ParameterBody) -> Parameter:
    return Parameter(sent.value, sent.type) if isinstance(sent, TypedParameter) else Parameter(sent)
