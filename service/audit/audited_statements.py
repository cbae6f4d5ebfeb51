"""Identifies statements in the audit log, and bounds their text."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from service.model.audit.events import Details

MAX_CHARACTERS = 64 * 1024
ShownStatement = Callable[[str], str | None]
"""Returns the text of a statement as the log may have it. None: the operator does not want it."""


def without_text(_: str) -> None:
    """Shows no statement."""


def statement_details(sql: str, shown: ShownStatement) -> Details:
    """Returns the details of a statement that has not run.

    >>> statement_details("SELECT 1", without_text).fingerprint[:8], fingerprint_of("SELECT  1")[:8]
    ('e004ebd5', 'a3cf8c9a')
    """
    text = shown(sql)
    is_shortened = text is not None and len(text) > MAX_CHARACTERS
    return Details(
        fingerprint=fingerprint_of(sql),
        statement=text if text is None else text[:MAX_CHARACTERS],
        is_shortened=is_shortened,
    )


def fingerprint_of(sql: str) -> str:
    """Returns the SHA-256 of the text: the same text has the same fingerprint, whoever sends it."""
    return hashlib.sha256(sql.encode("utf-8", "surrogatepass")).hexdigest()
