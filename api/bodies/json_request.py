"""Requests whose JSON is read with the very numbers and names that it spells."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from api.bodies.value_count import TooManyValues, check_value_count
from api.errors import NotJson
from service.ingest.reading.exact_json import NumberTooLong, exact_json, strict_json


class JsonRequest(Request):
    """Reads its body by `body_json`."""

    async def json(self) -> Any:
        """What the body spells."""
        if not hasattr(self, "_json"):
            try:
                self._json = body_json(await self.body(), self.decode)
            except NotJson as error:
                # The one exception that FastAPI lets through here.
                raise HTTPException(400, error.detail) from None
            except (NumberTooLong, TooManyValues) as error:
                raise HTTPException(422, f"The body cannot be read: {error}.") from None
        return self._json

    decode: Callable[[str], object] = staticmethod(exact_json)


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
