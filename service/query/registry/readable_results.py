"""Decides whether a result may still be read: its caller's rights may have changed since it ran."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

import structlog

from service.model.authentication.principals import Principal
from service.model.policies.decisions import Access
from service.policies.decided_access import DecidedAccess
from service.policies.noted_rights import rights_of, rights_text
from service.ports.stores.result_store import ResultStore
from service.query.registry.query_handle import QueryHandle

log = structlog.get_logger(__name__)


def is_still_readable(query: QueryHandle) -> bool:
    """Whether policies show the query's caller the same tables, rows and values as when it ran.

    Raises:
        PoliciesDown: the policies are not known now.
    """
    access = query.access
    if not isinstance(access, DecidedAccess) or access.is_as_before():
        return True
    log.info("result_no_longer_readable", query_id=str(query.query_id), caller=query.caller)
    return False


class ReadableResults:
    """Notes beside results what policies allowed their queries, and asks these for results of other replicas.

    Any thread may call any method.
    """

    def __init__(self, results: ResultStore, access_of: Callable[[Principal], Access] | None = None) -> None:
        """`access_of` returns what a principal may do now; None: there are no policies."""
        self._results = results
        self._access_of = access_of

    def note(self, query: QueryHandle) -> None:
        """Notes the rights of a query whose result is kept; if that fails, only this replica serves it."""
        if self._access_of is None or not isinstance(query.access, DecidedAccess):
            return
        text = rights_text(query.access)
        if text is None or not self._results.note_rights(query.query_id, text):
            log.info("result_served_here_only", query_id=str(query.query_id))

    def may_read(self, query_id: UUID) -> bool:
        """Whether policies show the caller of a query that is not held here the same as when it ran.

        Raises:
            PoliciesDown: the policies are not known now.
        """
        if self._access_of is None:
            return True
        text = self._results.rights(query_id)
        noted = None if text is None else rights_of(text)
        return noted is not None and noted.notes.hold_for(self._access_of(noted.principal))
