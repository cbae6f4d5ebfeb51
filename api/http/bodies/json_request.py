"""Requests whose JSON is read with the very numbers and names that it spells."""

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
from api.http.door import Door
from api.http.problems.errors import NotJson
from service.errors import GatewayBusy
from service.ingest.decoding.values.exact_json import NumberTooLong, exact_json, strict_json

LARGE_BYTES = 64 * 1024
"""Less is read at once; more is read beside the event loop, so that others are answered meanwhile."""


def _records_and_few_values(text: str) -> object:
    found = exact_json(text)
    check_fields(found)
    return found


class JsonRequest(Request):
    """Reads its body by `body_json`."""

    async def json(self) -> Any:
        """What the body spells."""
        if not hasattr(self, "_json"):
            data = await self.body()
            read = partial(body_json, data, self.decode)
            try:
                self._json = read() if len(data) <= LARGE_BYTES else await self._read_aside(read)
            except NotJson as error:
                # The one exception that FastAPI lets through here.
                raise HTTPException(400, error.detail) from None
            except (NumberTooLong, TooManyValues) as error:
                raise HTTPException(422, f"The body cannot be read: {error}.") from None
        return self._json

    decode: Callable[[str], object] = staticmethod(_records_and_few_values)

    async def _read_aside(self, read: Callable[[], Any]) -> Any:
        door: Door = self.scope["app"].state.edge.door
        try:
            return await door.read(read)
        except GatewayBusy:
            # As for bodies that there is no room for.
            raise HTTPException(429) from None


def _few_values(text: str) -> object:
    check_value_count(text)
    return strict_json(text)


class StrictJsonRequest(JsonRequest):
    """Numbers with a fraction are floats, and values are few, for bodies without records."""

    decode = staticmethod(_few_values)


class StrictJsonRoute(APIRoute):
    """A name that stands twice in one object is refused, at any depth: of two values none is meant."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What answers a request."""
        usual = super().get_route_handler()

        async def handle(request: Request) -> Response:
            return await usual(StrictJsonRequest(request.scope, request.receive))

        return handle


def body_json(data: bytes, decode: Callable[[str], object] = exact_json) -> Any:
    """What a body spells.

    Raises:
        NotJson: it is no JSON, or a name stands twice in one object.
        NumberTooLong, TooManyValues: it is, and more than is read.
    """
    try:
        # What is no UTF-8 in it is told where it is used, as JSON's own halves of characters are.
        return decode(data.decode(json.detect_encoding(data), "surrogatepass"))
    except json.JSONDecodeError as error:
        raise NotJson(f"The body is not JSON: {error.msg} (character {error.pos}).") from None
    except UnicodeDecodeError:
        raise NotJson from None
    except RecursionError:
        raise NotJson("The body is not JSON that can be read: it is nested too deeply.") from None
    except (NumberTooLong, TooManyValues):
        raise
    except ValueError as error:
        raise NotJson(f"The body is not JSON that can be read: {error}.") from None
