"""The query string beside a body of records."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias
from uuid import UUID, uuid4

WriteSchema: TypeAlias = Literal["infer"] | Sequence[str] | Mapping[str, Any]
Mode: TypeAlias = Literal["append", "upsert", "delete"]
Wait: TypeAlias = Literal["ACCEPTED", "COMMITTED"]
OnError: TypeAlias = Literal["REJECT_REQUEST", "DEAD_LETTER"]


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestRequest:
    """Where records go, and as which columns. None: the gateway's own default."""

    table: str
    write_schema: WriteSchema | None = None
    branch: str | None = None
    mode: Mode | None = None
    equality_fields: Sequence[str] | None = None
    delete_when: Mapping[str, Any] | None = None
    envelope: Literal["debezium"] | None = None
    order_by: str | None = None
    rest: str | None = None
    sort_order: Sequence[Mapping[str, Any]] | None = None
    schema: Mapping[str, Any] | None = None
    evolve: bool | None = None
    drop_required: bool | None = None
    create: Mapping[str, Any] | None = None
    wait: Wait = "COMMITTED"
    on_error: OnError | None = None
    request_id: UUID = field(default_factory=uuid4)
    """Made by the client, unless it is given: it makes every retry safe."""

    def parameters(self) -> dict[str, str]:
        """Returns the query string's parameters.

        >>> sent = IngestRequest(table="a.b.c", write_schema=["x", "y"]).parameters()
        >>> sent["table"], sent["writeSchema"], sent["wait"]
        ('a.b.c', 'x,y', 'COMMITTED')
        """
        asked = {
            "table": self.table,
            "writeSchema": _names_or_json(self.write_schema),
            "branch": self.branch,
            "mode": self.mode,
            "equalityFields": _names_or_json(self.equality_fields),
            "deleteWhen": _json(self.delete_when),
            "envelope": self.envelope,
            "orderBy": self.order_by,
            "rest": self.rest,
            "sortOrder": _json(self.sort_order),
            "schema": _json(self.schema),
            "evolve": _json(self.evolve),
            "dropRequired": _json(self.drop_required),
            "create": _json(self.create),
            "wait": self.wait,
            "onError": self.on_error,
            "requestId": str(self.request_id),
        }
        return {name: value for name, value in asked.items() if value is not None}


def _names_or_json(value: WriteSchema | None) -> str | None:
    match value:
        case None | str():
            return value
        case Mapping():
            return _json(value)
        case _:
            return _names(list(value))


def _names(names: Sequence[str]) -> str:
    joined = ",".join(names)
    # A list of one name may look like JSON, or like the word `infer`.
    is_plain = names and not any("," in name or name[:1] in ("", "[", "{") for name in names)
    return joined if is_plain and joined != "infer" else json.dumps(list(names), ensure_ascii=False)


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False)
