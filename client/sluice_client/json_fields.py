"""Reads JSON from the gateway: each field with its type, or an error that names it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

from sluice_client.calls import Answer
from sluice_client.errors import UnexpectedAnswer


class Fields:
    """One JSON object of an answer."""

    __slots__ = ("_place", "_values")

    def __init__(self, values: object, place: str = "the answer") -> None:
        if not isinstance(values, dict):
            raise UnexpectedAnswer(f"{place} is not a JSON object")
        self._values: dict[str, Any] = values
        self._place = place

    def text(self, name: str) -> str:
        """Returns a string."""
        found = self._values.get(name)
        if not isinstance(found, str):
            raise self._wrong(name)
        return found

    def integer(self, name: str) -> int:
        """Returns an integer."""
        found = self.optional_integer(name)
        if found is None:
            raise self._wrong(name)
        return found

    def boolean(self, name: str) -> bool:
        """Returns a boolean."""
        found = self._values.get(name)
        if not isinstance(found, bool):
            raise self._wrong(name)
        return found

    def uuid(self, name: str) -> UUID:
        """Returns a UUID."""
        found = self.optional_uuid(name)
        if found is None:
            raise self._wrong(name)
        return found

    def optional_text(self, name: str) -> str | None:
        """Returns a string, or None if it is missing, null or of another type."""
        found = self._values.get(name)
        return found if isinstance(found, str) else None

    def optional_integer(self, name: str) -> int | None:
        """Returns an integer, or None if it is missing, null or of another type."""
        found = self._values.get(name)
        return found if isinstance(found, int) and not isinstance(found, bool) else None

    def optional_number(self, name: str) -> float | None:
        """Returns a number, or None if it is missing, null or of another type."""
        found = self._values.get(name)
        return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else None

    def optional_uuid(self, name: str) -> UUID | None:
        """Returns a UUID, or None if it is missing or null."""
        found = self._values.get(name)
        if found is None:
            return None
        try:
            return UUID(found)
        except (ValueError, TypeError, AttributeError):
            raise self._wrong(name) from None

    def object(self, name: str) -> Fields:
        """Returns an object."""
        return Fields(self._values.get(name), f"{name} of {self._place}")

    def optional_object(self, name: str) -> Fields | None:
        """Returns an object, or None if it is missing or null."""
        return None if self._values.get(name) is None else self.object(name)

    def objects(self, name: str) -> Iterator[Fields]:
        """Yields the objects of a list; none if it is missing or null."""
        found = self._values.get(name)
        if not isinstance(found, list | None):
            raise self._wrong(name)
        for value in found or ():
            yield Fields(value, f"{name} of {self._place}")

    def texts(self, name: str) -> tuple[str, ...]:
        """Returns a list of strings, without values of other types; empty if there is no list."""
        found = self._values.get(name)
        return tuple(text for text in found if isinstance(text, str)) if isinstance(found, list) else ()

    def raw(self) -> Mapping[str, Any]:
        """Returns all of it."""
        return self._values

    def _wrong(self, name: str) -> UnexpectedAnswer:
        return UnexpectedAnswer(f"{name} of {self._place} is missing, or has another type")


def fields_of(answer: Answer) -> Fields:
    """Reads an answer that has to be a JSON object.

    Raises:
        UnexpectedAnswer: it is not one.
    """
    if answer.media_type not in ("application/json", "application/problem+json"):
        kind = answer.media_type[:80] or "nothing"
        raise UnexpectedAnswer(
            f"the answer {answer.status} is {kind!r}, not JSON: is this the address of a gateway?",
            status=answer.status,
        )
    try:
        return Fields(json.loads(answer.body))
    except (ValueError, RecursionError):
        raise UnexpectedAnswer(
            f"the answer {answer.status} is not valid JSON", status=answer.status
        ) from None
