"""Required fields of a JSON object, checked for their types."""

from __future__ import annotations


class JsonFields:
    """A parsed JSON object that was written by this program or by another version of it.

    >>> JsonFields({"spec-id": 3}).integer("spec-id")
    3

    Raises:
        ValueError: the value is not an object; from each method: the field is missing, or has another type.
    """

    def __init__(self, value: object) -> None:
        if not isinstance(value, dict):
            raise ValueError("an object is missing")
        self._fields = value

    def text(self, name: str) -> str:
        """Returns a string."""
        return _text(self._field(name), name)

    def optional_text(self, name: str) -> str | None:
        """Returns a string; None where the field is null or missing."""
        value = self._fields.get(name)
        return None if value is None else _text(value, name)

    def texts(self, name: str) -> tuple[str, ...]:
        """Returns an array of strings."""
        return tuple(_text(element, name) for element in self._array(name))

    def integer(self, name: str) -> int:
        """Returns a whole number."""
        return _integer(self._field(name), name)

    def optional_integer(self, name: str) -> int | None:
        """Returns a whole number; None where the field is null or missing."""
        value = self._fields.get(name)
        return None if value is None else _integer(value, name)

    def integers(self, name: str) -> tuple[int, ...]:
        """Returns an array of whole numbers."""
        return tuple(_integer(element, name) for element in self._array(name))

    def optional_integers(self, name: str) -> tuple[int, ...] | None:
        """Returns an array of whole numbers, or None where the field is null; it must not be missing."""
        return None if self._field(name) is None else self.integers(name)

    def has(self, name: str) -> bool:
        """Returns whether there is a field of this name, null or not."""
        return name in self._fields

    def counts(self, name: str) -> dict[str, int]:
        """Returns an object of whole numbers."""
        value = self._field(name)
        if not isinstance(value, dict):
            raise ValueError(f"{name} is not an object")
        return {str(key): _integer(element, name) for key, element in value.items()}

    def boolean(self, name: str) -> bool:
        """Returns true or false."""
        value = self._field(name)
        if not isinstance(value, bool):
            raise ValueError(f"{name} is not true or false")
        return value

    def objects(self, name: str) -> tuple[JsonFields, ...]:
        """Returns an array of objects."""
        return tuple(JsonFields(element) for element in self._array(name))

    def _array(self, name: str) -> list[object]:
        value = self._field(name)
        if not isinstance(value, list):
            raise ValueError(f"{name} is not an array")
        return value

    def _field(self, name: str) -> object:
        if name not in self._fields:
            raise ValueError(f"{name} is missing")
        return self._fields[name]


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name} is not a string")
    return value


def _integer(value: object, name: str) -> int:
    # To Python, True is an int; here it is an error.
    if type(value) is not int:
        raise ValueError(f"{name} is not a whole number")
    return value
