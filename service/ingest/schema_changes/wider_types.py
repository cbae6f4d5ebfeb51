"""Compares types by whether one holds all values of the other."""

from __future__ import annotations

import re

_WIDER = {("int", "long"), ("float", "double")}
_DECIMAL = re.compile(r"decimal\((\d+),\s*(\d+)\)")


def is_wider(type_name: str, than: str) -> bool:
    """Returns whether Iceberg widens the second type to the first without rewriting files.

    Source: the Iceberg table specification, "Schema Evolution".

    >>> is_wider("long", "int"), is_wider("int", "long"), is_wider("int", "int")
    (True, False, False)
    >>> is_wider("decimal(9, 2)", "decimal(7, 2)"), is_wider("decimal(9, 3)", "decimal(7, 2)")
    (True, False)
    """
    if (than, type_name) in _WIDER:
        return True
    wide, narrow = _DECIMAL.fullmatch(type_name), _DECIMAL.fullmatch(than)
    if wide is None or narrow is None:
        return False
    return wide[2] == narrow[2] and int(wide[1]) > int(narrow[1])
