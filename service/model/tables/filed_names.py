"""Names of columns in data files, which hold only letters or digits, and underscores."""

from __future__ import annotations


def filed_name(name: str) -> str:
    """Returns the column's name as Iceberg's own writers spell it.

    >>> [filed_name(name) for name in ("user_id", "user-agent", "a.b", "1st", "_1st")]
    ['user_id', 'user_x2Dagent', 'a_x2Eb', '_1st', '_1st']

    Source: Iceberg's `AvroSchemaUtil.makeCompatibleName`.
    """
    return "".join(_spelled(character, index == 0) for index, character in enumerate(name))


def _spelled(character: str, is_first: bool) -> str:
    if character == "_" or character.isalpha() or (character.isalnum() and not is_first):
        return character
    return f"_{character}" if character.isdigit() else f"_x{ord(character):X}"
