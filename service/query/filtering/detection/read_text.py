"""Parses texts where a deadline can end it."""

from __future__ import annotations

import structlog
from sqlglot import TokenError, tokenize

from service.bounded_lru import BoundedLru
from service.model.filters.filter_record import Reason
from service.model.tables.sql import ParsedQuery
from service.ports.bounded_calls import Answer, BoundedCalls, CallGivenUp
from service.pruning.sql_text.is_replaceable import is_replaceable
from service.pruning.sql_text.nesting import is_shallow
from service.pruning.sql_text.parse import parse
from service.query.filtering.detection.in_process import InProcess

MAX_CACHED_TEXTS = 512
TREE_BYTES_PER_CHARACTER = 120
"""Memory of a parsed text, as measured with long texts; those of a few words take more."""
# The parser tries some constructs in two ways, one within the other. With so few tokens it takes
# milliseconds.
SHORT_TOKENS = 32
# A text of at most so many characters is worth counting its tokens.
_SHORT_CHARACTERS = 256
log = structlog.get_logger(__name__)


# Each process that looks for filters has its own trees.
_TREES_OF_PROCESS: BoundedLru[tuple[str, str | None], ParsedQuery | Reason] = BoundedLru(
    max_entries=64, max_bytes=64 << 20
)


def read_text(sql: str, zone: str | None) -> ParsedQuery | Reason:
    """Returns the parsed text if it has a scan that could be pruned, or the reason why it has none."""
    known = _TREES_OF_PROCESS.get((sql, zone))
    if known is None:
        known = _read_text(sql, zone)
        _TREES_OF_PROCESS.put((sql, zone), known, tree_bytes(sql))
    return known


def _read_text(sql: str, zone: str | None) -> ParsedQuery | Reason:
    parsed = parse(sql, zone)
    if parsed is None:
        return Reason.NOT_A_QUERY if _is_shallow(sql) else Reason.TOO_COMPLEX
    if not parsed.references:
        return Reason.NOT_A_QUERY
    return parsed if is_replaceable(parsed.tree) else Reason.REWRITE_REJECTED


def read_apart(_: Answer, sql: str, zone: str | None) -> ParsedQuery | Reason:
    """Parses the text, for `BoundedCalls`."""
    return read_text(sql, zone)


def tree_bytes(sql: str) -> int:
    """Returns about how much memory a text takes with its tree."""
    return TREE_BYTES_PER_CHARACTER * (len(sql) + 1)


def is_short(sql: str) -> bool:
    """Whether the text is so short that no work on it takes long."""
    if len(sql) > _SHORT_CHARACTERS:
        return False
    try:
        return len(tokenize(sql, read="spark")) <= SHORT_TOKENS
    except TokenError:
        return True


def calls_for(sql: str, bounded: BoundedCalls) -> BoundedCalls:
    """Returns where to do work on this text: in this process if it is short, so that it does not queue."""
    return InProcess() if is_short(sql) else bounded


class TextReader:
    """Parses texts and caches about `max_bytes` of their trees. Any thread may call it."""

    def __init__(self, calls: BoundedCalls, zone: str | None, max_bytes: int) -> None:
        self._calls = calls
        self._zone = zone
        self._cached: BoundedLru[str, ParsedQuery | Reason] = BoundedLru(MAX_CACHED_TEXTS, max_bytes)

    def read(self, sql: str) -> ParsedQuery | Reason:
        """Returns the text's tree, or why there is none; `TOO_COMPLEX` if it was not done in time."""
        cached = self._cached.get(sql)
        if cached is not None:
            return cached
        try:
            found = self._once(sql)
        except CallGivenUp as failure:
            log.warning("text_not_read", reason=str(failure))
            return Reason.TOO_COMPLEX
        self._cached.put(sql, found, tree_bytes(sql))
        return found

    def _once(self, sql: str) -> ParsedQuery | Reason:
        try:
            return calls_for(sql, self._calls).call(read_apart, sql, self._zone)
        except CallGivenUp as failure:
            if failure.is_busy:
                # The failure is not cached: a later try may succeed.
                raise
            log.warning("text_not_read", reason=str(failure))
            return Reason.TOO_COMPLEX


def _is_shallow(sql: str) -> bool:
    try:
        return is_shallow(tokenize(sql, read="spark"))
    except TokenError:
        return True
