"""Shows settings without their secrets."""

from __future__ import annotations

import re
from typing import Any

from api.settings import Settings

MASK = "**********"

_SECRET_KEY = re.compile(r"password|passwd|secret|token|credential|key", re.IGNORECASE)
_URL_PASSWORD = re.compile(r"(://[^/\s:@]*:)[^\s]*(@)")
_ASSIGNED = re.compile(
    r"((?:password|passwd|secret|token|credential|key)[\w.-]*=)[^&;,\s\"']+", re.IGNORECASE
)


def masked(settings: Settings) -> dict[str, Any]:
    """Every setting as plain JSON values, with `**********` in place of whatever looks like a secret."""
    shown = settings.model_dump(mode="json")
    shown["api_tokens"] = dict.fromkeys(shown["api_tokens"], MASK)
    shown["catalogs"] = {name: _masked_properties(each) for name, each in shown["catalogs"].items()}
    shown["spark_conf"] = _masked_properties(shown["spark_conf"])
    return shown


def _masked_properties(properties: dict[str, str]) -> dict[str, str]:
    return {
        name: MASK if _SECRET_KEY.search(name) else masked_text(value) for name, value in properties.items()
    }


def masked_text(value: str) -> str:
    """The text with the passwords of its URLs and assignments masked.

    >>> masked_text("postgresql://me:se@cret@host/db?sslpassword=x&a=b")
    'postgresql://me:**********@host/db?sslpassword=**********&a=b'
    """
    return _ASSIGNED.sub(rf"\g<1>{MASK}", _URL_PASSWORD.sub(rf"\g<1>{MASK}\g<2>", value))
