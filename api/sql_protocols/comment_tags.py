"""Tags from the comment before a statement: dbt and others write a JSON object there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson

MAX_TAGS = 32
MAX_NAME = 64
MAX_VALUE = 256
MAX_COMMENT = 8_192
_COMMENT = re.compile(r"\s*/\*\s*(\{.*?\})\s*\*/", re.DOTALL)


def comment_tags(sql: str) -> Mapping[str, str]:
    """Returns the scalar members of the JSON object in the first comment, within the bounds of tags.

    >>> comment_tags('/* {"app": "dbt", "dbt_version": "1.11.0", "rows": 3, "more": {}} */ select 1')
    {'app': 'dbt', 'dbt_version': '1.11.0', 'rows': '3'}
    >>> comment_tags("/* hello */ select 1"), comment_tags('select 1 /* {"app": "dbt"} */')
    ({}, {})
    """
    found = _COMMENT.match(sql[:MAX_COMMENT])
    if found is None:
        return {}
    try:
        read = orjson.loads(found[1])
    except orjson.JSONDecodeError:
        return {}
    if not isinstance(read, dict):
        return {}
    tags = ((name[:MAX_NAME], _text(value)) for name, value in read.items() if name)
    return dict([(name, text) for name, text in tags if text is not None][:MAX_TAGS])


def _text(value: Any) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)[:MAX_VALUE] if isinstance(value, str | int | float) else None
