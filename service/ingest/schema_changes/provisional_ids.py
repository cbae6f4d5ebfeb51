"""Assigns ids to a schema that is matched by name, so that callers need not invent them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

# The reader rejects deeper schemas.
_MAX_DEPTH = 100
_PARTS = (("element", "element-id"), ("key", "key-id"), ("value", "value-id"))


def with_provisional_ids(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Returns Iceberg's JSON of a schema with new ids; the old ones only identify its identifier fields.

    >>> with_provisional_ids({"fields": [{"name": "id", "type": "long"}]})["fields"]
    [{'name': 'id', 'type': 'long', 'id': 1}]
    """
    numbered = _Numbered()
    made: dict[str, Any] = numbered.type(schema, _MAX_DEPTH)
    identifiers = schema.get("identifier-field-ids")
    if isinstance(identifiers, list):
        made["identifier-field-ids"] = [numbered.new_id(identifier) for identifier in identifiers]
    return made


class _Numbered:
    def __init__(self) -> None:
        self._next: Iterator[int] = count(1)
        self._new: dict[int, int] = {}
        self._seen: Counter[int] = Counter()

    def new_id(self, given: object) -> object:
        """Returns the new id; an id of no field or of several becomes text, which the reader rejects."""
        if isinstance(given, int) and self._seen[given] == 1:
            return self._new[given]
        return str(given)

    def type(self, json: Any, depth: int) -> Any:
        if not isinstance(json, dict) or depth == 0:
            return json
        made = dict(json)
        if isinstance(fields := json.get("fields"), list):
            made["fields"] = [self._field(field, depth) for field in fields]
        for part, name in _PARTS:
            if part in json:
                made[name] = self._id(json.get(name))
                made[part] = self.type(json[part], depth - 1)
        return made

    def _field(self, json: Any, depth: int) -> Any:
        if not isinstance(json, dict):
            return json
        made = {**json, "id": self._id(json.get("id"))}
        return {**made, "type": self.type(json["type"], depth - 1)} if "type" in json else made

    def _id(self, given: object) -> int:
        new = next(self._next)
        if isinstance(given, int):
            self._seen[given] += 1
            self._new[given] = new
        return new
