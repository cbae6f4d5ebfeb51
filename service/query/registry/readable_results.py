"""Decides whether a result may still be read: its caller's rights may have changed since it ran."""

from __future__ import annotations

import structlog

from service.policies.decided_access import DecidedAccess
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
