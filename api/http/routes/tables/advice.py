"""Advice on the layout of a table."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query

from api.http.app_context import CallersAccess, CurrentAppContext
from api.http.requests.table_name import FULL_NAME, table_name
from api.http.routes.documented import problems
from api.http.schemas.tables.layout_advice import AdviceAnswer, AdviceQuery, advice_answer

router = APIRouter(tags=["tables"])


@router.get("/advice/{name}", responses=problems(403, 404, 409, 422, 503))
async def get_advice(
    name: Annotated[
        str,
        Path(max_length=1024, description="catalog.schema.table", json_schema_extra={"pattern": FULL_NAME}),
    ],
    query: Annotated[AdviceQuery, Query()],
    app_context: CurrentAppContext,
    access: CallersAccess,
) -> AdviceAnswer:
    """Other layouts of the table, and the bytes that the recorded scans of all callers would read of them.

    Only for callers who see every row of the table. It has no values that queries looked for.
    """
    advice = app_context.access.gateway.layout_advice.advice
    table = table_name(name)
    return advice_answer(await app_context.access.call(advice, table, access, query.days))
