"""What is sent to POST /query and POST /explain."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID, uuid4

from sluice_client.calls import JsonBody, milliseconds
from sluice_client.errors import DataNotSupported
from sluice_client.query.parameters import Parameters, json_parameters

_FORMAT = "ARROW_STREAM"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryRequest:
    """A query with every bound that the caller gave. None: the gateway's own."""

    sql: str
    parameters: Parameters | None = None
    catalog: str | None = None
    schema: str | None = None
    timeout_s: float | None = None
    session_id: UUID | None = None
    row_limit: int | Literal["MAX"] | None = None
    byte_limit: int | Literal["MAX"] | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    dynamic_filtering: Mapping[str, Any] = field(default_factory=dict)
    reuse_result: bool | Literal["REFRESH"] | None = None
    priority: Literal["HIGH", "NORMAL", "LOW"] | None = None
    request_id: UUID = field(default_factory=uuid4)

    def to_run(self, wait_s: float, *, is_canceled_after: bool = False) -> JsonBody:
        """Returns the body of POST /query. All bodies of one request have the same fingerprint.

        Raises:
            DataNotSupported: the text or a parameter cannot be sent.
        """
        more: dict[str, Any] = {"onWaitTimeout": "CANCEL"} if is_canceled_after else {}
        if self.reuse_result is not None:
            more["reuseResult"] = self.reuse_result
        if self.priority is not None:
            more["priority"] = self.priority
        wait = {"waitTimeout": milliseconds(wait_s), "format": _FORMAT, "requestId": str(self.request_id)}
        return _body(self._asked() | wait | more)

    def to_explain(self) -> JsonBody:
        """Returns the body of POST /explain.

        Raises:
            DataNotSupported: the text or a parameter cannot be sent.
        """
        return _body(self._asked())

    def _asked(self) -> dict[str, Any]:
        timeout = None if self.timeout_s is None else milliseconds(max(self.timeout_s, 0.001))
        asked = {
            "sql": self.sql,
            "parameters": json_parameters(self.parameters),
            "catalog": self.catalog,
            "schema": self.schema,
            "sessionId": None if self.session_id is None else str(self.session_id),
            "timeout": timeout,
            "rowLimit": self.row_limit,
            "byteLimit": self.byte_limit,
            "tags": dict(self.tags),
            "dynamicFiltering": dict(self.dynamic_filtering),
        }
        return {name: value for name, value in asked.items() if value not in (None, {}, [])}


def _body(values: Mapping[str, Any]) -> JsonBody:
    try:
        return JsonBody(json.dumps(values, ensure_ascii=False, allow_nan=False).encode())
    except (TypeError, ValueError) as error:
        raise DataNotSupported(f"the query cannot be sent as JSON: {error}") from None
