"""Requests whose JSON is read with the very numbers and names that it spells."""

from __future__ import annotations

import json
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request

from api.errors import NotJson
from service.ingest.reading.exact_json import exact_json


class JsonRequest(Request):
    """Reads its body by `body_json`."""

    async def json(self) -> Any:
        """What the body spells."""
        if not hasattr(self, "_json"):
            try:
                self._json = body_json(await self.body())
            except NotJson as error:
                # The one exception that FastAPI lets through here.
                raise HTTPException(400, error.detail) from None
        return self._json


def body_json(data: bytes) -> Any:
    """What a body spells; see `exact_json`.

    Raises:
        NotJson: it is no JSON, or a name stands twice in one object.
    """
    try:
        # What is no UTF-8 in it is told where it is used, as JSON's own halves of characters are.
        return exact_json(data.decode(json.detect_encoding(data), "surrogatepass"))
    except json.JSONDecodeError as error:
        raise NotJson(f"The body is not JSON: {error.msg} (character {error.pos}).") from None
    except UnicodeDecodeError:
        raise NotJson from None
    except RecursionError:
        raise NotJson("The body is not JSON that can be read: it is nested too deeply.") from None
    except ValueError as error:
        raise NotJson(f"The body is not JSON that can be read: {error}.") from None
