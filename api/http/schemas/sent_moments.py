"""Moments as callers write them."""

from __future__ import annotations

from typing import Annotated

from pydantic import AwareDatetime, BeforeValidator


def _spelled_out(value: object) -> object:
    # Pydantic would read a bare number as seconds since 1970.
    if not isinstance(value, str) or "T" not in value.upper():
        raise ValueError('a moment is spelled like "2026-01-01T00:00:00Z"')
    return value


Moment = Annotated[AwareDatetime, BeforeValidator(_spelled_out)]
