"""A route for bodies of records, at the same address as the route for JSON."""

from __future__ import annotations

from fastapi.routing import APIRoute
from starlette.routing import Match
from starlette.types import Scope

from api.http.bodies.record_types import record_format


class RecordsRoute(APIRoute):
    """Takes requests whose content type says that the body is records alone."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether the request has such a body."""
        if record_format(scope) is None:
            return Match.NONE, {}
        return super().matches(scope)
