"""Maintenance of tables."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query, Response

from api.http.app_context import Caller, CallersAccess, CurrentAppContext, require_json
from api.http.bodies.json_request import StrictJsonRoute
from api.http.requests.table_name import FULL_NAME, table_name
from api.http.routes.documented import Responses, problems
from api.http.schemas.tables.maintenance import (
    MaintenanceAnswer,
    MaintenanceBody,
    MaintenancesAnswer,
    floors_answer,
    maintenance_answer,
    maintenance_request,
    schedule_answer,
)
from api.http.schemas.tables.table_schemas import NoQuery
from service.audited import note
from service.model.audit.events import Details
from service.model.operations.maintenance import MaintenanceRecord
from service.model.policies.actions import Action
from service.policies.require import may, require

router = APIRouter(tags=["tables"], route_class=StrictJsonRoute)

Name = Annotated[
    str, Path(max_length=1024, description="catalog.schema.table", json_schema_extra={"pattern": FULL_NAME})
]
_WAITS: Responses = {202: {"model": MaintenanceAnswer, "description": "It waits or runs."}}
_ENDED: Responses = {200: {"model": MaintenanceAnswer, "description": "It has ended, as `state` says."}}


@router.post(
    "/tables/{name}/maintenance",
    responses=_WAITS | problems(400, 403, 404, 408, 409, 413, 415, 422, 503),
    status_code=202,
    response_model=MaintenanceAnswer,
    dependencies=[Depends(require_json)],
)
async def maintain_table(
    name: Name,
    body: MaintenanceBody,
    app_context: CurrentAppContext,
    caller: Caller,
    access: CallersAccess,
) -> Response:
    """Compacts files, expires snapshots and removes files, beside the queries, one table at a time.

    Rows do not change. It continues after a restart, and another replica may run it.
    """
    note(Details(tables=(name,)))
    require(access, Action.MAINTAIN, table_name(name))
    gateway = app_context.access.gateway
    request = maintenance_request(body, table_name(name), gateway.maintenances.plan.bounds)
    record = await app_context.access.call(gateway.maintenances.ask, request, caller)
    note(Details(target=str(record.maintenance_id), tables=(name,)))
    return _response(record)


@router.get("/tables/{name}/maintenance", responses=problems(403, 422, 503))
async def list_maintenance(
    name: Name,
    _: Annotated[NoQuery, Query()],
    app_context: CurrentAppContext,
    access: CallersAccess,
) -> MaintenancesAnswer:
    """The table's maintenance, the newest first, the gateway's schedule, and the operator's floors."""
    table = table_name(name)
    require(access, Action.DESCRIBE, table)
    gateway = app_context.access.gateway
    found = await app_context.access.call(gateway.maintenances.latest, table)
    return MaintenancesAnswer(
        schedule=schedule_answer(gateway.maintenances.plan),
        floors=floors_answer(gateway.maintenances.plan.floors),
        may_request=may(access, Action.MAINTAIN, table) and gateway.maintenances.is_allowed(table),
        maintenances=[maintenance_answer(record) for record in found],
    )


@router.get(
    "/tables/{name}/maintenance/{maintenance_id}",
    responses=_ENDED | _WAITS | problems(403, 404, 422, 503),
    response_model=MaintenanceAnswer,
)
async def get_maintenance(
    name: Name, maintenance_id: UUID, app_context: CurrentAppContext, access: CallersAccess
) -> Response:
    """The maintenance, as it is now. A failed one is a 200, too."""
    require(access, Action.DESCRIBE, table_name(name))
    found = app_context.access.gateway.maintenances.find
    return _response(await app_context.access.call(found, table_name(name), maintenance_id))


def _response(record: MaintenanceRecord) -> Response:
    status = 202 if record.ended_at is None else 200
    content = maintenance_answer(record).model_dump_json(by_alias=True)
    return Response(content, status, media_type="application/json")
