"""Partitions as Spark writes them: `day=2024-01-01/region=EU`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_ESCAPED = frozenset("\"#%'*/:=?\\\x7f{[]^") | {chr(code) for code in range(1, 32)}
NULL = "null"


def partition_text(names: Sequence[str], values: Iterable[str | None]) -> str:
    """Returns the text of one partition; characters that paths cannot have are escaped.

    >>> partition_text(["day", "k"], ["2024-01-01", None]), partition_text(["t"], ["10:00"])
    ('day=2024-01-01/k=null', 't=10%3A00')
    """
    fields = zip(names, values, strict=True)
    return "/".join(
        f"{_escaped(name)}={NULL if value is None else _escaped(value)}" for name, value in fields
    )


def _escaped(text: str) -> str:
    return "".join(f"%{ord(each):02X}" if each in _ESCAPED else each for each in text)
