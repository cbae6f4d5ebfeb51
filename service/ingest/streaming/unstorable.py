"""What of a stream's body its store could not give back as it was."""

from __future__ import annotations

import math
from collections.abc import Iterator

from service.model.ingest import WriteFault


def unstorable(body: object, place: str = "") -> Iterator[WriteFault]:
    """Every place with a text or a number that PostgreSQL's JSON does not have.

    >>> [each.place for each in unstorable({"route": {"field": "a" + chr(0)}, "limits": [1.5, float("inf")]})]
    ['/route/field', '/limits/1']
    """
    match body:
        case dict():
            for name, each in body.items():
                yield from unstorable(name, f"{place}/{_pointed(name)}")
                yield from unstorable(each, f"{place}/{_pointed(name)}")
        case list():
            for index, each in enumerate(body):
                yield from unstorable(each, f"{place}/{index}")
        case str() if not _is_text(body):
            yield WriteFault(place, "The text has a NUL, or a half of a character, which cannot be kept.")
        case float() if not math.isfinite(body):
            yield WriteFault(place, "The number is none that JSON has.")


def _pointed(name: str) -> str:
    text = name.replace("~", "~0").replace("/", "~1")
    return text.encode("utf-8", "replace").decode()


def _is_text(text: str) -> bool:
    return "\0" not in text and text.encode("utf-8", "replace").decode() == text
