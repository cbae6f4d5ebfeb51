"""Reads JSON without changing its numbers and names."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from api.http.bodies.value_count import TooManyValues, check_fields, check_value_count
from api.http.gateway_access import GatewayAccess
from api.http.problems.http_errors import NotJson
from service.errors.unavailable import GatewayBusy
from service.ingest.decoding.values.exact_json import NumberTooLong, exact_json, strict_json

LARGE_BYTES = 64 * 1024
"""Less is read at once. More is read in a thread, so that the event loop goes on."""


def _records_and_few_values(text: str) -> object:
    found = exact_json(text)
    check_fields(found)
    return found


class JsonRequest(Request):
    """A request whose body is read by `body_json`."""

    async def json(self) -> Any:
        """Returns the parsed body."""
        if not hasattr(self, "_json"):
            data = await self.body()
            read = partial(body_json, data, self.decode)
            try:
                self._json = read() if len(data) <= LARGE_BYTES else await self._read_aside(read)
            except NotJson as error:
                # The only exception that FastAPI passes on here.
                raise HTTPException(400, error.detail) from None
            except (NumberTooLong, TooManyValues) as error:
                raise HTTPException(422, f"The body cannot be read: {error}.") from None
        return self._json

    decode: Callable[[str], object] = staticmethod(_records_and_few_values)

    async def _read_aside(self, read: Callable[[], Any]) -> Any:
        access: GatewayAccess = self.scope["app"].state.app_context.access
        try:
            return await access.read(read)
        except GatewayBusy:
            # The same status as for bodies that exceed the bounds.
            raise HTTPException(429) from None


def _few_values(text: str) -> object:
    check_value_count(text)
    return strict_json(text)


class StrictJsonRequest(JsonRequest):
    """For bodies without records: numbers with a fraction are floats, and the number of values is bounded."""

    decode = staticmethod(_few_values)


class StrictJsonRoute(APIRoute):
    """Rejects a name that occurs twice in one object, at any depth: neither value can be preferred."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Returns the handler of a request."""
        usual = super().get_route_handler()

        async def handle(request: Request) -> Response:
            return await usual(StrictJsonRequest(request.scope, request.receive))

        return handle


def body_json(data: bytes, decode: Callable[[str], object] = exact_json) -> Any:
    """Returns the parsed body.

    Raises:
        NotJson: it is not JSON, or a name occurs twice in one object.
        NumberTooLong, TooManyValues: it is JSON, but beyond the bounds.
    """
    try:
        # Invalid UTF-8 is reported where it is used, as lone surrogates in JSON's own escapes are.
        return decode(data.decode(json.detect_encoding(data), "surrogatepass"))
    except json.JSONDecodeError as error:
        raise NotJson(f"The body is not JSON: {error.msg} (character {error.pos}).") from None
    except UnicodeDecodeError:
        raise NotJson from None
    except RecursionError:
        raise NotJson("The body cannot be read as JSON: it is nested too deeply.") from None
    except (NumberTooLong, TooManyValues):
        raise
    except ValueError as error:
        raise NotJson(f"The body cannot be read as JSON: {error}.") from None
