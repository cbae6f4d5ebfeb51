"""A route for bodies of records beside one for JSON at the same address."""

from __future__ import annotations

from fastapi.routing import APIRoute
from starlette.routing import Match
from starlette.types import Scope

from api.http.bodies.record_types import record_format


class RecordsRoute(APIRoute):
    """Takes requests whose content type says that their body is records and nothing else."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether this request is one."""
        if record_format(scope) is None:
            return Match.NONE, {}
        return super().matches(scope)
