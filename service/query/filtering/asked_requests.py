"""The requests whose filters were used lately, with their values and rights, which no record has."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from cachetools import LRUCache

from service.model.authentication.principals import Principal
from service.model.policies.decisions import FULL_ACCESS, Access
from service.model.query.history import MAX_FREQUENT_BYTES, FrequentQuery
from service.model.query.query import QueryRequest
from service.policies.decided_access import DecidedAccess, Notes
from service.ports.clock import Clock

MAX_ENTRIES = 2_048
ENTRY_BYTES = 1_024
"""About the memory of a request besides its text and its values."""

_Key = tuple[FrequentQuery, Hashable]


@dataclass(frozen=True, slots=True)
class UsedRights:
    """The rights that a principal has used, and those that it has now, as in `DecidedAccess`.

    It does not hold the policies of that time, each version of which may take much memory.
    """

    principal: Principal
    renewed: Callable[[], Access]
    notes: Notes


@dataclass(frozen=True, slots=True)
class AskedRequest:
    """A request, the rights that it was last asked with, how often it was asked, and when last.

    Without `rights`, it was asked with full access.
    """

    request: QueryRequest
    rights: UsedRights | None
    count: int
    last_ms: int
    byte_count: int


class AskedRequests:
    """Remembers a bounded number of requests, in about `max_bytes`. Any thread may call any method.

    Requests of a session are not remembered: its values may differ the next time.
    """

    def __init__(self, clock: Clock, max_bytes: int) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._max_bytes = max_bytes
        self._asked: LRUCache[_Key, AskedRequest] = LRUCache(max_bytes, lambda asked: asked.byte_count)

    def note(self, request: QueryRequest, access: Access) -> None:
        """Remembers that the request was asked with these rights, and that it has filters."""
        rights, values = _rights_of(access), repr(request.parameters)
        size = len(request.sql.encode(errors="surrogatepass")) + len(values)
        byte_count = ENTRY_BYTES + 2 * size
        if (rights is None and access is not FULL_ACCESS) or request.session is not None:
            return
        if size > MAX_FREQUENT_BYTES or byte_count > self._max_bytes:
            return
        text = FrequentQuery(request.sql, request.catalog, request.schema)
        # Verification concerns the rows of the query, and a caller's patience only that caller.
        pruning = replace(request.pruning, is_verified=False, collect_timeout_ms=None)
        kept = QueryRequest(request.sql, request.parameters, request.catalog, request.schema, pruning=pruning)
        # Principals of one kind with the same roles have the same rights.
        whose = None if rights is None else (rights.principal.kind, rights.principal.roles)
        key, now_ms = (text, (values, pruning, whose)), self._clock.elapsed_ms()
        with self._lock:
            known = self._asked.pop(key, None)
            count = 1 if known is None else known.count + 1
            self._asked[key] = AskedRequest(kept, rights, count, now_ms, byte_count)
            while len(self._asked) > MAX_ENTRIES:
                self._asked.popitem()

    def by_text(self, within_ms: int) -> Mapping[FrequentQuery, Sequence[AskedRequest]]:
        """Returns the requests of each text that were asked within that time, the most frequent first."""
        since_ms = self._clock.elapsed_ms() - within_ms
        with self._lock:
            # Iterating does not count as a use.
            found = [(text, asked) for (text, _), asked in self._asked.items() if asked.last_ms >= since_ms]
        found.sort(key=lambda pair: (pair[1].count, pair[1].last_ms), reverse=True)
        grouped: dict[FrequentQuery, list[AskedRequest]] = {}
        for text, asked in found:
            grouped.setdefault(text, []).append(asked)
        return grouped


def _rights_of(access: Access) -> UsedRights | None:
    """Returns None if what the access depends on is not known, or if it depends on nothing."""
    if not isinstance(access, DecidedAccess):
        return None
    return UsedRights(access.principal, access.renewed, access.notes)
