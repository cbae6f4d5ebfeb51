"""Remembers which texts passed their checks: a dashboard sends the same ones again and again."""

from __future__ import annotations

from hashlib import sha256

from service.bounded_lru import BoundedLru
from service.model.operations.usage import CacheUse
from service.pruning.sql_text.nesting import MAX_NESTING
from service.query.execution.validate import validate

MAX_TEXTS = 4096
_ENTRY_BYTES = 256


class AcceptedTexts:
    """Checks texts. One that passed within the same bounds is not read again. Any thread may use it."""

    def __init__(self) -> None:
        self._passed: BoundedLru[tuple[bytes, int, int], bool] = BoundedLru(
            MAX_TEXTS, MAX_TEXTS * _ENTRY_BYTES
        )

    @property
    def use(self) -> CacheUse:
        """The texts that passed; they themselves are not kept."""
        return self._passed.use

    def check(self, sql: str, max_bytes: int, max_nesting: int = MAX_NESTING) -> None:
        """Checks that the text holds exactly one statement within the bounds.

        Raises:
            SqlEmpty, SqlManyStatements, SqlTooLarge, SqlTooDeep: as `validate`.
        """
        key = (sha256(sql.encode()).digest(), max_bytes, max_nesting)
        if self._passed.get(key) is None:
            validate(sql, max_bytes, max_nesting)
            self._passed.put(key, value=True, byte_count=_ENTRY_BYTES)
